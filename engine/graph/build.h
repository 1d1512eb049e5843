/* A graph under construction: what is needed until it is finished and of no interest to readers of
 * a finished one. Private to engine/graph. */
#ifndef MGB_GRAPH_BUILD_H
#define MGB_GRAPH_BUILD_H

#include "engine/base/memory.h"
#include "engine/base/vector.h"
#include "engine/graph/graph.h"

/* Ids at and above this stand for "variable number id - base, read by the tower being replayed". A
 * later tower makes no tensors; which of tower 0's reads is meant shows when an operator uses the
 * id. */
#define MGB_TOWER_READ (1 << 28)

/* One begin_scope. Two with the same name are two scopes; those in which nothing was made take part
 * in no name. */
struct mgb_scope {
    int parent;             /* -1: the root */
    const char *raw, *full; /* `full` is known when finished */
    bool used;
};

struct mgb_made { /* where a node or variable was made, and the name it was given there */
    int scope;
    const char *raw;
};

/* Something that the first use of a shared sub-model made: a variable, or a sub-model inside
 * (`inner` > 0). */
struct mgb_share_item {
    int share;
    const char *path; /* scopes inside the sub-model and the name */
    int variable, inner;
    int handed_out; /* the last use that took it */
};

struct mgb_open_share {
    int share, scope;
    bool first;
};

struct mgb_tower_cursor { /* how much of tower 0 the tower being replayed has made */
    int op, input, output, loss, metric;
};

struct mgb_graph_builder {
    struct mgb_pool pool;
    int node_capacity, tensor_capacity, variable_capacity;
    int input_capacity, output_capacity, loss_capacity, metric_capacity;
    mgb_vector(struct mgb_scope) scopes;
    int scope; /* current, -1: the root */
    mgb_vector(struct mgb_device_name) devices;
    mgb_vector(struct mgb_made) nodes, variables; /* by node and variable number */
    mgb_vector(int) reads;                        /* by variable: the tensor that reads it, or -1 */
    mgb_vector(int) share_uses;
    mgb_vector(struct mgb_share_item) share_items;
    mgb_vector(struct mgb_open_share) open_shares;
    bool unbalanced; /* an end without its begin */
    int dropout_count;
    int tower; /* -1: not inside begin_tower */
    struct mgb_tower_cursor cursor;
    mgb_vector(int) tower_ops; /* nodes of tower 0 that are not INPUT or READ, in order */
    uint64_t digest;           /* of the text form, when finished */
    int *twins;                /* [tower * variable_count + variable], when built by tower */
};

/* MGB_STATE when the graph is finished; `what` is the call. */
enum mgb_status mgb_graph_check_open(const struct mgb_graph *graph, const char *what);
#define MGB_NAME_MOST 120 /* bytes */

/* MGB_INVALID unless `name` is UTF-8 without control characters. */
enum mgb_status mgb_graph_check_text(const char *what, const char *name);
/* MGB_INVALID unless `name` can be part of a full name. */
enum mgb_status mgb_graph_check_name(const char *what, const char *name);
enum mgb_status mgb_graph_check_shape(const char *what, const char *name,
                                      const struct mgb_shape *shape);
enum mgb_status mgb_graph_no_memory(const struct mgb_graph *graph);

/* "block/conv1" from scope and raw names, for messages; returns `out`. */
char *mgb_graph_path(char *out, size_t size, const struct mgb_graph *graph, int scope,
                     const char *raw);
/* Notes that `scope` and those around it hold something. */
void mgb_graph_use_scope(struct mgb_graph *graph, int scope);

struct mgb_node_request {
    enum mgb_op_kind kind;
    enum mgb_section section;
    const char *raw;  /* name in the current scope, or */
    const char *full; /* the final name */
    union mgb_attributes a;
    const int *inputs;
    int input_count;
};
/* Adds a node without outputs. */
enum mgb_status mgb_graph_add_node(struct mgb_graph *graph, int *node,
                                   const struct mgb_node_request *request);
/* Adds the tensor that `node` makes as its output `slot`. */
enum mgb_status mgb_graph_add_output(struct mgb_graph *graph, int node, int slot,
                                     const struct mgb_tensor *like);

/* The tensor behind an id, also one of a tower being replayed; NULL when there is none. `scratch`
 * may be used. */
const struct mgb_tensor *mgb_graph_find_tensor(const struct mgb_graph *graph, int id,
                                               struct mgb_tensor *scratch);
/* What a user calls it: the name of the operator, input or variable, for messages; returns `out`.
 */
char *mgb_graph_tensor_label(char *out, size_t size, const struct mgb_graph *graph, int id);

/* Steps of mgb_graph_finish. */
enum mgb_status mgb_graph_resolve_names(struct mgb_graph *graph);
enum mgb_status mgb_graph_resolve_twins(struct mgb_graph *graph);
enum mgb_status mgb_graph_differentiate(struct mgb_graph *graph);

#endif
