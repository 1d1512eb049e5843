/* The lower bound of a training step: the same operators, masks, sums and update as the engine runs on one device, called
 * one after another by this thread. No plan, no queue, no event, no input thread, no measurement inside.
 *     bench_bare [batch] [threads] [steps] [model]
 * Without a model mnist_cnn; else one of scripts/models as Lua: "'resnet', { depth = 18 }". Each tensor has memory of its own,
 * except where an operator may work in place or only gives another view. */
#include "tests/bench/figures.h"

#include "engine/backend/backend.h"
#include "engine/base/clock.h"
#include "engine/base/parallel.h"
#include "tests/app/script/script_model.h"
#include "tests/support/check.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const struct mgb_cpu_kernels *const cpu = &mgb_host_cpu_kernels;

struct call { /* one operator that runs */
    struct mgb_kernel *kernel;
    struct mgb_launch launch;
    void *inputs[MGB_MAX_INPUTS], *outputs[MGB_MAX_OUTPUTS];
};

struct bare {
    struct bench bench;
    const struct mgb_graph *graph;
    char *block;
    int64_t taken;
    void **memory; /* of a tensor */
    int *layout;   /* of a tensor */
    int *last;     /* node that reads it last; -1: none */
    struct call *calls;
    int call_count;
    struct mgb_step_values values;
    struct mgb_update update;
    struct mgb_update_item *items;
};

#define MEMORY_BYTES ((int64_t)64 << 30) /* address space: only what is touched becomes memory */

