/* The generator of random_model.h. Every draw is a function of seed and draw number. */
#include "tests/support/random_model.h"

#include "engine/base/random.h"
#include <mgb/op.h>

struct maker {
    struct mgb_graph *graph;
    uint64_t seed, draws;
    bool smooth; /* no dropout; tanh in place of relu and maxima, which have kinks */
};

static int draw(struct maker *m, int n)
{
    return (int)mgb_random_below(mgb_random_at(m->seed, m->draws++, 0x6d6f64656cu).v[0],
                                 (uint32_t)n);
}

static bool chance(struct maker *m, int one_in)
{
    return draw(m, one_in) == 0;
}

static const struct mgb_shape *shape_of(const struct maker *m, int x)
{
    return mgb_tensor_shape(m->graph, x);
}

static enum mgb_activation draw_activation(struct maker *m)
{
    enum mgb_activation a = (enum mgb_activation)draw(m, 4);
    return m->smooth && a == MGB_RELU ? MGB_TANH : a;
}

struct layer {
    int kernel, bias; /* tensors; bias -1: none */
};

/* A layer's variables in a scope of its name; some live on /cpu:0, some biases are left out, some
 * are frozen. */
static enum mgb_status layer_make(struct maker *m, struct layer *out, const char *name,
                                  struct mgb_shape kernel)
{
    static const enum mgb_init_kind kinds[] = {MGB_GLOROT_UNIFORM, MGB_HE_NORMAL, MGB_NORMAL};
    struct mgb_init init = {.kind = kinds[draw(m, 3)], .value = 0.2f};
    struct mgb_init small = {.kind = MGB_CONSTANT, .value = 0.05f};
    struct mgb_shape bias = {1, {kernel.dim[kernel.rank - 1]}};
    bool on_cpu = chance(m, 5), frozen = chance(m, 8), with_bias = !chance(m, 5);
    int k, b;
    out->bias = -1;
    MGB_TRY(mgb_graph_begin_scope(m->graph, name));
    if (on_cpu)
        MGB_TRY(mgb_graph_begin_device(m->graph, (struct mgb_device_name){MGB_DEVICE_CPU, 0, 0}));
    MGB_TRY(mgb_graph_variable(m->graph, &k, "kernel", &kernel, &init));
    MGB_TRY(mgb_graph_read(m->graph, &out->kernel, k));
    if (with_bias) {
        MGB_TRY(mgb_graph_variable(m->graph, &b, "bias", &bias, &small));
        MGB_TRY(mgb_graph_read(m->graph, &out->bias, b));
    }
    if (frozen)
        MGB_TRY(mgb_graph_freeze(m->graph, k, true));
    if (on_cpu)
        mgb_graph_end_device(m->graph);
    mgb_graph_end_scope(m->graph);
    return MGB_OK;
}

static enum mgb_status dense(struct maker *m, int *x, int units)
{
    struct layer layer;
    const struct mgb_shape *in = shape_of(m, *x);
    MGB_TRY(layer_make(m, &layer, "dense", (struct mgb_shape){2, {in->dim[in->rank - 1], units}}));
    return mgb_op_dense(m->graph, x, "dense", *x, layer.kernel, layer.bias, draw_activation(m));
}

static enum mgb_status conv(struct maker *m, int *x, int filters, bool keeps_size)
{
    const struct mgb_shape in = *shape_of(m, *x);
    int most = in.dim[0] >= 3 && in.dim[1] >= 3 ? 3 : 1;
    int size = 1 + draw(m, most), stride = keeps_size || chance(m, 2) ? 1 : 2;
    int groups = !keeps_size && in.dim[2] % 2 == 0 && filters % 2 == 0 && chance(m, 2) ? 2 : 1;
    struct mgb_window window = {.size = {size, size},
                                .stride = {stride, stride},
                                .dilation = {1, 1},
                                .padding = keeps_size || chance(m, 2) ? MGB_SAME : MGB_VALID,
                                .groups = groups};
    struct layer layer;
    if (!keeps_size && chance(m, 5)) {
        window.padding = MGB_EXPLICIT;
        window.pad[0] = window.pad[1] = size / 2;
    }
    MGB_TRY(layer_make(m, &layer, "conv2d",
                       (struct mgb_shape){4, {size, size, in.dim[2] / groups, filters}}));
    return mgb_op_conv2d(m->graph, x, "conv2d", *x, layer.kernel, layer.bias, &window,
                         draw_activation(m));
}

