/* gru, a position at a time. With the reset gate after the product a position is a product and a kernel; before it, two of
 * each. The gradient is in gru_grad.c. */
#include "engine/cuda/ops/recurrent.h"

struct gru_areas {
    float *gates, *h, *state, *reset; /* state: reset after; reset: before */
};

static int64_t forward_room(struct gru_areas *areas, const struct mgb_cuda_use *use,
                            const struct mgb_launch *launch)
{
    const struct mgb_recurrent_attributes *a = &use->a.recurrent;
    struct mgb_cuda_room room = {.base = launch ? launch->workspace : NULL};
    *areas = (struct gru_areas){.gates = launch && use->out[1].wanted ? launch->outputs[1] : NULL};
    if (!use->out[1].wanted)
        areas->gates = mgb_cuda_room_take(&room, use->rows * a->steps * 3 * a->units);
    areas->h = mgb_cuda_room_take(&room, use->rows * a->units);
    if (a->reset_after)
        areas->state = mgb_cuda_room_take(&room, use->rows * 3 * a->units);
    else
        areas->reset = mgb_cuda_room_take(&room, use->rows * a->units);
    return room.bytes;
}

static enum mgb_status gru_facts(struct mgb_operator_facts *facts, const struct mgb_cuda_use *use)
{
    struct gru_areas areas;
    facts->workspace_bytes = forward_room(&areas, use, NULL);
    return MGB_OK;
}

/* [rows, units] times a block of the recurrent kernel's columns. */
static struct mgb_cuda_product state_product(const struct mgb_cuda_recurrent *r, const float *a,
                                             int64_t first, int64_t columns)
{
    return (struct mgb_cuda_product){.a = {.data = a, .ld = r->units},
                                     .b = {.data = r->recurrent + first, .ld = r->width},
                                     .m = r->rows,
                                     .n = columns,
                                     .k = r->units,
                                     .b_stays = true};
}

static enum mgb_status step_after(struct mgb_queue *queue, const struct mgb_cuda_recurrent *r,
                                  const struct gru_areas *areas, struct mgb_gpu_gru_args *args)
{
    struct mgb_cuda_product product = state_product(r, args->h_before, 0, r->width);
    product.c = areas->state;
    product.ldc = r->width;
    args->state = args->h_before ? areas->state : NULL;
    if (args->h_before)
        MGB_TRY(mgb_cuda_multiply(queue, &product));
    return mgb_cuda_recurrent_start(queue, (const void *)mgb_gpu_gru_after, r, args);
}

/* Both products add to what the input contributes to the gates. */
static enum mgb_status step_before(struct mgb_queue *queue, const struct mgb_cuda_recurrent *r,
                                   const struct gru_areas *areas, struct mgb_gpu_gru_args *args)
{
    int64_t n = r->units;
    float *gates = areas->gates + args->place.position * r->width;
    struct mgb_cuda_product first = state_product(r, args->h_before, 0, 2 * n);
    struct mgb_cuda_product second = state_product(r, areas->reset, 2 * n, n);
    first.c = gates;
    second.c = gates + 2 * n;
    first.ldc = second.ldc = r->steps * r->width;
    first.beta = second.beta = 1;
    if (args->h_before)
        MGB_TRY(mgb_cuda_multiply(queue, &first));
    MGB_TRY(mgb_cuda_recurrent_start(queue, (const void *)mgb_gpu_gru_gates, r, args));
    if (args->h_before)
        MGB_TRY(mgb_cuda_multiply(queue, &second));
    return mgb_cuda_recurrent_start(queue, (const void *)mgb_gpu_gru_candidate, r, args);
}

static enum mgb_status step_forward(struct mgb_queue *queue, const struct mgb_cuda_recurrent *r,
                                    const struct gru_areas *areas, struct mgb_gpu_gru_args *args,
                                    float *y, int64_t step)
{
    args->place = mgb_cuda_recurrent_place(r, step);
    args->h_before = step > 0 ? areas->h : r->h0;
    args->y = step == r->steps - 1 ? y : NULL;
    if (r->a->sequences)
        args->y = y + args->place.position * r->units;
    return r->a->reset_after ? step_after(queue, r, areas, args)
                             : step_before(queue, r, areas, args);
}

static enum mgb_status gru_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                 const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    struct mgb_cuda_recurrent r = mgb_cuda_recurrent_forward(use, launch, 3);
    struct gru_areas areas;
    forward_room(&areas, use, launch);
    struct mgb_gpu_gru_args args = {.gates = areas.gates,
                                    .bias = r.bias,
                                    .h = areas.h,
                                    .reset = areas.reset,
                                    .kept_second = use->out[2].wanted ? launch->outputs[2] : NULL,
                                    .kept_h = use->out[3].wanted ? launch->outputs[3] : NULL,
                                    .y_stride = r.y_stride};
    if (r.bias && r.a->reset_after)
        args.second_bias = r.bias + r.width;
    MGB_TRY(mgb_cuda_recurrent_input(queue, &r, areas.gates));
    for (int64_t step = 0; step < r.steps; step++)
        MGB_TRY(step_forward(queue, &r, &areas, &args, launch->outputs[0], step));
    return MGB_OK;
}

static int64_t gru_narrow(const struct mgb_cuda_use *use)
{
    return mgb_cuda_recurrent_narrow(use, 3, false);
}

const struct mgb_cuda_op mgb_cuda_gru = {
    .facts = gru_facts, .start = gru_start, .narrow = gru_narrow};
