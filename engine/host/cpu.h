/* Arithmetic on plain f32 arrays in the calling thread and its team: what queues run for sums, clipping and updates, and
 * what a foreign backend runs for /cpu:0. Results do not depend on the team. */
#ifndef MGB_HOST_CPU_H
#define MGB_HOST_CPU_H

#include "engine/backend/backend.h"

void mgb_cpu_reduce(float *to, const float *const *sources, int source_count, int64_t count);
/* As mgb_backend.merge. */
void mgb_cpu_merge(float *mean, float *variance, const float *const *sources, const int64_t *rows,
                   int towers, int64_t count);
/* Elements [begin, end) of the sum of all buffers, in their order, written to all of them. */
void mgb_cpu_allreduce(float *const *buffers, int buffer_count, int64_t begin, int64_t end);
/* The same of 16-bit numbers: added in f32, the sum rounded once. */
void mgb_cpu_allreduce_wire(void *const *buffers, int buffer_count, int64_t begin, int64_t end,
                            enum mgb_wire_type type);
/* Elements [begin, end) summed up a tree: tower t takes what towers 2t + 2 and 2t + 1 have summed, in that order. */
void mgb_cpu_allreduce_tree(float *const *buffers, int buffer_count, int64_t begin, int64_t end);
void mgb_cpu_cast(void *to, const void *from, int64_t count, enum mgb_wire_type type,
                  enum mgb_cast way);
void mgb_cpu_norm(float *to, const float *const *sources, const int64_t *counts, int source_count);
void mgb_cpu_clip(float *to, const float *const *sources, const int64_t *counts, int source_count,
                  struct mgb_clip clip);
void mgb_cpu_update(const struct mgb_update *update);
void mgb_cpu_fill(void *to, int64_t bytes);
void mgb_cpu_copy(void *to, const void *from, int64_t bytes);

#endif
