/* See recurrent.h. */
#include "engine/cuda/ops/recurrent.h"

float *mgb_cuda_room_take(struct mgb_cuda_room *room, int64_t elements)
{
    int64_t at = room->bytes;
    room->bytes += (elements * (int64_t)sizeof(float) + 63) / 64 * 64;
    return room->base ? (float *)(void *)(room->base + at) : NULL;
}

static struct mgb_cuda_recurrent sizes_make(const struct mgb_cuda_use *use, int gates)
{
    const struct mgb_recurrent_attributes *a = &use->a.recurrent;
    return (struct mgb_cuda_recurrent){
        .a = a,
        .rows = use->rows,
        .steps = a->steps,
        .in = a->in,
        .units = a->units,
        .width = gates * a->units,
        .y_stride = a->sequences ? (a->steps + (a->cell ? 1 : 0)) * a->units : a->units};
}

/* Mask and initial state from input `next` on; returns the next one. */
static int optional_take(struct mgb_cuda_recurrent *r, const struct mgb_cuda_use *use,
                         const struct mgb_launch *launch, int next)
{
    if (r->a->mask) {
        r->mask_whole = use->in[next].type == MGB_I32;
        r->mask = launch->inputs[next++];
    }
    if (r->a->state)
        r->h0 = launch->inputs[next++];
    if (r->a->state && r->width == 4 * r->units)
        r->c0 = launch->inputs[next++];
    return next;
}

struct mgb_cuda_recurrent mgb_cuda_recurrent_forward(const struct mgb_cuda_use *use,
                                                     const struct mgb_launch *launch, int gates)
{
    struct mgb_cuda_recurrent r = sizes_make(use, gates);
    int next = 3;
    r.x = launch->inputs[0];
    r.kernel = launch->inputs[1];
    r.recurrent = launch->inputs[2];
    if (r.a->bias)
        r.bias = launch->inputs[next++];
    optional_take(&r, use, launch, next);
    return r;
}

struct mgb_cuda_recurrent mgb_cuda_recurrent_gradient(const struct mgb_cuda_use *use,
                                                      const struct mgb_launch *launch, int gates,
                                                      bool second)
{
    struct mgb_cuda_recurrent r = sizes_make(use, gates);
    r.dy = launch->inputs[0];
    r.x = launch->inputs[1];
    r.kernel = launch->inputs[2];
    r.recurrent = launch->inputs[3];
    int next = optional_take(&r, use, launch, 4);
    r.gates = launch->inputs[next++];
    if (second)
        r.second = launch->inputs[next++];
    r.h = launch->inputs[next];
    return r;
}

struct mgb_gpu_recurrent_place mgb_cuda_recurrent_place(const struct mgb_cuda_recurrent *r,
                                                        int64_t step)
{
    return (struct mgb_gpu_recurrent_place){.rows = r->rows,
                                            .steps = r->steps,
                                            .units = r->units,
                                            .position = mgb_cuda_recurrent_position(r, step),
                                            .mask = r->mask,
                                            .mask_whole = r->mask_whole};
}

const float *mgb_cuda_recurrent_dy(const struct mgb_cuda_recurrent *r, int64_t step)
{
    if (r->a->sequences)
        return r->dy + mgb_cuda_recurrent_position(r, step) * r->units;
    return step == r->steps - 1 ? r->dy : NULL;
}

enum mgb_status mgb_cuda_recurrent_start(struct mgb_queue *queue, const void *kernel,
                                         const struct mgb_cuda_recurrent *r, void *args)
{
    return mgb_cuda_start(queue, kernel, mgb_cuda_blocks(r->rows * r->units, 128), 128, args);
}

/* The states of all positions are rows of y where that has all of them. */
static int64_t state_stride(const struct mgb_cuda_recurrent *r)
{
    return (r->steps + (r->a->cell ? 1 : 0)) * r->units;
}

