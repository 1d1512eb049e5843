/* cuDNN's convolutions: which algorithms there are and what they take, and the checks before cudnn_play.c plays one. Some
 * that are offered before all others are not deterministic or no plain sums: who calls them is refused.
 *
 * FAKE_CUDNN_BYTES: what every algorithm takes, instead of a size by shape. */
#include "tests/fake_cuda/cudnn.h"

#include <stdlib.h>

struct sides { /* descriptors of a call */
    const struct cudnnTensorStruct *x, *y;
    const struct cudnnFilterStruct *w;
    const struct cudnnConvolutionStruct *window;
};

/* Those that can be called. */
static bool is_played(enum fake_direction direction, int algorithm)
{
    switch (direction) {
    case FAKE_FORWARD:
        return algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM ||
               algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
    case FAKE_BACKWARD_DATA:
        return algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
    case FAKE_BACKWARD_FILTER:
        return algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;
    }
    return false;
}

static size_t bytes_of(enum fake_direction direction, int algorithm, const struct sides *s)
{
    size_t given = fake_config_get()->dnn_bytes;
    if (given)
        return given;
    switch (direction) {
    case FAKE_FORWARD:
        return algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM
                   ? 0
                   : (size_t)s->y->n * (size_t)(s->y->h * s->y->w) * sizeof(float);
    case FAKE_BACKWARD_DATA:
        return (size_t)s->x->n * (size_t)(s->x->h * s->x->w) * sizeof(float);
    case FAKE_BACKWARD_FILTER:
        return (size_t)s->w->k * (size_t)(s->w->h * s->w->w) * sizeof(float);
    }
    return 0;
}

static int reach(int in, int pad, int size, int dilation, int stride)
{
    return (in + 2 * pad - ((size - 1) * dilation + 1)) / stride + 1;
}

static bool shapes_fit(const struct sides *s)
{
    const struct cudnnConvolutionStruct *c = s->window;
    return s->x->n == s->y->n && s->w->c * c->groups == s->x->c && s->w->k == s->y->c &&
           s->w->k % c->groups == 0 && c->mode == CUDNN_CROSS_CORRELATION &&
           s->y->h == reach(s->x->h, c->pad[0], s->w->h, c->dilation[0], c->stride[0]) &&
           s->y->w == reach(s->x->w, c->pad[1], s->w->w, c->dilation[1], c->stride[1]);
}

static bool layouts_fit(const struct sides *s)
{
    return s->x->format == CUDNN_TENSOR_NHWC && s->y->format == CUDNN_TENSOR_NHWC &&
           s->w->format == CUDNN_TENSOR_NHWC && s->x->type == CUDNN_DATA_FLOAT &&
           s->y->type == CUDNN_DATA_FLOAT && s->w->type == CUDNN_DATA_FLOAT &&
           s->window->compute == CUDNN_DATA_FLOAT;
}

static cudnnStatus_t sides_check(const struct sides *s)
{
    if (!shapes_fit(s)) {
        fake_complain("cuDNN: shapes of a convolution do not fit each other");
        return CUDNN_STATUS_BAD_PARAM;
    }
    return layouts_fit(s) ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
}

