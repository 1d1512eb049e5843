/* Playing a plan in class form: stage after stage, towers one after the other, several side by side, up to what is common
 * to all. No queue of events and no instance of a task is kept: rows of one block, and what later stages read. */
#include "engine/sim/classes.h"

#include <stdlib.h>
#include <string.h>

static bool is_crowds(const struct mgb_sim_classes *k, int i)
{
    return k->items[i].class != MGB_ROOT && k->items[i].meet < 0;
}

/* When an item has ended everywhere. */
static int64_t end_of(const struct mgb_sim_classes *k, int i)
{
    const struct mgb_sim_item *item = &k->items[i];
    if (item->meet >= 0)
        return k->ends[k->meets[item->meet].end - 1];
    return item->class == MGB_ROOT ? k->ends[i] : k->most[item->member];
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* By what is common to all towers; `all`: also by the item's own towers, the last of them. */
static int64_t common_ready(const struct mgb_sim_classes *k, int i, bool all)
{
    const struct mgb_sim_item *item = &k->items[i];
    int64_t ready = k->ways.step_ns;
    if (item->before >= 0 && (all || !is_crowds(k, item->before)))
        ready = later(ready, end_of(k, item->before));
    for (int n = item->wait_begin; n < k->items[i + 1].wait_begin; n++) {
        const struct mgb_sim_await *wait = &k->waits.at[n];
        if (all || !wait->own || !is_crowds(k, wait->item))
            ready = later(ready, end_of(k, wait->item));
    }
    return ready;
}

struct block {
    const struct mgb_sim_kind *kind;
    int at; /* in order */
    double slow[MGB_SIM_BLOCK], drawn[MGB_SIM_BLOCK];
    int64_t instance[MGB_SIM_BLOCK];
};

static void block_begin(struct block *b, const struct mgb_sim_classes *k, const struct mgb_sim *sim)
{
    for (int l = 0; l < MGB_SIM_BLOCK; l++) {
        const struct mgb_tower *tower = &k->plan->towers[k->order[b->at + l]];
        b->slow[l] = sim->slowness ? sim->slowness[tower->device] : 1;
        b->drawn[l] = k->drawn ? k->drawn[tower->device] : 1;
        b->instance[l] = tower->instance;
    }
}

/* Rounded where the flat form rounds. */
static inline int64_t member_ns(const struct mgb_sim_member *m, double ns, int64_t extra,
                                double slow, double drawn)
{
    int64_t whole = mgb_sim_round(m->slowed ? ns * slow : ns) + extra;
    return m->drawn ? mgb_sim_round((double)whole * drawn) : whole;
}

static inline void row_issue(int64_t *restrict row, const struct mgb_sim_classes *k,
                             const struct block *b, const struct mgb_sim_item *item)
{
    for (int l = 0; k->ways.submit_ns > 0 && l < MGB_SIM_BLOCK; l++)
        row[l] = later(row[l], mgb_sim_classes_issued(k, item->first + b->instance[l]));
}

/* From when they are ready to when they end. */
static inline void row_fill(int64_t *restrict row, const struct mgb_sim_classes *k,
                            const struct block *b, int number)
{
    const struct mgb_sim_member *m = &k->members[number];
    const struct mgb_sim_item *item = &k->items[m->item];
    double ns = b->kind->ns[number - k->crowds[b->kind->class].member_begin];
    if (m->slowed && m->drawn)
        for (int l = 0; l < MGB_SIM_BLOCK; l++)
            row[l] += mgb_sim_round((double)(mgb_sim_round(ns * b->slow[l]) + item->extra_ns) *
                                    b->drawn[l]);
    else if (m->drawn) {
        double whole = (double)(mgb_sim_round(ns) + item->extra_ns);
        for (int l = 0; l < MGB_SIM_BLOCK; l++)
            row[l] += mgb_sim_round(whole * b->drawn[l]);
    } else {
        for (int l = 0; l < MGB_SIM_BLOCK; l++)
            row[l] += member_ns(m, ns, item->extra_ns, b->slow[l], 1);
    }
}

static void row_keep(struct mgb_sim_classes *k, const struct block *b, int number,
                     const int64_t *row)
{
    const struct mgb_sim_member *m = &k->members[number];
    if (m->slot >= 0)
        memcpy(k->carried + (size_t)m->slot * (size_t)k->order_count + b->at, row,
               MGB_SIM_BLOCK * sizeof *row);
    for (int l = 0; m->gives && k->backups > 0 && l < MGB_SIM_BLOCK; l++)
        k->finish[b->at + l] = later(k->finish[b->at + l], row[l]);
    for (int l = 0; m->folded && l < MGB_SIM_BLOCK; l++)
        if (k->backups == 0 || !k->dropped[b->at + l])
            k->most[number] = later(k->most[number], row[l]);
}

static void block_sweep(struct mgb_sim_classes *k, const struct block *b, int begin, int end)
{
    for (int number = begin; number < end; number++) {
        const struct mgb_sim_member *m = &k->members[number];
        int64_t *row = k->rows + (size_t)(number - begin) * MGB_SIM_BLOCK;
        if (k->items[m->item].meet >= 0)
            continue;
        for (int l = 0; l < MGB_SIM_BLOCK; l++)
            row[l] = k->ready[number];
        for (int n = m->ref_begin; n < m->ref_begin + m->ref_count; n++) {
            int from = k->refs[n];
            const int64_t *source =
                from >= begin
                    ? k->rows + (size_t)(from - begin) * MGB_SIM_BLOCK
                    : k->carried + (size_t)k->members[from].slot * (size_t)k->order_count + b->at;
            for (int l = 0; l < MGB_SIM_BLOCK; l++)
                row[l] = later(row[l], source[l]);
        }
        row_issue(row, k, b, &k->items[m->item]);
        row_fill(row, k, b, number);
        if (m->slot >= 0 || m->folded)
            row_keep(k, b, number, row);
    }
}

static void towers_sweep(struct mgb_sim_classes *k, const struct mgb_sim *sim, int stage)
{
    for (int n = 0; n < k->kind_count; n++) {
        struct block b = {.kind = &k->kinds[n]};
        const struct mgb_sim_crowd *crowd = &k->crowds[b.kind->class];
        int begin = crowd->stage_begin[stage], end = crowd->stage_begin[stage + 1];
        for (int number = begin; number < end; number++)
            k->ready[number] = common_ready(k, k->members[number].item, false);
        for (b.at = b.kind->begin; begin < end && b.at < b.kind->begin + b.kind->count;
             b.at += MGB_SIM_BLOCK) {
            block_begin(&b, k, sim);
            block_sweep(k, &b, begin, end);
        }
    }
}

static void meet_play(struct mgb_sim_classes *k, const struct mgb_sim_meet *meet)
{
    int64_t ready = k->ways.step_ns;
    for (int i = meet->begin; i < meet->end; i++) {
        const struct mgb_sim_item *item = &k->items[i];
        ready = later(ready, common_ready(k, i, true));
        if (k->ways.submit_ns > 0)
            ready = later(ready, mgb_sim_classes_issued(k, item->first + item->count - 1));
    }
    for (int i = meet->begin; i < meet->end; i++) {
        k->starts[i] = ready;
        k->ends[i] = ready + meet->ns;
    }
}

static int64_t single_ns(const struct mgb_sim_classes *k, const struct mgb_sim *sim, int i)
{
    const struct mgb_sim_lane *lane = &k->lanes[k->items[i].lane];
    struct mgb_sim_member as = {.slowed = sim->slowness && !lane->copies,
                                .drawn = k->drawn && lane->from == -2};
    return member_ns(&as, k->single_ns[i], k->items[i].extra_ns,
                     as.slowed ? sim->slowness[lane->device] : 1,
                     as.drawn ? k->drawn[lane->device] : 1);
}

/* What is common of a stage; returns the number of the first of the next one's. */
static int common_play(struct mgb_sim_classes *k, const struct mgb_sim *sim, int first, int stage)
{
    for (; first < k->single_count; first++) {
        int i = k->singles[first];
        const struct mgb_sim_item *item = &k->items[i];
        if (item->stage > stage)
            break;
        if (item->meet >= 0) {
            meet_play(k, &k->meets[item->meet]);
            continue;
        }
        k->starts[i] = common_ready(k, i, true);
        if (k->ways.submit_ns > 0)
            k->starts[i] = later(k->starts[i], mgb_sim_classes_issued(k, item->first));
        k->ends[i] = k->starts[i] + single_ns(k, sim, i);
    }
    return first;
}

struct finisher {
    int64_t ns;
    int at, tower;
};

static int finisher_order(const void *a, const void *b)
{
    const struct finisher *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return (x->tower > y->tower) - (x->tower < y->tower);
}

/* The last `backups` towers to have their gradients are not waited for. */
static enum mgb_status late_drop(struct mgb_sim_classes *k)
{
    struct finisher *all = mgb_alloc((size_t)k->plan->tower_count * sizeof *all);
    int count = 0;
    if (!all)
        return mgb_fail(MGB_NO_MEMORY, "simulating backups: the host's memory is exhausted");
    for (int n = 0; n < k->kind_count; n++)
        for (int at = k->kinds[n].begin; at < k->kinds[n].begin + k->kinds[n].count; at++)
            all[count++] = (struct finisher){k->finish[at], at, k->order[at]};
    qsort(all, (size_t)count, sizeof *all, finisher_order);
    for (int n = count - k->backups; n < count; n++)
        k->dropped[all[n].at] = k->late[all[n].tower] = true;
    for (int n = 0; n < k->kind_count; n++) /* what fills blocks up is its last tower once more */
        for (int at = k->kinds[n].begin + k->kinds[n].count; at % MGB_SIM_BLOCK != 0; at++)
            k->dropped[at] = k->dropped[at - 1];
    mgb_release(all);
    return MGB_OK;
}

static void play_reset(struct mgb_sim_classes *k, const struct mgb_sim *sim, int64_t step)
{
    memset(k->most, 0, (size_t)k->member_count * sizeof *k->most);
    if (k->backups > 0) {
        memset(k->finish, 0, (size_t)k->order_count * sizeof *k->finish);
        memset(k->dropped, 0, (size_t)k->order_count * sizeof *k->dropped);
        memset(k->late, 0, (size_t)k->plan->tower_count * sizeof *k->late);
    }
    for (int d = 0; k->drawn && d < sim->machine->device_count; d++)
        k->drawn[d] =
            mgb_sim_draw(sim->machine->step_sigma, sim->options.seed, (uint64_t)d, (uint64_t)step);
}

static void wall_set(struct mgb_sim_classes *k)
{
    k->wall_ns = k->ways.step_ns;
    for (int l = 0; l < k->lane_count; l++)
        k->wall_ns = later(k->wall_ns, end_of(k, k->lanes[l].last));
}

enum mgb_status mgb_sim_classes_play(struct mgb_sim_classes *k, const struct mgb_sim *sim,
                                     int64_t step)
{
    play_reset(k, sim, step);
    for (int stage = 0, first = 0; stage < k->stage_count; stage++) {
        towers_sweep(k, sim, stage);
        if (stage == 0 && k->backups > 0) {
            MGB_TRY(late_drop(k));
            memset(k->most, 0, (size_t)k->member_count * sizeof *k->most);
            towers_sweep(k, sim, stage); /* again, without those */
        }
        first = common_play(k, sim, first, stage);
    }
    wall_set(k);
    return MGB_OK;
}

void mgb_sim_classes_block(struct mgb_sim_classes *k, const struct mgb_sim *sim,
                           const struct mgb_sim_kind *kind, int at)
{
    const struct mgb_sim_crowd *crowd = &k->crowds[kind->class];
    struct block b = {.kind = kind, .at = at};
    int base = crowd->member_begin;
    block_begin(&b, k, sim);
    for (int number = base; number < crowd->member_end; number++) {
        const struct mgb_sim_member *m = &k->members[number];
        const struct mgb_sim_item *item = &k->items[m->item];
        int64_t *ends = k->rows + (size_t)(number - base) * MGB_SIM_BLOCK;
        int64_t *starts = k->row_starts + (size_t)(number - base) * MGB_SIM_BLOCK;
        if (item->meet >= 0) {
            for (int l = 0; l < MGB_SIM_BLOCK; l++) {
                starts[l] = k->starts[m->item];
                ends[l] = k->ends[m->item];
            }
            continue;
        }
        for (int l = 0; l < MGB_SIM_BLOCK; l++)
            ends[l] = k->ready[number];
        for (int n = m->ref_begin; n < m->ref_begin + m->ref_count; n++) {
            const int64_t *source = k->rows + (size_t)(k->refs[n] - base) * MGB_SIM_BLOCK;
            for (int l = 0; l < MGB_SIM_BLOCK; l++)
                ends[l] = later(ends[l], source[l]);
        }
        row_issue(ends, k, &b, item);
        memcpy(starts, ends, MGB_SIM_BLOCK * sizeof *starts);
        row_fill(ends, k, &b, number);
    }
}
