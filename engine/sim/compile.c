/* A plan made ready for playing on a machine: flat tasks with their times alone, who waits for whom, what is shared. */
#include "engine/sim/program.h"

#include "engine/base/hash.h"
#include "engine/plan/build.h"
#include <string.h>

static enum mgb_status no_memory(void)
{
    return mgb_fail(MGB_NO_MEMORY, "simulating a plan: the host's memory is exhausted");
}

static void *array_make(struct mgb_sim_program *program, int count, size_t size)
{
    return mgb_pool_alloc(&program->pool, ((size_t)count + 1) * size);
}

/* Queues by (device, from); a table of numbers + 1 with open addressing. */
struct numbering {
    struct mgb_sim_program *program;
    int *table, *last; /* last: the newest task of each queue */
    size_t size;
};

static int queue_number(struct numbering *n, int device, int from)
{
    struct mgb_sim_queue *queues = n->program->queues;
    int words[2] = {device, from};
    size_t at = (size_t)mgb_hash(0, words, sizeof words) & (n->size - 1);
    for (; n->table[at]; at = (at + 1) & (n->size - 1)) {
        const struct mgb_sim_queue *q = &queues[n->table[at] - 1];
        if (q->device == device && q->from == from)
            return n->table[at] - 1;
    }
    n->table[at] = ++n->program->queue_count;
    queues[n->table[at] - 1] = (struct mgb_sim_queue){.device = device, .from = from};
    n->last[n->table[at] - 1] = -1;
    return n->table[at] - 1;
}

static bool is_apart(const struct mgb_sim *sim, const struct mgb_task *task, int device)
{
    return sim->machine->host.sums_apart && task->kind == MGB_TASK_REDUCE &&
           device != MGB_HOST_DEVICE;
}

static void tasks_number(struct numbering *n, const struct mgb_sim *sim)
{
    struct mgb_sim_program *program = n->program;
    for (int i = 0; i < program->count; i++) {
        const struct mgb_flat_task *flat = &program->flat.tasks[i];
        const struct mgb_task *task = &program->plan->tasks[flat->task];
        bool copies = task->queue == MGB_QUEUE_COPY && flat->from >= 0;
        bool apart = task->queue == MGB_QUEUE_COPY || is_apart(sim, task, flat->device);
        int from = copies ? flat->from : apart ? flat->device : -1;
        int queue = queue_number(n, flat->device, from);
        program->queues[queue].copies |= copies;
        program->tasks[i].queue = queue;
        program->tasks[i].before = n->last[queue];
        program->tasks[i].meet = task->kind == MGB_TASK_ALLREDUCE ? task->collective : -1;
        if (copies)
            program->bytes[i] = task->bytes;
        n->last[queue] = i;
    }
}

static enum mgb_status queues_number(struct mgb_sim_program *program, const struct mgb_sim *sim)
{
    int devices = sim->machine->device_count;
    size_t most = (size_t)devices * (size_t)(devices + 1), size = 16;
    if (most > (size_t)program->count + 1)
        most = (size_t)program->count + 1;
    while (size < 2 * most)
        size *= 2;
    program->queues = mgb_pool_alloc(&program->pool, most * sizeof *program->queues);
    struct numbering n = {program, mgb_alloc(size * sizeof *n.table),
                          mgb_alloc(most * sizeof *n.last), size};
    bool made = n.table && n.last && program->queues;
    if (made)
        tasks_number(&n, sim);
    mgb_release(n.table);
    mgb_release(n.last);
    return made ? MGB_OK : no_memory();
}

