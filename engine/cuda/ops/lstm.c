/* lstm, a position at a time, and its gradient. The product with the state adds to what the input contributes to the gates, so
 * that a position is a product and a kernel. */
#include "engine/cuda/ops/recurrent.h"

/* Everything of a launch that is not an operand: in the workspace, or an output where that is wanted. */
struct lstm_areas {
    float *gates, *h, *c;
};

static int64_t forward_room(struct lstm_areas *areas, const struct mgb_cuda_use *use,
                            const struct mgb_launch *launch)
{
    const struct mgb_recurrent_attributes *a = &use->a.recurrent;
    struct mgb_cuda_room room = {.base = launch ? launch->workspace : NULL};
    areas->gates = launch && use->out[1].wanted ? launch->outputs[1] : NULL;
    if (!use->out[1].wanted)
        areas->gates = mgb_cuda_room_take(&room, use->rows * a->steps * 4 * a->units);
    areas->h = mgb_cuda_room_take(&room, use->rows * a->units);
    areas->c = mgb_cuda_room_take(&room, use->rows * a->units);
    return room.bytes;
}

static enum mgb_status lstm_facts(struct mgb_operator_facts *facts, const struct mgb_cuda_use *use)
{
    struct lstm_areas areas;
    facts->workspace_bytes = forward_room(&areas, use, NULL);
    return MGB_OK;
}

/* gates of a position += h recurrent */
static enum mgb_status state_multiply(struct mgb_queue *queue, const struct mgb_cuda_recurrent *r,
                                      const float *h, float *gates)
{
    struct mgb_cuda_product product = {.a = {.data = h, .ld = r->units},
                                       .b = {.data = r->recurrent, .ld = r->width},
                                       .c = gates,
                                       .ldc = r->steps * r->width,
                                       .m = r->rows,
                                       .n = r->width,
                                       .k = r->units,
                                       .beta = 1,
                                       .b_stays = true};
    return mgb_cuda_multiply(queue, &product);
}

static enum mgb_status step_forward(struct mgb_queue *queue, const struct mgb_cuda_recurrent *r,
                                    struct mgb_gpu_lstm_args *args, float *y, int64_t step)
{
    bool ends = step == r->steps - 1;
    args->place = mgb_cuda_recurrent_place(r, step);
    args->h_before = step > 0 ? args->h : r->h0;
    args->c_before = step > 0 ? args->c : r->c0;
    args->y = ends ? y : NULL;
    if (r->a->sequences)
        args->y = y + args->place.position * r->units;
    args->last = ends && r->a->cell ? y + r->steps * r->units : NULL;
    if (args->h_before)
        MGB_TRY(state_multiply(queue, r, args->h_before,
                               args->gates + args->place.position * r->width));
    return mgb_cuda_recurrent_start(queue, (const void *)mgb_gpu_lstm, r, args);
}

static enum mgb_status lstm_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                  const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    struct mgb_cuda_recurrent r = mgb_cuda_recurrent_forward(use, launch, 4);
    struct lstm_areas areas;
    forward_room(&areas, use, launch);
    struct mgb_gpu_lstm_args args = {.gates = areas.gates,
                                     .bias = r.bias,
                                     .h = areas.h,
                                     .c = areas.c,
                                     .kept_c = use->out[2].wanted ? launch->outputs[2] : NULL,
                                     .kept_h = use->out[3].wanted ? launch->outputs[3] : NULL,
                                     .y_stride = r.y_stride};
    MGB_TRY(mgb_cuda_recurrent_input(queue, &r, areas.gates));
    for (int64_t step = 0; step < r.steps; step++)
        MGB_TRY(step_forward(queue, &r, &args, launch->outputs[0], step));
    return MGB_OK;
}

struct lstm_back {
    float *dgates, *dh, *dc, *previous;
};

static int64_t backward_room(struct lstm_back *areas, const struct mgb_cuda_use *use,
                             const struct mgb_launch *launch)
{
    const struct mgb_recurrent_attributes *a = &use->a.recurrent;
    struct mgb_cuda_room room = {.base = launch ? launch->workspace : NULL};
    areas->dgates = mgb_cuda_room_take(&room, use->rows * a->steps * 4 * a->units);
    areas->dh = launch && use->out[4].wanted ? launch->outputs[4] : NULL;
    if (!use->out[4].wanted)
        areas->dh = mgb_cuda_room_take(&room, use->rows * a->units);
    areas->dc = launch && use->out[5].wanted ? launch->outputs[5] : NULL;
    if (!use->out[5].wanted)
        areas->dc = mgb_cuda_room_take(&room, use->rows * a->units);
    areas->previous = NULL;
    if (use->out[2].wanted)
        areas->previous = mgb_cuda_room_take(&room, use->rows * a->steps * a->units);
    return room.bytes;
}

