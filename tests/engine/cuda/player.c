/* Tensors live where the node that makes them runs; a node that needs one from the other side gets a copy by the copy
 * queue between the two, ordered by events. Everything is plain and nothing shares memory. */
#include "tests/engine/cuda/player.h"

#include "tests/support/check.h"
#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES ((int64_t)4 << 20)
#define MAX_TOWERS 8
#define MAX_EVENTS 4096
#define MAX_VALUES 1024 /* of a variable */

enum side { ON_CPU, ON_GPU, SIDES };

struct tower {
    int device;
    struct mgb_queue *compute, *in, *out,
        *meet;             /* in: /cpu:0 to the device; meet: the device's own copy queue */
    void **address[SIDES]; /* by tensor */
    struct mgb_event **made[SIDES]; /* by tensor: newest event after which it is there, this step */
    float **slot, **weight;         /* by variable */
    struct mgb_event *first, *last;
};

struct player {
    const struct mgb_backend *backend;
    void *context;
    const struct mgb_graph *graph;
    struct player_options options;
    char *arena[MAX_TOWERS + 1];
    int64_t used[MAX_TOWERS + 1];
    struct tower towers[MAX_TOWERS];
    struct mgb_queue *cpu;
    char **input; /* on /cpu:0, global rows */
    float *losses, *total;
    struct mgb_event *events[MAX_EVENTS];
    int event_device[MAX_EVENTS];
    int events_made, events_used;
    struct mgb_step_values values;
    struct mgb_launch *launches; /* operand arrays must stay until drain */
    int launches_used;
    void *pointers[MAX_EVENTS * 4];
    int pointers_used;
    struct mgb_update_item items[MAX_TOWERS][16];
    struct mgb_update updates[MAX_TOWERS];
    const float *loss_sources[MAX_TOWERS];
};

static void *bytes_take(struct player *p, int device, int64_t bytes)
{
    void *address = p->arena[device] + p->used[device];
    p->used[device] += (bytes + 63) / 64 * 64;
    assert_true(p->used[device] <= ARENA_BYTES);
    return address;
}

static enum mgb_status queue_make(struct mgb_queue **out, struct player *p, enum mgb_queue_use use,
                                  int device, int from)
{
    struct mgb_queue_request request = {.use = use, .device = device, .from = from, .threads = 1};
    return p->backend->queue_make(p->context, out, &request);
}

static int tower_rows(const struct player *p)
{
    return p->options.rows / p->options.towers;
}

static int node_device(const struct player *p, const struct tower *tower,
                       const struct mgb_node *node)
{
    return p->options.head_on_cpu && node->section == MGB_SECTION_HEAD ? 0 : tower->device;
}

static struct mgb_queue *compute_of(struct player *p, const struct tower *tower, int device)
{
    return device == 0 ? p->cpu : tower->compute;
}

static enum mgb_status tensors_make(struct player *p, struct tower *tower)
{
    const struct mgb_graph *graph = p->graph;
    for (int side = 0; side < SIDES; side++) {
        tower->address[side] = calloc((size_t)graph->tensor_count, sizeof(void *));
        tower->made[side] = calloc((size_t)graph->tensor_count, sizeof(struct mgb_event *));
    }
    tower->weight = calloc((size_t)graph->variable_count, sizeof(float *));
    tower->slot = calloc((size_t)graph->variable_count, sizeof(float *));
    for (int v = 0; v < graph->variable_count; v++) {
        int64_t bytes = graph->variables[v].info.bytes;
        float initial[MAX_VALUES];
        assert_true(graph->variables[v].info.count <= MAX_VALUES);
        tower->weight[v] = bytes_take(p, tower->device, bytes);
        tower->slot[v] = bytes_take(p, tower->device, bytes);
        mgb_variable_initial(initial, graph, v, 11);
        MGB_TRY(p->backend->write(p->context, tower->device, tower->weight[v], initial, bytes));
        memset(initial, 0, (size_t)bytes);
        MGB_TRY(p->backend->write(p->context, tower->device, tower->slot[v], initial, bytes));
    }
    return MGB_OK;
}

static enum mgb_status tower_make(struct player *p, int index)
{
    struct tower *tower = &p->towers[index];
    tower->device = index + 1;
    MGB_TRY(
        p->backend->arena_make(p->context, (void **)&p->arena[index + 1], index + 1, ARENA_BYTES));
    MGB_TRY(queue_make(&tower->compute, p, MGB_USE_COMPUTE, index + 1, -1));
    MGB_TRY(queue_make(&tower->in, p, MGB_USE_COPY, index + 1, 0));
    MGB_TRY(queue_make(&tower->out, p, MGB_USE_COPY, 0, index + 1));
    MGB_TRY(queue_make(&tower->meet, p, MGB_USE_COPY, index + 1, index + 1));
    MGB_TRY(tensors_make(p, tower));
    return MGB_OK;
}

