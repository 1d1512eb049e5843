/* Queues and what runs on them. */
#ifndef MGB_CUDA_QUEUE_H
#define MGB_CUDA_QUEUE_H

#include "engine/cuda/cuda.h"

/* queue.c */
enum mgb_status mgb_cuda_queue_make(void *context, struct mgb_queue **out,
                                    const struct mgb_queue_request *request);
void mgb_cuda_queue_free(struct mgb_queue *queue);
enum mgb_status mgb_cuda_drain(void *context, int64_t timeout_ns);
/* Makes the queue's GPU current and notes what is about to be enqueued; MGB_DEVICE after a sticky fault. */
enum mgb_status mgb_cuda_begin(struct mgb_queue *queue, const char *what);
/* Enqueues a kernel of kernels.h with its argument struct. */
enum mgb_status mgb_cuda_start(struct mgb_queue *queue, const void *kernel, unsigned blocks,
                               unsigned threads, void *args);
/* Blocks of `threads` threads for `count` elements, each thread taking several. */
unsigned mgb_cuda_blocks(int64_t count, int threads);

/* work.c */
enum mgb_status mgb_cuda_launch(struct mgb_queue *queue, struct mgb_kernel *kernel,
                                const struct mgb_launch *launch);
enum mgb_status mgb_cuda_copy(struct mgb_queue *queue, void *to, const void *from, int64_t bytes);
enum mgb_status mgb_cuda_fill(struct mgb_queue *queue, void *to, int64_t bytes);
enum mgb_status mgb_cuda_merge(struct mgb_queue *queue, float *mean, float *variance,
                               const float *const *sources, const int64_t *rows, int towers,
                               int64_t count);
enum mgb_status mgb_cuda_reduce(struct mgb_queue *queue, float *to, const float *const *sources,
                                int source_count, int64_t count);
enum mgb_status mgb_cuda_norm(struct mgb_queue *queue, float *to, const float *const *sources,
                              const int64_t *counts, int source_count);
enum mgb_status mgb_cuda_clip(struct mgb_queue *queue, float *to, const float *const *sources,
                              const int64_t *counts, int source_count, struct mgb_clip clip);
enum mgb_status mgb_cuda_cast(struct mgb_queue *queue, void *to, const void *from, int64_t count,
                              enum mgb_wire_type type, enum mgb_cast way);
enum mgb_status mgb_cuda_update(struct mgb_queue *queue, const struct mgb_update *update);

/* work.c: enqueues a kernel that goes over `count` elements by fours (vector.cuh). */
enum mgb_status mgb_cuda_start_quads(struct mgb_queue *queue, const void *kernel, int64_t count,
                                     void *args);

/* many.c: what `work.c` says of GPUs, where a launch takes many tensors. */
#define MGB_CUDA_SCRATCH 16384 /* doubles of a compute queue of a GPU */
enum mgb_status mgb_cuda_many_norm(struct mgb_queue *queue, float *to, const float *const *sources,
                                   const int64_t *counts, int source_count);
enum mgb_status mgb_cuda_many_clip(struct mgb_queue *queue, float *to, const float *const *sources,
                                   const int64_t *counts, int source_count, struct mgb_clip clip);
enum mgb_status mgb_cuda_many_update(struct mgb_queue *queue, const struct mgb_update *update);

/* statistics.c: the merge on a GPU. */
enum mgb_status mgb_cuda_gpu_merge(struct mgb_queue *queue, float *mean, float *variance,
                                   const float *const *sources, const int64_t *rows, int towers,
                                   int64_t count);

/* collective.c */
enum mgb_status mgb_cuda_allreduce(struct mgb_queue *const *queues, float *const *buffers,
                                   int count_of_queues, int64_t count,
                                   enum mgb_allreduce algorithm);
enum mgb_status mgb_cuda_allreduce_wire(struct mgb_queue *const *queues, void *const *buffers,
                                        int count_of_queues, int64_t count,
                                        enum mgb_allreduce algorithm, enum mgb_wire_type type);
void mgb_cuda_cliques_done(struct mgb_cuda *cuda);
/* Into `out`: which ranks are not where their newest collective begins, "" when all are; while nothing is enqueued. */
void mgb_cuda_collective_missing(const struct mgb_cuda *cuda, char *out, size_t size);

#endif
