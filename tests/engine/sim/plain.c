#include "tests/engine/sim/plain.h"

#include "tests/support/check.h"
#include <string.h>

enum { UNREADY, WAITING, LATENT, FLOWING, FIXED, DONE };

struct plain_task {
    int stage;
    int64_t ready, at; /* ready; the next moment that is known */
    double left, share;
    int64_t since;
};

struct plain {
    const struct mgb_sim *sim;
    const struct mgb_sim_program *program;
    struct plain_task *tasks;
    int64_t now, *ends;
    struct mgb_sim_path *paths; /* by queue: what it uses, all of it */
};

static bool is_flow(const struct plain *p, int task)
{
    const struct mgb_sim_queue *q = &p->program->queues[p->program->tasks[task].queue];
    return q->copies || p->sim->machine->cpu_devices ||
           p->sim->machine->devices[q->device].board >= 0;
}

static void paths_make(struct plain *p)
{
    for (int i = 0; i < p->program->queue_count; i++) {
        const struct mgb_sim_queue *q = &p->program->queues[i];
        struct mgb_sim_path *path = &p->paths[i];
        int64_t cores = mgb_sim_capacity(p->sim->machine, mgb_sim_core_resource(p->sim->machine));
        int64_t amount = (int64_t)p->program->plan->threads * MGB_SIM_CORE;
        if (q->copies)
            assert_ok(mgb_sim_path_make(path, p->sim, &p->program->how, q->from, q->device));
        else if (p->sim->machine->cpu_devices)
            path->uses[path->use_count++] = (struct mgb_sim_use){
                mgb_sim_core_resource(p->sim->machine), 0, amount < cores ? amount : cores};
    }
}

/* Has everything that it waits for ended by now? */
static bool is_ready(const struct plain *p, int task)
{
    const struct mgb_sim_task *t = &p->program->tasks[task];
    if (t->before >= 0 && p->tasks[t->before].stage != DONE)
        return false;
    for (int k = t->wait_begin; k < p->program->tasks[task + 1].wait_begin; k++)
        if (p->tasks[p->program->waits[k]].stage != DONE)
            return false;
    return p->now >= mgb_sim_issued(p->program, task);
}

/* Engines by the machine, not as compiled. */
static int engine_of(const struct plain *p, int task, int side, int *most)
{
    const struct mgb_sim_queue *q = &p->program->queues[p->program->tasks[task].queue];
    int device = side ? q->device : q->from;
    if (!q->copies || device == 0 || p->sim->machine->cpu_devices)
        return -1;
    const struct mgb_machine_device *d = &p->sim->machine->devices[device];
    *most = side && !d->one_engine ? d->copies_in : d->copies_out;
    return d->one_engine ? 2 * device : 2 * device + side;
}

static bool engine_free(const struct plain *p, int engine, int most)
{
    int busy = 0, unused;
    for (int i = 0; i < p->program->count; i++)
        for (int side = 0; side < 2; side++)
            if ((p->tasks[i].stage == LATENT || p->tasks[i].stage == FLOWING) &&
                engine_of(p, i, side, &unused) == engine)
                busy++;
    return busy < most;
}

static bool engines_free(const struct plain *p, int task)
{
    for (int side = 0; side < 2; side++) {
        int most = 0, engine = engine_of(p, task, side, &most);
        if (engine >= 0 && !engine_free(p, engine, most))
            return false;
    }
    return true;
}

static void task_start(struct plain *p, int task)
{
    const struct mgb_sim_queue *q = &p->program->queues[p->program->tasks[task].queue];
    struct plain_task *t = &p->tasks[task];
    t->left = (double)(q->copies ? p->program->bytes[task] : p->program->ns[task]);
    t->share = 0;
    t->since = p->now;
    t->stage = is_flow(p, task) ? FLOWING : FIXED;
    t->at = t->stage == FIXED ? p->now + p->program->ns[task] : INT64_MAX;
    if (q->copies && q->latency_ns > 0) {
        t->stage = LATENT;
        t->at = p->now + q->latency_ns;
    } else if (t->stage == FLOWING && t->left <= 0) {
        t->at = p->now;
    }
}

/* First by when they were ready, then in issue order. */
static bool waiting_start(struct plain *p)
{
    int best = -1;
    for (int i = 0; i < p->program->count; i++)
        if (p->tasks[i].stage == WAITING && engines_free(p, i) &&
            (best < 0 || p->tasks[i].ready < p->tasks[best].ready))
            best = i;
    if (best >= 0)
        task_start(p, best);
    return best >= 0;
}

static double limit_of(const struct plain *p, int task)
{
    const struct mgb_sim_queue *q = &p->program->queues[p->program->tasks[task].queue];
    const struct mgb_machine_device *devices = p->sim->machine->devices;
    if (q->from >= 0 || devices[q->device].board < 0)
        return 1;
    for (int i = 0; i < p->program->count; i++) {
        const struct mgb_sim_queue *o = &p->program->queues[p->program->tasks[i].queue];
        if (p->tasks[i].stage == FLOWING && o->from < 0 && o->device != q->device &&
            devices[o->device].board == devices[q->device].board)
            return devices[q->device].board_speed;
    }
    return 1;
}

