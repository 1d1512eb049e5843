/* Inside of the fake CUDA runtime: devices in host memory, a stream is a thread that plays a queue of operations.
 *
 * ThreadSanitizer does not look into this library (it is compiled without it). It is told instead, in sync.c: an order
 * that CUDA promises is a release and an acquire on a record made for that one purpose, memory that an operation
 * touches is a range access. So an order that CUDA does not promise never exists for it, and a missing wait shows. */
#ifndef FAKE_H
#define FAKE_H

#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define FAKE_MAX_DEVICES 16

/* sync.c: one record for each thing that can be waited for, and a lock that ThreadSanitizer does not see. */
struct fake_record {
    atomic_int refs;
    atomic_int done;
    long long at_ns; /* CLOCK_MONOTONIC at the end, valid once done */
};
struct fake_record *fake_record_make(int refs);
void fake_record_finish(struct fake_record *record);
void fake_record_wait(struct fake_record *record);
bool fake_record_poll(struct fake_record *record);
void fake_record_drop(struct fake_record *record);
void fake_lock(void);
void fake_unlock(void);
void fake_futex_wait(atomic_int *word, int seen);
void fake_futex_wake(atomic_int *word);
void fake_touch_read(const void *data, size_t bytes);
void fake_touch_write(void *data, size_t bytes);
void fake_order_release(void *key);
void fake_order_acquire(void *key);
void *fake_fiber_here(void);
void *fake_fiber_make(void);
void fake_fiber_free(void *fiber);
void fake_fiber_switch(void *fiber);                                /* makes no order */
void fake_stack_leaving(void **keep, const void *to, size_t bytes); /* for AddressSanitizer */
void fake_stack_entered(void *kept, const void **from, size_t *bytes);
void *fake_allocate(size_t bytes); /* zeroed; ends the process when the host has no memory left */

/* config.c: the environment. */
struct fake_config {
    int device_count;                              /* visible ones */
    int physical[FAKE_MAX_DEVICES];                /* of a visible device */
    size_t memory[FAKE_MAX_DEVICES];               /* by physical device */
    bool peer[FAKE_MAX_DEVICES][FAKE_MAX_DEVICES]; /* by physical device */
    int init_error;
    unsigned delay_us;
    unsigned seed;
    bool random_order;
};
const struct fake_config *fake_config_get(void);
unsigned fake_random(unsigned *state);

/* call.c: every entry point begins with one of these. 0 or the code to return. */
cudaError_t fake_enter(const char *function, cudaError_t usual);
int fake_enter_library(const char *function, int usual, int not_ready);
cudaError_t fake_error(cudaError_t error); /* remembers it for cudaGetLastError */
void fake_inside_host_function(bool inside);
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
struct fake_block {
    struct fake_block *next;
    char *base;
    size_t bytes;
    int device;
};
struct fake_block *fake_block_find(const void *address);
bool fake_block_holds(const void *address, size_t bytes, int device);
int fake_block_pinned_count(void);

/* stream.c: operations are structs that begin with this one, allocated with fake_allocate; the stream frees them. */
struct fake_op {
    struct fake_op *next;
    void (*run)(struct fake_op *op);
};
void fake_stream_push(cudaStream_t stream, struct fake_op *op); /* caller holds the lock */
void fake_stream_record(cudaStream_t stream,
                        struct fake_record *record); /* drops one reference at the end */
int fake_stream_device(
    cudaStream_t stream);           /* -1 when it is no live stream; caller holds the lock */
void fake_streams_wait(int device); /* caller does not hold the lock */

/* kernel.c and block.c */
struct fake_kernel {
    struct fake_kernel *next;
    const void *function;
    const char *name;
    void (*call)(const void *argument);
    size_t argument_bytes;
};
bool fake_grid_run(const struct fake_kernel *kernel, const void *argument, dim3 grid, dim3 block);
void fake_grid_end(void); /* frees the calling thread's fibers */

#endif
