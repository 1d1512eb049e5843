/* A model: the graph of one tower. Built op by op (mgb/op.h; the Lua bindings do that), finished once (autograd), then read-only.
 *
 * Tensors have a per-example shape and a flag that says whether they carry the batch: the batch size itself is not part
 * of a graph, so that one graph serves every split. Operators are channels-last; weights are [in, out] (dense) and
 * [height, width, in / groups, out] (convolution), always f32.
 *
 * Tensors and variables are numbered from 0 in order of definition; -1 means none. */
#ifndef MGB_MODEL_H
#define MGB_MODEL_H

#include <mgb/status.h>
#include <mgb/topology.h>
#include <stdbool.h>
#include <stdint.h>

struct mgb_graph;

enum mgb_type { MGB_F32, MGB_I32, MGB_U8 };
int mgb_type_size(enum mgb_type type); /* bytes */
const char *mgb_type_name(enum mgb_type type);

#define MGB_MAX_RANK 6
struct mgb_shape {
    int rank; /* 0: a scalar per example */
    int64_t dim[MGB_MAX_RANK];
};
int64_t mgb_shape_count(const struct mgb_shape *shape); /* elements; 1 for rank 0 */
char *mgb_shape_format(char *out, size_t size, const struct mgb_shape *shape); /* "28x28x1" */

enum mgb_activation { MGB_LINEAR, MGB_RELU, MGB_TANH, MGB_SIGMOID, MGB_RELU6 };
#define MGB_ACTIVATION_COUNT 5
/* "relu6"; NULL when there is no such activation. */
const char *mgb_activation_name(enum mgb_activation activation);

enum mgb_init_kind {
    MGB_GLOROT_UNIFORM,
    MGB_HE_NORMAL,
    MGB_NORMAL,
    MGB_ZEROS,
    MGB_ONES,
    MGB_CONSTANT,
    MGB_UNIFORM,     /* in +-value */
    MGB_UNIT_FORGET, /* bias of an lstm: 1 in its second quarter (the forget gate), else 0 */
    MGB_ORTHOGONAL   /* value times a matrix of orthonormal columns, or rows; two axes or more */
};
struct mgb_init {
    enum mgb_init_kind kind;
    float value; /* constant; standard deviation of normal; limit of uniform; gain of orthogonal */
    int64_t fan_in, fan_out; /* of glorot and he */
};

enum mgb_padding {
    MGB_VALID,
    MGB_SAME,
    MGB_EXPLICIT
};                  /* same: as TensorFlow (more at bottom/right) */
struct mgb_window { /* conv2d and pooling; [0] height, [1] width */
    int size[2], stride[2], dilation[2];
    enum mgb_padding padding;
    int pad[2]; /* MGB_EXPLICIT: both sides */
    int groups; /* convolution only */
};

/* Building. All return MGB_INVALID with a message naming the operator when shapes or options do not fit. */
enum mgb_status mgb_graph_make(struct mgb_graph **out, const char *name);
void mgb_graph_free(struct mgb_graph *graph);

enum mgb_status mgb_graph_begin_scope(struct mgb_graph *graph, const char *name);
void mgb_graph_end_scope(struct mgb_graph *graph);
enum mgb_status mgb_graph_begin_device(struct mgb_graph *graph, struct mgb_device_name device);
void mgb_graph_end_device(struct mgb_graph *graph);

/* A sub-model used as a layer: between begin and end, variables are created the first time and the same ones handed out
 * in the same order every later time. `share` starts as 0 and identifies the sub-model afterwards. */
enum mgb_status mgb_graph_begin_shared(struct mgb_graph *graph, int *share);
enum mgb_status mgb_graph_end_shared(struct mgb_graph *graph);

/* build = "tower": the builder runs once a tower into the same graph. Tower 0 defines the operators; a later tower must
 * make the same ones, and every variable it creates anew becomes that tower's own copy (which the variable check then
 * finds). Without these calls the graph is built once and copied to every tower. */
enum mgb_status mgb_graph_begin_tower(struct mgb_graph *graph, int tower);
enum mgb_status mgb_graph_end_tower(struct mgb_graph *graph);

enum mgb_status mgb_graph_input(struct mgb_graph *graph, int *tensor, const char *name,
                                const struct mgb_shape *shape, enum mgb_type type);
