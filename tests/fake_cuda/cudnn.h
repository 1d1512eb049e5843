/* Between cudnn.c, which has handles and descriptors, cudnn_conv.c, which takes the calls of convolution, and
 * cudnn_play.c, which plays them. */
#ifndef FAKE_CUDNN_H
#define FAKE_CUDNN_H

#include "tests/fake_cuda/fake.h"

#include <cudnn.h>

struct cudnnTensorStruct {
    cudnnTensorFormat_t format;
    cudnnDataType_t type;
    int n, c, h, w;
};
struct cudnnFilterStruct {
    cudnnTensorFormat_t format;
    cudnnDataType_t type;
    int k, c, h, w;
};
struct cudnnConvolutionStruct {
    int pad[2], stride[2], dilation[2], groups;
    cudnnConvolutionMode_t mode;
    cudnnDataType_t compute;
    cudnnMathType_t math;
};

enum fake_direction { FAKE_FORWARD, FAKE_BACKWARD_DATA, FAKE_BACKWARD_FILTER };
struct fake_conv { /* in flight: descriptors may be gone when it is played */
    struct fake_op op;
    enum fake_direction direction;
    struct cudnnTensorStruct x, y;
    struct cudnnFilterStruct w;
    struct cudnnConvolutionStruct window;
    float *x_data, *y_data, *w_data; /* one of them is written */
    void *workspace;
    size_t bytes;
    float alpha, beta;
};
void fake_conv_run(struct fake_op *op);

#define FAKE_CUDNN_ENTER()                                                                         \
    do {                                                                                           \
        int entered_ = fake_enter_library(__func__, CUDNN_STATUS_INTERNAL_ERROR,                   \
                                          CUDNN_STATUS_NOT_INITIALIZED);                           \
        if (entered_ != CUDNN_STATUS_SUCCESS)                                                      \
            return (cudnnStatus_t)entered_;                                                        \
    } while (0)

/* cudnn.c: queues the operation on the handle's stream; refused unless the handle's device is current and has the stream.
 * The caller holds the lock. */
cudnnStatus_t fake_cudnn_push(cudnnHandle_t handle, struct fake_op *op);
int fake_cudnn_device(cudnnHandle_t handle);

#endif
