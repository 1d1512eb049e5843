/* Attention in chunks of any size, so that tests can have many of small operands. */
#ifndef MGB_CUDA_OPS_ATTENTION_H
#define MGB_CUDA_OPS_ATTENTION_H

#include "engine/cuda/kernel.h"
#include "engine/cuda/queue.h"

#define MGB_CUDA_ATTENTION_BYTES ((int64_t)64 << 20) /* of scores at once */

/* How many queries are taken at once where all fit: causal ones in up to 4 blocks of 256 at least, each of which leaves out the
 * keys past its last query. */
int64_t mgb_cuda_attention_block(int64_t queries, bool causal);
/* Enqueues an ATTENTION or ATTENTION_GRAD whose chunks of scores take at most `limit` bytes, or those of one query. */
enum mgb_status mgb_cuda_attention_run(struct mgb_queue *queue, const struct mgb_cuda_use *use,
                                       const struct mgb_launch *launch, int64_t limit);

#endif
