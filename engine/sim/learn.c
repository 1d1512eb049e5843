/* Measured durations in place of computed ones. A task is known by what it does, so that what was measured under one
 * placement holds under another: the operator and its rows, or the kind and the bytes, and where it runs. */
#include "engine/sim/sim.h"

#include "engine/base/hash.h"
#include "engine/plan/build.h"
#include <stdlib.h>
#include <string.h>

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
