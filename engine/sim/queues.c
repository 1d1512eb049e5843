/* The queues of a plan on a machine: how fast each goes, which engines it needs, and whether others can be in its way. What
 * nobody can be in the way of has fixed times, which no event queue is needed for. */
#include "engine/sim/program.h"

#include "engine/plan/build.h"
#include <string.h>

static enum mgb_status no_memory(void)
{
    return mgb_fail(MGB_NO_MEMORY, "simulating a plan: the host's memory is exhausted");
}

/* Which copies are at once at a device: those of its engines, out and in, or of the single one. */
static void engines_set(struct mgb_sim_program *program, const struct mgb_machine *machine,
                        struct mgb_sim_queue *queue)
{
    queue->engines[0] = queue->engines[1] = -1;
    if (!queue->copies || machine->cpu_devices)
        return;
    for (int side = 0; side < 2; side++) {
        int device = side ? queue->device : queue->from;
        const struct mgb_machine_device *d = &machine->devices[device];
        if (device == MGB_HOST_DEVICE)
            continue;
        int most = side ? d->copies_in : d->copies_out;
        int engine = 2 * device + (d->one_engine ? 0 : side);
        if (d->one_engine)
            most = d->copies_out;
        queue->engines[side] = engine;
        program->engines[engine] = most > 0 ? most : 1;
    }
}

struct all_uses {
    mgb_vector(struct mgb_sim_use) of;
};

static enum mgb_status copy_queue_set(struct mgb_sim_program *program, const struct mgb_sim *sim,
                                      struct mgb_sim_queue *queue, struct all_uses *uses)
{
    struct mgb_sim_path path;
    MGB_TRY(mgb_sim_path_make(&path, sim, &program->how, queue->from, queue->device));
    queue->rate = path.rate;
    /* Copies get equal rates where they share; beside work that is counted in time, equal shares of their own. */
    queue->grows = sim->machine->cpu_devices ? 1 : 1 / path.rate;
    queue->latency_ns = path.latency_ns;
    queue->use_count = path.use_count;
    for (int i = 0; i < path.use_count; i++)
        if (!mgb_vector_push(&uses->of, path.uses[i]))
            return no_memory();
    return MGB_OK;
}

static enum mgb_status compute_queue_set(struct mgb_sim_program *program,
                                         const struct mgb_machine *machine,
                                         struct mgb_sim_queue *queue, struct all_uses *uses)
{
    const struct mgb_machine_device *d = &machine->devices[queue->device];
    int cores = mgb_sim_core_resource(machine);
    queue->rate = queue->grows = 1;
    queue->board = d->board;
    queue->slowed = d->board_speed > 0 ? d->board_speed : 1;
    if (!machine->cpu_devices)
        return MGB_OK;
    int64_t capacity = mgb_sim_capacity(machine, cores);
    int64_t amount = (int64_t)mgb_sim_threads(program->plan, queue->device) * MGB_SIM_CORE;
    queue->use_count = 1;
    return mgb_vector_push(&uses->of,
                           (struct mgb_sim_use){cores, 0, amount < capacity ? amount : capacity})
               ? MGB_OK
               : no_memory();
}

/* Another compute queue of the plan is on its board, and one of them is slowed. */
static bool has_board_mate(const struct mgb_sim_program *program, const struct mgb_sim_queue *queue)
{
    for (int i = 0; i < program->queue_count && queue->board >= 0; i++) {
        const struct mgb_sim_queue *other = &program->queues[i];
        if (other != queue && other->from < 0 && other->board == queue->board &&
            (other->slowed < 1 || queue->slowed < 1))
            return true;
    }
    return false;
}