static enum mgb_status pool(struct maker *m, int *x)
{
    const struct mgb_shape *in = shape_of(m, *x);
    struct mgb_window window = {.size = {2, 2},
                                .stride = {1 + draw(m, 2), 0},
                                .padding = chance(m, 2) ? MGB_SAME : MGB_VALID};
    window.stride[1] = window.stride[0];
    if (in->dim[0] < 2 || in->dim[1] < 2)
        return MGB_OK;
    if (m->smooth || chance(m, 2))
        return mgb_op_avg_pool2d(m->graph, x, "avg_pool2d", *x, &window);
    return mgb_op_max_pool2d(m->graph, x, "max_pool2d", *x, &window);
}

/* x + conv(x), and conv(x) beside x. */
static enum mgb_status branch(struct maker *m, int *x)
{
    int side = *x;
    bool sum = chance(m, 2);
    MGB_TRY(conv(m, &side, sum ? (int)shape_of(m, *x)->dim[2] : 2, true));
    if (sum)
        return mgb_op_add(m->graph, x, "add", *x, side);
    return mgb_op_concat(m->graph, x, "concat", (int[]){*x, side}, 2, -1);
}

static enum mgb_status dropout(struct maker *m, int *x)
{
    float rate = 0.25f * (float)draw(m, 3);
    return m->smooth ? MGB_OK : mgb_op_dropout(m->graph, x, "dropout", *x, rate);
}

static enum mgb_status trunk_step(struct maker *m, int *x)
{
    switch (draw(m, 6)) {
    case 0:
    case 1:
        return conv(m, x, 2 + draw(m, 3), false);
    case 2:
        return pool(m, x);
    case 3:
        return branch(m, x);
    case 4:
        return dropout(m, x);
    case 5: /* a dense layer at every pixel */
        return dense(m, x, 2 + draw(m, 2));
    }
    return MGB_OK;
}

static enum mgb_status channel_value(struct maker *m, int *out, const char *name, int64_t channels,
                                     float value)
{
    struct mgb_init init = {.kind = MGB_CONSTANT, .value = value};
    int variable;
    MGB_TRY(
        mgb_graph_variable(m->graph, &variable, name, &(struct mgb_shape){1, {channels}}, &init));
    return mgb_graph_read(m->graph, out, variable);
}

static enum mgb_status batch_norm(struct maker *m, int *x, enum mgb_activation activation)
{
    const struct mgb_shape shape = *shape_of(m, *x);
    int64_t channels = shape.dim[shape.rank - 1];
    struct mgb_batch_norm_options o = {
        .momentum = 0.75f, .epsilon = 1e-3f, .activation = activation};
    MGB_TRY(mgb_graph_begin_scope(m->graph, "batch_norm"));
    MGB_TRY(channel_value(m, &o.gamma, "gamma", channels, 1.25f));
    MGB_TRY(channel_value(m, &o.beta, "beta", channels, 0.125f));
    MGB_TRY(channel_value(m, &o.moving_mean, "moving_mean", channels, 0));
    MGB_TRY(channel_value(m, &o.moving_variance, "moving_variance", channels, 1));
    mgb_graph_end_scope(m->graph);
    return mgb_op_batch_norm(m->graph, x, "batch_norm", *x, &o);
}

static enum mgb_status layer_norm(struct maker *m, int *x)
{
    const struct mgb_shape shape = *shape_of(m, *x);
    int64_t channels = shape.dim[shape.rank - 1];
    int gamma, beta;
    MGB_TRY(mgb_graph_begin_scope(m->graph, "layer_norm"));
    MGB_TRY(channel_value(m, &gamma, "gamma", channels, 0.75f));
    MGB_TRY(channel_value(m, &beta, "beta", channels, 0.25f));
    mgb_graph_end_scope(m->graph);
    return mgb_op_layer_norm(m->graph, x, "layer_norm", *x, gamma, beta, 1e-2f);
}

/* Decided by no draw, as `shift`. Batch norm in none of the smooth models: what their tests hold against slopes is the loss
 * of an evaluation, which normalises otherwise. */
static enum mgb_status normalise(struct maker *m, int *x)
{
    if (m->seed % 8 == 2)
        return layer_norm(m, x);
    if (m->seed % 8 != 5 || m->smooth)
        return MGB_OK;
    MGB_TRY(batch_norm(m, x, MGB_RELU));
    MGB_TRY(dense(m, x, 3));
    return batch_norm(m, x, MGB_LINEAR);
}