static enum mgb_status player_fill(struct player *p, const struct mgb_topology *topology)
{
    const struct mgb_graph *graph = p->graph;
    MGB_TRY(p->backend->open(&p->context, topology, &p->options.backend));
    for (int t = 0; t < p->options.towers; t++)
        MGB_TRY(tower_make(p, t));
    MGB_TRY(p->backend->arena_make(p->context, (void **)&p->arena[0], 0, ARENA_BYTES));
    MGB_TRY(queue_make(&p->cpu, p, MGB_USE_COMPUTE, 0, -1));
    p->losses = bytes_take(p, 0, (int64_t)sizeof(float) * MAX_TOWERS);
    p->total = bytes_take(p, 0, sizeof(float));
    p->input = calloc((size_t)graph->input_count, sizeof(char *));
    for (int i = 0; i < graph->input_count; i++)
        p->input[i] =
            bytes_take(p, 0, mgb_tensor_bytes(graph, graph->inputs[i].tensor, p->options.rows));
    p->launches = calloc(MAX_EVENTS, sizeof *p->launches);
    return MGB_OK;
}

enum mgb_status player_make(struct player **out, const struct mgb_backend *backend,
                            const struct mgb_topology *topology, const struct mgb_graph *graph,
                            const struct player_options *options)
{
    struct player *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->backend = backend;
    p->graph = graph;
    p->options = *options;
    enum mgb_status status = player_fill(p, topology);
    if (status != MGB_OK) {
        player_free(p);
        return status;
    }
    *out = p;
    return MGB_OK;
}

static void tower_free(struct player *p, struct tower *tower)
{
    struct mgb_queue *queues[] = {tower->compute, tower->in, tower->out, tower->meet};
    for (int i = 0; i < 4; i++)
        if (queues[i])
            p->backend->queue_free(queues[i]);
    if (tower->device > 0 && p->arena[tower->device])
        p->backend->arena_free(p->context, tower->device, p->arena[tower->device], ARENA_BYTES);
    for (int side = 0; side < SIDES; side++) {
        free(tower->address[side]);
        free(tower->made[side]);
    }
    free(tower->weight);
    free(tower->slot);
}

void player_free(struct player *p)
{
    if (p->context)
        (void)p->backend->drain(p->context, 0); /* a step that failed half-way left work running */
    for (int i = 0; i < p->events_made; i++)
        p->backend->event_free(p->events[i]);
    for (int t = 0; t < p->options.towers; t++)
        tower_free(p, &p->towers[t]);
    if (p->cpu)
        p->backend->queue_free(p->cpu);
    if (p->arena[0])
        p->backend->arena_free(p->context, 0, p->arena[0], ARENA_BYTES);
    if (p->context)
        p->backend->close(p->context);
    free(p->input);
    free(p->launches);
    free(p);
}

/* A record in `queue` now; the same events in the same order every step. */
static enum mgb_status mark(struct mgb_event **out, struct player *p, struct mgb_queue *queue,
                            int device)
{
    assert_true(p->events_used < MAX_EVENTS);
    if (p->events_used == p->events_made) {
        MGB_TRY(p->backend->event_make(p->context, &p->events[p->events_made], device));
        p->events_made++;
    }
    *out = p->events[p->events_used++];
    return p->backend->record(queue, *out);
}

static enum mgb_status follow(struct player *p, struct mgb_queue *queue, struct mgb_event *event)
{
    return event ? p->backend->wait(queue, event) : MGB_OK;
}

static void *tensor_place(struct player *p, struct tower *tower, int tensor, int device,
                          int64_t bytes)
{
    void **address = &tower->address[device == 0 ? ON_CPU : ON_GPU][tensor];
    if (!*address)
        *address = bytes_take(p, device, bytes);
    return *address;
}

