/* The fake cuDNN: a convolution by hand, and what it refuses. */
#include "tests/fake_cuda/support.h"

#include <cudnn.h>
#include <math.h>

enum { IN = 3, OUT = 2, SIZE = 2 }; /* one image of 3 x 3, one channel, windows of 2 x 2 */

struct bench {
    cudnnHandle_t handle;
    cudaStream_t stream;
    cudnnTensorDescriptor_t x_of, y_of;
    cudnnFilterDescriptor_t w_of;
    cudnnConvolutionDescriptor_t window;
    float *x, *y, *w, *workspace;
    size_t bytes;
};

static float *uploaded(int device, const float *values, size_t count)
{
    float *memory = floats_make_on(device, count);
    ok(cudaMemcpy(memory, values, count * sizeof(float), cudaMemcpyHostToDevice));
    return memory;
}

static void bench_make(struct bench *b)
{
    const float x[IN * IN] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, w[SIZE * SIZE] = {1, 10, 100, 1000};
    machine_plain();
    b->stream = stream_make_on(0);
    ok(cudnnCreate(&b->handle));
    ok(cudnnSetStream(b->handle, b->stream));
    ok(cudnnCreateTensorDescriptor(&b->x_of));
    ok(cudnnCreateTensorDescriptor(&b->y_of));
    ok(cudnnCreateFilterDescriptor(&b->w_of));
    ok(cudnnCreateConvolutionDescriptor(&b->window));
    ok(cudnnSetTensor4dDescriptor(b->x_of, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, 1, 1, IN, IN));
    ok(cudnnSetTensor4dDescriptor(b->y_of, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, 1, 1, OUT, OUT));
    ok(cudnnSetFilter4dDescriptor(b->w_of, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NHWC, 1, 1, SIZE, SIZE));
    ok(cudnnSetConvolution2dDescriptor(b->window, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                       CUDNN_DATA_FLOAT));
    ok(cudnnSetConvolutionMathType(b->window, CUDNN_FMA_MATH));
    ok(cudnnGetConvolutionForwardWorkspaceSize(b->handle, b->x_of, b->w_of, b->window, b->y_of,
                                               CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
                                               &b->bytes));
    assert_true(b->bytes > 0);
    b->x = uploaded(0, x, IN * IN);
    b->w = uploaded(0, w, SIZE * SIZE);
    b->y = floats_make_on(0, OUT * OUT);
    b->workspace = floats_make_on(0, b->bytes / sizeof(float));
}

static void bench_free(struct bench *b)
{
    ok(cudaStreamSynchronize(b->stream));
    ok(cudaFree(b->x));
    ok(cudaFree(b->w));
    ok(cudaFree(b->y));
    ok(cudaFree(b->workspace));
    ok(cudnnDestroyTensorDescriptor(b->x_of));
    ok(cudnnDestroyTensorDescriptor(b->y_of));
    ok(cudnnDestroyFilterDescriptor(b->w_of));
    ok(cudnnDestroyConvolutionDescriptor(b->window));
    ok(cudnnDestroy(b->handle));
    ok(cudaStreamDestroy(b->stream));
    assert_int_equal(fake_cuda_live(), 0);
}

static cudnnStatus_t forward(const struct bench *b, cudnnConvolutionFwdAlgo_t algorithm,
                             const float *x, size_t bytes)
{
    const float one = 1.0f, zero = 0.0f;
    return cudnnConvolutionForward(b->handle, &one, b->x_of, x, b->w_of, b->w, b->window, algorithm,
                                   b->workspace, bytes, &zero, b->y_of, b->y);
}

static void convolution_is_that_by_hand_and_spoils_its_workspace(void **state)
{
    (void)state;
    struct bench b;
    const float wanted[OUT * OUT] = {5421, 6532, 8754, 9865};
    float y[OUT * OUT], left[OUT * OUT];
    bench_make(&b);
    ok(forward(&b, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, b.x, b.bytes));
    ok(cudaStreamSynchronize(b.stream));
    ok(cudaMemcpy(y, b.y, sizeof y, cudaMemcpyDeviceToHost));
    for (int i = 0; i < OUT * OUT; i++)
        assert_int_equal((int)y[i], (int)wanted[i]);
    assert_int_equal(b.bytes, sizeof left);
    ok(cudaMemcpy(left, b.workspace, sizeof left, cudaMemcpyDeviceToHost));
    for (int i = 0; i < OUT * OUT; i++)
        assert_true(isnan(left[i]));
    bench_free(&b);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    struct bench b;
    const cudnnConvolutionFwdAlgo_t usual = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
    bench_make(&b);
    float *far = floats_make_on(1, IN * IN);
    ok(cudaSetDevice(0));
    assert_int_equal(forward(&b, usual, b.x, b.bytes - 1), CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(forward(&b, usual, far, b.bytes), CUDNN_STATUS_BAD_PARAM);
    assert_int_equal(forward(&b, CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED, b.x, b.bytes),
                     CUDNN_STATUS_NOT_SUPPORTED);
    ok(cudaSetDevice(1));
    assert_int_equal(forward(&b, usual, b.x, b.bytes), CUDNN_STATUS_EXECUTION_FAILED);
    ok(cudaSetDevice(0));
    ok(cudnnSetTensor4dDescriptor(b.y_of, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, 1, 1, IN, OUT));
    assert_int_equal(forward(&b, usual, b.x, b.bytes), CUDNN_STATUS_BAD_PARAM);
    ok(cudaFree(far));
    bench_free(&b);
}

static void handle_of_another_device_takes_no_stream(void **state)
{
    (void)state;
    struct bench b;
    bench_make(&b);
    cudaStream_t other = stream_make_on(1);
    assert_int_equal(cudnnSetStream(b.handle, other), CUDNN_STATUS_BAD_PARAM);
    ok(cudaStreamDestroy(other));
    ok(cudaSetDevice(0));
    bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolution_is_that_by_hand_and_spoils_its_workspace),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(handle_of_another_device_takes_no_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