/* Times alone. Instances of a task on devices of one profile cost the same: worked out once for each run of such. */
static void times_add(struct mgb_sim_program *program, const struct mgb_sim *sim)
{
    int task = -1, profile = -1;
    double ns = 0;
    for (int i = 0; i < program->count; i++) {
        const struct mgb_flat_task *flat = &program->flat.tasks[i];
        const struct mgb_sim_queue *queue = &program->queues[program->tasks[i].queue];
        if (sim->machine->host.inputs_ready && queue->copies &&
            program->plan->tasks[flat->task].phase == MGB_PHASE_INPUT)
            continue; /* takes no time: it was copied before */
        if (queue->copies) {
            program->ns[i] =
                queue->latency_ns + mgb_sim_round((double)program->bytes[i] / queue->rate);
            continue;
        }
        if (program->tasks[i].meet >= 0)
            continue;
        if (flat->task != task || sim->profile[flat->device] != profile)
            ns = mgb_sim_task_ns(sim, program->plan, flat->task, flat->device);
        task = flat->task;
        profile = sim->profile[flat->device];
        program->ns[i] = mgb_sim_round(sim->slowness ? ns * sim->slowness[flat->device] : ns);
    }
}

static enum mgb_status meets_add(struct mgb_sim_program *program, const struct mgb_sim *sim)
{
    const struct mgb_plan *plan = program->plan;
    struct mgb_sim_ring ring;
    program->meet_count = plan->collective_count;
    program->meets = array_make(program, program->meet_count, sizeof *program->meets);
    if (!program->meets)
        return no_memory();
    if (program->meet_count == 0)
        return MGB_OK;
    MGB_TRY(mgb_sim_ring_make(&ring, sim, &program->how, plan));
    for (int i = 0; i < program->count; i++) {
        const struct mgb_task *task = &plan->tasks[program->flat.tasks[i].task];
        if (program->tasks[i].meet < 0)
            continue;
        struct mgb_sim_meet *meet = &program->meets[program->tasks[i].meet];
        if (meet->end == 0)
            *meet = (struct mgb_sim_meet){.begin = i,
                                          .ns = mgb_sim_round(mgb_sim_allreduce_ns(
                                              &ring, sim->machine, plan->algorithm, task->bytes))};
        meet->end = i + 1;
        program->ns[i] = meet->ns;
    }
    return MGB_OK;
}

/* An all-reduce takes some of the GPU that computes beside it (simulation.md 2.4): what is computed next there, while there
 * is something left to compute, takes so much longer. */
static enum mgb_status shares_add(struct mgb_sim_program *program, const struct mgb_sim *sim)
{
    double share = sim->machine->collective.compute_share;
    if (share <= 0 || program->meet_count == 0)
        return MGB_OK;
    int *next = mgb_alloc((size_t)sim->machine->device_count * sizeof *next);
    if (!next)
        return no_memory();
    memset(next, -1, (size_t)sim->machine->device_count * sizeof *next);
    for (int i = program->count - 1; i >= 0; i--) {
        int device = program->flat.tasks[i].device;
        if (program->plan->tasks[program->flat.tasks[i].task].kind == MGB_TASK_COMPUTE)
            next[device] = i;
        else if (program->tasks[i].meet >= 0 && next[device] >= 0)
            program->ns[next[device]] += mgb_sim_round(share * (double)program->ns[i]);
    }
    mgb_release(next);
    return MGB_OK;
}

/* Waits, in a first round only counted. */
struct waiting {
    struct mgb_sim_program *program;
    const struct mgb_sim *sim;
    int *waits; /* NULL: counted */
    int count;
    int *last;  /* by device: the newest task of its compute queue; -1 */
    int *apart; /* by device: the newest sum that has left it; -1 */
};

static void wait_add(struct waiting *w, int i, int on)
{
    if (w->program->tasks[on].queue == w->program->tasks[i].queue)
        return;
    if (w->waits)
        w->waits[w->count] = on;
    w->count++;
}

static void plan_wait_add(struct waiting *w, int i, const struct mgb_wait *wait)
{
    const struct mgb_plan *plan = w->program->plan;
    const struct mgb_flat *flat = &w->program->flat;
    int begin = flat->first[wait->task], end = flat->first[wait->task + 1];
    int class = plan->tasks[wait->task].class, tower = flat->tasks[i].tower;
    if (wait->tower != MGB_EACH_TOWER && class != MGB_ROOT) {
        begin += plan->towers[tower].instance; /* instances are in tower order */
        end = begin + 1;
    }
    for (int k = begin; k < end; k++)
        wait_add(w, i, k);
}