/* Keeps of each queue's uses those that all queues together can exhaust. Each has one copy or task at a time. */
static int uses_keep(struct mgb_sim_program *program, int64_t *demand)
{
    int kept = 0;
    for (int i = 0; i < program->queue_count; i++) {
        const struct mgb_sim_queue *q = &program->queues[i];
        for (int k = q->use_begin; k < q->use_begin + q->use_count; k++) {
            int64_t *sum = &demand[program->uses[k].resource];
            /* Where there is no bound, amounts need not be added. */
            if (program->capacities[program->uses[k].resource] != INT64_MAX)
                *sum += program->uses[k].amount;
        }
    }
    for (int i = 0; i < program->queue_count; i++) {
        struct mgb_sim_queue *q = &program->queues[i];
        int begin = q->use_begin, end = begin + q->use_count;
        q->use_begin = kept;
        for (int k = begin; k < end; k++)
            if (demand[program->uses[k].resource] > program->capacities[program->uses[k].resource])
                program->uses[kept++] = program->uses[k];
        q->use_count = kept - q->use_begin;
    }
    return kept;
}

static void sharing_find(struct mgb_sim_program *program, int *users)
{
    for (int i = 0; i < program->queue_count; i++)
        for (int side = 0; side < 2; side++)
            if (program->queues[i].engines[side] >= 0)
                users[program->queues[i].engines[side]]++;
    for (int i = 0; i < program->queue_count; i++) {
        struct mgb_sim_queue *q = &program->queues[i];
        for (int side = 0; side < 2; side++) {
            int engine = q->engines[side];
            if (engine >= 0 && users[engine] <= program->engines[engine])
                q->engines[side] = -1;
        }
        q->queues = q->engines[0] >= 0 || q->engines[1] >= 0;
        if (!has_board_mate(program, q))
            q->board = -1;
    }
    for (int i = 0; i < program->queue_count; i++) {
        struct mgb_sim_queue *q = &program->queues[i];
        q->shares = q->use_count > 0 || q->board >= 0;
        program->shared |= q->queues || q->shares;
    }
}

static enum mgb_status queues_set(struct mgb_sim_program *program, const struct mgb_sim *sim,
                                  struct all_uses *uses)
{
    const struct mgb_machine *machine = sim->machine;
    for (int i = 0; i < program->resource_count; i++)
        program->capacities[i] = mgb_sim_capacity(machine, i);
    for (int i = 0; i < program->queue_count; i++) {
        struct mgb_sim_queue *queue = &program->queues[i];
        queue->use_begin = uses->of.count;
        queue->board = -1;
        queue->rate = queue->grows = queue->slowed = 1;
        engines_set(program, machine, queue);
        if (queue->copies)
            MGB_TRY(copy_queue_set(program, sim, queue, uses));
        else if (queue->from < 0)
            MGB_TRY(compute_queue_set(program, machine, queue, uses));
    }
    return MGB_OK;
}

static enum mgb_status uses_hand_over(struct mgb_sim_program *program, struct all_uses *uses,
                                      int64_t *demand)
{
    program->uses = uses->of.at;
    size_t bytes = (size_t)uses_keep(program, demand) * sizeof *program->uses;
    program->uses = mgb_pool_alloc(&program->pool, bytes + sizeof *program->uses);
    if (!program->uses)
        return no_memory();
    if (bytes > 0)
        memcpy(program->uses, uses->of.at, bytes);
    return MGB_OK;
}

enum mgb_status mgb_sim_queues_add(struct mgb_sim_program *program, const struct mgb_sim *sim)
{
    const struct mgb_machine *machine = sim->machine;
    struct mgb_pool *pool = &program->pool;
    program->resource_count = mgb_sim_resource_count(machine);
    program->engine_count = 2 * machine->device_count;
    program->capacities =
        mgb_pool_alloc(pool, (size_t)program->resource_count * sizeof *program->capacities);
    program->engines =
        mgb_pool_alloc(pool, (size_t)program->engine_count * sizeof *program->engines);
    struct all_uses uses = {0};
    int64_t *demand = mgb_alloc((size_t)program->resource_count * sizeof *demand);
    int *users = mgb_alloc((size_t)program->engine_count * sizeof *users);
    enum mgb_status status = MGB_OK;
    if (!program->capacities || !program->engines || !demand || !users)
        status = no_memory();
    else
        status = queues_set(program, sim, &uses);
    if (status == MGB_OK)
        status = uses_hand_over(program, &uses, demand);
    if (status == MGB_OK)
        sharing_find(program, users);
    mgb_vector_done(&uses.of);
    mgb_release(demand);
    mgb_release(users);
    return status;
}