/* The tensor on `device`, copied there when it was made on the other side; `queue` comes after it. */
static enum mgb_status tensor_need(void **out, struct player *p, struct tower *tower, int tensor,
                                   int device, struct mgb_queue *queue)
{
    enum side here = device == 0 ? ON_CPU : ON_GPU, there = device == 0 ? ON_GPU : ON_CPU;
    if (!tower->made[here][tensor] && tower->made[there][tensor]) {
        int64_t bytes = mgb_tensor_bytes(p->graph, tensor, tower_rows(p));
        struct mgb_queue *link = device == 0 ? tower->out : tower->in;
        void *to = tensor_place(p, tower, tensor, device, bytes);
        MGB_TRY(follow(p, link, tower->made[there][tensor]));
        MGB_TRY(p->backend->copy(link, to, tower->address[there][tensor], bytes));
        MGB_TRY(mark(&tower->made[here][tensor], p, link, device));
    }
    *out = tower->address[here][tensor];
    return follow(p, queue, tower->made[here][tensor]);
}

static enum mgb_status node_prepare(struct player *p, struct mgb_kernel_request *request, int node,
                                    int device)
{
    *request = (struct mgb_kernel_request){.device = device};
    request->use = (struct mgb_node_use){.graph = p->graph,
                                         .node = node,
                                         .rows = tower_rows(p),
                                         .threads = 1,
                                         .training = true,
                                         .plain = {true, true}};
    MGB_TRY(p->backend->describe(p->context, device, &request->use, &request->facts));
    return MGB_OK;
}

static void **pointers_take(struct player *p, int count)
{
    void **taken = &p->pointers[p->pointers_used];
    p->pointers_used += count;
    assert_true(p->pointers_used <= MAX_EVENTS * 4);
    return taken;
}

static enum mgb_status node_play(struct player *p, int index, int node_index)
{
    struct tower *tower = &p->towers[index];
    const struct mgb_node *node = &p->graph->nodes[node_index];
    int device = node_device(p, tower, node);
    struct mgb_queue *queue = compute_of(p, tower, device);
    struct mgb_kernel_request request;
    struct mgb_kernel *kernel;
    MGB_TRY(node_prepare(p, &request, node_index, device));
    MGB_TRY(p->backend->kernel(p->context, &kernel, &request));
    void **inputs = pointers_take(p, node->input_count),
         **outputs = pointers_take(p, MGB_MAX_OUTPUTS);
    for (int i = 0; i < node->input_count; i++)
        MGB_TRY(tensor_need(&inputs[i], p, tower, node->inputs[i], device, queue));
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] >= 0)
            outputs[i] =
                tensor_place(p, tower, node->outputs[i], device, request.facts.out_bytes[i]);
    struct mgb_launch *launch = &p->launches[p->launches_used++];
    *launch = (struct mgb_launch){.inputs = inputs,
                                  .outputs = outputs,
                                  .first_row = (int64_t)index * tower_rows(p),
                                  .scale = node->a.loss.weight / (float)p->options.rows,
                                  .values = &p->values};
    int64_t kept = p->used[device];
    if (request.facts.workspace_bytes > 0)
        launch->workspace = bytes_take(p, device, request.facts.workspace_bytes);
    if (p->values.step > 0)
        p->used[device] =
            kept; /* step 0 leaves room for all; later steps find the same room again */
    MGB_TRY(p->backend->launch(queue, kernel, launch));
    struct mgb_event *event;
    MGB_TRY(mark(&event, p, queue, device));
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] >= 0)
            tower->made[device == 0 ? ON_CPU : ON_GPU][node->outputs[i]] = event;
    return MGB_OK;
}

static enum mgb_status input_bring(struct player *p, int index, int input)
{
    struct tower *tower = &p->towers[index];
    int tensor = p->graph->inputs[input].tensor;
    int64_t bytes = mgb_tensor_bytes(p->graph, tensor, tower_rows(p));
    const char *from = p->input[input] + index * bytes;
    void *to = tensor_place(p, tower, tensor, tower->device, bytes);
    MGB_TRY(p->backend->copy(tower->in, to, from, bytes));
    MGB_TRY(mark(&tower->made[ON_GPU][tensor], p, tower->in, tower->device));
    tower->address[ON_CPU][tensor] = (void *)from;
    return MGB_OK;
}

