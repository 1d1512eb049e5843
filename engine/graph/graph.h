/* The graph from inside: what planner and backends read. Nodes are in topological order: forward
 * operators, then loss and metrics with their gradient ("head"), then the towers' gradient
 * operators.
 *
 * Why a section on every node: under `outputs` the head runs once, on joined tensors, where the
 * user put the loss; under the other strategies it runs on every tower. The planner must be able to
 * cut there without knowing operators. */
#ifndef MGB_GRAPH_GRAPH_H
#define MGB_GRAPH_GRAPH_H

#include "engine/graph/kinds.h"

enum mgb_section {
    MGB_SECTION_FORWARD,  /* tower, inputs to head */
    MGB_SECTION_HEAD,     /* losses, metrics, and the gradients of losses */
    MGB_SECTION_BACKWARD, /* tower, gradients */
};

#define MGB_MAX_OUTPUTS 6
struct mgb_node {
    enum mgb_op_kind kind;
    enum mgb_section section;
    const char *name; /* unique: "conv2d_1"; gradients "conv2d_1.grad_w" */
    union mgb_attributes a;
    int input_count, output_count;
    const int *inputs;            /* tensors */
    int outputs[MGB_MAX_OUTPUTS]; /* tensors; -1: not wanted */
};

struct mgb_tensor {
    struct mgb_shape shape; /* per example when batched */
    enum mgb_type type;
    bool batched;
    int node, slot; /* the node that makes it and which of its outputs it is */
};

struct mgb_variable {
    struct mgb_variable_info info;
    struct mgb_init init;
    /* Tensor of its gradient; -1 when frozen or unused; twins share that of their original. Frozen
     * after finish it stays: such a variable is not trainable and only left out of the update. Of a
     * state: its share in the moving value, which travels as gradients do. */
    int gradient;
    /* The same gradient as the rows of the table that it touches, and that made whole again: operators nothing else depends
     * on, for a planner that would rather move few rows than a table. -1: there is no such form. */
    int packed, unpacked;
    float momentum; /* of a state: value = momentum value + (1 - momentum) sum of the shares */
};

struct mgb_loss_use { /* a declared loss or metric: its scalar tensor */
    const char *name;
    int tensor;
    float weight;
};

struct mgb_named_tensor {
    const char *name;
    int tensor;
};

/* What is behind the opaque type. Read-only outside engine/graph. */
struct mgb_graph {
    const char *name;
    bool finished;
    int towers_built; /* 0: built once for all; else the number of towers the builder ran for */
    int batch;        /* rows of every tower the model is written for; 0: any number */
    const char *batch_input; /* the first input that says so */
    int node_count, tensor_count, variable_count;
    int input_count, output_count, loss_count, metric_count;
    struct mgb_node *nodes;
    struct mgb_tensor *tensors;
    struct mgb_variable *variables;
    struct mgb_named_tensor *inputs, *outputs;
    struct mgb_loss_use *losses, *metrics;
    struct mgb_graph_builder *builder; /* private to engine/graph */
};

const char *mgb_op_name(enum mgb_op_kind kind);
/* The variable that tower `tower` uses where tower 0 uses `variable`. */
int mgb_graph_variable_of(const struct mgb_graph *graph, int variable, int tower);
/* Does `node` work as in training when the plan does? A batch norm whose layer is frozen normalises with its moving
 * statistics, as on evaluation. */
bool mgb_node_trains(const struct mgb_graph *graph, int node, bool training);
/* Bytes of a tensor for `rows` rows in plain layout; rows is ignored when it is not batched. */
int64_t mgb_tensor_bytes(const struct mgb_graph *graph, int tensor, int64_t rows);
/* Floating point operations of a node for `rows` rows; a multiply-add counts 2. */
double mgb_node_flops(const struct mgb_graph *graph, const struct mgb_node *node, int64_t rows);

#endif