static enum mgb_status lstm_grad_facts(struct mgb_operator_facts *facts,
                                       const struct mgb_cuda_use *use)
{
    struct lstm_back areas;
    facts->workspace_bytes = backward_room(&areas, use, NULL);
    return MGB_OK;
}

static struct mgb_gpu_lstm_grad_args backward_args(const struct mgb_cuda_recurrent *r,
                                                   const struct lstm_back *areas, int64_t step)
{
    struct mgb_gpu_lstm_grad_args args = {.place = mgb_cuda_recurrent_place(r, step),
                                          .dgates = areas->dgates,
                                          .gates = r->gates,
                                          .c = r->second,
                                          .c_before = r->c0,
                                          .c_stride = r->units,
                                          .dy = mgb_cuda_recurrent_dy(r, step),
                                          .dy_stride = r->y_stride,
                                          .dh_after = areas->dh,
                                          .dc_after = areas->dc,
                                          .dc_stride = r->units,
                                          .dh = areas->dh,
                                          .dc = areas->dc};
    if (step > 0) {
        args.c_before = r->second + mgb_cuda_recurrent_position(r, step - 1) * r->units;
        args.c_stride = r->steps * r->units;
    }
    if (step == r->steps - 1) { /* nothing follows, but dy may have a row for the last cell */
        args.dh_after = NULL;
        args.dc_after = r->a->cell ? r->dy + r->steps * r->units : NULL;
        args.dc_stride = r->y_stride;
    }
    return args;
}

/* dh += dgates of a position times recurrent' */
static enum mgb_status state_multiply_back(struct mgb_queue *queue,
                                           const struct mgb_cuda_recurrent *r,
                                           const struct lstm_back *areas, int64_t position)
{
    struct mgb_cuda_product product = {
        .a = {.data = areas->dgates + position * r->width, .ld = r->steps * r->width},
        .b = {.data = r->recurrent, .ld = r->width, .transposed = true},
        .c = areas->dh,
        .ldc = r->units,
        .m = r->rows,
        .n = r->units,
        .k = r->width,
        .beta = 1,
        .b_stays = true};
    return mgb_cuda_multiply(queue, &product);
}

static enum mgb_status lstm_grad_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                       const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    struct mgb_cuda_recurrent r = mgb_cuda_recurrent_gradient(use, launch, 4, true);
    struct lstm_back areas;
    backward_room(&areas, use, launch);
    for (int64_t step = r.steps - 1; step >= 0; step--) {
        struct mgb_gpu_lstm_grad_args args = backward_args(&r, &areas, step);
        MGB_TRY(mgb_cuda_recurrent_start(queue, (const void *)mgb_gpu_lstm_grad, &r, &args));
        if (step > 0 || use->out[4].wanted)
            MGB_TRY(state_multiply_back(queue, &r, &areas, args.place.position));
    }
    MGB_TRY(mgb_cuda_recurrent_input_grad(queue, &r, areas.dgates,
                                          use->out[0].wanted ? launch->outputs[0] : NULL,
                                          use->out[1].wanted ? launch->outputs[1] : NULL,
                                          use->out[3].wanted ? launch->outputs[3] : NULL));
    if (!use->out[2].wanted)
        return MGB_OK;
    MGB_TRY(mgb_cuda_recurrent_previous(queue, &r, areas.previous));
    return mgb_cuda_recurrent_weights(queue, &r, areas.previous, areas.dgates, launch->outputs[2],
                                      r.width);
}

static int64_t lstm_narrow(const struct mgb_cuda_use *use)
{
    return mgb_cuda_recurrent_narrow(use, 4, use->kind == MGB_OP_LSTM_GRAD);
}

const struct mgb_cuda_op mgb_cuda_lstm = {
    .facts = lstm_facts, .start = lstm_start, .narrow = lstm_narrow};
const struct mgb_cuda_op mgb_cuda_lstm_grad = {
    .facts = lstm_grad_facts, .start = lstm_grad_start, .narrow = lstm_narrow};
