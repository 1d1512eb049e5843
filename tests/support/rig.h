/* A backend opened for a test, and a graph played on one of its devices without planner and executor: node by node in
 * order, each tensor in a buffer of its own unless the facts let it share. */
#ifndef MGB_TESTS_RIG_H
#define MGB_TESTS_RIG_H

#include "engine/backend/backend.h"
#include "tests/support/reference.h"

struct rig {
    const struct mgb_backend *backend;
    struct mgb_topology topology, *lent; /* the same; lent: to the backend, where it stays */
    void *context;
};
/* Probes and opens; fails the test when that fails. */
struct rig rig_open(const struct mgb_backend *backend, int64_t gpu_memory);
void rig_close(struct rig *rig);
int rig_device(const struct rig *rig, const char *name);
struct mgb_queue *rig_compute(const struct rig *rig, int device, int threads);
struct mgb_queue *rig_copy(const struct rig *rig, int from, int to);
void *rig_arena(const struct rig *rig, int device, int64_t bytes);

struct rig_play {
    int device, threads;
    bool plain;    /* demand plain outputs everywhere; else only where a tensor has no readers */
    bool in_place; /* use in-place where facts allow it */
    bool forward;  /* no gradients; variables are not read back */
    enum mgb_precision precision; /* of products */
    int repeats;                  /* 0: once */
    int64_t *node_ns; /* NULL, or per node the least time over the repeats; 0 where nothing ran */
    int *node_layout; /* NULL, or per node the layout of its first output */
};
/* Values of every tensor of reference->graph, inputs and variables taken from `reference`; value[t] is NULL where a tensor
 * could not be read (blocked, overwritten). MGB_UNSUPPORTED when the device lacks an operator. */
struct rig_values {
    float **value;
    int count;
};
enum mgb_status rig_run(struct rig_values *out, const struct rig *rig,
                        const struct reference *reference, const struct rig_play *play);
void rig_values_free(struct rig_values *values);

#endif
