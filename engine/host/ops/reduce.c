/* Sum, mean and maximum over one axis, and their gradients. Sums run along the axis in order, in double, whoever sums.
 * Of equal maxima the first counts; NaN wins, so that it is seen. */
#include "engine/host/ops/ops.h"

#include "engine/base/parallel.h"
#include "engine/host/simd.h"
#include <string.h>

#define GRAIN 16384 /* elements */
#define BLOCK 64    /* elements behind the axis taken at a time */
#define LANES 8

struct reduce_work {
    int64_t count, inner, blocks; /* elements along the axis and behind it */
    const float *from;
    float *to;
    int32_t *index; /* maximum: written forward (NULL: not wanted), read backward */
    float factor;
    double divisor;
};

MGB_SIMD static void block_sum(const struct reduce_work *work, const float *from, float *to,
                               int64_t width)
{
    double sum[BLOCK] = {0};
    for (int64_t k = 0; k < work->count; k++)
        for (int64_t i = 0; i < width; i++)
            sum[i] += (double)from[k * work->inner + i];
    for (int64_t i = 0; i < width; i++)
        to[i] = (float)(sum[i] / work->divisor);
}

MGB_SIMD static void line_sum(const struct reduce_work *work, const float *from, float *to)
{
    double lane[LANES] = {0}, sum = 0;
    int64_t whole = work->count / LANES * LANES;
    for (int64_t i = 0; i < whole; i += LANES)
        for (int j = 0; j < LANES; j++)
            lane[j] += (double)from[i + j];
    for (int64_t i = whole; i < work->count; i++)
        lane[0] += (double)from[i];
    for (int j = 0; j < LANES; j++)
        sum += lane[j];
    *to = (float)(sum / work->divisor);
}

MGB_SIMD static void block_max(const struct reduce_work *work, const float *from, float *to,
                               int32_t *index, int64_t width)
{
    float best[BLOCK];
    int32_t place[BLOCK] = {0};
    memcpy(best, from, sizeof(float) * (size_t)width);
    for (int64_t k = 1; k < work->count; k++)
        for (int64_t i = 0; i < width; i++) {
            float x = from[k * work->inner + i];
            bool more = (x > best[i]) | (x != x);
            best[i] = more ? x : best[i];
            place[i] = more ? (int32_t)k : place[i];
        }
    memcpy(to, best, sizeof(float) * (size_t)width);
    if (index)
        memcpy(index, place, sizeof(int32_t) * (size_t)width);
}

/* Item: a block of the elements behind the axis, for one place before it. */
static int64_t item_find(const struct reduce_work *work, int64_t item, int64_t *outer,
                         int64_t *first)
{
    *outer = item / work->blocks;
    *first = item % work->blocks * BLOCK;
    int64_t left = work->inner - *first;
    return left < BLOCK ? left : BLOCK;
}

static void sum_range(void *context, long long begin, long long end)
{
    const struct reduce_work *work = context;
    for (long long item = begin; item < end; item++) {
        int64_t outer, first, width = item_find(work, item, &outer, &first);
        const float *from = work->from + outer * work->count * work->inner + first;
        if (work->inner == 1)
            line_sum(work, from, work->to + outer);
        else
            block_sum(work, from, work->to + outer * work->inner + first, width);
    }
}

static void max_range(void *context, long long begin, long long end)
{
    const struct reduce_work *work = context;
    for (long long item = begin; item < end; item++) {
        int64_t outer, first, width = item_find(work, item, &outer, &first);
        int64_t at = outer * work->inner + first;
        block_max(work, work->from + outer * work->count * work->inner + first, work->to + at,
                  work->index ? work->index + at : NULL, width);
    }
}

MGB_SIMD static void line_spread(float *to, const float *from, int64_t count, float factor)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        to[i] = from[i] * factor;
}

MGB_SIMD static void line_pick(float *to, const float *from, const int32_t *index, int64_t count,
                               int32_t place)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        to[i] = index[i] == place ? from[i] : 0;
}

MGB_SIMD static void one_spread(float *to, float value, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = value;
}

/* Gradients, by places before the axis. */
static void spread_range(void *context, long long begin, long long end)
{
    const struct reduce_work *work = context;
    for (long long outer = begin; outer < end; outer++) {
        const float *from = work->from + outer * work->inner;
        float *to = work->to + outer * work->count * work->inner;
        if (work->inner == 1)
            one_spread(to, *from * work->factor, work->count);
        for (int64_t k = 0; work->inner > 1 && k < work->count; k++)
            line_spread(to + k * work->inner, from, work->inner, work->factor);
    }
}

static void pick_range(void *context, long long begin, long long end)
{
    const struct reduce_work *work = context;
    for (long long outer = begin; outer < end; outer++) {
        const float *from = work->from + outer * work->inner;
        const int32_t *index = work->index + outer * work->inner;
        float *to = work->to + outer * work->count * work->inner;
        if (work->inner == 1) {
            memset(to, 0, sizeof(float) * (size_t)work->count);
            to[*index] = *from;
        }
        for (int64_t k = 0; work->inner > 1 && k < work->count; k++)
            line_pick(to + k * work->inner, from, index, work->inner, (int32_t)k);
    }
}

static enum mgb_status reduce_make(struct mgb_kernel *kernel)
{
    mgb_plain_plan(kernel);
    return MGB_OK;
}

/* `whole` has the axis. */
static struct reduce_work reduce_begin(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                                       const struct mgb_host_tensor *whole)
{
    int axis = kernel->use.a.reduce.axis;
    struct reduce_work work = {.count = whole->shape.dim[axis],
                               .inner = 1,
                               .from = mgb_flat_input(kernel, launch, 0),
                               .to = launch->outputs[0],
                               .factor = kernel->use.a.reduce.factor};
    for (int i = axis + 1; i < whole->shape.rank; i++)
        work.inner *= whole->shape.dim[i];
    work.blocks = (work.inner + BLOCK - 1) / BLOCK;
    work.divisor = kernel->use.kind == MGB_OP_MEAN ? (double)work.count : 1;
    return work;
}

static enum mgb_status forward_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    const struct mgb_host_tensor *x = &kernel->use.in[0];
    struct reduce_work work = reduce_begin(kernel, launch, x);
    int64_t items = x->count / work.count / work.inner * work.blocks;
    bool max = kernel->use.kind == MGB_OP_MAX;
    if (max && kernel->use.out[1].wanted)
        work.index = launch->outputs[1];
    mgb_parallel_for(items, GRAIN / (x->count / items + 1) + 1, max ? max_range : sum_range, &work);
    return MGB_OK;
}

static enum mgb_status backward_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    const struct mgb_host_tensor *dx = &kernel->use.out[0];
    struct reduce_work work = reduce_begin(kernel, launch, dx);
    int64_t each = work.count * work.inner;
    bool max = kernel->use.kind == MGB_OP_MAX_GRAD;
    if (max)
        work.index = launch->inputs[1];
    mgb_parallel_for(dx->count / each, GRAIN / each + 1, max ? pick_range : spread_range, &work);
    return MGB_OK;
}

const struct mgb_host_op mgb_host_reduce = {.make = reduce_make, .run = forward_run};
const struct mgb_host_op mgb_host_reduce_grad = {.make = reduce_make, .run = backward_run};
