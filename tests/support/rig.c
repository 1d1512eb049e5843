/* Playing a graph on one device. */
#include "tests/support/rig.h"

#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

struct rig rig_open(const struct mgb_backend *backend, int64_t gpu_memory)
{
    struct rig rig = {.backend = backend};
    struct mgb_backend_options options = {.gpu_memory = gpu_memory, .logical = true};
    assert_ok(backend->probe(&rig.topology));
    rig.lent = malloc(sizeof *rig.lent);
    assert_non_null(rig.lent);
    *rig.lent = rig.topology;
    assert_ok(backend->open(&rig.context, rig.lent, &options));
    return rig;
}

void rig_close(struct rig *rig)
{
    rig->backend->close(rig->context);
    mgb_topology_done(&rig->topology);
    free(rig->lent);
}

int rig_device(const struct rig *rig, const char *name)
{
    struct mgb_device_name device;
    assert_ok(mgb_device_parse(&device, name));
    return mgb_topology_find(&rig->topology, device);
}

struct mgb_queue *rig_compute(const struct rig *rig, int device, int threads)
{
    struct mgb_queue *queue;
    struct mgb_queue_request request = {
        .use = MGB_USE_COMPUTE, .device = device, .threads = threads};
    assert_ok(rig->backend->queue_make(rig->context, &queue, &request));
    return queue;
}

struct mgb_queue *rig_copy(const struct rig *rig, int from, int to)
{
    struct mgb_queue *queue;
    struct mgb_queue_request request = {.use = MGB_USE_COPY, .device = to, .from = from};
    assert_ok(rig->backend->queue_make(rig->context, &queue, &request));
    return queue;
}

void *rig_arena(const struct rig *rig, int device, int64_t bytes)
{
    void *base;
    assert_ok(rig->backend->arena_make(rig->context, &base, device, bytes));
    return base;
}

struct tensor_place {
    int64_t offset, bytes;
    int layout, owner; /* owner: the tensor whose buffer it is */
    int last;          /* last node that reads it */
    bool overwritten;
};

struct node_place {
    struct mgb_operator_facts facts;
    struct mgb_kernel *kernel;
    int64_t workspace;
    void *inputs[MGB_MAX_INPUTS], *outputs[MGB_MAX_OUTPUTS];
    struct mgb_launch launch;
};

struct session {
    const struct rig *rig;
    const struct reference *reference;
    const struct rig_play *play;
    struct tensor_place *tensors;
    struct node_place *nodes;
    int64_t bytes;
    char *base;
};

static int64_t bytes_take(struct session *s, int64_t bytes)
{
    int64_t offset = s->bytes;
    s->bytes += (bytes + 63) / 64 * 64 + 64; /* a gap, so that an overrun meets nobody */
    return offset;
}

static bool runs(const struct mgb_node *node)
{
    return node->kind != MGB_OP_INPUT && node->kind != MGB_OP_READ;
}

/* Is the node left out of a play? */
static bool skipped(const struct session *s, const struct mgb_node *node)
{
    return s->play->forward && node->section != MGB_SECTION_FORWARD;
}

static void last_find(struct session *s)
{
    const struct mgb_graph *graph = s->reference->graph;
    for (int i = 0; i < graph->tensor_count; i++)
        s->tensors[i] = (struct tensor_place){.owner = i, .last = -1};
    for (int i = 0; i < graph->node_count; i++)
        for (int k = 0; k < graph->nodes[i].input_count; k++)
            s->tensors[graph->nodes[i].inputs[k]].last = i;
}

static bool may_overwrite(const struct session *s, int node, int tensor)
{
    const struct mgb_graph *graph = s->reference->graph;
    if (!runs(&graph->nodes[graph->tensors[tensor].node]))
        return false;
    for (int i = 0; i < graph->tensor_count; i++)
        if (s->tensors[i].owner == s->tensors[tensor].owner &&
            (s->tensors[i].last > node || i != tensor))
            return false;
    return s->tensors[tensor].owner == tensor;
}

static void outputs_place(struct session *s, int index)
{
    const struct mgb_node *node = &s->reference->graph->nodes[index];
    const struct mgb_operator_facts *facts = &s->nodes[index].facts;
    for (int i = 0; i < node->output_count; i++) {
        if (node->outputs[i] < 0)
            continue;
        struct tensor_place *out = &s->tensors[node->outputs[i]];
        out->layout = facts->out_layout[i];
        if (s->play->plain || out->last < 0)
            assert_int_equal(out->layout, 0);
        out->bytes = facts->out_bytes[i];
        int shared = facts->alias < 0 ? -1 : facts->alias + i;
        if (i == 0 && shared < 0 && s->play->in_place && facts->in_place >= 0 &&
            may_overwrite(s, index, node->inputs[facts->in_place])) {
            shared = facts->in_place;
            s->tensors[node->inputs[shared]].overwritten = true;
        }
        if (shared >= 0) {
            out->owner = s->tensors[node->inputs[shared]].owner;
            out->offset = s->tensors[node->inputs[shared]].offset;
        } else {
            out->offset = bytes_take(s, out->bytes);
        }
    }
}