static enum mgb_status trunk(struct maker *m, int *x)
{
    int steps = 1 + draw(m, 4);
    enum mgb_activation activation =
        m->smooth ? MGB_SIGMOID : (enum mgb_activation)(1 + draw(m, 3));
    for (int i = 0; i < steps; i++)
        MGB_TRY(trunk_step(m, x));
    if (chance(m, 3))
        MGB_TRY(mgb_op_activation(m->graph, x, "activation", *x, activation));
    MGB_TRY(normalise(m, x));
    return mgb_op_flatten(m->graph, x, "flatten", *x);
}

/* One layer on both tensors, the results added: a siamese pair. */
static enum mgb_status siamese(struct maker *m, int *x)
{
    struct layer layer;
    enum mgb_activation activation = draw_activation(m);
    int one, two;
    MGB_TRY(dense(m, x, 4));
    MGB_TRY(layer_make(m, &layer, "shared", (struct mgb_shape){2, {4, 4}}));
    MGB_TRY(mgb_op_dense(m->graph, &one, "shared", *x, layer.kernel, layer.bias, activation));
    MGB_TRY(mgb_op_dense(m->graph, &two, "shared", one, layer.kernel, layer.bias, activation));
    return mgb_op_add(m->graph, x, "add", one, two);
}

static enum mgb_status side_input(struct maker *m, int *x)
{
    int side, size = 3 + draw(m, 4);
    MGB_TRY(mgb_graph_input(m->graph, &side, "side", &(struct mgb_shape){1, {size}}, MGB_F32));
    MGB_TRY(dense(m, &side, 3));
    return mgb_op_concat(m->graph, x, "concat", (int[]){*x, side}, 2, 1);
}

static enum mgb_status second_loss(struct maker *m, int x)
{
    int target, loss, size = 1 + draw(m, 3);
    MGB_TRY(mgb_graph_input(m->graph, &target, "target", &(struct mgb_shape){1, {size}}, MGB_F32));
    MGB_TRY(dense(m, &x, size));
    MGB_TRY(mgb_graph_output(m->graph, "value", x));
    MGB_TRY(mgb_op_mean_squared_error(m->graph, &loss, "distance", x, target));
    return mgb_graph_loss(m->graph, loss, 0.5f);
}

/* A bare variable added to every row. No draw decides it, so that the rest of a seed's model does not depend on it. */
static enum mgb_status shift(struct maker *m, int *x)
{
    struct mgb_init init = {.kind = MGB_NORMAL, .value = 0.2f};
    struct mgb_shape shape = *shape_of(m, *x);
    int variable, value;
    if (m->seed % 3 != 1)
        return MGB_OK;
    MGB_TRY(mgb_graph_variable(m->graph, &variable, "shift", &shape, &init));
    MGB_TRY(mgb_graph_read(m->graph, &value, variable));
    return mgb_op_add(m->graph, x, "add", *x, value);
}

/* Attention, products of matrices and a tied weight over the last features, taken for four positions of three. No draw decides it. */
static enum mgb_status attend(struct maker *m, int *x)
{
    struct mgb_init init = {.kind = MGB_NORMAL, .value = 0.2f};
    struct mgb_attention options = {.heads = m->seed % 8 == 2 ? 3 : 1,
                                    .causal = m->seed % 8 == 2,
                                    .dropout = m->smooth ? 0 : 0.25f};
    struct mgb_shape shape = {2, {shape_of(m, *x)->dim[0], 12}}, positions = {2, {4, 3}};
    int variable, w, y;
    if (m->seed % 4 != 2)
        return MGB_OK;
    MGB_TRY(mgb_graph_variable(m->graph, &variable, "tied", &shape, &init));
    MGB_TRY(mgb_graph_read(m->graph, &w, variable));
    MGB_TRY(mgb_op_dense(m->graph, x, "positions", *x, w, -1, m->smooth ? MGB_TANH : MGB_RELU6));
    MGB_TRY(mgb_op_reshape(m->graph, x, "positions", *x, &positions));
    MGB_TRY(mgb_op_attention(m->graph, x, "attention", *x, *x, *x, -1, &options));
    MGB_TRY(mgb_op_matmul(m->graph, &y, "scores", *x, *x, false, true));
    MGB_TRY(mgb_op_softmax(m->graph, &y, "softmax", y, m->seed % 8 == 2));
    MGB_TRY(mgb_op_matmul(m->graph, x, "mix", y, *x, true, false));
    MGB_TRY(mgb_op_gelu(m->graph, x, "gelu", *x, m->seed % 8 == 2));
    MGB_TRY(mgb_op_transpose(m->graph, x, "turn", *x, (int[]){2, 1}, 2));
    MGB_TRY(mgb_op_flatten(m->graph, x, "flatten", *x));
    return mgb_op_dense_tied(m->graph, x, "back", *x, w, -1, MGB_TANH);
}

