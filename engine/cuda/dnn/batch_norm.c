/* The normalisation of batch norm by cuDNN, given mean and variance (cudnnBatchNormalizationForwardInference says y = gamma (x -
 * mean) / sqrt(epsilon + variance) + beta, whoever took them). Offered in training, where x is kept and y lies elsewhere,
 * with gamma and beta, without relu: the gradient takes relu's mask from x by the first implementation's rounding.
 *
 * Statistics and gradients have no second implementation: cuDNN takes them in one with y and with dx, over one device, and
 * gives 1 / sqrt(variance + epsilon), while towers merge means and variances in between. */
#include "engine/cuda/dnn/dnn.h"
#include "engine/cuda/dnn/library.h"

#include "engine/base/memory.h"

enum { X, MEAN, VARIANCE, GAMMA, BETA };

struct norm { /* prepared */
    cudnnTensorDescriptor_t x, line;
};

static bool norm_serves(const struct mgb_cuda_use *use)
{
    return use->training && use->a.norm.scale && use->a.norm.center &&
           use->a.norm.activation == MGB_LINEAR &&
           (double)use->a.norm.epsilon >= CUDNN_BN_MIN_EPSILON && use->in[X].count > 0 &&
           use->in[X].count <= INT32_MAX && use->in[X].batched;
}

static int64_t norm_workspace(const struct mgb_cuda_use *use)
{
    (void)use;
    return 0;
}

static void norm_done(void *prepared)
{
    const struct mgb_cudnn *lib = mgb_cudnn_find();
    struct norm *norm = prepared;
    if (lib && norm->x)
        lib->cudnnDestroyTensorDescriptor(norm->x);
    if (lib && norm->line)
        lib->cudnnDestroyTensorDescriptor(norm->line);
    mgb_release(norm);
}

static enum mgb_status norm_prepare(struct mgb_kernel *kernel, struct mgb_queue *queue,
                                    int *algorithm)
{
    const struct mgb_cuda_tensor *x = &kernel->use.in[X];
    struct mgb_cuda *cuda = queue->cuda;
    struct norm *norm = mgb_alloc(sizeof *norm);
    if (!norm)
        return mgb_fail(MGB_NO_MEMORY, "no memory to prepare %s", kernel->name);
    kernel->prepared = norm;
    *algorithm = 0;
    MGB_CUDNN_TRY(cuda->dnn, cuda, cudnnCreateTensorDescriptor, &norm->x);
    MGB_CUDNN_TRY(cuda->dnn, cuda, cudnnCreateTensorDescriptor, &norm->line);
    MGB_CUDNN_TRY(cuda->dnn, cuda, cudnnSetTensor4dDescriptor, norm->x, CUDNN_TENSOR_NHWC,
                  CUDNN_DATA_FLOAT, (int)kernel->use.rows, (int)x->last,
                  (int)(x->positions / x->last), 1);
    MGB_CUDNN_TRY(cuda->dnn, cuda, cudnnSetTensor4dDescriptor, norm->line, CUDNN_TENSOR_NCHW,
                  CUDNN_DATA_FLOAT, 1, (int)x->last, 1, 1);
    return MGB_OK;
}

static enum mgb_status norm_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                  const struct mgb_launch *launch)
{
    static const float one = 1.0f, zero = 0.0f;
    const struct norm *norm = kernel->prepared;
    struct mgb_cuda *cuda = queue->cuda;
    if (launch->inputs[X] == launch->outputs[0]) /* cuDNN's manual does not say that it may be */
        return kernel->op->start(queue, kernel, launch);
    MGB_CUDNN_TRY(cuda->dnn, cuda, cudnnBatchNormalizationForwardInference, queue->dnn,
                  CUDNN_BATCHNORM_SPATIAL, &one, &zero, norm->x, launch->inputs[X], norm->x,
                  launch->outputs[0], norm->line, launch->inputs[GAMMA], launch->inputs[BETA],
                  launch->inputs[MEAN], launch->inputs[VARIANCE],
                  (double)kernel->use.a.norm.epsilon);
    return MGB_OK;
}

const struct mgb_cuda_second mgb_cuda_dnn_batch_norm = {.serves = norm_serves,
                                                        .workspace = norm_workspace,
                                                        .prepare = norm_prepare,
                                                        .start = norm_start,
                                                        .done = norm_done};
