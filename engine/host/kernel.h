/* A prepared operator of the host backend, and what it is prepared from: a request without its graph, so that plans,
 * towers and toggles share one. A kernel belongs to one device, whose queue runs it; its memory objects are its own. */
#ifndef MGB_HOST_KERNEL_H
#define MGB_HOST_KERNEL_H

#include "engine/graph/facts.h"
#include "engine/host/layout.h"
#include <pthread.h>

struct mgb_kernel;
struct mgb_launch;
struct mgb_kernel_request;

struct mgb_host_tensor {
    struct mgb_shape shape; /* per example when batched; unused dimensions 0 */
    enum mgb_type type;
    bool batched, wanted; /* wanted: outputs only */
    int layout;           /* inputs only */
    int64_t count;        /* elements, all rows */
};

/* Zeroed before it is filled: two are the same request when their bytes are the same. */
struct mgb_host_use {
    enum mgb_op_kind kind;
    int device, threads, input_count;
    int64_t rows;
    bool training, plain[MGB_MAX_OUTPUTS];
    union mgb_attributes a;
    struct mgb_host_tensor in[MGB_MAX_INPUTS], out[MGB_MAX_OUTPUTS];
};

/* An operator: one file in ops/. */
struct mgb_host_op {
    /* Reads kernel->use, fills kernel->facts (preset: plain outputs, no workspace, no alias) and kernel->state. Runs in
     * the submitter's thread with the team size of the device. On failure `done` is called. */
    enum mgb_status (*make)(struct mgb_kernel *kernel);
    enum mgb_status (*run)(struct mgb_kernel *kernel, const struct mgb_launch *launch);
    void (*done)(struct mgb_kernel *kernel); /* optional */
};

struct mgb_kernel {
    struct mgb_host_use use;
    struct mgb_operator_facts facts;
    const struct mgb_host_op *op;
    void *state;                      /* the operator's */
    int64_t part[MGB_MAX_INPUTS + 4]; /* the operator's: offsets into the workspace, see ops.h */
    pthread_mutex_t lock;             /* held while it runs: two queues of a device may meet here */
    struct mgb_kernel *next;
    uint64_t hash;
};

#define MGB_KERNEL_SLOTS 1024
struct mgb_kernel_cache {
    struct mgb_kernel *slot[MGB_KERNEL_SLOTS];
};

/* Operators of this backend; NULL: none for this kind. */
const struct mgb_host_op *mgb_host_op_find(enum mgb_op_kind kind);

enum mgb_status mgb_host_kernel_make(struct mgb_kernel **out, const struct mgb_node_use *use,
                                     int device);
void mgb_host_kernel_free(struct mgb_kernel *kernel);
enum mgb_status mgb_host_kernel_run(struct mgb_kernel *kernel, const struct mgb_launch *launch);

/* Finds or makes; borrowed from the cache. */
enum mgb_status mgb_host_cache_get(struct mgb_kernel_cache *cache, struct mgb_kernel **out,
                                   const struct mgb_node_use *use, int device);
void mgb_host_cache_done(struct mgb_kernel_cache *cache);

/* For operators: takes `bytes` more of the workspace, 64-byte aligned; returns the offset. */
int64_t mgb_host_take_workspace(struct mgb_kernel *kernel, int64_t bytes);
/* The operand's images and pixels; a tensor that is no image has one pixel. */
struct mgb_image mgb_host_image(const struct mgb_host_tensor *tensor, int64_t rows);

#endif