static double use_of(const struct plain *p, int task, int resource)
{
    const struct mgb_sim_path *path = &p->paths[p->program->tasks[task].queue];
    for (int k = 0; k < path->use_count; k++)
        if (path->uses[k].resource == resource)
            return (double)path->uses[k].amount;
    return 0;
}

/* Progressive filling over all that flows: raises all open shares until a limit or a resource stops some. */
static void shares_fill(struct plain *p, double *share, bool *open)
{
    int resources = p->program->resource_count, count = p->program->count;
    for (;;) {
        double level = 1e300;
        for (int i = 0; i < count; i++)
            if (open[i]) {
                double most = limit_of(p, i) / p->program->queues[p->program->tasks[i].queue].grows;
                level = most < level ? most : level;
            }
        int tight = -1;
        for (int r = 0; r < resources; r++) {
            double left = (double)p->program->capacities[r], slope = 0;
            for (int i = 0; i < count; i++) {
                if (p->tasks[i].stage != FLOWING || p->program->capacities[r] == INT64_MAX)
                    continue;
                if (open[i])
                    slope += use_of(p, i, r) * p->program->queues[p->program->tasks[i].queue].grows;
                else
                    left -= use_of(p, i, r) * share[i];
            }
            if (slope > 0 && left / slope < level) {
                level = left / slope;
                tight = r;
            }
        }
        bool any = false;
        for (int i = 0; i < count; i++) {
            if (!open[i])
                continue;
            double own = level * p->program->queues[p->program->tasks[i].queue].grows;
            double limit = limit_of(p, i);
            bool stops = own >= limit * (1 - 1e-12) || (tight >= 0 && use_of(p, i, tight) > 0);
            if (!stops)
                continue;
            share[i] = own >= limit * (1 - 1e-12) ? limit : own;
            open[i] = false;
            any = true;
        }
        if (!any)
            return;
    }
}

static void rates_set(struct plain *p)
{
    double share[256] = {0};
    bool open[256] = {false};
    for (int i = 0; i < p->program->count; i++)
        open[i] = p->tasks[i].stage == FLOWING && p->tasks[i].left > 0;
    shares_fill(p, share, open);
    for (int i = 0; i < p->program->count; i++) {
        struct plain_task *t = &p->tasks[i];
        double rate = p->program->queues[p->program->tasks[i].queue].rate;
        double change = share[i] - t->share;
        if (t->stage != FLOWING || (change < 1e-12 && change > -1e-12))
            continue;
        t->left -= t->share * rate * (double)(p->now - t->since);
        t->since = p->now;
        t->share = share[i];
        t->at = p->now + mgb_sim_round(t->left / (rate * share[i]));
    }
}

/* All that ends now ends; false when nothing did. */
static bool ends_set(struct plain *p)
{
    bool any = false;
    for (int i = 0; i < p->program->count; i++) {
        struct plain_task *t = &p->tasks[i];
        if ((t->stage == FIXED || t->stage == FLOWING) && t->at <= p->now) {
            t->stage = DONE;
            p->ends[i] = p->now;
            any = true;
        } else if (t->stage == LATENT && t->at <= p->now) {
            t->stage = FLOWING;
            t->since = p->now;
            t->at = t->left > 0 ? INT64_MAX : p->now;
            any = true;
        }
    }
    return any;
}

static void moment_play(struct plain *p)
{
    for (bool any = true; any;) {
        any = ends_set(p);
        for (int i = 0; i < p->program->count; i++)
            if (p->tasks[i].stage == UNREADY && is_ready(p, i)) {
                p->tasks[i].stage = WAITING;
                p->tasks[i].ready = p->now;
                any = true;
            }
        while (waiting_start(p))
            any = true;
    }
    rates_set(p);
}

void plain_play(int64_t *ends, const struct mgb_sim *sim, const struct mgb_sim_program *program)
{
    struct plain p = {.sim = sim, .program = program, .ends = ends};
    p.tasks = mgb_alloc((size_t)program->count * sizeof *p.tasks);
    p.paths = mgb_alloc((size_t)program->queue_count * sizeof *p.paths);
    assert_true(p.tasks && p.paths && program->count <= 256);
    paths_make(&p);
    for (;;) {
        moment_play(&p);
        int64_t next = INT64_MAX;
        for (int i = 0; i < program->count; i++) {
            const struct plain_task *t = &p.tasks[i];
            bool known = t->stage == FIXED || t->stage == FLOWING || t->stage == LATENT;
            if (known && t->at < next)
                next = t->at;
        }
        if (next == INT64_MAX)
            break;
        p.now = next;
    }
    mgb_release(p.tasks);
    mgb_release(p.paths);
}