/* The first two may not be called by who wants the same bits at every run. */
#define OFFERS_FILL(offers, room, count, a, b, c, direction, sides)                                \
    do {                                                                                           \
        const int algorithms_[] = {(a), (b), (c)};                                                 \
        for (*(count) = 0; *(count) < 3 && *(count) < (room); ++*(count)) {                        \
            (offers)[*(count)].algo = (__typeof__((offers)->algo))algorithms_[*(count)];           \
            (offers)[*(count)].status = CUDNN_STATUS_SUCCESS;                                      \
            (offers)[*(count)].memory = bytes_of(direction, algorithms_[*(count)], sides);         \
            (offers)[*(count)].determinism =                                                       \
                *(count) == 0 ? CUDNN_NON_DETERMINISTIC : CUDNN_DETERMINISTIC;                     \
            (offers)[*(count)].mathType = (sides)->window->math;                                   \
        }                                                                                          \
    } while (0)

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t y, const int room,
    int *count, cudnnConvolutionFwdAlgoPerf_t *offers)
{
    FAKE_CUDNN_ENTER();
    struct sides sides = {x, y, w, conv};
    cudnnStatus_t status = sides_check(&sides);
    if (status != CUDNN_STATUS_SUCCESS)
        return status;
    (void)handle;
    OFFERS_FILL(offers, room, count, CUDNN_CONVOLUTION_FWD_ALGO_GEMM,
                CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED,
                CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, FAKE_FORWARD, &sides);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t dx, const int room,
    int *count, cudnnConvolutionBwdDataAlgoPerf_t *offers)
{
    FAKE_CUDNN_ENTER();
    struct sides sides = {dx, dy, w, conv};
    cudnnStatus_t status = sides_check(&sides);
    if (status != CUDNN_STATUS_SUCCESS)
        return status;
    (void)handle;
    OFFERS_FILL(offers, room, count, CUDNN_CONVOLUTION_BWD_DATA_ALGO_0,
                CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED,
                CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, FAKE_BACKWARD_DATA, &sides);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnFilterDescriptor_t dw, const int room,
    int *count, cudnnConvolutionBwdFilterAlgoPerf_t *offers)
{
    FAKE_CUDNN_ENTER();
    struct sides sides = {x, dy, dw, conv};
    cudnnStatus_t status = sides_check(&sides);
    if (status != CUDNN_STATUS_SUCCESS)
        return status;
    (void)handle;
    OFFERS_FILL(offers, room, count, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0,
                CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED,
                CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, FAKE_BACKWARD_FILTER, &sides);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t bytes_get(size_t *bytes, enum fake_direction direction, int algorithm,
                               const struct sides *sides)
{
    cudnnStatus_t status = sides_check(sides);
    if (status == CUDNN_STATUS_SUCCESS)
        *bytes = bytes_of(direction, algorithm, sides);
    return status;
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t y,
    cudnnConvolutionFwdAlgo_t algorithm, size_t *bytes)
{
    FAKE_CUDNN_ENTER();
    (void)handle;
    return bytes_get(bytes, FAKE_FORWARD, (int)algorithm, &(struct sides){x, y, w, conv});
}

cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t dx,
    cudnnConvolutionBwdDataAlgo_t algorithm, size_t *bytes)
{
    FAKE_CUDNN_ENTER();
    (void)handle;
    return bytes_get(bytes, FAKE_BACKWARD_DATA, (int)algorithm, &(struct sides){dx, dy, w, conv});
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t conv, const cudnnFilterDescriptor_t dw,
    cudnnConvolutionBwdFilterAlgo_t algorithm, size_t *bytes)
{
    FAKE_CUDNN_ENTER();
    (void)handle;
    return bytes_get(bytes, FAKE_BACKWARD_FILTER, (int)algorithm, &(struct sides){x, dy, dw, conv});
}

static size_t tensor_bytes(const struct cudnnTensorStruct *t)
{
    return (size_t)t->n * (size_t)t->c * (size_t)(t->h * t->w) * sizeof(float);
}

static size_t filter_bytes(const struct cudnnFilterStruct *f)
{
    return (size_t)f->k * (size_t)f->c * (size_t)(f->h * f->w) * sizeof(float);
}

/* Caller holds the lock. */
static bool memory_fits(const struct fake_conv *c, int device)
{
    return fake_block_holds(c->x_data, tensor_bytes(&c->x), device) &&
           fake_block_holds(c->y_data, tensor_bytes(&c->y), device) &&
           fake_block_holds(c->w_data, filter_bytes(&c->w), device) &&
           (c->bytes == 0 || fake_block_holds(c->workspace, c->bytes, device));
}

