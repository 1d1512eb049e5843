/* Convolution and its gradients by cuDNN: on channels last, with weights brought into its order (filters outermost) in the
 * workspace. Offered in f32 and TF32, where its results are f32 as ours are (in 16 bits it would round them), for paddings
 * that it has: equal on both sides, as far as windows reach. Of its algorithms those are taken that add up products as they
 * are (no FFT, no Winograd) and say that they are deterministic. */
#include "engine/cuda/dnn/dnn.h"
#include "engine/cuda/dnn/library.h"
#include "engine/cuda/ops/channels_host.h"
#include "engine/cuda/ops/conv2d_host.h"
#include "engine/cuda/ops/transpose.h"

#include "engine/base/memory.h"

#define MOST_ALGORITHMS 16
#define ALIGNMENT 256 /* bytes, of cuDNN's workspace */

struct conv { /* prepared */
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t window;
    int algorithm;
    size_t bytes; /* its workspace */
};

static int64_t cells_of(const struct mgb_conv2d_attributes *a)
{
    return (int64_t)a->window.size[0] * a->window.size[1] * (a->x.dim[2] / a->window.groups);
}

static int64_t weight_bytes(const struct mgb_cuda_use *use)
{
    const struct mgb_conv2d_attributes *a = &use->a.conv2d;
    int64_t bytes = cells_of(a) * a->y.dim[2] * (int64_t)sizeof(float);
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Of x and of y, with all rows. */
static int64_t larger_count(const struct mgb_cuda_use *use)
{
    int64_t x = mgb_shape_count(&use->a.conv2d.x), y = mgb_shape_count(&use->a.conv2d.y);
    return use->rows * (x > y ? x : y);
}

/* cuDNN pads both sides alike; what no window reaches does not count. */
static bool padding_fits(const struct mgb_conv2d_attributes *a, int axis)
{
    int64_t extent = (int64_t)(a->window.size[axis] - 1) * a->window.dilation[axis] + 1;
    int64_t room = a->x.dim[axis] + 2 * (int64_t)a->pad_before[axis] - extent;
    return room >= 0 && room / a->window.stride[axis] + 1 == a->y.dim[axis];
}

static bool conv_serves(const struct mgb_cuda_use *use)
{
    const struct mgb_conv2d_attributes *a = &use->a.conv2d;
    bool whole = use->precision == MGB_PRECISION_F32 || use->precision == MGB_PRECISION_TF32;
    return whole && use->rows > 0 && larger_count(use) <= INT32_MAX &&
           weight_bytes(use) <= INT32_MAX && padding_fits(a, 0) && padding_fits(a, 1);
}

/* For cuDNN itself as much as x and y and the weight together take, up to the limit of the first implementation. */
static int64_t room_of(const struct mgb_cuda_use *use)
{
    int64_t count =
        use->rows * (mgb_shape_count(&use->a.conv2d.x) + mgb_shape_count(&use->a.conv2d.y));
    int64_t bytes = count * (int64_t)sizeof(float) + weight_bytes(use);
    return bytes < MGB_CUDA_CONV_LIMIT ? bytes : MGB_CUDA_CONV_LIMIT;
}

static int64_t conv_workspace(const struct mgb_cuda_use *use)
{
    return weight_bytes(use) + room_of(use);
}

static void conv_done(void *prepared)
{
    const struct mgb_cudnn *lib = mgb_cudnn_find();
    struct conv *conv = prepared;
    if (!conv)
        return;
    if (lib && conv->x)
        lib->cudnnDestroyTensorDescriptor(conv->x);
    if (lib && conv->y)
        lib->cudnnDestroyTensorDescriptor(conv->y);
    if (lib && conv->w)
        lib->cudnnDestroyFilterDescriptor(conv->w);
    if (lib && conv->window)
        lib->cudnnDestroyConvolutionDescriptor(conv->window);
    mgb_release(conv);
}

static enum mgb_status image_make(cudnnTensorDescriptor_t *out, struct mgb_cuda *cuda,
                                  const struct mgb_shape *shape, int64_t rows)
{
    MGB_CUDNN_TRY(cuda->dnn, cuda, cudnnCreateTensorDescriptor, out);
    MGB_CUDNN_TRY(cuda->dnn, cuda, cudnnSetTensor4dDescriptor, *out, CUDNN_TENSOR_NHWC,
                  CUDNN_DATA_FLOAT, (int)rows, (int)shape->dim[2], (int)shape->dim[0],
                  (int)shape->dim[1]);
    return MGB_OK;
}

/* CUDNN_DEFAULT_MATH allows TF32 for f32 operands (cuDNN, "cudnnMathType_t"). */
static cudnnMathType_t math_of(const struct mgb_cuda_use *use)
{
    return use->precision == MGB_PRECISION_TF32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
}

static enum mgb_status descriptors_make(struct conv *conv, struct mgb_cuda *cuda,
                                        const struct mgb_cuda_use *use)
{
    const struct mgb_conv2d_attributes *a = &use->a.conv2d;
    const struct mgb_window *w = &a->window;
    MGB_TRY(image_make(&conv->x, cuda, &a->x, use->rows));
    MGB_TRY(image_make(&conv->y, cuda, &a->y, use->rows));
    MGB_CUDNN_TRY(cuda->dnn, cuda, cudnnCreateFilterDescriptor, &conv->w);
    MGB_CUDNN_TRY(cuda->dnn, cuda, cudnnSetFilter4dDescriptor, conv->w, CUDNN_DATA_FLOAT,
                  CUDNN_TENSOR_NHWC, (int)a->y.dim[2], (int)(a->x.dim[2] / w->groups), w->size[0],
                  w->size[1]);
    MGB_CUDNN_TRY(cuda->dnn, cuda, cudnnCreateConvolutionDescriptor, &conv->window);
    MGB_CUDNN_TRY(cuda->dnn, cuda, cudnnSetConvolution2dDescriptor, conv->window, a->pad_before[0],
                  a->pad_before[1], w->stride[0], w->stride[1], w->dilation[0], w->dilation[1],
                  CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
    MGB_CUDNN_TRY(cuda->dnn, cuda, cudnnSetConvolutionGroupCount, conv->window, w->groups);
    MGB_CUDNN_TRY(cuda->dnn, cuda, cudnnSetConvolutionMathType, conv->window, math_of(use));
    return MGB_OK;
}

struct candidate { /* an algorithm as cuDNN offers it, of any direction */
    int algorithm;
    bool works, deterministic, plain; /* plain: sums of products */
};

struct candidates {
    struct candidate at[MOST_ALGORITHMS];
    int count;
};

#define CANDIDATES_TAKE(out, offers, count, is_plain)                                              \
    for (int i_ = 0; i_ < (count); i_++)                                                           \
        (out)->at[(out)->count++] = (struct candidate)                                             \
        {                                                                                          \
            .algorithm = (int)(offers)[i_].algo,                                                   \
            .works = (offers)[i_].status == CUDNN_STATUS_SUCCESS,                                  \
            .deterministic = (offers)[i_].determinism == CUDNN_DETERMINISTIC, .plain = (is_plain)  \
        }

static enum mgb_status forward_list(struct candidates *out, struct mgb_queue *queue,
                                    const struct conv *conv)
{
    cudnnConvolutionFwdAlgoPerf_t offers[MOST_ALGORITHMS];
    int count = 0;
    MGB_CUDNN_TRY(queue->cuda->dnn, queue->cuda, cudnnGetConvolutionForwardAlgorithm_v7, queue->dnn,
                  conv->x, conv->w, conv->window, conv->y, MOST_ALGORITHMS, &count, offers);
    CANDIDATES_TAKE(out, offers, count,
                    offers[i_].algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM ||
                        offers[i_].algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM ||
                        offers[i_].algo == CUDNN_CONVOLUTION_FWD_ALGO_GEMM);
    return MGB_OK;
}

static enum mgb_status grad_x_list(struct candidates *out, struct mgb_queue *queue,
                                   const struct conv *conv)
{
    cudnnConvolutionBwdDataAlgoPerf_t offers[MOST_ALGORITHMS];
    int count = 0;
    MGB_CUDNN_TRY(queue->cuda->dnn, queue->cuda, cudnnGetConvolutionBackwardDataAlgorithm_v7,
                  queue->dnn, conv->w, conv->y, conv->window, conv->x, MOST_ALGORITHMS, &count,
                  offers);
    CANDIDATES_TAKE(out, offers, count, offers[i_].algo == CUDNN_CONVOLUTION_BWD_DATA_ALGO_1);
    return MGB_OK;
}

static enum mgb_status grad_w_list(struct candidates *out, struct mgb_queue *queue,
                                   const struct conv *conv)
{
    cudnnConvolutionBwdFilterAlgoPerf_t offers[MOST_ALGORITHMS];
    int count = 0;
    MGB_CUDNN_TRY(queue->cuda->dnn, queue->cuda, cudnnGetConvolutionBackwardFilterAlgorithm_v7,
                  queue->dnn, conv->x, conv->y, conv->window, conv->w, MOST_ALGORITHMS, &count,
                  offers);
    CANDIDATES_TAKE(out, offers, count, offers[i_].algo == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1);
    return MGB_OK;
}

static enum mgb_status algorithms_list(struct candidates *out, enum mgb_op_kind kind,
                                       struct mgb_queue *queue, const struct conv *conv)
{
    if (kind == MGB_OP_CONV2D)
        return forward_list(out, queue, conv);
    return kind == MGB_OP_CONV2D_GRAD_X ? grad_x_list(out, queue, conv)
                                        : grad_w_list(out, queue, conv);
}

static enum mgb_status algorithm_measure(size_t *bytes, enum mgb_op_kind kind,
                                         struct mgb_queue *queue, const struct conv *conv,
                                         int algorithm)
{
    const struct mgb_cudnn *lib = queue->cuda->dnn;
    if (kind == MGB_OP_CONV2D)
        MGB_CUDNN_TRY(lib, queue->cuda, cudnnGetConvolutionForwardWorkspaceSize, queue->dnn,
                      conv->x, conv->w, conv->window, conv->y, (cudnnConvolutionFwdAlgo_t)algorithm,
                      bytes);
    else if (kind == MGB_OP_CONV2D_GRAD_X)
        MGB_CUDNN_TRY(lib, queue->cuda, cudnnGetConvolutionBackwardDataWorkspaceSize, queue->dnn,
                      conv->w, conv->y, conv->window, conv->x,
                      (cudnnConvolutionBwdDataAlgo_t)algorithm, bytes);
    else
        MGB_CUDNN_TRY(lib, queue->cuda, cudnnGetConvolutionBackwardFilterWorkspaceSize, queue->dnn,
                      conv->x, conv->y, conv->window, conv->w,
                      (cudnnConvolutionBwdFilterAlgo_t)algorithm, bytes);
    return MGB_OK;
}

/* The first that cuDNN offers, which it takes for the fastest, of those that may be. */
static enum mgb_status algorithm_choose(struct conv *conv, const struct mgb_cuda_use *use,
                                        struct mgb_queue *queue)
{
    struct candidates list = {.count = 0};
    MGB_TRY(algorithms_list(&list, use->kind, queue, conv));
    for (int i = 0; i < list.count; i++) {
        const struct candidate *it = &list.at[i];
        if (!it->works || !it->deterministic || !it->plain)
            continue;
        enum mgb_status status =
            algorithm_measure(&conv->bytes, use->kind, queue, conv, it->algorithm);
        if (status != MGB_OK && status != MGB_UNSUPPORTED)
            return status;
        conv->algorithm = it->algorithm;
        if (status == MGB_OK && conv->bytes <= (size_t)room_of(use))
            return MGB_OK;
    }
    return mgb_fail(MGB_UNSUPPORTED,
                    "cuDNN has no algorithm that is deterministic and takes at "
                    "most %lld bytes",
                    (long long)room_of(use));
}

static enum mgb_status conv_prepare(struct mgb_kernel *kernel, struct mgb_queue *queue,
                                    int *algorithm)
{
    struct conv *conv = mgb_alloc(sizeof *conv);
    if (!conv)
        return mgb_fail(MGB_NO_MEMORY, "no memory to prepare %s", kernel->name);
    kernel->prepared = conv;
    MGB_TRY(descriptors_make(conv, queue->cuda, &kernel->use));
    conv->algorithm = *algorithm;
    if (*algorithm < 0)
        MGB_TRY(algorithm_choose(conv, &kernel->use, queue));
    else
        MGB_TRY(algorithm_measure(&conv->bytes, kernel->use.kind, queue, conv, *algorithm));
    *algorithm = conv->algorithm;
    return MGB_OK;
}

struct call { /* of one launch */
    struct mgb_queue *queue;
    const struct conv *conv;
    const struct mgb_launch *launch;
    float *weight; /* in cuDNN's order, at the begin of the workspace */
    void *workspace;
    int64_t cells, filters;
};

static const float one = 1.0f, zero = 0.0f;

static enum mgb_status forward_start(const struct call *c)
{
    const struct conv *conv = c->conv;
    struct mgb_cuda *cuda = c->queue->cuda;
    MGB_CUDNN_TRY(cuda->dnn, cuda, cudnnConvolutionForward, c->queue->dnn, &one, conv->x,
                  c->launch->inputs[0], conv->w, c->weight, conv->window,
                  (cudnnConvolutionFwdAlgo_t)conv->algorithm, c->workspace, conv->bytes, &zero,
                  conv->y, c->launch->outputs[0]);
    return MGB_OK;
}

static enum mgb_status grad_x_start(const struct call *c)
{
    const struct conv *conv = c->conv;
    struct mgb_cuda *cuda = c->queue->cuda;
    MGB_CUDNN_TRY(cuda->dnn, cuda, cudnnConvolutionBackwardData, c->queue->dnn, &one, conv->w,
                  c->weight, conv->y, c->launch->inputs[0], conv->window,
                  (cudnnConvolutionBwdDataAlgo_t)conv->algorithm, c->workspace, conv->bytes, &zero,
                  conv->x, c->launch->outputs[0]);
    return MGB_OK;
}

static enum mgb_status grad_w_start(const struct call *c)
{
    const struct conv *conv = c->conv;
    struct mgb_cuda *cuda = c->queue->cuda;
    MGB_CUDNN_TRY(cuda->dnn, cuda, cudnnConvolutionBackwardFilter, c->queue->dnn, &one, conv->x,
                  c->launch->inputs[0], conv->y, c->launch->inputs[1], conv->window,
                  (cudnnConvolutionBwdFilterAlgo_t)conv->algorithm, c->workspace, conv->bytes,
                  &zero, conv->w, c->weight);
    return mgb_cuda_transpose_matrix(c->queue, c->launch->outputs[0], c->weight, c->filters,
                                     c->cells);
}

/* Bias and activation are those of the first implementation. */
static enum mgb_status conv_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                  const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    const struct mgb_conv2d_attributes *a = &use->a.conv2d;
    struct call c = {.queue = queue,
                     .conv = kernel->prepared,
                     .launch = launch,
                     .weight = launch->workspace,
                     .workspace = (char *)launch->workspace + weight_bytes(use),
                     .cells = cells_of(a),
                     .filters = a->y.dim[2]};
    if (use->kind != MGB_OP_CONV2D_GRAD_W)
        MGB_TRY(mgb_cuda_transpose_matrix(queue, c.weight, launch->inputs[1], c.cells, c.filters));
    if (use->kind == MGB_OP_CONV2D_GRAD_X)
        return grad_x_start(&c);
    if (use->kind == MGB_OP_CONV2D) {
        MGB_TRY(forward_start(&c));
        return mgb_cuda_conv_activate(queue, use, launch);
    }
    if (use->out[1].wanted)
        MGB_TRY(mgb_cuda_columns_start(queue, launch->outputs[1], launch->inputs[1],
                                       use->rows * a->y.dim[0] * a->y.dim[1], a->y.dim[2],
                                       launch->workspace));
    return grad_w_start(&c);
}

const struct mgb_cuda_second mgb_cuda_dnn_conv2d = {.serves = conv_serves,
                                                    .workspace = conv_workspace,
                                                    .prepare = conv_prepare,
                                                    .start = conv_start,
                                                    .done = conv_done};
