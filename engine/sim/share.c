/* Sharing: rates of copies over common wires and of work on common cores are max-min fair, by progressive filling
 * (Bertsekas and Gallager, Data Networks, 6.5.2). Only what a change can touch is solved anew: the queues joined to it by
 * resources that are short, which are those whose users together would take more than there is. */
#include "engine/sim/events.h"

static bool is_short(const struct mgb_sim_short *s)
{
    return s->demand > s->capacity;
}

static double limit_of(const struct mgb_sim_events *e, int queue)
{
    const struct mgb_sim_queue *q = &e->program->queues[queue];
    if (q->board < 0)
        return 1;
    for (int mate = e->board_next[queue]; mate != queue; mate = e->board_next[mate])
        if (e->slots[mate].active)
            return q->slowed;
    return 1;
}

static void dirty_add(struct mgb_sim_events *e, int queue)
{
    if (e->slots[queue].changed)
        return;
    e->slots[queue].changed = true;
    e->dirty[e->dirty_count++] = queue;
}

static void board_touch(struct mgb_sim_events *e, int queue)
{
    if (e->program->queues[queue].board < 0)
        return;
    for (int mate = e->board_next[queue]; mate != queue; mate = e->board_next[mate])
        if (e->slots[mate].active)
            dirty_add(e, mate);
}

void mgb_sim_join(struct mgb_sim_events *e, int queue)
{
    const struct mgb_sim_queue *q = &e->program->queues[queue];
    struct mgb_sim_slot *slot = &e->slots[queue];
    slot->active = true;
    slot->share = 0;
    slot->since = e->now;
    for (int k = q->use_begin; k < q->use_begin + q->use_count; k++) {
        struct mgb_sim_short *s = &e->shorts[e->program->uses[k].resource];
        s->demand += e->program->uses[k].amount;
        e->use_links[k] = (struct mgb_sim_link){-1, s->first};
        if (s->first >= 0)
            e->use_links[s->first].before = k;
        s->first = k;
    }
    dirty_add(e, queue);
    board_touch(e, queue);
}

void mgb_sim_leave(struct mgb_sim_events *e, int queue)
{
    const struct mgb_sim_queue *q = &e->program->queues[queue];
    e->slots[queue].active = false;
    for (int k = q->use_begin; k < q->use_begin + q->use_count; k++) {
        int resource = e->program->uses[k].resource;
        struct mgb_sim_short *s = &e->shorts[resource];
        struct mgb_sim_link link = e->use_links[k];
        if (is_short(s) && !s->loose) {
            s->loose = true;
            e->loosened[e->loosened_count++] = resource;
        }
        s->demand -= e->program->uses[k].amount;
        if (link.before >= 0)
            e->use_links[link.before].after = link.after;
        else
            s->first = link.after;
        if (link.after >= 0)
            e->use_links[link.after].before = link.before;
    }
    board_touch(e, queue);
}

static void part_add(struct mgb_sim_events *e, int queue)
{
    if (e->slots[queue].solved == e->solution)
        return;
    e->slots[queue].solved = e->solution;
    e->part[e->part_count++] = queue;
}

/* All queues joined to `queue` by resources that are short, and those resources. */
static void part_gather(struct mgb_sim_events *e, int queue)
{
    e->part_count = e->part_short_count = 0;
    part_add(e, queue);
    for (int i = 0; i < e->part_count; i++) {
        const struct mgb_sim_queue *q = &e->program->queues[e->part[i]];
        for (int k = q->use_begin; k < q->use_begin + q->use_count; k++) {
            int resource = e->program->uses[k].resource;
            struct mgb_sim_short *s = &e->shorts[resource];
            if (!is_short(s))
                continue;
            if (s->solved != e->solution) {
                s->solved = e->solution;
                s->left = (double)s->capacity;
                s->slope = 0;
                s->open = 0;
                e->part_shorts[e->part_short_count++] = resource;
                for (int u = s->first; u >= 0; u = e->use_links[u].after)
                    part_add(e, e->use_queues[u]);
            }
            s->slope += (double)e->program->uses[k].amount * q->grows;
            s->open++;
        }
    }
}

