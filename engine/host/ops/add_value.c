/* y = x + v, a variable added to every row, and its gradient: the sum of dy over the rows. */
#include "engine/host/ops/ops.h"

#include "engine/base/parallel.h"
#include "engine/host/simd.h"

#define GRAIN 16384 /* elements */
#define BLOCK 64    /* elements of a row summed at a time */

struct add_value_work {
    float *out;
    const float *in, *value;
    int64_t elements, rows; /* elements of a row */
};

static int64_t grain_of(int64_t per_item)
{
    return per_item >= GRAIN ? 1 : GRAIN / (per_item < 1 ? 1 : per_item);
}

MGB_SIMD static void row_add(float *y, const float *x, const float *v, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        y[i] = x[i] + v[i];
}

static void rows_add(void *context, long long begin, long long end)
{
    struct add_value_work *work = context;
    for (long long row = begin; row < end; row++)
        row_add(work->out + row * work->elements, work->in + row * work->elements, work->value,
                work->elements);
}

static enum mgb_status add_value_make(struct mgb_kernel *kernel)
{
    mgb_plain_plan(kernel);
    return MGB_OK;
}

static enum mgb_status add_value_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct add_value_work work = {.out = launch->outputs[0],
                                  .in = mgb_flat_input(kernel, launch, 0),
                                  .value = mgb_flat_input(kernel, launch, 1),
                                  .elements = kernel->use.in[1].count,
                                  .rows = kernel->use.rows};
    mgb_parallel_for(work.rows, grain_of(work.elements), rows_add, &work);
    return MGB_OK;
}

/* Rows in their order whoever sums, so that the team's size changes no bit. */
MGB_SIMD static void block_sum(const struct add_value_work *work, int64_t first, int64_t count)
{
    double sum[BLOCK] = {0};
    for (int64_t row = 0; row < work->rows; row++) {
        const float *x = work->in + row * work->elements + first;
        for (int64_t i = 0; i < count; i++)
            sum[i] += (double)x[i];
    }
    for (int64_t i = 0; i < count; i++)
        work->out[first + i] = (float)sum[i];
}

static void blocks_sum(void *context, long long begin, long long end)
{
    const struct add_value_work *work = context;
    for (long long block = begin; block < end; block++) {
        int64_t first = block * BLOCK, left = work->elements - first;
        block_sum(work, first, left < BLOCK ? left : BLOCK);
    }
}

static enum mgb_status add_value_grad_run(struct mgb_kernel *kernel,
                                          const struct mgb_launch *launch)
{
    struct add_value_work work = {.out = launch->outputs[0],
                                  .in = mgb_flat_input(kernel, launch, 0),
                                  .elements = kernel->use.out[0].count,
                                  .rows = kernel->use.rows};
    mgb_parallel_for((work.elements + BLOCK - 1) / BLOCK, grain_of(BLOCK * work.rows), blocks_sum,
                     &work);
    return MGB_OK;
}

const struct mgb_host_op mgb_host_add_value = {.make = add_value_make, .run = add_value_run};
const struct mgb_host_op mgb_host_add_value_grad = {.make = add_value_make,
                                                    .run = add_value_grad_run};
