/* Operator facts: what a device says about an operator before anything is allocated. The planner
 * asks, backends (or a machine profile) answer.
 *
 * Why layouts are numbers: a blocked layout is private to a device. The planner carries the number
 * from the operator that makes a tensor to those that read it, sizes the buffer by the bytes the
 * producer states, and never looks inside. 0 is plain (rows outermost, channels last, no padding).
 * An operator takes any layout its device ever answered and reorders by itself, in its workspace.
 * What leaves a device (outputs to join, gradients of variables, weights) is plain. */
#ifndef MGB_GRAPH_FACTS_H
#define MGB_GRAPH_FACTS_H

#include "engine/graph/graph.h"
#include <mgb/placement.h>

#define MGB_MAX_INPUTS 16 /* concat is the only operator with more than three */

struct mgb_node_use {
    const struct mgb_graph *graph;
    int node;
    int64_t rows;                 /* > 0 */
    int threads;                  /* of the device's queue; 1 on GPUs */
    enum mgb_precision precision; /* of products; f32 on CPU devices */
    bool training;                /* mgb_node_trains; false: evaluation, dropout passes through */
    int in_layout[MGB_MAX_INPUTS];
    bool plain[MGB_MAX_OUTPUTS]; /* this output must be plain */
};

/* What a device takes products in where GPUs take them in `precision`. */
static inline enum mgb_precision mgb_precision_on(const struct mgb_device *device,
                                                  enum mgb_precision precision)
{
    return device->class == MGB_CLASS_CUDA ? precision : MGB_PRECISION_F32;
}

/* Gradients begin here: its launch scale multiplies all that follows. */
static inline bool mgb_op_begins_gradients(enum mgb_op_kind kind)
{
    return kind == MGB_OP_SOFTMAX_XENT_GRAD || kind == MGB_OP_MSE_GRAD || kind == MGB_OP_BCE_GRAD ||
           kind == MGB_OP_TOTAL_GRAD;
}

struct mgb_operator_facts {
    int64_t workspace_bytes; /* needed while it runs, scratchpads and reorders included */
    int64_t out_bytes[MGB_MAX_OUTPUTS]; /* in the layout chosen */
    int out_layout[MGB_MAX_OUTPUTS];
    int alias; /* output 0 is a view of this input (1 of the next, ...), nothing runs; -1: it is not */
    int in_place; /* output 0 may overwrite this input when nothing reads it later; -1: no */
};

struct mgb_fact_source {
    void *context;
    /* MGB_UNSUPPORTED when the device lacks the operator. `device` indexes the topology. */
    enum mgb_status (*describe)(void *context, int device, const struct mgb_node_use *use,
                                struct mgb_operator_facts *out);
};

/* Plain layouts, no workspace: for tests, and for machines whose profile has no facts. */
struct mgb_fact_source mgb_plain_facts(void);

#endif
