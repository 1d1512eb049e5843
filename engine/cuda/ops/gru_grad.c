/* The gradient of gru. With the reset gate after the product, the recurrent kernel and its bias see another gradient of the
 * candidate than kernel and bias do: r times it. */
#include "engine/cuda/ops/recurrent.h"

struct gru_back {
    float *dgates, *dh, *previous;
    float *dstate;          /* reset after */
    float *resets, *dreset; /* before */
};

static int64_t backward_room(struct gru_back *areas, const struct mgb_cuda_use *use,
                             const struct mgb_launch *launch)
{
    const struct mgb_recurrent_attributes *a = &use->a.recurrent;
    int64_t units = use->rows * a->units, positions = units * a->steps;
    struct mgb_cuda_room room = {.base = launch ? launch->workspace : NULL};
    *areas = (struct gru_back){.dh = launch && use->out[4].wanted ? launch->outputs[4] : NULL};
    areas->dgates = mgb_cuda_room_take(&room, 3 * positions);
    if (!use->out[4].wanted)
        areas->dh = mgb_cuda_room_take(&room, units);
    if (use->out[2].wanted)
        areas->previous = mgb_cuda_room_take(&room, positions);
    if (a->reset_after) {
        areas->dstate = mgb_cuda_room_take(&room, 3 * positions);
    } else {
        areas->resets = mgb_cuda_room_take(&room, positions);
        areas->dreset = mgb_cuda_room_take(&room, units);
    }
    return room.bytes;
}

static enum mgb_status gru_grad_facts(struct mgb_operator_facts *facts,
                                      const struct mgb_cuda_use *use)
{
    struct gru_back areas;
    facts->workspace_bytes = backward_room(&areas, use, NULL);
    return MGB_OK;
}

static struct mgb_gpu_gru_grad_args backward_args(const struct mgb_cuda_recurrent *r,
                                                  const struct gru_back *areas, int64_t step)
{
    struct mgb_gpu_gru_grad_args args = {.place = mgb_cuda_recurrent_place(r, step),
                                         .dgates = areas->dgates,
                                         .dstate = areas->dstate,
                                         .resets = areas->resets,
                                         .gates = r->gates,
                                         .second = r->second,
                                         .h_before = r->h0,
                                         .h_stride = r->units,
                                         .dy = mgb_cuda_recurrent_dy(r, step),
                                         .dy_stride = r->y_stride,
                                         .dh_after = step < r->steps - 1 ? areas->dh : NULL,
                                         .dreset = areas->dreset,
                                         .dh = areas->dh};
    if (step > 0) {
        args.h_before = r->h + mgb_cuda_recurrent_position(r, step - 1) * r->units;
        args.h_stride = r->steps * r->units;
    }
    return args;
}

/* to = beta to + columns [first, first + columns) of gate gradients at a position times those of the recurrent kernel. */
static enum mgb_status state_multiply_back(struct mgb_queue *queue,
                                           const struct mgb_cuda_recurrent *r, float *to,
                                           float beta, const float *gates, int64_t first,
                                           int64_t columns)
{
    struct mgb_cuda_product product = {
        .a = {.data = gates + first, .ld = r->steps * r->width},
        .b = {.data = r->recurrent + first, .ld = r->width, .transposed = true},
        .c = to,
        .ldc = r->units,
        .m = r->rows,
        .n = r->units,
        .k = columns,
        .beta = beta,
        .b_stays = true};
    return mgb_cuda_multiply(queue, &product);
}

static enum mgb_status step_backward(struct mgb_queue *queue, const struct mgb_cuda_recurrent *r,
                                     const struct gru_back *areas, int64_t step, bool state_wanted)
{
    struct mgb_gpu_gru_grad_args args = backward_args(r, areas, step);
    int64_t at = args.place.position * r->width, n = r->units;
    if (r->a->reset_after) {
        MGB_TRY(mgb_cuda_recurrent_start(queue, (const void *)mgb_gpu_gru_grad_after, r, &args));
        if (step == 0 && !state_wanted)
            return MGB_OK;
        return state_multiply_back(queue, r, areas->dh, 1, areas->dstate + at, 0, r->width);
    }
    MGB_TRY(mgb_cuda_recurrent_start(queue, (const void *)mgb_gpu_gru_grad_candidate, r, &args));
    MGB_TRY(state_multiply_back(queue, r, areas->dreset, 0, areas->dgates + at, 2 * n, n));
    MGB_TRY(mgb_cuda_recurrent_start(queue, (const void *)mgb_gpu_gru_grad_reset, r, &args));
    if (step == 0 && !state_wanted)
        return MGB_OK;
    return state_multiply_back(queue, r, areas->dh, 1, areas->dgates + at, 0, 2 * n);
}

/* The candidate saw r h where the reset gate comes before the product, else h as z and r did. */
static enum mgb_status recurrent_weights(struct mgb_queue *queue,
                                         const struct mgb_cuda_recurrent *r,
                                         const struct gru_back *areas, float *to)
{
    int64_t n = r->units;
    MGB_TRY(mgb_cuda_recurrent_previous(queue, r, areas->previous));
    if (r->a->reset_after)
        return mgb_cuda_recurrent_weights(queue, r, areas->previous, areas->dstate, to, r->width);
    MGB_TRY(mgb_cuda_recurrent_weights(queue, r, areas->previous, areas->dgates, to, 2 * n));
    return mgb_cuda_recurrent_weights(queue, r, areas->resets, areas->dgates + 2 * n, to + 2 * n,
                                      n);
}

static enum mgb_status gru_grad_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                      const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    struct mgb_cuda_recurrent r =
        mgb_cuda_recurrent_gradient(use, launch, 3, use->a.recurrent.reset_after);
    float *bias = use->out[3].wanted ? launch->outputs[3] : NULL;
    struct gru_back areas;
    backward_room(&areas, use, launch);
    for (int64_t step = r.steps - 1; step >= 0; step--)
        MGB_TRY(step_backward(queue, &r, &areas, step, use->out[4].wanted));
    MGB_TRY(mgb_cuda_recurrent_input_grad(queue, &r, areas.dgates,
                                          use->out[0].wanted ? launch->outputs[0] : NULL,
                                          use->out[1].wanted ? launch->outputs[1] : NULL, bias));
    if (bias && r.a->reset_after)
        MGB_TRY(mgb_cuda_recurrent_bias(queue, &r, areas.dstate, bias + r.width));
    return use->out[2].wanted ? recurrent_weights(queue, &r, &areas, launch->outputs[2]) : MGB_OK;
}

static int64_t gru_grad_narrow(const struct mgb_cuda_use *use)
{
    return mgb_cuda_recurrent_narrow(use, 3, true);
}

const struct mgb_cuda_op mgb_cuda_gru_grad = {
    .facts = gru_grad_facts, .start = gru_grad_start, .narrow = gru_grad_narrow};
