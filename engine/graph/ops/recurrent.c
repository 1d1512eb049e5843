/* Recurrent layers as one operator over all positions: x [positions, width], weights, then what there is of bias, mask and
 * initial state. The output is the state after each position, or after the last one taken. */
#include "engine/graph/ops/recurrent.h"

#include <string.h>

struct mgb_recurrent mgb_recurrent_init(void)
{
    return (struct mgb_recurrent){
        .kernel = -1, .recurrent = -1, .bias = -1, .mask = -1, .h0 = -1, .c0 = -1};
}

struct recurrent_call {
    struct mgb_op_call op;
    const struct mgb_recurrent *asked;
    int gates;
    int64_t units;
};

static enum mgb_status weights_take(struct recurrent_call *c, const struct mgb_shape *x)
{
    struct mgb_shape kernel, recurrent;
    char one[96], two[96];
    MGB_TRY(mgb_op_take_variable(&c->op, "kernel", c->asked->kernel, &kernel));
    MGB_TRY(mgb_op_take_variable(&c->op, "recurrent kernel", c->asked->recurrent, &recurrent));
    c->units = recurrent.rank == 2 ? recurrent.dim[0] : 0;
    if (c->units < 1 || recurrent.dim[1] != c->gates * c->units)
        return mgb_op_fail(&c->op, "its recurrent kernel is %s, it takes units x %d units",
                           mgb_shape_format(one, sizeof one, &recurrent), c->gates);
    if (kernel.rank != 2 || kernel.dim[0] != x->dim[1] || kernel.dim[1] != recurrent.dim[1])
        return mgb_op_fail(&c->op, "its kernel is %s, it takes %lldx%lld for input %s",
                           mgb_shape_format(one, sizeof one, &kernel), (long long)x->dim[1],
                           (long long)recurrent.dim[1], mgb_shape_format(two, sizeof two, x));
    return MGB_OK;
}

static enum mgb_status bias_take(struct recurrent_call *c)
{
    struct mgb_shape bias, wanted = {1, {c->gates * c->units}};
    char one[96], two[96];
    if (c->asked->bias < 0)
        return MGB_OK;
    if (c->asked->reset_after)
        wanted = (struct mgb_shape){2, {2, c->gates * c->units}};
    MGB_TRY(mgb_op_take_variable(&c->op, "bias", c->asked->bias, &bias));
    if (!mgb_shape_equal(&bias, &wanted))
        return mgb_op_fail(&c->op, "its bias is %s, it takes %s",
                           mgb_shape_format(one, sizeof one, &bias),
                           mgb_shape_format(two, sizeof two, &wanted));
    c->op.a.recurrent.bias = true;
    return MGB_OK;
}

static enum mgb_status mask_take(struct recurrent_call *c, int64_t steps)
{
    struct mgb_shape mask;
    struct mgb_tensor scratch;
    char text[96];
    if (c->asked->mask < 0)
        return MGB_OK;
    const struct mgb_tensor *found = mgb_graph_find_tensor(c->op.graph, c->asked->mask, &scratch);
    enum mgb_type type = found && found->type == MGB_I32 ? MGB_I32 : MGB_F32;
    MGB_TRY(mgb_op_take(&c->op, "mask", c->asked->mask, type, &mask));
    if (mask.rank != 1 || mask.dim[0] != steps)
        return mgb_op_fail(&c->op, "its mask is %s, it takes %lld, one number a position",
                           mask.rank == 0 ? "one number an example"
                                          : mgb_shape_format(text, sizeof text, &mask),
                           (long long)steps);
    c->op.a.recurrent.mask = true;
    return MGB_OK;
}

static enum mgb_status state_take(struct recurrent_call *c, const char *role, int tensor)
{
    struct mgb_shape state;
    char text[96];
    MGB_TRY(mgb_op_take(&c->op, role, tensor, MGB_F32, &state));
    if (state.rank != 1 || state.dim[0] != c->units)
        return mgb_op_fail(&c->op, "its %s is %s, it takes %lld, its units", role,
                           state.rank == 0 ? "one number an example"
                                           : mgb_shape_format(text, sizeof text, &state),
                           (long long)c->units);
    return MGB_OK;
}

static enum mgb_status states_take(struct recurrent_call *c)
{
    bool cell = c->gates == 4;
    if (c->asked->h0 < 0 && c->asked->c0 < 0)
        return MGB_OK;
    if (c->asked->h0 < 0 || (cell && c->asked->c0 < 0))
        return mgb_op_fail(&c->op, "it was given half of an initial state: h and c go together");
    MGB_TRY(state_take(c, cell ? "initial state h" : "initial state", c->asked->h0));
    if (cell)
        MGB_TRY(state_take(c, "initial state c", c->asked->c0));
    c->op.a.recurrent.state = true;
    return MGB_OK;
}

