/* A channel of batch norm as a line: y = (x - mean) slope + shift, in double up to the last rounding, as on CPU devices. */
#ifndef MGB_CUDA_OPS_BATCH_NORM_CUH
#define MGB_CUDA_OPS_BATCH_NORM_CUH

#include <stddef.h>

struct norm_line {
    float mean, slope, shift, rstd;
};

static __device__ __forceinline__ float norm_rstd(float variance, float epsilon)
{
    return (float)(1.0 / sqrt((double)variance + (double)epsilon));
}

static __device__ __forceinline__ struct norm_line norm_line_at(const float *mean, const float *variance,
                                                                const float *gamma, const float *beta, float epsilon,
                                                                int64_t channel)
{
    double rstd = 1.0 / sqrt((double)variance[channel] + (double)epsilon);
    struct norm_line line;
    line.mean = mean[channel];
    line.slope = (float)(gamma != NULL ? rstd * (double)gamma[channel] : rstd);
    line.shift = beta != NULL ? beta[channel] : 0.0f;
    line.rstd = (float)rstd;
    return line;
}

#endif
