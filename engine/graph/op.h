/* What the graph knows about an operator, one record a kind, one file a family under ops/, and what
 * those files need to make operators and their gradients. Private to engine/graph. */
#ifndef MGB_GRAPH_OP_H
#define MGB_GRAPH_OP_H

#include "engine/base/text.h"
#include "engine/graph/build.h"
#include "engine/graph/facts.h"
#include <mgb/op.h>

struct mgb_gradient; /* a pass of autograd */

struct mgb_op_rules {
    bool head; /* a loss or a metric: takes the whole batch, gives a scalar */
    bool loss; /* may be declared as a loss */
    /* Adds the nodes that turn the gradient `dy` of output 0 into gradients of the inputs; NULL:
     * there are none. `dy` is -1 for losses. The node is a copy: adding nodes moves them. */
    enum mgb_status (*differentiate)(struct mgb_gradient *gradient, struct mgb_node node, int dy);
    /* Floating point operations of one example; NULL: none. */
    double (*flops)(const struct mgb_graph *graph, const struct mgb_node *node);
    /* Adds " stride 2 ..." to the text form; NULL: no attributes. */
    void (*text)(struct mgb_text *text, const struct mgb_node *node);
    /* 1 + the input that output 0 may overwrite or is a view of; 0: none. */
    int in_place, alias;
    /* The same outside of training: every output is a view of an input, from this one on. */
    int alias_untrained;
};

#define X(op, name) extern const struct mgb_op_rules mgb_op_rules_##op;
MGB_OPS(X)
#undef X
const struct mgb_op_rules *mgb_op_rules_get(enum mgb_op_kind kind);

/* --- making an operator --- */
struct mgb_op_call {
    struct mgb_graph *graph;
    enum mgb_op_kind kind;
    const char *name;
    union mgb_attributes a;
    int inputs[MGB_MAX_INPUTS];
    int input_count;
    bool whole; /* its output has no batch axis */
};

/* Starts a call: the graph is open and the name is one. */
enum mgb_status mgb_op_begin(struct mgb_op_call *call, struct mgb_graph *graph,
                             enum mgb_op_kind kind, const char *name);
/* Adds an operand that carries the batch; its shape goes to `shape`. `role` is for messages:
 * "input". */
enum mgb_status mgb_op_take(struct mgb_op_call *call, const char *role, int tensor,
                            enum mgb_type type, struct mgb_shape *shape);
/* Adds an operand that must be the read of a variable. */
enum mgb_status mgb_op_take_variable(struct mgb_op_call *call, const char *role, int tensor,
                                     struct mgb_shape *shape);
/* Adds the node (or finds it, in a later tower); `*out` is its first output. Heads give an f32
 * scalar. */
enum mgb_status mgb_op_end(struct mgb_op_call *call, int *out, const struct mgb_shape *shape,
                           enum mgb_type type);
/* "conv2d 'conv1': " and the rest; MGB_INVALID. */
enum mgb_status mgb_op_fail(const struct mgb_op_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Is `activation` one of those there are? */
enum mgb_status mgb_op_check_activation(const struct mgb_op_call *call,
                                        enum mgb_activation activation);
bool mgb_shape_equal(const struct mgb_shape *a, const struct mgb_shape *b);

/* --- making gradients --- */
/* Does anything want the gradient of this tensor? Constant during the pass. */
bool mgb_gradient_needs(const struct mgb_gradient *gradient, int tensor);
struct mgb_graph *mgb_gradient_graph(struct mgb_gradient *gradient);

struct mgb_gradient_request {
    enum mgb_op_kind kind;
    const char *of;     /* name of the forward node */
    const char *suffix; /* "grad_w" */
    union mgb_attributes a;
    int inputs[MGB_MAX_INPUTS], input_count;
    int like[MGB_MAX_OUTPUTS]; /* outputs have the shape of these tensors; -1: not wanted */
    int like_count;
};
/* Adds a gradient operator; its outputs go to `outputs` (-1 where not wanted). */
enum mgb_status mgb_gradient_node(struct mgb_gradient *gradient, int outputs[MGB_MAX_OUTPUTS],
                                  const struct mgb_gradient_request *request);
/* Hands in a gradient of `tensor`; several are summed. Passed over when nothing needs it. */
enum mgb_status mgb_gradient_add(struct mgb_gradient *gradient, int tensor, int dx);
/* The usual case: one operator, one gradient, of the node's input `input`. */
enum mgb_status mgb_gradient_simple(struct mgb_gradient *gradient,
                                    const struct mgb_gradient_request *request, int tensor);
/* The most usual: an operator of `dy` alone with attributes `a` (NULL: none), for the node's first input. */
enum mgb_status mgb_gradient_of_dy(struct mgb_gradient *gradient, const struct mgb_node *node,
                                   enum mgb_op_kind kind, const union mgb_attributes *a, int dy);
/* `dy` taken back through an activation applied to the output `y` of `node`: *dz, `dy` itself when
 * linear. */
enum mgb_status mgb_gradient_through_activation(struct mgb_gradient *gradient, int *dz,
                                                const struct mgb_node *node,
                                                enum mgb_activation activation, int dy);

/* batch_norm.c: the nodes that make the tower's shares of all moving statistics. First of all gradients, so that they are on
 * their way while backward runs. */
enum mgb_status mgb_batch_norm_move(struct mgb_gradient *gradient);

/* embedding.c: the packed form of gradients that one embedding alone makes. Behind all others: nothing waits for it. */
enum mgb_status mgb_embedding_pack(struct mgb_gradient *gradient);

/* --- shared by convolution and pooling --- */
/* Fills in defaults (pooling: stride = size), resolves the padding and gives the output's height
 * and width. `word` is "kernel" or "window". */
enum mgb_status mgb_window_resolve(const struct mgb_op_call *call, const char *word,
                                   struct mgb_window *window, int pad_before[2], int pad_after[2],
                                   const struct mgb_shape *x, int64_t out[2]);
void mgb_window_text(struct mgb_text *text, const struct mgb_window *window);

#endif
