/* relu, relu6, tanh and sigmoid of one value, for kernels that end with an activation. Numbers as in kernels.h. */
#ifndef MGB_CUDA_OPS_ACTIVATION_CUH
#define MGB_CUDA_OPS_ACTIVATION_CUH

static __device__ __forceinline__ float activation_apply(float x, int activation)
{
    switch (activation) {
    case 1:
        return x > 0.0f ? x : 0.0f;
    case 2:
        return tanhf(x);
    case 3:
        return 1.0f / (1.0f + expf(-x));
    case 4:
        return x > 0.0f ? (x < 6.0f ? x : 6.0f) : 0.0f;
    }
    return x;
}

static __device__ __forceinline__ float activation_slope(float y, float dy, int activation)
{
    switch (activation) {
    case 1:
        return y > 0.0f ? dy : 0.0f;
    case 2:
        return dy * (1.0f - y * y);
    case 3:
        return dy * (y * (1.0f - y));
    case 4:
        return y > 0.0f && y < 6.0f ? dy : 0.0f;
    }
    return dy;
}

#endif
