/* Tensors live where the node that makes them runs; a node that needs one from the other side gets a copy by the copy
 * queue between the two, ordered by events. Everything is plain and nothing shares memory. */
#include "tests/engine/cuda/player.h"

#include "tests/support/check.h"
#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES ((int64_t)4 << 20)
#define MAX_TOWERS 8
#define MAX_EVENTS 4096

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

static struct mgb_queue *queue_make(struct player *p, enum mgb_queue_use use, int device, int from)
{
    struct mgb_queue *queue;
    struct mgb_queue_request request = {.use = use, .device = device, .from = from, .threads = 1};
    assert_ok(p->backend->queue_make(p->context, &queue, &request));
    return queue;
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

static void tensors_make(struct player *p, struct tower *tower)
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
        float *initial = malloc((size_t)bytes);
        tower->weight[v] = bytes_take(p, tower->device, bytes);
        tower->slot[v] = bytes_take(p, tower->device, bytes);
        mgb_variable_initial(initial, graph, v, 11);
        assert_ok(p->backend->write(p->context, tower->device, tower->weight[v], initial, bytes));
        memset(initial, 0, (size_t)bytes);
        assert_ok(p->backend->write(p->context, tower->device, tower->slot[v], initial, bytes));
        free(initial);
    }
}

static void tower_make(struct player *p, int index)
{
    struct tower *tower = &p->towers[index];
    tower->device = index + 1;
    assert_ok(
        p->backend->arena_make(p->context, (void **)&p->arena[index + 1], index + 1, ARENA_BYTES));
    tower->compute = queue_make(p, MGB_USE_COMPUTE, index + 1, -1);
    tower->in = queue_make(p, MGB_USE_COPY, index + 1, 0);
    tower->out = queue_make(p, MGB_USE_COPY, 0, index + 1);
    tower->meet = queue_make(p, MGB_USE_COPY, index + 1, index + 1);
    tensors_make(p, tower);
}

struct player *player_make(const struct mgb_backend *backend, const struct mgb_topology *topology,
                           const struct mgb_graph *graph, const struct player_options *options)
{
    struct player *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->backend = backend;
    p->graph = graph;
    p->options = *options;
    assert_ok(backend->open(&p->context, topology, &options->backend));
    for (int t = 0; t < options->towers; t++)
        tower_make(p, t);
    assert_ok(backend->arena_make(p->context, (void **)&p->arena[0], 0, ARENA_BYTES));
    p->cpu = queue_make(p, MGB_USE_COMPUTE, 0, -1);
    p->losses = bytes_take(p, 0, (int64_t)sizeof(float) * MAX_TOWERS);
    p->total = bytes_take(p, 0, sizeof(float));
    p->input = calloc((size_t)graph->input_count, sizeof(char *));
    for (int i = 0; i < graph->input_count; i++)
        p->input[i] =
            bytes_take(p, 0, mgb_tensor_bytes(graph, graph->inputs[i].tensor, options->rows));
    p->launches = calloc(MAX_EVENTS, sizeof *p->launches);
    return p;
}

void player_free(struct player *p)
{
    for (int i = 0; i < p->events_made; i++)
        p->backend->event_free(p->events[i]);
    for (int t = 0; t < p->options.towers; t++) {
        struct tower *tower = &p->towers[t];
        struct mgb_queue *queues[] = {tower->compute, tower->in, tower->out, tower->meet};
        for (int i = 0; i < 4; i++)
            p->backend->queue_free(queues[i]);
        p->backend->arena_free(p->context, tower->device, p->arena[tower->device], ARENA_BYTES);
        for (int side = 0; side < SIDES; side++) {
            free(tower->address[side]);
            free(tower->made[side]);
        }
        free(tower->weight);
        free(tower->slot);
    }
    p->backend->queue_free(p->cpu);
    p->backend->arena_free(p->context, 0, p->arena[0], ARENA_BYTES);
    p->backend->close(p->context);
    free(p->input);
    free(p->launches);
    free(p);
}

/* A record in `queue` now; the same events in the same order every step. */
static struct mgb_event *mark(struct player *p, struct mgb_queue *queue, int device)
{
    assert_true(p->events_used < MAX_EVENTS);
    if (p->events_used == p->events_made)
        assert_ok(p->backend->event_make(p->context, &p->events[p->events_made++], device));
    struct mgb_event *event = p->events[p->events_used++];
    assert_ok(p->backend->record(queue, event));
    return event;
}

