/* Memory of devices, and what goes there and back between steps; see the slots of backend.h. */
#ifndef MGB_CUDA_ARENA_H
#define MGB_CUDA_ARENA_H

#include "engine/cuda/cuda.h"

enum mgb_status mgb_cuda_arena_make(void *context, void **base, int device, int64_t bytes);
void mgb_cuda_arena_free(void *context, int device, void *base, int64_t bytes);
enum mgb_status mgb_cuda_write(void *context, int device, void *address, const void *host,
                               int64_t bytes);
enum mgb_status mgb_cuda_read(void *context, int device, void *host, const void *address,
                              int64_t bytes);

#endif
