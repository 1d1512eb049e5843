/* softmax and log_softmax of rows, and their gradients from the result: dx = y (dy - sum(y dy)), and dx = dy - exp(y) sum(dy)
 * for the logarithm. In place too: a thread reads and writes the same elements. */
#include "engine/cuda/ops/transformer.h"

#include "engine/cuda/ops/rows.cuh"

MGB_CUDA_KERNEL(mgb_gpu_softmax, struct mgb_gpu_softmax_args)
{
    struct row_place place = row_find(a.width);
    if (place.row >= a.rows)
        return;
    const float *x = a.x + place.row * a.width;
    float *y = a.to + place.row * a.width;
    float most = x[0], sum = 0.0f;
    for (int64_t i = place.lane; i < a.width; i += place.step)
        most = x[i] > most ? x[i] : most;
    most = row_largest(place, most);
    for (int64_t i = place.lane; i < a.width; i += place.step)
        sum += expf(x[i] - most);
    sum = row_total(place, sum);
    float inverse = 1.0f / sum, log_sum = logf(sum);
    for (int64_t i = place.lane; i < a.width; i += place.step)
        y[i] = a.log ? x[i] - most - log_sum : expf(x[i] - most) * inverse;
}

MGB_CUDA_KERNEL(mgb_gpu_softmax_grad, struct mgb_gpu_softmax_args)
{
    struct row_place place = row_find(a.width);
    if (place.row >= a.rows)
        return;
    const float *y = a.x + place.row * a.width, *dy = a.dy + place.row * a.width;
    float *dx = a.to + place.row * a.width;
    float sum = 0.0f;
    for (int64_t i = place.lane; i < a.width; i += place.step)
        sum += a.log ? dy[i] : y[i] * dy[i];
    sum = row_total(place, sum);
    for (int64_t i = place.lane; i < a.width; i += place.step)
        dx[i] = a.log ? dy[i] - expf(y[i]) * sum : y[i] * (dy[i] - sum);
}