static enum mgb_status node_describe(struct session *s, int index)
{
    const struct mgb_graph *graph = s->reference->graph;
    const struct mgb_node *node = &graph->nodes[index];
    struct node_place *place = &s->nodes[index];
    if (skipped(s, node))
        return MGB_OK;
    if (!runs(node)) {
        struct tensor_place *out = &s->tensors[node->outputs[0]];
        out->bytes = mgb_tensor_bytes(graph, node->outputs[0], s->reference->rows);
        out->offset = bytes_take(s, out->bytes);
        return MGB_OK;
    }
    struct mgb_kernel_request request = {
        .device = s->play->device,
        .use = {.graph = graph,
                .node = index,
                .rows = s->reference->rows,
                .threads = s->play->threads,
                .precision = s->play->precision,
                .training = mgb_node_trains(graph, index, s->reference->training)}};
    for (int i = 0; i < node->input_count; i++)
        request.use.in_layout[i] = s->tensors[node->inputs[i]].layout;
    for (int i = 0; i < node->output_count; i++)
        request.use.plain[i] =
            node->outputs[i] >= 0 && (s->play->plain || s->tensors[node->outputs[i]].last < 0);
    MGB_TRY(
        s->rig->backend->describe(s->rig->context, s->play->device, &request.use, &place->facts));
    request.facts = place->facts;
    MGB_TRY(s->rig->backend->kernel(s->rig->context, &place->kernel, &request));
    place->workspace = bytes_take(s, place->facts.workspace_bytes);
    outputs_place(s, index);
    return MGB_OK;
}

/* All bits one: no numbers, so that what an operator leaves unwritten or reads too much shows. */
static void arena_poison(struct session *s)
{
    void *poison = malloc((size_t)s->bytes);
    assert_non_null(poison);
    memset(poison, 0xff, (size_t)s->bytes);
    assert_ok(s->rig->backend->write(s->rig->context, s->play->device, s->base, poison, s->bytes));
    free(poison);
}

static void inputs_write(struct session *s)
{
    const struct mgb_graph *graph = s->reference->graph;
    for (int t = 0; t < graph->tensor_count; t++) {
        const struct mgb_node *node = &graph->nodes[graph->tensors[t].node];
        if (runs(node) || skipped(s, node))
            continue;
        int64_t count = s->reference->counts[t];
        float *copy = malloc(4 * (size_t)count);
        for (int64_t i = 0; i < count; i++) {
            int32_t whole = (int32_t)s->reference->value[t][i];
            copy[i] = (float)s->reference->value[t][i];
            if (graph->tensors[t].type == MGB_I32)
                memcpy(&copy[i], &whole, 4);
        }
        assert_ok(s->rig->backend->write(s->rig->context, s->play->device,
                                         s->base + s->tensors[t].offset, copy, 4 * count));
        free(copy);
    }
}

static void node_launch(struct session *s, int index, struct mgb_queue *queue,
                        const struct mgb_step_values *values)
{
    const struct mgb_node *node = &s->reference->graph->nodes[index];
    struct node_place *place = &s->nodes[index];
    if (!runs(node) || skipped(s, node) || place->facts.alias >= 0)
        return;
    for (int i = 0; i < node->input_count; i++)
        place->inputs[i] = s->base + s->tensors[node->inputs[i]].offset;
    for (int i = 0; i < node->output_count; i++)
        place->outputs[i] =
            node->outputs[i] < 0 ? NULL : s->base + s->tensors[node->outputs[i]].offset;
    place->launch = (struct mgb_launch){
        .inputs = place->inputs,
        .outputs = place->outputs,
        .workspace = place->facts.workspace_bytes ? s->base + place->workspace : NULL,
        .first_row = s->reference->first_row,
        .scale = s->reference->scale,
        .values = values,
    };
    assert_ok(s->rig->backend->launch(queue, place->kernel, &place->launch));
}

/* The rows that a gradient touches, as the reference has them: numbers of rows as they count, rows that nothing uses zero. */
static void packed_tidy(const struct session *s, const struct mgb_node *node, float *value)
{
    int64_t positions = s->reference->counts[node->inputs[0]],
            units = s->reference->counts[node->outputs[0]] / positions - 1;
    for (int64_t i = 0; i < positions; i++) {
        int32_t row;
        memcpy(&row, &value[i], 4);
        value[i] = (float)row;
        if (row < 0)
            memset(value + positions + i * units, 0, 4 * (size_t)units);
    }
}