static enum mgb_status weight(struct maker *m, int *out, const char *name, struct mgb_shape shape)
{
    struct mgb_init init = {.kind = MGB_UNIFORM, .value = 0.4f};
    int variable;
    MGB_TRY(mgb_graph_variable(m->graph, &variable, name, &shape, &init));
    return mgb_graph_read(m->graph, out, variable);
}

/* The label looked up, in a table of three rows or in one so large that its gradient travels as rows, then lstm and gru over four positions of three, the second backwards, with a mask and with states that
 * have a gradient. No draw decides it. */
static enum mgb_status remember(struct maker *m, int *x, int label)
{
    struct mgb_recurrent r = mgb_recurrent_init(), g = mgb_recurrent_init();
    int64_t width = shape_of(m, *x)->dim[0];
    int w, state, words, y, vocabulary = m->seed % 8 == 1 ? 24 : RANDOM_MODEL_CLASSES;
    if (m->seed % 4 != 1)
        return MGB_OK;
    MGB_TRY(weight(m, &w, "state", (struct mgb_shape){2, {width, 5}}));
    MGB_TRY(mgb_op_dense(m->graph, &state, "state", *x, w, -1, MGB_TANH));
    MGB_TRY(weight(m, &w, "positions", (struct mgb_shape){2, {width, 12}}));
    MGB_TRY(mgb_op_dense(m->graph, x, "positions", *x, w, -1, m->smooth ? MGB_SIGMOID : MGB_RELU));
    MGB_TRY(weight(m, &w, "embeddings", (struct mgb_shape){2, {vocabulary, 12}}));
    MGB_TRY(mgb_op_embedding(m->graph, &words, "embedding", label, w));
    MGB_TRY(mgb_op_reshape(m->graph, x, "positions", *x, &(struct mgb_shape){2, {4, 3}}));
    MGB_TRY(mgb_op_reshape(m->graph, &words, "words", words, &(struct mgb_shape){2, {4, 3}}));
    MGB_TRY(mgb_op_mask(m->graph, &r.mask, "mask", *x, 0));
    MGB_TRY(mgb_op_add(m->graph, x, "add", *x, words));
    MGB_TRY(weight(m, &r.kernel, "kernel", (struct mgb_shape){2, {3, 20}}));
    MGB_TRY(weight(m, &r.recurrent, "recurrent_kernel", (struct mgb_shape){2, {5, 20}}));
    MGB_TRY(weight(m, &r.bias, "bias", (struct mgb_shape){1, {20}}));
    r.h0 = r.c0 = state;
    r.sequences = true;
    MGB_TRY(mgb_op_lstm(m->graph, &y, "lstm", *x, &r));
    g.mask = r.mask;
    g.reverse = true;
    g.reset_after = m->seed % 8 == 1;
    MGB_TRY(weight(m, &g.kernel, "kernel", (struct mgb_shape){2, {5, 12}}));
    MGB_TRY(weight(m, &g.recurrent, "recurrent_kernel", (struct mgb_shape){2, {4, 12}}));
    return mgb_op_gru(m->graph, x, "gru", y, &g);
}

