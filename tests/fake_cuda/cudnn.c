/* cuDNN: handles and descriptors. A handle that is made where a capture forbids it spoils that, as one of cuBLAS does. */
#include "tests/fake_cuda/cudnn.h"

#include "tests/fake_cuda/capture.h"

#include <stdlib.h>

struct cudnnContext {
    struct cudnnContext *next;
    cudaStream_t stream;
    int device;
};

static struct cudnnContext *handles; /* under the lock */
static atomic_int descriptors;       /* not yet destroyed */

int fake_cudnn_live(void)
{
    return atomic_load(&descriptors);
}

size_t cudnnGetVersion(void)
{
    return CUDNN_VERSION;
}

const char *cudnnGetErrorString(cudnnStatus_t status)
{
    switch ((int)status) {
    case CUDNN_STATUS_SUCCESS:
        return "CUDNN_STATUS_SUCCESS";
    case CUDNN_STATUS_NOT_INITIALIZED:
        return "CUDNN_STATUS_NOT_INITIALIZED";
    case CUDNN_STATUS_BAD_PARAM:
        return "CUDNN_STATUS_BAD_PARAM";
    case CUDNN_STATUS_NOT_SUPPORTED:
        return "CUDNN_STATUS_NOT_SUPPORTED";
    case CUDNN_STATUS_INTERNAL_ERROR:
        return "CUDNN_STATUS_INTERNAL_ERROR";
    case CUDNN_STATUS_EXECUTION_FAILED:
        return "CUDNN_STATUS_EXECUTION_FAILED";
    default: /* an int, as far as C knows */
        return "CUDNN_STATUS of another kind";
    }
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *out)
{
    FAKE_CUDNN_ENTER();
    if (fake_capture_unsafe() != cudaSuccess) /* it allocates */
        return CUDNN_STATUS_INTERNAL_ERROR;
    struct cudnnContext *handle = fake_allocate(sizeof *handle);
    handle->device = fake_device_current();
    fake_lock();
    handle->next = handles;
    handles = handle;
    fake_device_get(handle->device)->others++;
    fake_device_get(handle->device)->touched = true;
    fake_unlock();
    *out = handle;
    return CUDNN_STATUS_SUCCESS;
}

/* Caller holds the lock. */
static struct cudnnContext **handle_find(cudnnHandle_t handle)
{
    struct cudnnContext **link = &handles;
    while (*link && *link != handle)
        link = &(*link)->next;
    return link;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle)
{
    FAKE_CUDNN_ENTER();
    fake_lock();
    struct cudnnContext **link = handle_find(handle);
    bool live = *link != NULL;
    if (live) {
        *link = handle->next;
        fake_device_get(handle->device)->others--;
        free(handle);
    }
    fake_unlock();
    return live ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_INITIALIZED;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
    FAKE_CUDNN_ENTER();
    fake_lock();
    bool fits = fake_stream_device(stream) == handle->device;
    if (fits)
        handle->stream = stream;
    fake_unlock();
    return fits ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

int fake_cudnn_device(cudnnHandle_t handle)
{
    return handle->device;
}

cudnnStatus_t fake_cudnn_push(cudnnHandle_t handle, struct fake_op *op)
{
    bool live = *handle_find(handle) != NULL;
    if (!live || handle->device != fake_device_current() ||
        fake_stream_device(handle->stream) != handle->device) {
        fake_complain("cuDNN handle that is gone, without a stream on its device, or not current");
        free(op);
        return CUDNN_STATUS_EXECUTION_FAILED;
    }
    fake_stream_push(handle->stream, op);
    return CUDNN_STATUS_SUCCESS;
}

/* Each kind of descriptor is a struct that is made, filled and freed. */
#define DESCRIPTOR(name, type)                                                                     \
    cudnnStatus_t cudnnCreate##name##Descriptor(type *out)                                         \
    {                                                                                              \
        FAKE_CUDNN_ENTER();                                                                        \
        *out = fake_allocate(sizeof **out);                                                        \
        atomic_fetch_add(&descriptors, 1);                                                         \
        return CUDNN_STATUS_SUCCESS;                                                               \
    }                                                                                              \
    cudnnStatus_t cudnnDestroy##name##Descriptor(type descriptor)                                  \
    {                                                                                              \
        struct cudnnTensorStruct *memory = (void *)descriptor;                                     \
        free(memory); /* also where the call is made to fail: nobody could free it any more */     \
        FAKE_CUDNN_ENTER();                                                                        \
        atomic_fetch_sub(&descriptors, 1);                                                         \
        return CUDNN_STATUS_SUCCESS;                                                               \
    }
DESCRIPTOR(Tensor, cudnnTensorDescriptor_t)
DESCRIPTOR(Filter, cudnnFilterDescriptor_t)
DESCRIPTOR(Convolution, cudnnConvolutionDescriptor_t)

cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w)
{
    FAKE_CUDNN_ENTER();
    if (n < 1 || c < 1 || h < 1 || w < 1)
        return CUDNN_STATUS_BAD_PARAM;
    *tensor = (struct cudnnTensorStruct){format, type, n, c, h, w};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w)
{
    FAKE_CUDNN_ENTER();
    if (k < 1 || c < 1 || h < 1 || w < 1)
        return CUDNN_STATUS_BAD_PARAM;
    *filter = (struct cudnnFilterStruct){format, type, k, c, h, w};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t conv, int pad_h,
                                              int pad_w, int stride_h, int stride_w, int dilation_h,
                                              int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t compute)
{
    FAKE_CUDNN_ENTER();
    if (pad_h < 0 || pad_w < 0 || stride_h < 1 || stride_w < 1 || dilation_h < 1 || dilation_w < 1)
        return CUDNN_STATUS_BAD_PARAM;
    *conv = (struct cudnnConvolutionStruct){.pad = {pad_h, pad_w},
                                            .stride = {stride_h, stride_w},
                                            .dilation = {dilation_h, dilation_w},
                                            .groups = 1,
                                            .mode = mode,
                                            .compute = compute,
                                            .math = CUDNN_DEFAULT_MATH};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t conv, int groups)
{
    FAKE_CUDNN_ENTER();
    conv->groups = groups;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t conv, cudnnMathType_t math)
{
    FAKE_CUDNN_ENTER();
    conv->math = math;
    return CUDNN_STATUS_SUCCESS;
}
