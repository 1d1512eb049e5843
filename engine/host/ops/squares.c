/* The penalty on weights: strength * (sum of the squares of variables), the same for every row, and the loss that takes
 * such a value, the sum over rows of the mean over elements. */
#include "engine/host/ops/ops.h"

#include "engine/base/parallel.h"
#include "engine/host/simd.h"

#define CHUNK 1024  /* elements that mgb_rows_sum takes for a row */
#define GRAIN 16384 /* elements */
#define LANES 8

struct squares_work {
    const float *from;
    float *to;
    int64_t count;
    float factor;
};

MGB_SIMD static double squares_add(const float *x, int64_t count)
{
    double lane[LANES] = {0}, sum = 0;
    int64_t whole = count / LANES * LANES;
    for (int64_t i = 0; i < whole; i += LANES)
        for (int j = 0; j < LANES; j++)
            lane[j] += (double)x[i + j] * (double)x[i + j];
    for (int64_t i = whole; i < count; i++)
        lane[0] += (double)x[i] * (double)x[i];
    for (int j = 0; j < LANES; j++)
        sum += lane[j];
    return sum;
}

static double squares_sum(const void *context, int64_t begin, int64_t end)
{
    const struct squares_work *work = context;
    int64_t first = begin * CHUNK, last = end * CHUNK < work->count ? end * CHUNK : work->count;
    return squares_add(work->from + first, last - first);
}

static enum mgb_status squares_make(struct mgb_kernel *kernel)
{
    mgb_plain_plan(kernel);
    return MGB_OK;
}

static enum mgb_status squares_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    double sum = 0;
    float *to = launch->outputs[0];
    for (int i = 0; i < kernel->use.input_count; i++) {
        struct squares_work work = {.from = mgb_flat_input(kernel, launch, i),
                                    .count = kernel->use.in[i].count};
        sum += mgb_rows_sum((work.count + CHUNK - 1) / CHUNK, CHUNK, squares_sum, &work);
    }
    for (int64_t row = 0; row < kernel->use.rows; row++)
        to[row] = (float)(sum * (double)kernel->use.a.squares.strength);
    return MGB_OK;
}

MGB_SIMD static void scaled_copy(float *to, const float *from, int64_t count, float factor)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        to[i] = factor * from[i];
}

static void scaled_range(void *context, long long begin, long long end)
{
    const struct squares_work *work = context;
    scaled_copy(work->to + begin, work->from + begin, end - begin, work->factor);
}

static enum mgb_status squares_grad_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    const float *dy = mgb_flat_input(kernel, launch, 1);
    double sum = 0;
    for (int64_t row = 0; row < kernel->use.rows; row++)
        sum += (double)dy[row];
    struct squares_work work = {.from = mgb_flat_input(kernel, launch, 0),
                                .to = launch->outputs[0],
                                .factor =
                                    (float)(2 * sum * (double)kernel->use.a.squares.strength)};
    mgb_parallel_for(kernel->use.in[0].count, GRAIN, scaled_range, &work);
    return MGB_OK;
}

struct total_work {
    const float *x;
    int64_t elements;
};

static double total_sum(const void *context, int64_t begin, int64_t end)
{
    const struct total_work *work = context;
    double sum = 0;
    for (int64_t i = begin * work->elements; i < end * work->elements; i++)
        sum += (double)work->x[i];
    return sum;
}

static enum mgb_status total_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct total_work work = {mgb_flat_input(kernel, launch, 0),
                              mgb_shape_count(&kernel->use.in[0].shape)};
    double sum = mgb_rows_sum(kernel->use.rows, work.elements, total_sum, &work);
    *(float *)launch->outputs[0] = (float)(sum / (double)work.elements);
    return MGB_OK;
}

static enum mgb_status total_grad_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    float *to = launch->outputs[0];
    float value = launch->scale / (float)mgb_shape_count(&kernel->use.in[0].shape);
    for (int64_t i = 0; i < kernel->use.out[0].count; i++)
        to[i] = value;
    return MGB_OK;
}

const struct mgb_host_op mgb_host_squares = {.make = squares_make, .run = squares_run};
const struct mgb_host_op mgb_host_squares_grad = {.make = squares_make, .run = squares_grad_run};
const struct mgb_host_op mgb_host_total = {.make = squares_make, .run = total_run};
const struct mgb_host_op mgb_host_total_grad = {.make = squares_make, .run = total_grad_run};