/* The share is its own from now on; what it leaves of resources is for the others. */
static void share_set(struct mgb_sim_events *e, int queue, double share)
{
    const struct mgb_sim_queue *q = &e->program->queues[queue];
    struct mgb_sim_slot *slot = &e->slots[queue];
    for (int k = q->use_begin; k < q->use_begin + q->use_count; k++) {
        struct mgb_sim_short *s = &e->shorts[e->program->uses[k].resource];
        if (!is_short(s))
            continue;
        s->left -= (double)e->program->uses[k].amount * share;
        s->slope -= (double)e->program->uses[k].amount * q->grows;
        s->open--;
    }
    if (share == slot->share)
        return;
    double speed = q->rate * slot->share;
    slot->left -= speed * (double)(e->now - slot->since);
    slot->since = e->now;
    slot->share = share;
    mgb_sim_schedule(e, queue, e->now + mgb_sim_round(slot->left / (q->rate * share)), MGB_SIM_END);
}

/* How far all shares of the part can grow until somebody is at full speed or something is used up. */
static double level_next(const struct mgb_sim_events *e, int begin)
{
    double level = 1e300;
    for (int i = begin; i < e->part_count; i++) {
        double most = limit_of(e, e->part[i]) / e->program->queues[e->part[i]].grows;
        level = most < level ? most : level;
    }
    for (int i = 0; i < e->part_short_count; i++) {
        const struct mgb_sim_short *s = &e->shorts[e->part_shorts[i]];
        if (s->open > 0 && s->left / s->slope < level)
            level = s->left / s->slope;
    }
    return level;
}

#define NEARLY (1 + 1e-12) /* what is used up at the same level but for rounding */

static bool is_stopped(const struct mgb_sim_events *e, int queue, double level)
{
    const struct mgb_sim_queue *q = &e->program->queues[queue];
    if (limit_of(e, queue) <= level * q->grows * NEARLY)
        return true;
    for (int k = q->use_begin; k < q->use_begin + q->use_count; k++) {
        const struct mgb_sim_short *s = &e->shorts[e->program->uses[k].resource];
        if (is_short(s) && s->left <= s->slope * level * NEARLY)
            return true;
    }
    return false;
}

static void part_solve(struct mgb_sim_events *e)
{
    double level = 0;
    for (int begin = 0; begin < e->part_count;) {
        double next = level_next(e, begin);
        int stopped = begin;
        level = next > level ? next : level;
        /* Who stops is moved to the front first: shares given change what is left. */
        for (int i = begin; i < e->part_count; i++) {
            int queue = e->part[i];
            if (!is_stopped(e, queue, level))
                continue;
            e->part[i] = e->part[stopped];
            e->part[stopped++] = queue;
        }
        for (; begin < stopped; begin++) {
            double limit = limit_of(e, e->part[begin]);
            double share = level * e->program->queues[e->part[begin]].grows;
            share_set(e, e->part[begin], share < limit / NEARLY ? share : limit);
        }
    }
    e->program->solves++;
}

static void solve_from(struct mgb_sim_events *e, int queue)
{
    if (!e->slots[queue].active || e->slots[queue].solved == e->solution)
        return;
    part_gather(e, queue);
    part_solve(e);
}

void mgb_sim_resolve(struct mgb_sim_events *e)
{
    e->solution++;
    for (int i = 0; i < e->dirty_count; i++)
        e->slots[e->dirty[i]].changed = false;
    for (int i = 0; i < e->dirty_count; i++)
        solve_from(e, e->dirty[i]);
    for (int i = 0; i < e->loosened_count; i++) {
        struct mgb_sim_short *s = &e->shorts[e->loosened[i]];
        s->loose = false;
        for (int u = s->first; u >= 0; u = e->use_links[u].after)
            solve_from(e, e->use_queues[u]);
    }
    e->dirty_count = e->loosened_count = 0;
}
