/* The gradient of an operand that was repeated: the sum of dy over the repetitions, each in its order and in double,
 * whoever sums, so that the team's size changes no bit; and the repetition itself. */
#include "engine/host/ops/ops.h"

#include "engine/base/parallel.h"
#include "engine/host/ops/spread.h"
#include "engine/host/simd.h"
#include <string.h>

#define GRAIN 16384 /* elements */
#define BLOCK 64    /* elements of the last axis summed at a time */
#define LANES 8

struct sum_work {
    float *out;
    const float *in;
    struct mgb_spread spread; /* of dy over itself (operand 0) and the operand (operand 1) */
    int kept[MGB_SPREAD_AXES], summed[MGB_SPREAD_AXES]; /* axes but the last */
    int kept_count, summed_count;
    int64_t kept_items, summed_items, inner, blocks;
    bool inner_kept;
};

/* The offset of item `item` of the given axes in operand `operand`. */
static int64_t item_offset(const struct mgb_spread *spread, const int *axes, int count,
                           int64_t item, int operand)
{
    int64_t offset = 0;
    for (int i = count - 1; i >= 0; i--) {
        offset += item % spread->dim[axes[i]] * spread->stride[operand][axes[i]];
        item /= spread->dim[axes[i]];
    }
    return offset;
}

MGB_SIMD static void block_add(double *sum, const float *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        sum[i] += (double)x[i];
}

MGB_SIMD static double stretch_sum(const float *x, int64_t count)
{
    double lane[LANES] = {0}, sum = 0;
    int64_t whole = count / LANES * LANES;
    for (int64_t i = 0; i < whole; i += LANES)
        for (int j = 0; j < LANES; j++)
            lane[j] += (double)x[i + j];
    for (int64_t i = whole; i < count; i++)
        lane[0] += (double)x[i];
    for (int j = 0; j < LANES; j++)
        sum += lane[j];
    return sum;
}

static void kept_sum(const struct sum_work *work, int64_t kept, int64_t block)
{
    int64_t from = item_offset(&work->spread, work->kept, work->kept_count, kept, 0);
    int64_t to = item_offset(&work->spread, work->kept, work->kept_count, kept, 1);
    int64_t first = block * BLOCK, left = work->inner - first, count = left < BLOCK ? left : BLOCK;
    double sum[BLOCK] = {0};
    for (int64_t i = 0; i < work->summed_items; i++) {
        int64_t at = from + item_offset(&work->spread, work->summed, work->summed_count, i, 0);
        if (work->inner_kept)
            block_add(sum, work->in + at + first, count);
        else
            sum[0] += stretch_sum(work->in + at, work->inner);
    }
    if (!work->inner_kept)
        work->out[to] = (float)sum[0];
    for (int64_t i = 0; work->inner_kept && i < count; i++)
        work->out[to + first + i] = (float)sum[i];
}

static void sum_range(void *context, long long begin, long long end)
{
    const struct sum_work *work = context;
    for (long long i = begin; i < end; i++)
        kept_sum(work, i / work->blocks, i % work->blocks);
}

static void axes_sort(struct sum_work *work)
{
    const struct mgb_spread *spread = &work->spread;
    int last = spread->axes - 1;
    work->kept_items = work->summed_items = 1;
    for (int axis = 0; axis < last; axis++) {
        if (spread->stride[1][axis] != 0) {
            work->kept[work->kept_count++] = axis;
            work->kept_items *= spread->dim[axis];
        } else {
            work->summed[work->summed_count++] = axis;
            work->summed_items *= spread->dim[axis];
        }
    }
    work->inner = spread->dim[last];
    work->inner_kept = spread->stride[1][last] != 0;
    work->blocks = work->inner_kept ? (work->inner + BLOCK - 1) / BLOCK : 1;
}

static enum mgb_status plain_make(struct mgb_kernel *kernel)
{
    mgb_plain_plan(kernel);
    return MGB_OK;
}

static enum mgb_status sum_to_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    const struct mgb_host_use *use = &kernel->use;
    const struct mgb_host_tensor *const operands[2] = {&use->in[0], &use->out[0]};
    struct sum_work work = {.out = launch->outputs[0],
                            .in = mgb_flat_input(kernel, launch, 0),
                            .spread = mgb_spread_make(&use->in[0], use->rows, operands, 2)};
    axes_sort(&work);
    int64_t items = work.kept_items * work.blocks, each = use->in[0].count / items + 1;
    mgb_parallel_for(items, each >= GRAIN ? 1 : GRAIN / each, sum_range, &work);
    return MGB_OK;
}

struct expand_work {
    float *to;
    const float *from;
    int64_t elements;
};

static void expand_range(void *context, long long begin, long long end)
{
    const struct expand_work *work = context;
    for (long long row = begin; row < end; row++)
        memcpy(work->to + row * work->elements, work->from, sizeof(float) * (size_t)work->elements);
}

static enum mgb_status expand_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct expand_work work = {launch->outputs[0], mgb_flat_input(kernel, launch, 0),
                               kernel->use.in[0].count};
    mgb_parallel_for(kernel->use.rows, GRAIN / (work.elements + 1) + 1, expand_range, &work);
    return MGB_OK;
}

const struct mgb_host_op mgb_host_sum_to = {.make = plain_make, .run = sum_to_run};
const struct mgb_host_op mgb_host_expand = {.make = plain_make, .run = expand_run};