static enum mgb_status tower_play(struct player *p, int index)
{
    struct tower *tower = &p->towers[index];
    for (int side = 0; side < SIDES; side++)
        memset(tower->made[side], 0, (size_t)p->graph->tensor_count * sizeof(struct mgb_event *));
    MGB_TRY(mark(&tower->first, p, tower->compute, tower->device));
    for (int i = 0; i < p->graph->input_count; i++)
        MGB_TRY(input_bring(p, index, i));
    for (int n = 0; n < p->graph->node_count; n++) {
        const struct mgb_node *node = &p->graph->nodes[n];
        if (node->kind == MGB_OP_READ)
            tower->address[ON_GPU][node->outputs[0]] = tower->weight[node->a.variable];
        else if (node->kind != MGB_OP_INPUT)
            MGB_TRY(node_play(p, index, n));
    }
    int loss = p->graph->losses[0].tensor;
    if (!p->options.head_on_cpu)
        tensor_place(p, tower, loss, 0, sizeof(float));
    void *sum;
    MGB_TRY(tensor_need(&sum, p, tower, loss, 0, p->cpu));
    p->loss_sources[index] = sum;
    return MGB_OK;
}

static enum mgb_status gradients_meet(struct player *p, int variable)
{
    int gradient = p->graph->variables[variable].gradient;
    float **buffers = (float **)pointers_take(p, p->options.towers);
    struct mgb_queue **list = (struct mgb_queue **)pointers_take(p, p->options.towers);
    for (int t = 0; t < p->options.towers; t++) {
        struct tower *tower = &p->towers[t];
        list[t] = tower->meet;
        buffers[t] = tower->address[ON_GPU][gradient];
        MGB_TRY(follow(p, tower->meet, tower->made[ON_GPU][gradient]));
    }
    if (p->options.towers > 1)
        MGB_TRY(p->backend->allreduce(list, buffers, p->options.towers,
                                      p->graph->variables[variable].info.count,
                                      MGB_ALLREDUCE_AUTO));
    for (int t = 0; t < p->options.towers; t++) {
        struct tower *tower = &p->towers[t];
        struct mgb_event *met;
        MGB_TRY(mark(&met, p, tower->meet, tower->device));
        MGB_TRY(follow(p, tower->compute, met));
    }
    return MGB_OK;
}

static enum mgb_status weights_update(struct player *p, int index)
{
    struct tower *tower = &p->towers[index];
    for (int v = 0; v < p->graph->variable_count; v++)
        p->items[index][v] = (struct mgb_update_item){
            .weight = tower->weight[v],
            .gradient = tower->address[ON_GPU][p->graph->variables[v].gradient],
            .slots = {p->options.optimizer.momentum != 0 ? tower->slot[v] : NULL},
            .count = p->graph->variables[v].info.count};
    p->updates[index] = (struct mgb_update){.optimizer = &p->options.optimizer,
                                            .items = p->items[index],
                                            .item_count = p->graph->variable_count,
                                            .values = &p->values};
    MGB_TRY(p->backend->update(tower->compute, &p->updates[index]));
    MGB_TRY(mark(&tower->last, p, tower->compute, tower->device));
    return MGB_OK;
}

enum mgb_status player_step(struct player *p, const void *const *data, float *loss)
{
    p->events_used = p->launches_used = p->pointers_used = 0;
    memset(p->pointers, 0, sizeof p->pointers);
    p->values.lr = p->options.optimizer.lr;
    for (int i = 0; i < p->graph->input_count; i++)
        MGB_TRY(p->backend->write(
            p->context, 0, p->input[i], data[i],
            mgb_tensor_bytes(p->graph, p->graph->inputs[i].tensor, p->options.rows)));
    for (int t = 0; t < p->options.towers; t++)
        MGB_TRY(tower_play(p, t));
    MGB_TRY(p->backend->reduce(p->cpu, p->total, p->loss_sources, p->options.towers, 1));
    for (int v = 0; v < p->graph->variable_count; v++)
        MGB_TRY(gradients_meet(p, v));
    for (int t = 0; t < p->options.towers; t++)
        MGB_TRY(weights_update(p, t));
    enum mgb_status status = p->backend->drain(p->context, 20000000000LL);
    p->values.step++;
    p->values.updates++;
    if (status != MGB_OK)
        return status;
    MGB_TRY(p->backend->read(p->context, 0, loss, p->total, sizeof *loss));
    *loss /= (float)p->options.rows;
    return MGB_OK;
}

void *player_context(const struct player *p)
{
    return p->context;
}

void player_weights(struct player *p, int tower, int variable, float *out)
{
    assert_ok(p->backend->read(p->context, p->towers[tower].device, out,
                               p->towers[tower].weight[variable],
                               p->graph->variables[variable].info.bytes));
}

void player_times(struct player *p, int tower, int64_t *first_ns, int64_t *last_ns)
{
    assert_ok(p->backend->event_time(p->towers[tower].first, first_ns, NULL));
    assert_ok(p->backend->event_time(p->towers[tower].last, last_ns, NULL));
}