static void follow(struct player *p, struct mgb_queue *queue, struct mgb_event *event)
{
    if (event)
        assert_ok(p->backend->wait(queue, event));
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
static void *tensor_need(struct player *p, struct tower *tower, int tensor, int device,
                         struct mgb_queue *queue)
{
    enum side here = device == 0 ? ON_CPU : ON_GPU, there = device == 0 ? ON_GPU : ON_CPU;
    if (!tower->made[here][tensor] && tower->made[there][tensor]) {
        int64_t bytes = mgb_tensor_bytes(p->graph, tensor, tower_rows(p));
        struct mgb_queue *link = device == 0 ? tower->out : tower->in;
        void *to = tensor_place(p, tower, tensor, device, bytes);
        follow(p, link, tower->made[there][tensor]);
        assert_ok(p->backend->copy(link, to, tower->address[there][tensor], bytes));
        tower->made[here][tensor] = mark(p, link, device);
    }
    follow(p, queue, tower->made[here][tensor]);
    return tower->address[here][tensor];
}

static void node_prepare(struct player *p, struct mgb_kernel_request *request, int node, int device)
{
    *request = (struct mgb_kernel_request){.device = device};
    request->use = (struct mgb_node_use){.graph = p->graph,
                                         .node = node,
                                         .rows = tower_rows(p),
                                         .threads = 1,
                                         .training = true,
                                         .plain = {true, true}};
    assert_ok(p->backend->describe(p->context, device, &request->use, &request->facts));
}

static void **pointers_take(struct player *p, int count)
{
    void **taken = &p->pointers[p->pointers_used];
    p->pointers_used += count;
    assert_true(p->pointers_used <= MAX_EVENTS * 4);
    return taken;
}

static void node_play(struct player *p, int index, int node_index)
{
    struct tower *tower = &p->towers[index];
    const struct mgb_node *node = &p->graph->nodes[node_index];
    int device = node_device(p, tower, node);
    struct mgb_queue *queue = compute_of(p, tower, device);
    struct mgb_kernel_request request;
    struct mgb_kernel *kernel;
    node_prepare(p, &request, node_index, device);
    assert_ok(p->backend->kernel(p->context, &kernel, &request));
    void **inputs = pointers_take(p, node->input_count),
         **outputs = pointers_take(p, MGB_MAX_OUTPUTS);
    for (int i = 0; i < node->input_count; i++)
        inputs[i] = tensor_need(p, tower, node->inputs[i], device, queue);
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
    assert_ok(p->backend->launch(queue, kernel, launch));
    struct mgb_event *event = mark(p, queue, device);
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] >= 0)
            tower->made[device == 0 ? ON_CPU : ON_GPU][node->outputs[i]] = event;
}

static void input_bring(struct player *p, int index, int input)
{
    struct tower *tower = &p->towers[index];
    int tensor = p->graph->inputs[input].tensor;
    int64_t bytes = mgb_tensor_bytes(p->graph, tensor, tower_rows(p));
    const char *from = p->input[input] + index * bytes;
    void *to = tensor_place(p, tower, tensor, tower->device, bytes);
    assert_ok(p->backend->copy(tower->in, to, from, bytes));
    tower->made[ON_GPU][tensor] = mark(p, tower->in, tower->device);
    tower->address[ON_CPU][tensor] = (void *)from;
}

static void tower_play(struct player *p, int index)
{
    struct tower *tower = &p->towers[index];
    for (int side = 0; side < SIDES; side++)
        memset(tower->made[side], 0, (size_t)p->graph->tensor_count * sizeof(struct mgb_event *));
    tower->first = mark(p, tower->compute, tower->device);
    for (int i = 0; i < p->graph->input_count; i++)
        input_bring(p, index, i);
    for (int n = 0; n < p->graph->node_count; n++) {
        const struct mgb_node *node = &p->graph->nodes[n];
        if (node->kind == MGB_OP_READ)
            tower->address[ON_GPU][node->outputs[0]] = tower->weight[node->a.variable];
        else if (node->kind != MGB_OP_INPUT)
            node_play(p, index, n);
    }
    int loss = p->graph->losses[0].tensor;
    if (!p->options.head_on_cpu)
        tensor_place(p, tower, loss, 0, sizeof(float));
    p->loss_sources[index] = tensor_need(p, tower, loss, 0, p->cpu);
}

static void gradients_meet(struct player *p, int variable)
{
    int gradient = p->graph->variables[variable].gradient;
    struct mgb_queue *queues[MAX_TOWERS];
    float **buffers = (float **)pointers_take(p, p->options.towers);
    struct mgb_queue **list = (struct mgb_queue **)pointers_take(p, p->options.towers);
    for (int t = 0; t < p->options.towers; t++) {
        struct tower *tower = &p->towers[t];
        list[t] = queues[t] = tower->meet;
        buffers[t] = tower->address[ON_GPU][gradient];
        follow(p, tower->meet, tower->made[ON_GPU][gradient]);
    }
    if (p->options.towers > 1)
        assert_ok(p->backend->allreduce(list, buffers, p->options.towers,
                                        p->graph->variables[variable].info.count,
                                        MGB_ALLREDUCE_AUTO));
    for (int t = 0; t < p->options.towers; t++)
        follow(p, p->towers[t].compute, mark(p, queues[t], p->towers[t].device));
}

static void weights_update(struct player *p, int index)
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
    assert_ok(p->backend->update(tower->compute, &p->updates[index]));
    tower->last = mark(p, tower->compute, tower->device);
}

enum mgb_status player_step(struct player *p, const void *const *data, float *loss)
{
    p->events_used = p->launches_used = p->pointers_used = 0;
    memset(p->pointers, 0, sizeof p->pointers);
    p->values.lr = p->options.optimizer.lr;
    for (int i = 0; i < p->graph->input_count; i++)
        assert_ok(p->backend->write(
            p->context, 0, p->input[i], data[i],
            mgb_tensor_bytes(p->graph, p->graph->inputs[i].tensor, p->options.rows)));
    for (int t = 0; t < p->options.towers; t++)
        tower_play(p, t);
    assert_ok(p->backend->reduce(p->cpu, p->total, p->loss_sources, p->options.towers, 1));
    for (int v = 0; v < p->graph->variable_count; v++)
        gradients_meet(p, v);
    for (int t = 0; t < p->options.towers; t++)
        weights_update(p, t);
    enum mgb_status status = p->backend->drain(p->context, 20000000000LL);
    p->values.step++;
    p->values.updates++;
    if (status != MGB_OK)
        return status;
    assert_ok(p->backend->read(p->context, 0, loss, p->total, sizeof *loss));
    *loss /= (float)p->options.rows;
    return MGB_OK;
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
