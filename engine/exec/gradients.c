/* Guarded runs: the gradients that an update is about to use, kept for tests to read. */
#include "engine/exec/run_state.h"

/* The variable whose weight lies at an address; -1: none. The master of a tower comes before its replicas. */
static int variable_at(const struct mgb_run *run, const void *address)
{
    struct mgb_held held;
    int index = 0, tower = 0;
    while (mgb_held_next(run, &index, &tower, &held))
        if (held.storage->role == MGB_ROLE_MASTER && held.address == address)
            return held.storage->variable;
    return -1;
}

enum mgb_status mgb_run_keep_gradients(void *context, const struct mgb_command *command)
{
    struct mgb_run *run = context;
    if (command->task->kind != MGB_TASK_UPDATE)
        return MGB_OK;
    for (int i = 0; i < command->update.item_count; i++) {
        const struct mgb_update_item *item = &command->update.items[i];
        int variable = variable_at(run, item->weight);
        if (variable < 0)
            continue;
        size_t bytes = (size_t)item->count * sizeof(float);
        if (!run->gradients[variable])
            run->gradients[variable] = mgb_alloc(bytes);
        if (!run->gradients[variable])
            return mgb_fail(MGB_NO_MEMORY, "no memory to keep a gradient");
        MGB_TRY(run->backend->read(run->site->context, command->device, run->gradients[variable],
                                   item->gradient, (int64_t)bytes));
    }
    return MGB_OK;
}

enum mgb_status mgb_run_read_gradient(struct mgb_run *run, float *out, int variable)
{
    if (!run->guarded)
        return mgb_fail(MGB_STATE, "gradients are kept by guarded runs only");
    if (variable < 0 || variable >= mgb_graph_variable_count(run->graph) ||
        !run->gradients[variable])
        return mgb_fail(MGB_MISSING, "no step has summed a gradient of variable %d", variable);
    int64_t count = mgb_graph_variable_at(run->graph, variable).count;
    for (int64_t i = 0; i < count; i++)
        out[i] = run->gradients[variable][i];
    return MGB_OK;
}
