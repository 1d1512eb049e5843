/* Means and variances of several towers made those of all (Chan, Golub and LeVeque 1983, formula 1.5b), in the order of the
 * towers and in double, as on CPU devices. */
#include "engine/cuda/statistics.h"

MGB_CUDA_KERNEL(mgb_gpu_merge, struct mgb_gpu_merge_args)
{
    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.count; i += stride) {
        double n = (double)a.rows[0], mean = (double)a.sources[0][i];
        double spread = (double)a.sources[a.towers][i] * n; /* sum of squared distances from the mean */
        for (int k = 1; k < a.towers; k++) {
            double more = (double)a.rows[k], away = (double)a.sources[k][i] - mean, all = n + more;
            mean += away * (more / all);
            spread += (double)a.sources[a.towers + k][i] * more + away * away * (n * more / all);
            n = all;
        }
        a.mean[i] = (float)mean;
        a.variance[i] = (float)(spread / n);
    }
}
