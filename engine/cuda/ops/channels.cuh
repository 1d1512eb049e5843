/* How a block of 256 threads adds up what its threads have of the same channel. */
#ifndef MGB_CUDA_OPS_CHANNELS_CUH
#define MGB_CUDA_OPS_CHANNELS_CUH

#define MGB_CHANNEL_THREADS 256

/* In the order of the threads; the sum is that of the first `tile` threads, a channel each. */
static __device__ __forceinline__ double tile_sum(double *shared, double value, int tile)
{
    double sum = 0.0;
    shared[threadIdx.x] = value;
    __syncthreads();
    if ((int)threadIdx.x < tile)
        for (int i = (int)threadIdx.x; i < MGB_CHANNEL_THREADS; i += tile)
            sum += shared[i];
    __syncthreads();
    return sum;
}

#endif