/* Gates, reductions, cuts and a joined variable over the last features, and a penalty on it. No draw decides it. */
static enum mgb_status calculate(struct maker *m, int *x)
{
    struct mgb_init init = {.kind = MGB_NORMAL, .value = 0.2f};
    struct mgb_shape shape = {1, {3}};
    int64_t width = shape_of(m, *x)->dim[0];
    int variable, value, y, loss, odds;
    if (m->seed % 4 != 3)
        return MGB_OK;
    MGB_TRY(mgb_graph_variable(m->graph, &variable, "token", &shape, &init));
    MGB_TRY(mgb_graph_read(m->graph, &value, variable));
    MGB_TRY(mgb_op_activation(m->graph, &y, "gate", *x, MGB_SIGMOID));
    MGB_TRY(mgb_op_mul(m->graph, x, "mul", *x, y));
    MGB_TRY(m->smooth ? mgb_op_mean(m->graph, &y, "over", *x, 1, true)
                      : mgb_op_max(m->graph, &y, "over", *x, 1, true));
    MGB_TRY(mgb_op_sub(m->graph, x, "sub", *x, y));
    MGB_TRY(mgb_op_affine(m->graph, &y, "affine", y, 0.5f, 2));
    MGB_TRY(mgb_op_div(m->graph, x, "div", *x, y));
    MGB_TRY(mgb_op_pad(m->graph, x, "pad", *x, 1, (const int64_t[]){1, 2}));
    MGB_TRY(mgb_op_slice(m->graph, x, "slice", *x, 1, 2, width));
    MGB_TRY(mgb_op_concat(m->graph, x, "concat", (int[]){value, *x}, 2, 1));
    MGB_TRY((m->seed % 8 == 3 ? mgb_op_sum : mgb_op_mean)(m->graph, &y, "over", *x, 1, true));
    MGB_TRY(mgb_op_affine(m->graph, &y, "affine", y, 0.05f, 0));
    MGB_TRY(mgb_op_add(m->graph, x, "add", *x, y));
    if (!m->smooth)
        MGB_TRY(mgb_op_abs(m->graph, x, "abs", *x));
    MGB_TRY(mgb_graph_input(m->graph, &odds, "odds", &shape, MGB_F32));
    MGB_TRY(mgb_op_slice(m->graph, &y, "slice", *x, -1, 0, 3));
    MGB_TRY(mgb_op_binary_cross_entropy(m->graph, &loss, "guess", y, odds));
    MGB_TRY(mgb_graph_loss(m->graph, loss, 0.25f));
    MGB_TRY(mgb_op_l2(m->graph, &loss, "l2", &value, 1, 0.01f));
    return mgb_graph_loss(m->graph, loss, 0.5f);
}

static enum mgb_status first_loss(struct maker *m, int x, int label)
{
    struct layer layer;
    int logits, loss, right;
    int64_t in = shape_of(m, x)->dim[0];
    MGB_TRY(layer_make(m, &layer, "logits", (struct mgb_shape){2, {in, RANDOM_MODEL_CLASSES}}));
    MGB_TRY(mgb_op_dense(m->graph, &logits, "logits", x, layer.kernel, layer.bias, MGB_LINEAR));
    MGB_TRY(mgb_graph_output(m->graph, "logits", logits));
    MGB_TRY(mgb_op_softmax_cross_entropy(m->graph, &loss, "loss", logits, label));
    MGB_TRY(mgb_graph_loss(m->graph, loss, 1));
    MGB_TRY(mgb_op_accuracy(m->graph, &right, "accuracy", logits, label));
    return mgb_graph_metric(m->graph, "accuracy", right);
}

static enum mgb_status build(struct maker *m)
{
    struct mgb_shape image = {3, {4 + draw(m, 5), 4 + draw(m, 5), 1 + draw(m, 3)}};
    int x, label;
    MGB_TRY(mgb_graph_input(m->graph, &x, "image", &image, MGB_F32));
    MGB_TRY(mgb_graph_input(m->graph, &label, "label", &(struct mgb_shape){0}, MGB_I32));
    MGB_TRY(trunk(m, &x));
    if (chance(m, 2))
        MGB_TRY(side_input(m, &x));
    if (chance(m, 2))
        MGB_TRY(siamese(m, &x));
    if (chance(m, 2))
        MGB_TRY(dropout(m, &x));
    if (chance(m, 3))
        MGB_TRY(second_loss(m, x));
    MGB_TRY(shift(m, &x));
    MGB_TRY(attend(m, &x));
    MGB_TRY(remember(m, &x, label));
    MGB_TRY(calculate(m, &x));
    MGB_TRY(first_loss(m, x, label));
    return mgb_graph_finish(m->graph);
}

static enum mgb_status make(struct mgb_graph **out, uint64_t seed, bool smooth)
{
    struct maker m = {.seed = seed, .smooth = smooth};
    *out = NULL;
    MGB_TRY(mgb_graph_make(&m.graph, "random"));
    enum mgb_status status = build(&m);
    if (status == MGB_OK)
        *out = m.graph;
    else
        mgb_graph_free(m.graph);
    return status;
}

enum mgb_status random_model_make(struct mgb_graph **out, uint64_t seed)
{
    return make(out, seed, false);
}

enum mgb_status random_model_make_smooth(struct mgb_graph **out, uint64_t seed)
{
    return make(out, seed, true);
}
