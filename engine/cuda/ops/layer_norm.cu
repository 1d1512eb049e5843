/* Layer normalisation, row by row, and its gradients. dgamma and dbeta are sums over rows: of chunks of rows first, eight
 * threads a column, then over the chunks in order. */
#include "engine/cuda/ops/transformer.h"

#include "engine/cuda/ops/rows.cuh"
#include <stddef.h>

/* In place too: a thread reads and writes the same elements. The variance is that of the second pass. */
MGB_CUDA_KERNEL(mgb_gpu_layer_norm, struct mgb_gpu_layer_norm_args)
{
    struct row_place place = row_find(a.width);
    if (place.row >= a.rows)
        return;
    const float *x = a.x + place.row * a.width;
    float *y = a.to + place.row * a.width;
    float sum = 0.0f, spread = 0.0f;
    for (int64_t i = place.lane; i < a.width; i += place.step)
        sum += x[i];
    float mean = row_total(place, sum) / (float)a.width;
    for (int64_t i = place.lane; i < a.width; i += place.step)
        spread += (x[i] - mean) * (x[i] - mean);
    float variance = row_total(place, spread) / (float)a.width;
    float rstd = 1.0f / sqrtf(variance + a.epsilon);
    if (place.lane == 0 && a.mean != NULL)
        a.mean[place.row] = mean;
    if (place.lane == 0 && a.rstd != NULL)
        a.rstd[place.row] = rstd;
    for (int64_t i = place.lane; i < a.width; i += place.step) {
        float z = (x[i] - mean) * rstd;
        z = a.gamma != NULL ? z * a.gamma[i] : z;
        y[i] = a.beta != NULL ? z + a.beta[i] : z;
    }
}

/* dx = rstd (g - mean(g) - xhat mean(g xhat)), g = gamma dy, xhat = (x - mean) rstd. */
MGB_CUDA_KERNEL(mgb_gpu_layer_norm_grad, struct mgb_gpu_layer_norm_args)
{
    struct row_place place = row_find(a.width);
    if (place.row >= a.rows)
        return;
    const float *x = a.x + place.row * a.width, *dy = a.dy + place.row * a.width;
    float *dx = a.to + place.row * a.width;
    float mean = a.means[place.row], rstd = a.rstds[place.row], one = 0.0f, two = 0.0f;
    for (int64_t i = place.lane; i < a.width; i += place.step) {
        float g = a.gamma != NULL ? dy[i] * a.gamma[i] : dy[i];
        one += g;
        two += g * ((x[i] - mean) * rstd);
    }
    one = row_total(place, one) / (float)a.width;
    two = row_total(place, two) / (float)a.width;
    for (int64_t i = place.lane; i < a.width; i += place.step) {
        float g = a.gamma != NULL ? dy[i] * a.gamma[i] : dy[i];
        dx[i] = rstd * (g - one - (x[i] - mean) * rstd * two);
    }
}

MGB_CUDA_KERNEL(mgb_gpu_layer_sums, struct mgb_gpu_layer_sums_args)
{
    __shared__ float gammas[8][32], betas[8][32];
    int lane = (int)threadIdx.x % 32, part = (int)threadIdx.x / 32;
    int64_t chunk = (int64_t)blockIdx.x / a.columns;
    int64_t column = (int64_t)blockIdx.x % a.columns * 32 + lane;
    int64_t end = (chunk + 1) * a.chunk < a.rows ? (chunk + 1) * a.chunk : a.rows;
    float gamma = 0.0f, beta = 0.0f;
    for (int64_t row = chunk * a.chunk + part; column < a.width && row < end; row += 8) {
        float dy = a.dy[row * a.width + column];
        gamma += dy * ((a.x[row * a.width + column] - a.means[row]) * a.rstds[row]);
        beta += dy;
    }
    gammas[part][lane] = gamma;
    betas[part][lane] = beta;
    __syncthreads();
    if (part != 0 || column >= a.width)
        return;
    for (int i = 1; i < 8; i++) {
        gamma += gammas[i][lane];
        beta += betas[i][lane];
    }
    a.parts[2 * chunk * a.width + column] = gamma;
    a.parts[(2 * chunk + 1) * a.width + column] = beta;
}

MGB_CUDA_KERNEL(mgb_gpu_layer_total, struct mgb_gpu_layer_total_args)
{
    int64_t column = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= a.width)
        return;
    float gamma = 0.0f, beta = 0.0f;
    for (int64_t chunk = 0; chunk < a.chunks; chunk++) {
        gamma += a.parts[2 * chunk * a.width + column];
        beta += a.parts[(2 * chunk + 1) * a.width + column];
    }
    a.dgamma[column] = gamma;
    a.dbeta[column] = beta;
}
