/* cuDNN's batch normalisation with given statistics. */
#include "tests/fake_cuda/cudnn.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

struct norm_op {
    struct fake_op op;
    struct cudnnTensorStruct x;
    const float *from, *gamma, *beta, *mean, *variance;
    float *to;
    double epsilon;
};

static void norm_run(struct fake_op *op)
{
    struct norm_op *n = (struct norm_op *)op;
    size_t channels = (size_t)n->x.c;
    size_t count = (size_t)n->x.n * channels * (size_t)(n->x.h * n->x.w);
    const float *const lines[] = {n->gamma, n->beta, n->mean, n->variance};
    if (fake_config_get()->dnn_slow_us)
        usleep(fake_config_get()->dnn_slow_us);
    for (int i = 0; i < 4; i++)
        fake_touch_read(lines[i], channels * sizeof(float));
    fake_touch_read(n->from, count * sizeof(float));
    fake_touch_write(n->to, count * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        size_t c = i % channels;
        double rstd = 1.0 / sqrt((double)n->variance[c] + n->epsilon);
        n->to[i] = (float)((double)n->gamma[c] * ((double)n->from[i] - (double)n->mean[c]) * rstd +
                           (double)n->beta[c]);
    }
}

/* Caller holds the lock. */
static bool memory_fits(const struct norm_op *n, int device)
{
    size_t line = (size_t)n->x.c * sizeof(float);
    size_t bytes = (size_t)n->x.n * (size_t)(n->x.h * n->x.w) * line;
    return fake_block_holds(n->from, bytes, device) && fake_block_holds(n->to, bytes, device) &&
           fake_block_holds(n->gamma, line, device) && fake_block_holds(n->beta, line, device) &&
           fake_block_holds(n->mean, line, device) && fake_block_holds(n->variance, line, device);
}

cudnnStatus_t cudnnBatchNormalizationForwardInference(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void *alpha, const void *beta,
    const cudnnTensorDescriptor_t x_of, const void *x, const cudnnTensorDescriptor_t y_of, void *y,
    const cudnnTensorDescriptor_t line_of, const void *scale, const void *bias, const void *mean,
    const void *variance, double epsilon)
{
    FAKE_CUDNN_ENTER();
    bool fits = mode == CUDNN_BATCHNORM_SPATIAL && *(const float *)alpha == 1.0f &&
                *(const float *)beta == 0.0f && x_of->format == CUDNN_TENSOR_NHWC &&
                y_of->n == x_of->n && y_of->h == x_of->h && y_of->w == x_of->w &&
                y_of->c == x_of->c && line_of->n == 1 && line_of->c == x_of->c && line_of->h == 1 &&
                line_of->w == 1 && x != y;
    if (!fits)
        return CUDNN_STATUS_BAD_PARAM;
    struct norm_op *op = fake_allocate(sizeof *op);
    *op = (struct norm_op){.op = {.run = norm_run, .work = true},
                           .x = *x_of,
                           .from = x,
                           .gamma = scale,
                           .beta = bias,
                           .mean = mean,
                           .variance = variance,
                           .to = y,
                           .epsilon = epsilon};
    fake_lock();
    cudnnStatus_t status = CUDNN_STATUS_BAD_PARAM;
    if (memory_fits(op, fake_cudnn_device(handle)))
        status = fake_cudnn_push(handle, &op->op);
    else
        free(op);
    fake_unlock();
    return status;
}