/* One block for all, on huge pages, as an arena is. */
static void *memory_take(struct bare *bare, int64_t bytes)
{
    if (!bare->block) {
        void *block = mmap(NULL, (size_t)MEMORY_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        assert_true(block != MAP_FAILED);
        (void)madvise(block, (size_t)MEMORY_BYTES, MADV_HUGEPAGE);
        bare->block = block;
    }
    void *memory = bare->block + bare->taken;
    bare->taken += (bytes + 63) / 64 * 64;
    assert_true(bare->taken <= MEMORY_BYTES);
    return memory;
}

static void readers_find(struct bare *bare)
{
    for (int i = 0; i < bare->graph->tensor_count; i++)
        bare->last[i] = -1;
    for (int i = 0; i < bare->graph->node_count; i++)
        for (int k = 0; k < bare->graph->nodes[i].input_count; k++)
            bare->last[bare->graph->nodes[i].inputs[k]] = i;
}

static bool variable_is(const struct bare *bare, int tensor)
{
    return bare->graph->nodes[bare->graph->tensors[tensor].node].kind == MGB_OP_READ;
}

/* Nobody reads the tensor, or another view of its memory, after `node`. */
static bool may_overwrite(const struct bare *bare, int node, int tensor)
{
    for (int i = 0; i < bare->graph->tensor_count; i++)
        if (bare->memory[i] == bare->memory[tensor] && bare->last[i] > node)
            return false;
    return !variable_is(bare, tensor);
}

static void source_prepare(struct bare *bare, int index)
{
    const struct mgb_node *node = &bare->graph->nodes[index];
    int tensor = node->outputs[0];
    int64_t rows = bare->bench.batch;
    bare->memory[tensor] = memory_take(bare, mgb_tensor_bytes(bare->graph, tensor, rows));
    if (node->kind == MGB_OP_READ)
        mgb_variable_initial(bare->memory[tensor], bare->graph, node->a.variable, bare->bench.seed);
    else
        memcpy(bare->memory[tensor], bare->bench.data.arrays[node->a.input],
               (size_t)mgb_tensor_bytes(bare->graph, tensor, rows));
}

static void outputs_place(struct bare *bare, int index, const struct mgb_operator_facts *facts)
{
    const struct mgb_node *node = &bare->graph->nodes[index];
    for (int i = 0; i < node->output_count; i++) {
        int tensor = node->outputs[i];
        if (tensor < 0)
            continue;
        bare->layout[tensor] = facts->out_layout[i];
        int shared = facts->alias >= 0 ? facts->alias + i : -1;
        if (i == 0 && shared < 0 && facts->in_place >= 0 &&
            may_overwrite(bare, index, node->inputs[facts->in_place]))
            shared = facts->in_place;
        bare->memory[tensor] = shared >= 0 ? bare->memory[node->inputs[shared]]
                                           : memory_take(bare, facts->out_bytes[i]);
    }
}

static void call_prepare(struct bare *bare, int index)
{
    const struct mgb_node *node = &bare->graph->nodes[index];
    struct mgb_kernel_request request = {.device = 1,
                                         .use = {.graph = bare->graph,
                                                 .node = index,
                                                 .rows = bare->bench.batch,
                                                 .threads = bare->bench.threads,
                                                 .training = true}};
    for (int i = 0; i < node->input_count; i++)
        request.use.in_layout[i] = bare->layout[node->inputs[i]];
    for (int i = 0; i < node->output_count; i++)
        request.use.plain[i] = node->outputs[i] >= 0 && bare->last[node->outputs[i]] < 0;
    assert_ok(cpu->describe(&request.use, &request.facts));
    outputs_place(bare, index, &request.facts);
    if (request.facts.alias >= 0)
        return;
    struct call *call = &bare->calls[bare->call_count++];
    assert_ok(cpu->kernel(&call->kernel, &request));
    for (int i = 0; i < node->input_count; i++)
        call->inputs[i] = bare->memory[node->inputs[i]];
    for (int i = 0; i < node->output_count; i++)
        call->outputs[i] = node->outputs[i] < 0 ? NULL : bare->memory[node->outputs[i]];
    call->launch =
        (struct mgb_launch){.inputs = call->inputs,
                            .outputs = call->outputs,
                            .workspace = memory_take(bare, request.facts.workspace_bytes),
                            .scale = 1.0f / (float)bare->bench.batch,
                            .values = &bare->values};
}

static void update_prepare(struct bare *bare)
{
    const struct mgb_graph *graph = bare->graph;
    bare->update = (struct mgb_update){
        .optimizer = &bare->bench.optimizer, .items = bare->items, .values = &bare->values};
    for (int i = 0; i < graph->node_count; i++) {
        if (graph->nodes[i].kind != MGB_OP_READ)
            continue;
        const struct mgb_variable *variable = &graph->variables[graph->nodes[i].a.variable];
        if (variable->gradient < 0 || variable->momentum != 0.0f)
            continue;
        struct mgb_update_item *item = &bare->items[bare->update.item_count++];
        item->weight = bare->memory[graph->nodes[i].outputs[0]];
        item->gradient = bare->memory[variable->gradient];
        item->slots[0] = memory_take(bare, variable->info.bytes);
        item->count = variable->info.count;
    }
}

static void bare_prepare(struct bare *bare)
{
    const struct mgb_graph *graph = bare->graph;
    bare->memory = calloc((size_t)graph->tensor_count, sizeof *bare->memory);
    bare->layout = calloc((size_t)graph->tensor_count, sizeof *bare->layout);
    bare->last = calloc((size_t)graph->tensor_count, sizeof *bare->last);
    bare->calls = calloc((size_t)graph->node_count, sizeof *bare->calls);
    bare->items = calloc((size_t)graph->variable_count, sizeof *bare->items);
    assert_true(bare->memory && bare->layout && bare->last && bare->calls && bare->items);
    readers_find(bare);
    for (int i = 0; i < graph->node_count; i++) {
        enum mgb_op_kind kind = graph->nodes[i].kind;
        if (kind == MGB_OP_INPUT || kind == MGB_OP_READ)
            source_prepare(bare, i);
        else
            call_prepare(bare, i);
    }
    update_prepare(bare);
}

static void step_run(struct bare *bare, int64_t step)
{
    bare->values = (struct mgb_step_values){
        .step = step, .seed = bare->bench.seed, .lr = bare->bench.optimizer.lr, .updates = step};
    for (int i = 0; i < bare->call_count; i++)
        assert_ok(cpu->run(bare->calls[i].kernel, &bare->calls[i].launch));
    cpu->update(&bare->update);
}

struct arguments {
    int count;
    char **at;
};

static void bare_measure(void *context, const struct mgb_graph *graph)
{
    const struct arguments *arguments = context;
    struct bare bare = {.bench = bench_make(arguments->count, arguments->at, graph)};
    bare.graph = bare.bench.graph;
    mgb_parallel_set_threads(bare.bench.threads);
    bare_prepare(&bare);
    for (int i = 0; i < bench_steps(&bare.bench); i++) {
        int64_t begin = mgb_clock_ns();
        step_run(&bare, i);
        bench_keep(&bare.bench, mgb_clock_ns() - begin);
    }
    const float *loss = bare.memory[bare.graph->losses[0].tensor];
    bench_print("bare", &bare.bench, (double)*loss / bare.bench.batch);
    for (int i = 0; i < bare.call_count; i++)
        cpu->kernel_free(bare.calls[i].kernel);
    munmap(bare.block, (size_t)MEMORY_BYTES);
    free(bare.memory);
    free(bare.layout);
    free(bare.last);
    free(bare.calls);
    free(bare.items);
    bench_free(&bare.bench);
}

int main(int argc, char **argv)
{
    struct arguments arguments = {argc, argv};
    if (argc > 4)
        script_model_use(argv[4], 1, bare_measure, &arguments);
    else
        bare_measure(&arguments, NULL);
    return 0;
}