static cudnnStatus_t conv_push(cudnnHandle_t handle, struct fake_conv *wanted, int algorithm)
{
    const struct sides sides = {&wanted->x, &wanted->y, &wanted->w, &wanted->window};
    size_t needed = 0;
    cudnnStatus_t status = bytes_get(&needed, wanted->direction, algorithm, &sides);
    if (status == CUDNN_STATUS_SUCCESS && !is_played(wanted->direction, algorithm))
        status = CUDNN_STATUS_NOT_SUPPORTED;
    if (status == CUDNN_STATUS_SUCCESS && wanted->bytes < needed)
        status = CUDNN_STATUS_BAD_PARAM;
    wanted->bytes = needed;
    fake_lock();
    if (status == CUDNN_STATUS_SUCCESS && !memory_fits(wanted, fake_cudnn_device(handle)))
        status = CUDNN_STATUS_BAD_PARAM;
    if (status == CUDNN_STATUS_SUCCESS) {
        struct fake_conv *op = fake_allocate(sizeof *op);
        *op = *wanted;
        op->op.run = fake_conv_run;
        op->op.work = true;
        status = fake_cudnn_push(handle, &op->op);
    } else {
        fake_complain("cuDNN: algorithm %d of direction %d refused (code %d)", algorithm,
                      (int)wanted->direction, (int)status);
    }
    fake_unlock();
    return status;
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void *alpha,
                                      const cudnnTensorDescriptor_t x_of, const void *x,
                                      const cudnnFilterDescriptor_t w_of, const void *w,
                                      const cudnnConvolutionDescriptor_t conv,
                                      cudnnConvolutionFwdAlgo_t algorithm, void *workspace,
                                      size_t bytes, const void *beta,
                                      const cudnnTensorDescriptor_t y_of, void *y)
{
    FAKE_CUDNN_ENTER();
    struct fake_conv wanted = {.direction = FAKE_FORWARD,
                               .x = *x_of,
                               .y = *y_of,
                               .w = *w_of,
                               .window = *conv,
                               .x_data = (float *)x,
                               .y_data = y,
                               .w_data = (float *)w,
                               .workspace = workspace,
                               .bytes = bytes,
                               .alpha = *(const float *)alpha,
                               .beta = *(const float *)beta};
    return conv_push(handle, &wanted, (int)algorithm);
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void *alpha,
                                           const cudnnFilterDescriptor_t w_of, const void *w,
                                           const cudnnTensorDescriptor_t dy_of, const void *dy,
                                           const cudnnConvolutionDescriptor_t conv,
                                           cudnnConvolutionBwdDataAlgo_t algorithm, void *workspace,
                                           size_t bytes, const void *beta,
                                           const cudnnTensorDescriptor_t dx_of, void *dx)
{
    FAKE_CUDNN_ENTER();
    struct fake_conv wanted = {.direction = FAKE_BACKWARD_DATA,
                               .x = *dx_of,
                               .y = *dy_of,
                               .w = *w_of,
                               .window = *conv,
                               .x_data = dx,
                               .y_data = (float *)dy,
                               .w_data = (float *)w,
                               .workspace = workspace,
                               .bytes = bytes,
                               .alpha = *(const float *)alpha,
                               .beta = *(const float *)beta};
    return conv_push(handle, &wanted, (int)algorithm);
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void *alpha,
                                             const cudnnTensorDescriptor_t x_of, const void *x,
                                             const cudnnTensorDescriptor_t dy_of, const void *dy,
                                             const cudnnConvolutionDescriptor_t conv,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm,
                                             void *workspace, size_t bytes, const void *beta,
                                             const cudnnFilterDescriptor_t dw_of, void *dw)
{
    FAKE_CUDNN_ENTER();
    struct fake_conv wanted = {.direction = FAKE_BACKWARD_FILTER,
                               .x = *x_of,
                               .y = *dy_of,
                               .w = *dw_of,
                               .window = *conv,
                               .x_data = (float *)x,
                               .y_data = (float *)dy,
                               .w_data = dw,
                               .workspace = workspace,
                               .bytes = bytes,
                               .alpha = *(const float *)alpha,
                               .beta = *(const float *)beta};
    return conv_push(handle, &wanted, (int)algorithm);
}
