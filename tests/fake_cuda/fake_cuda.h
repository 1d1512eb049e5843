/* What tests may ask of the fake CUDA runtime beyond CUDA itself. The code under test never includes this.
 *
 * Environment, read at the first call and again by fake_cuda_reset:
 *   FAKE_CUDA_DEVICES=2       devices of the machine, 0 to 16; CUDA_VISIBLE_DEVICES picks among them
 *   FAKE_CUDA_MEMORY=1G       bytes a device (K, M, G), or one size a device: 64M,32M
 *   FAKE_CUDA_PEER=all        pairs that can reach each other: all, none, or 0-1,2-3
 *   FAKE_CUDA_INIT=35         every call fails with this cudaError (34, 35, 100: no driver, no device)
 *   FAKE_CUDA_FAIL=cudaMalloc:3,cublasSgemm:1=13   the third cudaMalloc fails; "=code" instead of the usual code;
 *                             the name * counts calls of every function; ncclCommInitAll:1=1 is a lack of memory
 *   FAKE_CUDA_HANG=cudaLaunchKernel:3    what that call queues never ends (until fake_cuda_reset; a collective also when
 *                             its rank is aborted)
 *   FAKE_CUDA_STICKY=cudaLaunchKernel:3=719    the device is lost where that call's work would begin; 700 without a code
 *   FAKE_CUDA_MISSING_RANK=hang    a collective that lacks a rank hangs; otherwise it is refused at once
 *   FAKE_CUDA_WRONG_SUM=1     rank 1 gets wrong sums of all-reduces; all: the same wrong ones on every rank
 *   FAKE_CUDA_PEER_BAD=0-1    direct copies between the two arrive damaged (after peer access was enabled)
 *   FAKE_CUDA_PEER_SLOW=0-1:900    such copies take so many microseconds more a MiB
 *   FAKE_CUBLAS_SLOW_US=900, FAKE_CUDNN_SLOW_US=900    products of cuBLAS, operations of cuDNN take so much longer
 *   FAKE_CUDNN_BYTES=100000   what every algorithm of cuDNN needs as workspace, instead of a size by shape
 *   FAKE_CUDA_SMS=2,1         multiprocessors a device
 *   FAKE_CUDA_DELAY_US=200    up to so many microseconds of delay before a third of the operations
 *   FAKE_CUDA_SLOW=1:2000     every operation on GPU 1 takes so many microseconds more
 *   FAKE_CUDA_ORDER=random    threads of a block start and go on in random order
 *   FAKE_CUDA_SEED=1          of delays and orders */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stddef.h>

struct fake_cuda_usage {
    size_t bytes;      /* held by cudaMalloc, rounded as the device rounds */
    size_t peak_bytes; /* the most there ever were */
    int allocations;
    int streams;
    int events;
    int touched; /* 1 once a call made a context there */
};
struct fake_cuda_usage fake_cuda_usage_get(int device);

/* Calls of one function so far, or of all with NULL; cublasSgemm and not cublasSgemm_v2. */
long fake_cuda_calls(const char *function);
/* The name of the index'th function that was called, in order of its first call; NULL beyond the last. Lasts until reset. */
const char *fake_cuda_function(int index);

/* Handles, allocations and pinned blocks that were made and not yet freed, on all devices. */
int fake_cuda_live(void);

/* Waits for nothing: call it when nothing is live. Counters to zero, faults cleared, environment read again. */
void fake_cuda_reset(void);

#endif
