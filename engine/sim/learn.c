/* Measured durations in place of computed ones. A task is known by what it does, so that what was measured under one
 * placement holds under another: the operator and its rows, or the kind and the bytes, and where it runs. */
#include "engine/sim/sim.h"

#include "engine/base/hash.h"
#include "engine/plan/build.h"
#include <stdlib.h>
#include <string.h>

/* Attributes that change what an operator computes but not how much work that is. */
static union mgb_attributes attributes_of(const struct mgb_node *node)
{
    union mgb_attributes a;
    memset(&a, 0, sizeof a);
    switch ((int)node->kind) {
    case MGB_OP_CONV2D:
    case MGB_OP_CONV2D_GRAD_X:
    case MGB_OP_CONV2D_GRAD_W:
        a.conv2d.window = node->a.conv2d.window;
        memcpy(a.conv2d.pad_before, node->a.conv2d.pad_before, sizeof a.conv2d.pad_before);
        memcpy(a.conv2d.pad_after, node->a.conv2d.pad_after, sizeof a.conv2d.pad_after);
        a.conv2d.activation = node->a.conv2d.activation;
        break;
    case MGB_OP_MAX_POOL2D:
    case MGB_OP_MAX_POOL2D_GRAD:
    case MGB_OP_AVG_POOL2D:
    case MGB_OP_AVG_POOL2D_GRAD:
        a.pool2d.window = node->a.pool2d.window;
        memcpy(a.pool2d.pad_before, node->a.pool2d.pad_before, sizeof a.pool2d.pad_before);
        memcpy(a.pool2d.pad_after, node->a.pool2d.pad_after, sizeof a.pool2d.pad_after);
        break;
    case MGB_OP_DENSE:
    case MGB_OP_DENSE_GRAD_X:
    case MGB_OP_DENSE_GRAD_W:
        a.dense.activation = node->a.dense.activation;
        a.dense.transposed = node->a.dense.transposed;
        break;
    case MGB_OP_ACTIVATION:
    case MGB_OP_ACTIVATION_GRAD:
        a.activation.activation = node->a.activation.activation;
        break;
    case MGB_OP_ATTENTION:
    case MGB_OP_ATTENTION_GRAD:
        a.attention.heads = node->a.attention.heads;
        a.attention.causal = node->a.attention.causal;
        a.attention.dropout = node->a.attention.dropout;
        break;
    case MGB_OP_MATMUL:
        a.matmul.transpose_a = node->a.matmul.transpose_a;
        a.matmul.transpose_b = node->a.matmul.transpose_b;
        break;
    case MGB_OP_TRANSPOSE:
        memcpy(a.transpose.axes, node->a.transpose.axes, sizeof a.transpose.axes);
        break;
    case MGB_OP_LSTM:
    case MGB_OP_LSTM_GRAD:
    case MGB_OP_GRU:
    case MGB_OP_GRU_GRAD:
        a.recurrent.steps = node->a.recurrent.steps;
        a.recurrent.in = node->a.recurrent.in;
        a.recurrent.units = node->a.recurrent.units;
        a.recurrent.sequences = node->a.recurrent.sequences;
        a.recurrent.reset_after = node->a.recurrent.reset_after;
        break;
    case MGB_OP_CONCAT:
    case MGB_OP_SLICE:
        a.slice.axis = node->a.slice.axis;
        break;
    case MGB_OP_SUM:
    case MGB_OP_MEAN:
    case MGB_OP_MAX:
    case MGB_OP_SPREAD:
    case MGB_OP_MAX_GRAD:
        a.reduce.axis = node->a.reduce.axis;
        break;
    default: /* shapes say it all */
        break;
    }
    return a;
}

static void tensor_hash(uint64_t *hash, const struct mgb_graph *graph, int tensor)
{
    int64_t words[3 + MGB_MAX_RANK] = {-1};
    if (tensor >= 0) {
        const struct mgb_tensor *t = &graph->tensors[tensor];
        words[0] = t->shape.rank;
        words[1] = t->type;
        words[2] = t->batched;
        for (int i = 0; i < t->shape.rank; i++)
            words[3 + i] = t->shape.dim[i];
    }
    *hash = mgb_hash(*hash, words, sizeof words);
}

