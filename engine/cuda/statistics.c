/* Statistics of batch norm on queues of GPUs: those of several towers made one. */
#include "engine/cuda/statistics.h"

#include "engine/cuda/queue.h"

_Static_assert(sizeof(struct mgb_gpu_merge_args) <= 4096, "CUDA takes no longer argument");

enum mgb_status mgb_cuda_gpu_merge(struct mgb_queue *queue, float *mean, float *variance,
                                   const float *const *sources, const int64_t *rows, int towers,
                                   int64_t count)
{
    struct mgb_gpu_merge_args args = {
        .mean = mean, .variance = variance, .towers = towers, .count = count};
    MGB_TRY(mgb_cuda_begin(queue, "a merge of statistics"));
    if (towers > MGB_GPU_MERGE_TOWERS)
        return mgb_fail(MGB_UNSUPPORTED,
                        "bn = sync over %d towers; a GPU merges the statistics of %d at most",
                        towers, MGB_GPU_MERGE_TOWERS);
    for (int k = 0; k < towers; k++) {
        args.sources[k] = sources[k];
        args.sources[towers + k] = sources[towers + k];
        args.rows[k] = rows[k];
    }
    return mgb_cuda_start(queue, (const void *)mgb_gpu_merge, mgb_cuda_blocks(count, 64), 64,
                          &args);
}