/* A copy between GPUs that also waits for what was queued before it to be computed (TensorFlow 1.x: simulation.md 2.2). */
static void compute_wait_add(struct waiting *w, int i)
{
    const struct mgb_sim_queue *queue = &w->program->queues[w->program->tasks[i].queue];
    enum mgb_copy_wait which = w->sim->machine->host.copy_waits;
    if (!queue->copies || queue->from == MGB_HOST_DEVICE || queue->device == MGB_HOST_DEVICE)
        return;
    if (which != MGB_COPY_WAITS_NONE && w->last[queue->from] >= 0)
        wait_add(w, i, w->last[queue->from]);
    if (which == MGB_COPY_WAITS_BOTH && w->last[queue->device] >= 0)
        wait_add(w, i, w->last[queue->device]);
}

/* Sums that have left the order of their compute queue: they wait for what came before them there, and what is done
 * with them there, for all towers together, waits for them. */
static void apart_wait_add(struct waiting *w, int i, const struct mgb_task *task)
{
    const struct mgb_flat_task *flat = &w->program->flat.tasks[i];
    const struct mgb_sim_queue *queue = &w->program->queues[w->program->tasks[i].queue];
    if (is_apart(w->sim, task, flat->device)) {
        if (w->last[flat->device] >= 0)
            wait_add(w, i, w->last[flat->device]);
        w->apart[flat->device] = i;
    } else if (queue->from < 0 && task->class == MGB_ROOT && task->kind != MGB_TASK_COMPUTE &&
               w->apart[flat->device] >= 0) {
        wait_add(w, i, w->apart[flat->device]);
    }
}

static void waits_walk(struct waiting *w)
{
    struct mgb_sim_program *program = w->program;
    w->count = 0;
    memset(w->last, -1, (size_t)w->sim->machine->device_count * sizeof *w->last);
    memset(w->apart, -1, (size_t)w->sim->machine->device_count * sizeof *w->apart);
    for (int i = 0; i < program->count; i++) {
        const struct mgb_task *task = &program->plan->tasks[program->flat.tasks[i].task];
        const struct mgb_sim_queue *queue = &program->queues[program->tasks[i].queue];
        program->tasks[i].wait_begin = w->count;
        for (int k = 0; k < task->wait_count; k++)
            plan_wait_add(w, i, &program->plan->waits[task->wait_begin + k]);
        compute_wait_add(w, i);
        apart_wait_add(w, i, task);
        if (queue->from < 0)
            w->last[queue->device] = i;
    }
    program->tasks[program->count].wait_begin = w->count;
}

/* From who waits for whom to who is waited for by whom; a task's queue counts as a wait there. */
static void nexts_fill(struct mgb_sim_program *program)
{
    struct mgb_sim_task *tasks = program->tasks;
    int total = 0;
    for (int i = 0; i < program->count; i++) {
        for (int k = tasks[i].wait_begin; k < tasks[i + 1].wait_begin; k++)
            tasks[program->waits[k]].next_begin++;
        if (tasks[i].before >= 0)
            tasks[tasks[i].before].next_begin++;
        tasks[i].waiting = tasks[i + 1].wait_begin - tasks[i].wait_begin + (tasks[i].before >= 0);
    }
    for (int i = 0; i <= program->count; i++) {
        int count = tasks[i].next_begin;
        tasks[i].next_begin = total + count; /* filling goes backwards, down to where it begins */
        total += count;
    }
    for (int i = program->count - 1; i >= 0; i--) {
        for (int k = tasks[i].wait_begin; k < tasks[i + 1].wait_begin; k++)
            program->nexts[--tasks[program->waits[k]].next_begin] = i;
        if (tasks[i].before >= 0)
            program->nexts[--tasks[tasks[i].before].next_begin] = i;
    }
}