uint64_t mgb_sim_signature(const struct mgb_graph *graph, int node)
{
    const struct mgb_node *n = &graph->nodes[node];
    const char *name = mgb_op_name(n->kind);
    union mgb_attributes attributes = attributes_of(n);
    uint64_t hash = mgb_hash(0, name, strlen(name));
    hash = mgb_hash(hash, &attributes, sizeof attributes);
    for (int i = 0; i < n->input_count; i++)
        tensor_hash(&hash, graph, n->inputs[i]);
    for (int i = 0; i < n->output_count; i++)
        tensor_hash(&hash, graph, n->outputs[i]);
    return hash;
}

static uint64_t key_of(const struct mgb_sim *sim, const struct mgb_plan *plan, int task, int device)
{
    const struct mgb_task *t = &plan->tasks[task];
    int64_t words[6] = {t->kind, device == MGB_HOST_DEVICE, mgb_sim_threads(plan, device)};
    if (device != MGB_HOST_DEVICE && !sim->machine->cpu_devices)
        words[2] = 1;
    if (t->kind == MGB_TASK_COMPUTE) {
        words[3] = (int64_t)mgb_sim_signature(plan->graph, t->node);
        words[4] = t->rows;
    } else {
        words[3] = mgb_sim_task_bytes(plan, task);
        words[4] = t->operand_count;
    }
    return mgb_hash(0, words, sizeof words);
}

static int learned_bound(const struct mgb_sim *sim, uint64_t key)
{
    int low = 0, high = sim->learned.count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (sim->learned.at[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool mgb_sim_learned_find(double *ns, const struct mgb_sim *sim, const struct mgb_plan *plan,
                          int task, int device)
{
    if (sim->learned.count == 0)
        return false;
    uint64_t key = key_of(sim, plan, task, device);
    int at = learned_bound(sim, key);
    if (at == sim->learned.count || sim->learned.at[at].key != key)
        return false;
    *ns = sim->learned.at[at].ns;
    return true;
}

static enum mgb_status learned_add(struct mgb_sim *sim, uint64_t key, double ns)
{
    int at = learned_bound(sim, key);
    struct mgb_sim_learned *learned = sim->learned.at;
    if (at < sim->learned.count && learned[at].key == key) {
        learned[at].count++;
        learned[at].ns += (ns - learned[at].ns) / learned[at].count;
        return MGB_OK;
    }
    if (!mgb_vector_push(&sim->learned, (struct mgb_sim_learned){0}))
        return mgb_fail(MGB_NO_MEMORY, "learning durations: the host's memory is exhausted");
    learned = sim->learned.at;
    memmove(learned + at + 1, learned + at,
            (size_t)(sim->learned.count - 1 - at) * sizeof *learned);
    learned[at] = (struct mgb_sim_learned){key, ns, 1};
    return MGB_OK;
}

enum mgb_status mgb_sim_learn(struct mgb_sim *sim, const struct mgb_plan *plan,
                              const struct mgb_task_time *tasks, int task_count)
{
    for (int i = 0; i < task_count; i++) {
        if (tasks[i].task < 0 || tasks[i].task >= plan->task_count || tasks[i].device < 0 ||
            tasks[i].device >= sim->machine->device_count)
            return mgb_fail(MGB_INVALID,
                            "learning durations: the trace has task %d on device %d, which plan "
                            "and machine '%s' do not",
                            tasks[i].task, tasks[i].device, sim->machine->name);
    }
    /* What a copy between devices took beside others says nothing of what it takes alone. */
    for (int i = 0; i < task_count; i++)
        if (plan->tasks[tasks[i].task].queue == MGB_QUEUE_COMPUTE)
            MGB_TRY(learned_add(sim, key_of(sim, plan, tasks[i].task, tasks[i].device),
                                (double)tasks[i].duration_ns));
    mgb_sim_forget_all(sim);
    return MGB_OK;
}
