/* The stable text form: declarations first, then one operator a line under its section. "N" is the
 * batch. */
#include "engine/graph/op.h"

void mgb_text_free(char *text)
{
    mgb_release(text);
}

static void tensor_add(struct mgb_text *text, const struct mgb_graph *graph, int tensor)
{
    const struct mgb_tensor *t = &graph->tensors[tensor];
    const struct mgb_node *node = &graph->nodes[t->node];
    if (node->kind == MGB_OP_READ)
        mgb_text_add(text, "%s", graph->variables[node->a.variable].info.name);
    else if (t->slot > 0)
        mgb_text_add(text, "%s:%d", node->name, t->slot);
    else
        mgb_text_add(text, "%s", node->name);
}

static void type_add(struct mgb_text *text, const struct mgb_tensor *t)
{
    char shape[96];
    if (!t->batched)
        mgb_text_add(text, "%s", mgb_shape_format(shape, sizeof shape, &t->shape));
    else if (t->shape.rank == 0)
        mgb_text_add(text, "N");
    else
        mgb_text_add(text, "Nx%s", mgb_shape_format(shape, sizeof shape, &t->shape));
    mgb_text_add(text, " %s", mgb_type_name(t->type));
}

static void init_add(struct mgb_text *text, const struct mgb_init *init)
{
    switch (init->kind) {
    case MGB_GLOROT_UNIFORM:
        mgb_text_add(text, " glorot_uniform(%lld,%lld)", (long long)init->fan_in,
                     (long long)init->fan_out);
        break;
    case MGB_HE_NORMAL:
        mgb_text_add(text, " he_normal(%lld)", (long long)init->fan_in);
        break;
    case MGB_NORMAL:
        mgb_text_add(text, " normal(%.9g)", (double)init->value);
        break;
    case MGB_ZEROS:
        mgb_text_add(text, " zeros");
        break;
    case MGB_ONES:
        mgb_text_add(text, " ones");
        break;
    case MGB_CONSTANT:
        mgb_text_add(text, " constant(%.9g)", (double)init->value);
        break;
    case MGB_UNIFORM:
        mgb_text_add(text, " uniform(%.9g)", (double)init->value);
        break;
    case MGB_UNIT_FORGET:
        mgb_text_add(text, " unit_forget");
        break;
    case MGB_ORTHOGONAL:
        mgb_text_add(text, " orthogonal(%.9g)", (double)init->value);
        break;
    }
}

static void variable_add(struct mgb_text *text, const struct mgb_variable *v)
{
    char shape[96];
    mgb_text_add(text, "variable %s %s", v->info.name,
                 mgb_shape_format(shape, sizeof shape, &v->info.shape));
    init_add(text, &v->init);
    if (v->info.device.kind == MGB_DEVICE_CPU || v->info.device.kind == MGB_DEVICE_GPU)
        mgb_text_add(text, " on /host:%d/%s:%d", v->info.device.host,
                     v->info.device.kind == MGB_DEVICE_CPU ? "cpu" : "gpu", v->info.device.index);
    if (v->info.state)
        mgb_text_add(text, " state momentum=%.9g", (double)v->momentum);
    if (v->info.state ? v->info.frozen : !v->info.trainable)
        mgb_text_add(text, " frozen");
    if (v->info.tower >= 0)
        mgb_text_add(text, " tower=%d", v->info.tower);
    mgb_text_add(text, "\n");
}

static void node_add(struct mgb_text *text, const struct mgb_graph *graph,
                     const struct mgb_node *node)
{
    const struct mgb_op_rules *rules = mgb_op_rules_get(node->kind);
    mgb_text_add(text, "%s = %s(", node->name, mgb_op_name(node->kind));
    for (int i = 0; i < node->input_count; i++) {
        mgb_text_add(text, "%s", i > 0 ? ", " : "");
        tensor_add(text, graph, node->inputs[i]);
    }
    mgb_text_add(text, ")");
    if (rules->text)
        rules->text(text, node);
    mgb_text_add(text, " ->");
    for (int i = 0; i < node->output_count; i++) {
        mgb_text_add(text, "%s", i > 0 ? ", " : " ");
        if (node->outputs[i] >= 0)
            type_add(text, &graph->tensors[node->outputs[i]]);
        else
            mgb_text_add(text, "-");
    }
    mgb_text_add(text, "\n");
}

static void section_add(struct mgb_text *text, const struct mgb_graph *graph,
                        enum mgb_section section, const char *title)
{
    mgb_text_add(text, "%s\n", title);
    for (int i = 0; i < graph->node_count; i++) {
        const struct mgb_node *node = &graph->nodes[i];
        if (node->section == section && node->kind != MGB_OP_READ && node->kind != MGB_OP_INPUT)
            node_add(text, graph, node);
    }
}

static void declarations_add(struct mgb_text *text, const struct mgb_graph *graph)
{
    for (int i = 0; i < graph->input_count; i++) {
        mgb_text_add(text, "input %s ", graph->inputs[i].name);
        type_add(text, &graph->tensors[graph->inputs[i].tensor]);
        mgb_text_add(text, "\n");
    }
    if (graph->batch > 0)
        mgb_text_add(text, "batch %d\n", graph->batch);
    for (int i = 0; i < graph->variable_count; i++)
        variable_add(text, &graph->variables[i]);
}

static void results_add(struct mgb_text *text, const struct mgb_graph *graph)
{
    for (int i = 0; i < graph->output_count; i++) {
        mgb_text_add(text, "output %s = ", graph->outputs[i].name);
        tensor_add(text, graph, graph->outputs[i].tensor);
        mgb_text_add(text, "\n");
    }
    for (int i = 0; i < graph->loss_count; i++) {
        mgb_text_add(text, "loss ");
        tensor_add(text, graph, graph->losses[i].tensor);
        mgb_text_add(text, " weight=%.9g\n", (double)graph->losses[i].weight);
    }
    for (int i = 0; i < graph->metric_count; i++) {
        mgb_text_add(text, "metric %s = ", graph->metrics[i].name);
        tensor_add(text, graph, graph->metrics[i].tensor);
        mgb_text_add(text, "\n");
    }
    for (int i = 0; i < graph->variable_count; i++) {
        const struct mgb_variable *v = &graph->variables[i];
        if (v->info.twin >= 0 || v->gradient < 0)
            continue;
        mgb_text_add(text, "gradient %s = ", v->info.name);
        tensor_add(text, graph, v->gradient);
        mgb_text_add(text, "\n");
    }
}

enum mgb_status mgb_graph_text(char **out, const struct mgb_graph *graph)
{
    struct mgb_text text = {0};
    *out = NULL;
    if (!graph->finished)
        return mgb_fail(MGB_STATE, "model '%s' has no text form before it is finished",
                        graph->name);
    mgb_text_add(&text, "model %s\n", graph->name);
    declarations_add(&text, graph);
    section_add(&text, graph, MGB_SECTION_FORWARD, "forward");
    section_add(&text, graph, MGB_SECTION_HEAD, "head");
    section_add(&text, graph, MGB_SECTION_BACKWARD, "backward");
    results_add(&text, graph);
    return mgb_text_take(out, &text);
}
