/* Inside of the fake CUDA runtime: devices in host memory, a stream is a thread that plays a queue of operations.
 *
 * ThreadSanitizer does not look into this library (it is compiled without it). It is told instead, in sync.c: an order
 * that CUDA promises is a release and an acquire on a record made for that one purpose, memory that an operation
 * touches is a range access. So an order that CUDA does not promise never exists for it, and a missing wait shows. */
#ifndef FAKE_H
#define FAKE_H

#include "tests/fake_cuda/sync.h"

#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define FAKE_MAX_DEVICES 16

/* config.c: the environment. */
struct fake_config {
    int device_count;                      /* visible ones */
    int physical[FAKE_MAX_DEVICES];        /* of a visible device */
    size_t memory[FAKE_MAX_DEVICES];       /* by physical device */
    int multiprocessors[FAKE_MAX_DEVICES]; /* by physical device, as all below */
    unsigned peer[FAKE_MAX_DEVICES][FAKE_MAX_DEVICES], peer_bad[FAKE_MAX_DEVICES][FAKE_MAX_DEVICES];
    unsigned peer_slow_us[FAKE_MAX_DEVICES][FAKE_MAX_DEVICES]; /* more per MiB */
    int init_error;
    unsigned delay_us;
    int slow_device; /* physical; -1: none */
    unsigned slow_us;
    unsigned seed;
    bool random_order, missing_rank_hangs;
    bool wrong_sums, wrong_sums_all; /* of all-reduces: of rank wrong_rank, or of all */
    int wrong_rank;
    unsigned blas_slow_us, dnn_slow_us; /* more per product; per operation of cuDNN */
    size_t dnn_bytes;
};
const struct fake_config *fake_config_get(void);
unsigned fake_random(unsigned *state);

/* call.c: every entry point begins with one of these. 0 or the code to return. */
cudaError_t fake_enter(const char *function, cudaError_t usual);
int fake_enter_library(const char *function, int usual, int not_ready);
cudaError_t fake_error(cudaError_t error); /* remembers it for cudaGetLastError */
void fake_inside_host_function(bool inside);
struct fake_injection { /* for what the present call queues */
    bool hangs;
    int fault;
};
struct fake_injection fake_injection_take(void); /* the thread's; once */
void fake_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define FAKE_ENTER(usual)                                                                          \
    do {                                                                                           \
        cudaError_t entered_ = fake_enter(__func__, usual);                                        \
        if (entered_ != cudaSuccess)                                                               \
            return fake_error(entered_);                                                           \
    } while (0)

/* device.c */
struct fake_device {
    size_t bytes, peak_bytes;
    int allocations, streams, events, others; /* others: cuBLAS handles, communicators */
    bool touched;
    bool reaches[FAKE_MAX_DEVICES]; /* peer access enabled */
    atomic_int fault;               /* sticky error */
};
struct fake_device *fake_device_get(int device);
int fake_device_current(void); /* and makes its context */
bool fake_device_exists(int device);

/* memory.c: callers hold the lock. device -1 is pinned host memory. */
enum fake_memory { FAKE_DEVICE_MEMORY, FAKE_PINNED_MEMORY, FAKE_REGISTERED_MEMORY };
struct fake_block {
    struct fake_block *next;
    char *base;
    void *raw; /* what is freed; NULL: nothing */
    size_t bytes;
    enum fake_memory kind;
    int device;
};
struct fake_block *fake_block_find(const void *address);
/* A small int with padding beside it, which is whatever the stack held: often half of an address. No block of a device
 * begins there. */
#define FAKE_SMALL 4096
bool fake_word_is_small(const void *word);
bool fake_block_holds(const void *address, size_t bytes, int device);
int fake_block_pinned_count(void);

/* stream.c: operations are structs that begin with this one, allocated with fake_allocate; the stream frees them. */
struct fake_op {
    struct fake_op *next;
    void (*run)(struct fake_op *op);
    bool work; /* touches memory and nothing else: left out on a device that is lost */
};
/* Callers hold the lock, but for fake_streams_wait. A stream that is captured keeps a pushed operation in its chain; the
 * other two always queue. A record loses one reference when it is done, one more at each wait's end. */
void fake_stream_push(cudaStream_t stream, struct fake_op *op);
void fake_stream_record(cudaStream_t stream, struct fake_record *record);
void fake_stream_wait(cudaStream_t stream, struct fake_record *record); /* takes a reference */
int fake_stream_device(cudaStream_t stream); /* -1 when it is no live stream */
struct fake_chain *fake_stream_chain(cudaStream_t stream);
void fake_stream_chain_set(cudaStream_t stream, struct fake_chain *chain);
cudaStream_t fake_stream_inner(int device); /* one that no caller sees; NULL without a thread */
void fake_stream_inner_end(cudaStream_t stream);
void fake_streams_wait(int device);

/* hang.c: operations for those that a test wished. One that hangs goes on after fake_cuda_reset or once `until` is set. */
struct fake_op *fake_hang_make(const atomic_int *until);
struct fake_op *fake_fault_make(int device, int fault);
void fake_hangs_look(void); /* some `until` was set */
void fake_hangs_end(void);

#endif