/* The model is written for batches of `rows` rows and no others: every tower gets so many, or planning refuses. `input` is
 * the name of the input that says so. Inputs that say so agree. */
enum mgb_status mgb_graph_fix_batch(struct mgb_graph *graph, const char *input, int rows);
enum mgb_status mgb_graph_variable(struct mgb_graph *graph, int *variable, const char *name,
                                   const struct mgb_shape *shape, const struct mgb_init *init);
/* The tensor that reads a variable (made once a variable, or once a tower). */
enum mgb_status mgb_graph_read(struct mgb_graph *graph, int *tensor, int variable);
enum mgb_status mgb_graph_freeze(struct mgb_graph *graph, int variable,
                                 bool frozen); /* also after finish */

enum mgb_status mgb_graph_output(struct mgb_graph *graph, const char *name, int tensor);
enum mgb_status mgb_graph_loss(struct mgb_graph *graph, int tensor, float weight);
enum mgb_status mgb_graph_metric(struct mgb_graph *graph, const char *name, int tensor);

/* Autograd and the final checks (a loss, at least one input, names made unique). The graph is read-only afterwards. */
enum mgb_status mgb_graph_finish(struct mgb_graph *graph);

/* Reading. Strings are borrowed from the graph. */
const char *mgb_graph_name(const struct mgb_graph *graph);
const struct mgb_shape *mgb_tensor_shape(const struct mgb_graph *graph, int tensor);
bool mgb_tensor_batched(const struct mgb_graph *graph, int tensor);
enum mgb_type mgb_tensor_type(const struct mgb_graph *graph, int tensor);

int mgb_graph_input_count(const struct mgb_graph *graph);
int mgb_graph_input_at(const struct mgb_graph *graph, int index,
                       const char **name); /* its tensor */
/* Classes of an i32 input: the width of the logits that a loss or metric compares it with, or the vocabulary of the embedding
 * that looks it up; 0 when none does. */
int64_t mgb_graph_input_classes(const struct mgb_graph *graph, int index);
/* Rows of every tower that the model is written for, and the input that says so; 0: any number. */
int mgb_graph_fixed_batch(const struct mgb_graph *graph, const char **input);
/* Name of the embedding that looks an input up; NULL when none does. */
const char *mgb_graph_input_lookup(const struct mgb_graph *graph, int index);
int mgb_graph_output_count(const struct mgb_graph *graph);
int mgb_graph_output_at(const struct mgb_graph *graph, int index, const char **name);
int mgb_graph_metric_count(const struct mgb_graph *graph);
int mgb_graph_metric_at(const struct mgb_graph *graph, int index, const char **name);

struct mgb_variable_info {
    const char *name;  /* full, unique: "conv2d_1/kernel" */
    const char *scope; /* "conv2d_1" */
    struct mgb_shape shape;
    int64_t count, bytes;
    struct mgb_device_name device; /* from the model's device scope, or unset */
    bool trainable;
    bool state;  /* moving statistics: never trainable, moved by each step unless frozen */
    bool frozen; /* of a state: its layer is frozen */
    int tower;   /* -1: one variable for all towers; else only this tower uses it */
    int twin; /* for a copy made by tower > 0: the variable of tower 0 in whose place it stands; else -1 */
};
int mgb_graph_variable_count(const struct mgb_graph *graph);
struct mgb_variable_info mgb_graph_variable_at(const struct mgb_graph *graph, int variable);

int64_t mgb_graph_parameters(const struct mgb_graph *graph);   /* elements; no twins, no states */
double mgb_graph_forward_flops(const struct mgb_graph *graph); /* an example; a multiply-add is 2 */
/* A batch norm, not frozen, whose input is one value a channel and row: one row leaves it nothing to normalise. NULL: none. */
const char *mgb_graph_find_batch_norm(const struct mgb_graph *graph);
uint64_t mgb_graph_digest(const struct mgb_graph *graph);
/* Stable text form, one operator a line; caller frees with mgb_text_free. */
enum mgb_status mgb_graph_text(char **out, const struct mgb_graph *graph);
void mgb_text_free(char *text);

/* The initial value of a variable: depends on seed, name, shape and initialiser only. `out` holds count floats. */
void mgb_variable_initial(float *out, const struct mgb_graph *graph, int variable, uint64_t seed);

#endif