static void values_read(struct session *s, struct rig_values *out)
{
    const struct mgb_graph *graph = s->reference->graph;
    out->count = graph->tensor_count;
    out->value = calloc((size_t)out->count, sizeof *out->value);
    for (int t = 0; t < out->count; t++) {
        const struct tensor_place *place = &s->tensors[t];
        bool weight = graph->nodes[graph->tensors[t].node].kind == MGB_OP_READ;
        if (place->layout != 0 || place->overwritten || place->bytes == 0 ||
            (s->play->forward && weight))
            continue;
        int64_t count = s->reference->counts[t];
        char *raw = malloc((size_t)place->bytes);
        assert_ok(s->rig->backend->read(s->rig->context, s->play->device, raw,
                                        s->base + place->offset, place->bytes));
        out->value[t] = calloc((size_t)count, sizeof(float));
        for (int64_t i = 0; i < count; i++) {
            int32_t whole;
            memcpy(&whole, raw + 4 * i, graph->tensors[t].type == MGB_U8 ? 0 : 4);
            if (graph->tensors[t].type == MGB_F32)
                memcpy(&out->value[t][i], raw + 4 * i, 4);
            else
                out->value[t][i] =
                    graph->tensors[t].type == MGB_I32 ? (float)whole : (float)(uint8_t)raw[i];
        }
        if (graph->nodes[graph->tensors[t].node].kind == MGB_OP_EMBEDDING_ROWS)
            packed_tidy(s, &graph->nodes[graph->tensors[t].node], out->value[t]);
        free(raw);
    }
}

/* Every launch between two events. */
static void nodes_time(struct session *s, struct mgb_queue *queue,
                       const struct mgb_step_values *values)
{
    const struct mgb_backend *backend = s->rig->backend;
    int count = s->reference->graph->node_count;
    struct mgb_event **events = calloc(2 * (size_t)count, sizeof *events);
    for (int i = 0; i < 2 * count; i++)
        assert_ok(backend->event_make(s->rig->context, &events[i], s->play->device));
    for (int repeat = 0; repeat < s->play->repeats; repeat++) {
        for (int i = 0; i < count; i++) {
            assert_ok(backend->record(queue, events[2 * i]));
            node_launch(s, i, queue, values);
            assert_ok(backend->record(queue, events[2 * i + 1]));
        }
        assert_ok(backend->drain(s->rig->context, 0));
        for (int i = 0; i < count; i++) {
            int64_t begin, end, least = s->play->node_ns[i];
            assert_ok(backend->event_time(events[2 * i], &begin, NULL));
            assert_ok(backend->event_time(events[2 * i + 1], &end, NULL));
            s->play->node_ns[i] = repeat == 0 || end - begin < least ? end - begin : least;
        }
    }
    for (int i = 0; i < 2 * count; i++)
        backend->event_free(events[i]);
    free(events);
}

static void session_play(struct session *s, struct rig_values *out)
{
    const struct mgb_backend *backend = s->rig->backend;
    struct mgb_step_values values = {.step = s->reference->step, .seed = s->reference->seed};
    s->base = rig_arena(s->rig, s->play->device, s->bytes);
    struct mgb_queue *queue = rig_compute(s->rig, s->play->device, s->play->threads);
    arena_poison(s);
    inputs_write(s);
    for (int i = 0; i < s->reference->graph->node_count; i++)
        node_launch(s, i, queue, &values);
    assert_ok(backend->drain(s->rig->context, 60000000000));
    if (s->play->node_ns)
        nodes_time(s, queue, &values);
    for (int i = 0; s->play->node_layout && i < s->reference->graph->node_count; i++)
        s->play->node_layout[i] = s->nodes[i].facts.out_layout[0];
    values_read(s, out);
    backend->queue_free(queue);
    backend->arena_free(s->rig->context, s->play->device, s->base, s->bytes);
}

enum mgb_status rig_run(struct rig_values *out, const struct rig *rig,
                        const struct reference *reference, const struct rig_play *play)
{
    const struct mgb_graph *graph = reference->graph;
    struct session s = {.rig = rig, .reference = reference, .play = play};
    s.tensors = calloc((size_t)graph->tensor_count, sizeof *s.tensors);
    s.nodes = calloc((size_t)graph->node_count, sizeof *s.nodes);
    enum mgb_status status = MGB_OK;
    memset(out, 0, sizeof *out);
    last_find(&s);
    for (int i = 0; status == MGB_OK && i < graph->node_count; i++)
        status = node_describe(&s, i);
    if (status == MGB_OK)
        session_play(&s, out);
    free(s.tensors);
    free(s.nodes);
    return status;
}

void rig_values_free(struct rig_values *values)
{
    for (int i = 0; i < values->count; i++)
        free(values->value[i]);
    free(values->value);
    memset(values, 0, sizeof *values);
}
