/* Mean squared error: the sum over rows of the mean over elements of (p - t)^2, and its gradient 2 (p - t) scale / n. */
#include "engine/host/ops/ops.h"

#include "engine/base/parallel.h"
#include "engine/host/simd.h"

#define LANES 8
#define GRAIN 16384 /* elements */

struct mse_work {
    const float *prediction, *target;
    float *gradient;
    int64_t elements; /* of a row */
    float scale;
};

MGB_SIMD static double mse_rows(const struct mse_work *work, int64_t begin, int64_t end)
{
    double sum = 0;
    for (int64_t row = begin; row < end; row++) {
        const float *p = work->prediction + row * work->elements,
                    *t = work->target + row * work->elements;
        double lane[LANES] = {0};
        int64_t whole = work->elements / LANES * LANES;
        for (int64_t i = 0; i < whole; i += LANES)
            for (int j = 0; j < LANES; j++) {
                double d = (double)p[i + j] - (double)t[i + j];
                lane[j] += d * d;
            }
        for (int64_t i = whole; i < work->elements; i++) {
            double d = (double)p[i] - (double)t[i];
            lane[0] += d * d;
        }
        for (int j = 0; j < LANES; j++)
            sum += lane[j];
    }
    return sum;
}

static double mse_sum(const void *context, int64_t begin, int64_t end)
{
    return mse_rows(context, begin, end);
}

MGB_SIMD static void mse_grad_elements(float *dp, const float *p, const float *t, int64_t count,
                                       float scale)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        dp[i] = (p[i] - t[i]) * scale;
}

static void mse_grad_range(void *context, long long begin, long long end)
{
    struct mse_work *work = context;
    mse_grad_elements(work->gradient + begin, work->prediction + begin, work->target + begin,
                      end - begin, work->scale);
}

static enum mgb_status mse_make(struct mgb_kernel *kernel)
{
    if (kernel->use.in[1].type != MGB_F32)
        return mgb_fail(MGB_UNSUPPORTED, "the target is %s; a CPU device takes f32",
                        mgb_type_name(kernel->use.in[1].type));
    mgb_plain_plan(kernel);
    return MGB_OK;
}

static enum mgb_status mse_grad_make(struct mgb_kernel *kernel)
{
    MGB_TRY(mse_make(kernel));
    kernel->facts.in_place = mgb_flat_direct(kernel, 0) ? 0 : -1;
    return MGB_OK;
}

static struct mse_work mse_begin(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct mse_work work = {.elements = mgb_shape_count(&kernel->use.in[0].shape)};
    work.prediction = mgb_flat_input(kernel, launch, 0);
    work.target = mgb_flat_input(kernel, launch, 1);
    return work;
}

static enum mgb_status mse_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct mse_work work = mse_begin(kernel, launch);
    double sum =
        mgb_rows_sum(kernel->use.in[0].count / work.elements, work.elements, mse_sum, &work);
    *(float *)launch->outputs[0] = (float)(sum / (double)work.elements);
    return MGB_OK;
}

static enum mgb_status mse_grad_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct mse_work work = mse_begin(kernel, launch);
    work.gradient = launch->outputs[0];
    work.scale = 2.0f * launch->scale / (float)work.elements;
    mgb_parallel_for(kernel->use.in[0].count, GRAIN, mse_grad_range, &work);
    return MGB_OK;
}

const struct mgb_host_op mgb_host_mse = {.make = mse_make, .run = mse_run};
const struct mgb_host_op mgb_host_mse_grad = {.make = mse_grad_make, .run = mse_grad_run};