enum mgb_status mgb_recurrent_make(struct mgb_graph *graph, int *out, enum mgb_op_kind kind,
                                   const char *name, int x, const struct mgb_recurrent *r)
{
    struct recurrent_call c = {.asked = r, .gates = kind == MGB_OP_LSTM ? 4 : 3};
    struct mgb_shape in, y;
    char text[96];
    MGB_TRY(mgb_op_begin(&c.op, graph, kind, name));
    MGB_TRY(mgb_op_take(&c.op, "input", x, MGB_F32, &in));
    if (in.rank != 2)
        return mgb_op_fail(&c.op, "its input is %s, it takes positions x width",
                           in.rank == 0 ? "one number an example"
                                        : mgb_shape_format(text, sizeof text, &in));
    MGB_TRY(weights_take(&c, &in));
    MGB_TRY(bias_take(&c));
    MGB_TRY(mask_take(&c, in.dim[0]));
    MGB_TRY(states_take(&c));
    c.op.a.recurrent.steps = in.dim[0];
    c.op.a.recurrent.in = in.dim[1];
    c.op.a.recurrent.units = c.units;
    c.op.a.recurrent.sequences = r->sequences || r->cell;
    c.op.a.recurrent.cell = r->cell;
    c.op.a.recurrent.reverse = r->reverse;
    c.op.a.recurrent.reset_after = r->reset_after;
    y = r->sequences || r->cell ? (struct mgb_shape){2, {in.dim[0] + (r->cell ? 1 : 0), c.units}}
                                : (struct mgb_shape){1, {c.units}};
    return mgb_op_end(&c.op, out, &y, MGB_F32);
}

/* Keeps a value of every position; returns its tensor in *tensor. */
static enum mgb_status value_keep(struct mgb_graph *graph, int *tensor, int node, int slot,
                                  int64_t width)
{
    struct mgb_tensor like = {.type = MGB_F32, .batched = true};
    like.shape = (struct mgb_shape){2, {graph->nodes[node].a.recurrent.steps, width}};
    MGB_TRY(mgb_graph_add_output(graph, node, slot, &like));
    *tensor = graph->nodes[node].outputs[slot];
    return MGB_OK;
}

/* The inputs of the gradient: dy, x, both kernels, mask, initial state, and what was kept. */
static enum mgb_status inputs_gather(struct mgb_gradient_request *request, struct mgb_graph *graph,
                                     const struct mgb_node *node, int dy, int gates, bool second)
{
    const struct mgb_recurrent_attributes *a = &node->a.recurrent;
    int self = graph->tensors[node->outputs[0]].node, *in = request->inputs, count = 0, kept;
    in[count++] = dy;
    for (int i = 0; i < node->input_count; i++)
        if (!(a->bias && i == 3))
            in[count++] = node->inputs[i];
    MGB_TRY(value_keep(graph, &kept, self, 1, gates * a->units));
    in[count++] = kept;
    if (second) {
        MGB_TRY(value_keep(graph, &kept, self, 2, a->units));
        in[count++] = kept;
    }
    kept = node->outputs[0];
    if (!a->sequences)
        MGB_TRY(value_keep(graph, &kept, self, 3, a->units));
    in[count++] = kept;
    request->input_count = count;
    return MGB_OK;
}

enum mgb_status mgb_recurrent_differentiate(struct mgb_gradient *gradient,
                                            const struct mgb_node *node, int dy,
                                            enum mgb_op_kind kind, int gates, bool second)
{
    const struct mgb_recurrent_attributes *a = &node->a.recurrent;
    int state = 3 + (a->bias ? 1 : 0) + (a->mask ? 1 : 0), outputs[MGB_MAX_OUTPUTS];
    int of[MGB_MAX_OUTPUTS] = {node->inputs[0],
                               node->inputs[1],
                               node->inputs[2],
                               a->bias ? node->inputs[3] : -1,
                               a->state ? node->inputs[state] : -1,
                               a->state && gates == 4 ? node->inputs[state + 1] : -1};
    struct mgb_gradient_request request = {.kind = kind, .of = node->name, .suffix = "grad"};
    request.a = node->a;
    request.like_count = MGB_MAX_OUTPUTS;
    for (int i = 0; i < MGB_MAX_OUTPUTS; i++)
        request.like[i] = of[i] >= 0 && mgb_gradient_needs(gradient, of[i]) ? of[i] : -1;
    MGB_TRY(inputs_gather(&request, mgb_gradient_graph(gradient), node, dy, gates, second));
    MGB_TRY(mgb_gradient_node(gradient, outputs, &request));
    for (int i = 0; i < MGB_MAX_OUTPUTS; i++)
        if (request.like[i] >= 0)
            MGB_TRY(mgb_gradient_add(gradient, of[i], outputs[i]));
    return MGB_OK;
}

/* The products with both kernels; the gates themselves are not counted. */
double mgb_recurrent_flops(const struct mgb_graph *graph, const struct mgb_node *node, int gates)
{
    const struct mgb_recurrent_attributes *a = &node->a.recurrent;
    (void)graph;
    return 2.0 * (double)a->steps * (double)(a->in + a->units) * (double)(gates * a->units);
}

double mgb_recurrent_grad_flops(const struct mgb_graph *graph, const struct mgb_node *node,
                                int gates)
{
    const struct mgb_recurrent_attributes *a = &node->a.recurrent;
    double gate = 2.0 * (double)a->steps * (double)(gates * a->units);
    (void)graph;
    return gate * ((double)a->in * ((node->outputs[0] >= 0) + (node->outputs[1] >= 0)) +
                   (double)a->units * (1 + (node->outputs[2] >= 0)));
}

void mgb_recurrent_text(struct mgb_text *text, const struct mgb_node *node)
{
    const struct mgb_recurrent_attributes *a = &node->a.recurrent;
    mgb_text_add(text, " units=%lld", (long long)a->units);
    const struct {
        bool set;
        const char *word;
    } words[] = {{a->sequences, "sequences"},
                 {a->cell, "cell"},
                 {a->reverse, "reverse"},
                 {a->bias, "bias"},
                 {a->mask, "mask"},
                 {a->state, "state"},
                 {a->reset_after, "reset_after"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].set)
            mgb_text_add(text, " %s", words[i].word);
}
