/* What every backend must do, as checks that take the backend as it is: CPU devices, CUDA, the fake CUDA runtime. Each
 * check fails the running test by itself. */
#ifndef MGB_TESTS_CONFORMANCE_H
#define MGB_TESTS_CONFORMANCE_H

#include "tests/support/rig.h"

/* Small graphs that together hold every operator, with odd shapes, strides, paddings, groups and dilation. */
struct conformance_model {
    const char *name;
    struct mgb_graph *(*make)(void); /* finished; the caller frees it */
};
extern const struct conformance_model conformance_models[];
extern const int conformance_model_count;

/* All tensors of a model against the reference, plain and with the device's own layouts. False when the device lacks one
 * of its operators. */
bool conformance_model_check(const struct rig *rig, const struct rig_play *play,
                             const struct conformance_model *model);

/* reduce, norm, clip, fill, copy and updates of every optimizer on a device. */
void conformance_sums(const struct rig *rig, int device, int threads);
void conformance_updates(const struct rig *rig, int device, int threads);
/* Events order queues; times go forward; an event may be recorded again; several steps in a row. */
void conformance_order(const struct rig *rig, int device, int other);
/* All-reduce on the first `count` GPU devices: equal everywhere, and the sum to rounding. Nothing where the backend has
 * none. */
void conformance_allreduce(const struct rig *rig, int count, int64_t elements);

/* |got - wanted| <= tolerance * max |wanted|, element by element; names tensor and place on failure. */
void conformance_close(const char *what, const float *got, const double *wanted, int64_t count,
                       double tolerance);

/* |a - b| / |b| over all outputs of a node, in squares: one that nearly cancels is small beside the others. */
double conformance_distance(const struct reference *reference, const struct mgb_node *node,
                            const struct rig_values *a, const struct rig_values *b);
/* A unit of relu is on in one of both, or a window has its maximum elsewhere: gradients go other ways then. */
bool conformance_parts(const struct reference *reference, const struct rig_values *a,
                       const struct rig_values *b);

#endif