enum mgb_status mgb_cuda_recurrent_previous(struct mgb_queue *queue,
                                            const struct mgb_cuda_recurrent *r, float *to)
{
    struct mgb_gpu_previous_args args = {.to = to,
                                         .h = r->h,
                                         .h0 = r->h0,
                                         .rows = r->rows,
                                         .steps = r->steps,
                                         .units = r->units,
                                         .h_stride = state_stride(r),
                                         .reverse = r->a->reverse};
    return mgb_cuda_start(queue, (const void *)mgb_gpu_previous,
                          mgb_cuda_blocks(r->rows * r->steps * r->units, 256), 256, &args);
}

enum mgb_status mgb_cuda_recurrent_input(struct mgb_queue *queue,
                                         const struct mgb_cuda_recurrent *r, float *gates)
{
    struct mgb_cuda_product product = {.a = {.data = r->x, .ld = r->in},
                                       .b = {.data = r->kernel, .ld = r->width},
                                       .c = gates,
                                       .ldc = r->width,
                                       .m = r->rows * r->steps,
                                       .n = r->width,
                                       .k = r->in};
    return mgb_cuda_multiply(queue, &product);
}

enum mgb_status mgb_cuda_recurrent_input_grad(struct mgb_queue *queue,
                                              const struct mgb_cuda_recurrent *r,
                                              const float *dgates, float *dx, float *dkernel,
                                              float *dbias)
{
    struct mgb_cuda_product product = {.a = {.data = dgates, .ld = r->width},
                                       .b = {.data = r->kernel, .ld = r->width, .transposed = true},
                                       .c = dx,
                                       .ldc = r->in,
                                       .m = r->rows * r->steps,
                                       .n = r->in,
                                       .k = r->width};
    if (dx)
        MGB_TRY(mgb_cuda_multiply(queue, &product));
    if (dbias)
        MGB_TRY(mgb_cuda_recurrent_bias(queue, r, dgates, dbias));
    if (!dkernel)
        return MGB_OK;
    product.a = (struct mgb_cuda_matrix){.data = r->x, .ld = r->in, .transposed = true};
    product.b = (struct mgb_cuda_matrix){.data = dgates, .ld = r->width};
    product.c = dkernel;
    product.ldc = product.n = r->width;
    product.m = r->in;
    product.k = r->rows * r->steps;
    return mgb_cuda_multiply(queue, &product);
}

enum mgb_status mgb_cuda_recurrent_weights(struct mgb_queue *queue,
                                           const struct mgb_cuda_recurrent *r, const float *x,
                                           const float *dy, float *to, int64_t n)
{
    struct mgb_cuda_product product = {.a = {.data = x, .ld = r->units, .transposed = true},
                                       .b = {.data = dy, .ld = r->width},
                                       .c = to,
                                       .ldc = r->width,
                                       .m = r->units,
                                       .n = n,
                                       .k = r->rows * r->steps};
    return mgb_cuda_multiply(queue, &product);
}

enum mgb_status mgb_cuda_recurrent_bias(struct mgb_queue *queue, const struct mgb_cuda_recurrent *r,
                                        const float *dgates, float *to)
{
    struct mgb_gpu_column_sum_args args = {
        .to = to, .x = dgates, .rows = r->rows * r->steps, .columns = r->width};
    return mgb_cuda_start(queue, (const void *)mgb_gpu_column_sum, (unsigned)((r->width + 31) / 32),
                          256, &args);
}

int64_t mgb_cuda_recurrent_narrow(const struct mgb_cuda_use *use, int gates, bool gradient)
{
    struct mgb_cuda_recurrent r = sizes_make(use, gates);
    int64_t positions = r.rows * r.steps, most = r.in > r.units ? r.in : r.units;
    int64_t input = mgb_cuda_narrow_bytes(1, positions, most);
    int64_t weight = mgb_cuda_narrow_bytes(1, most, r.width);
    if (!gradient)
        return input + weight;
    return mgb_cuda_narrow_bytes(1, positions, r.width) + (input > weight ? input : weight);
}
