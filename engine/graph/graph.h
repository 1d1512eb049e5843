/* The graph from inside: what planner and backends read. Nodes are in topological order: forward
 * operators, then loss and metrics with their gradient ("head"), then the towers' gradient
 * operators.
 *
 * Why a section on every node: under `outputs` the head runs once, on joined tensors, where the
 * user put the loss; under the other strategies it runs on every tower. The planner must be able to
 * cut there without knowing operators. */
#ifndef MGB_GRAPH_GRAPH_H
#define MGB_GRAPH_GRAPH_H

#include <mgb/model.h>

enum mgb_section {
    MGB_SECTION_FORWARD,  /* tower, inputs to head */
    MGB_SECTION_HEAD,     /* losses, metrics, and the gradients of losses */
    MGB_SECTION_BACKWARD, /* tower, gradients */
};

/* Every operator: enum value, name in text form. Gradient operators are like any other. */
#define MGB_OPS(X)                                                                                 \
    X(INPUT, "input")                                                                              \
    X(READ, "read")                          /* of a variable */                                   \
    X(DENSE, "dense")                        /* x, w, [b] -> y */                                  \
    X(DENSE_GRAD_X, "dense_grad_x")          /* dy, w -> dx */                                     \
    X(DENSE_GRAD_W, "dense_grad_w")          /* x, dy -> dw, [db] */                               \
    X(CONV2D, "conv2d")                      /* x, w, [b] -> y */                                  \
    X(CONV2D_GRAD_X, "conv2d_grad_x")        /* dy, w -> dx */                                     \
    X(CONV2D_GRAD_W, "conv2d_grad_w")        /* x, dy -> dw, [db] */                               \
    X(MAX_POOL2D, "max_pool2d")              /* x -> y, index (u8, size from the facts) */         \
    X(MAX_POOL2D_GRAD, "max_pool2d_grad")    /* dy, index -> dx */                                 \
    X(AVG_POOL2D, "avg_pool2d")              /* x -> y */                                          \
    X(AVG_POOL2D_GRAD, "avg_pool2d_grad")    /* dy -> dx */                                        \
    X(ACTIVATION, "activation")              /* x -> y */                                          \
    X(ACTIVATION_GRAD, "activation_grad")    /* y, dy -> dx */                                     \
    X(RESHAPE, "reshape")                    /* x -> y; flatten and their gradients too */         \
    X(DROPOUT, "dropout")                    /* x -> y; its own gradient: dy -> dx, same key */    \
    X(ADD, "add")                            /* a, b -> y; also sums gradients at a fan-out */     \
    X(ADD_VALUE, "add_value")                /* x, v -> y: a variable to every example */          \
    X(ADD_VALUE_GRAD, "add_value_grad")      /* dy -> dv: the sum over the rows */                 \
    X(CONCAT, "concat")                      /* x... -> y */                                       \
    X(SLICE, "slice")                        /* x -> y; gradient of concat */                      \
    X(SOFTMAX_XENT, "softmax_cross_entropy") /* logits, label -> sum of losses */                  \
    X(SOFTMAX_XENT_GRAD, "softmax_cross_entropy_grad") /* logits, label -> dlogits */              \
    X(MSE, "mean_squared_error")           /* p, t -> sum over rows of the mean over elements */   \
    X(MSE_GRAD, "mean_squared_error_grad") /* p, t -> dp */                                        \
    X(ACCURACY, "accuracy")                /* logits, label -> number right (positions: mean) */

enum mgb_op_kind {
#define X(op, name) MGB_OP_##op,
    MGB_OPS(X)
#undef X
        MGB_OP_COUNT
};

union mgb_attributes {
    struct mgb_conv2d_attributes { /* also its gradients */
        struct mgb_window window;
        int pad_before[2], pad_after[2]; /* resolved from the padding rule */
        enum mgb_activation activation;  /* forward only: applied to y; LINEAR on gradients */
        struct mgb_shape x, y;           /* per-example shapes, needed by the gradients */
    } conv2d;
    struct mgb_pool2d_attributes { /* also gradients; padding never counts in an average */
        struct mgb_window window;
        int pad_before[2], pad_after[2];
        struct mgb_shape x, y;
    } pool2d;
    struct {
        enum mgb_activation activation; /* dense: forward only */
    } dense, activation;
    struct {
        float rate; /* dropped share, 0 <= rate < 1; kept values are scaled by 1 / (1 - rate) */
        int key;    /* number of the dropout layer, part of the mask's counter */
    } dropout;
    struct {
        int axis; /* in the per-example shape */
        int64_t begin, count;
    } slice; /* concat uses axis only */
    struct {
        float weight; /* of this loss in the total; a gradient is scaled by weight / global rows */
    } loss;
    int variable; /* READ: the variable of tower 0 */
    int input;    /* INPUT: its number */
};

#define MGB_MAX_OUTPUTS 2
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
     * after finish it stays: such a variable is not trainable and only left out of the update. */
    int gradient;
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
/* Bytes of a tensor for `rows` rows in plain layout; rows is ignored when it is not batched. */
int64_t mgb_tensor_bytes(const struct mgb_graph *graph, int tensor, int64_t rows);
/* Floating point operations of a node for `rows` rows; a multiply-add counts 2. */
double mgb_node_flops(const struct mgb_graph *graph, const struct mgb_node *node, int64_t rows);

#endif