static enum mgb_status waits_add(struct mgb_sim_program *program, const struct mgb_sim *sim)
{
    struct waiting w = {.program = program, .sim = sim};
    w.last = mgb_alloc(2 * (size_t)sim->machine->device_count * sizeof *w.last);
    if (!w.last)
        return no_memory();
    w.apart = w.last + sim->machine->device_count;
    waits_walk(&w);
    program->waits = array_make(program, w.count, sizeof *program->waits);
    program->nexts = array_make(program, w.count + program->count, sizeof *program->nexts);
    w.waits = program->waits;
    if (w.waits && program->nexts) {
        waits_walk(&w);
        nexts_fill(program);
    }
    mgb_release(w.last);
    return program->waits && program->nexts ? MGB_OK : no_memory();
}

/* Steps that are replayed as a graph are not submitted task by task. CPU devices replay nothing, and what NCCL sums on
 * several GPUs is not replayed either. */
bool mgb_sim_is_submitted(const struct mgb_sim_program *program, const struct mgb_machine *machine)
{
    return program->graph == MGB_CHOICE_NO || machine->cpu_devices ||
           program->plan->kind != MGB_PLAN_TRAIN ||
           (program->plan->collective_count > 0 && program->plan->tower_count > 1);
}

static enum mgb_status arrays_make(struct mgb_sim_program *program, const struct mgb_sim *sim)
{
    const struct mgb_machine *machine = sim->machine;
    program->count = program->flat.count;
    program->tasks = array_make(program, program->count, sizeof *program->tasks);
    program->ns = array_make(program, program->count, sizeof *program->ns);
    program->bytes = array_make(program, program->count, sizeof *program->bytes);
    program->ends = array_make(program, program->count + 1, sizeof *program->ends);
    program->starts = array_make(program, program->count, sizeof *program->starts);
    if (program->ends)
        program->ends++; /* one stands in front of the first */
    if (machine->step_sigma > 0)
        program->scaled = array_make(program, program->count, sizeof *program->scaled);
    program->step_ns = mgb_sim_round(machine->host.step_us * 1e3);
    program->submit_ns = mgb_sim_is_submitted(program, machine) ? machine->host.submit_us * 1e3 : 0;
    return program->tasks && program->ns && program->bytes && program->ends && program->starts &&
                   (program->scaled || machine->step_sigma <= 0)
               ? MGB_OK
               : no_memory();
}

static enum mgb_status program_fill(struct mgb_sim_program *program, const struct mgb_sim *sim)
{
    MGB_TRY(mgb_plan_expand(&program->flat, program->plan));
    MGB_TRY(arrays_make(program, sim));
    MGB_TRY(queues_number(program, sim));
    MGB_TRY(mgb_sim_queues_add(program, sim));
    times_add(program, sim);
    MGB_TRY(meets_add(program, sim));
    MGB_TRY(shares_add(program, sim));
    MGB_TRY(waits_add(program, sim));
    return mgb_sim_spans_add(program);
}

enum mgb_status mgb_sim_compile(struct mgb_sim_program **out, const struct mgb_sim *sim,
                                const struct mgb_virtual_request *request)
{
    struct mgb_sim_program *program = mgb_alloc(sizeof *program);
    if (!program)
        return no_memory();
    program->plan = request->plan;
    program->how.peer = request->placement->peer_access;
    program->how.pinned = request->placement->pinned;
    program->graph = request->placement->graph;
    mgb_pool_init(&program->pool);
    enum mgb_status status = program_fill(program, sim);
    if (status == MGB_OK)
        *out = program;
    else
        mgb_sim_program_free(program);
    return status;
}

void mgb_sim_program_free(struct mgb_sim_program *program)
{
    if (!program)
        return;
    mgb_release(program->trace);
    mgb_flat_done(&program->flat);
    mgb_pool_done(&program->pool);
    mgb_release(program);
}
