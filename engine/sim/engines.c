/* Copy engines: so many copies at once leave a device and reach it. Who finds one taken waits in the order in which they
 * came; who can go while others still wait for something else goes. */
#include "engine/sim/events.h"

static bool are_free(const struct mgb_sim_events *e, int queue)
{
    const struct mgb_sim_queue *q = &e->program->queues[queue];
    for (int side = 0; side < 2; side++) {
        int engine = q->engines[side];
        if (engine >= 0 && e->busy[engine] >= e->program->engines[engine])
            return false;
    }
    return true;
}

static void occupy(struct mgb_sim_events *e, int queue, int by)
{
    const struct mgb_sim_queue *q = &e->program->queues[queue];
    for (int side = 0; side < 2; side++)
        if (q->engines[side] >= 0)
            e->busy[q->engines[side]] += by;
}

static void line_join(struct mgb_sim_events *e, int queue)
{
    const struct mgb_sim_queue *q = &e->program->queues[queue];
    e->slots[queue].turn = ++e->turns;
    for (int side = 0; side < 2; side++) {
        int engine = q->engines[side], node = 2 * queue + side;
        if (engine < 0)
            continue;
        int last = e->engine_last[engine];
        e->engine_links[node] = (struct mgb_sim_link){last, -1};
        if (last >= 0)
            e->engine_links[last].after = node;
        else
            e->engine_first[engine] = node;
        e->engine_last[engine] = node;
    }
}

static void line_leave(struct mgb_sim_events *e, int queue)
{
    const struct mgb_sim_queue *q = &e->program->queues[queue];
    for (int side = 0; side < 2; side++) {
        int engine = q->engines[side];
        if (engine < 0)
            continue;
        struct mgb_sim_link link = e->engine_links[2 * queue + side];
        if (link.before >= 0)
            e->engine_links[link.before].after = link.after;
        else
            e->engine_first[engine] = link.after;
        if (link.after >= 0)
            e->engine_links[link.after].before = link.before;
        else
            e->engine_last[engine] = link.before;
    }
}

bool mgb_sim_engines_take(struct mgb_sim_events *e, int queue)
{
    if (!are_free(e, queue)) {
        line_join(e, queue);
        return false;
    }
    occupy(e, queue, 1);
    return true;
}

static int64_t turn_of(const struct mgb_sim_events *e, int node)
{
    return node < 0 ? INT64_MAX : e->slots[node / 2].turn;
}

void mgb_sim_engines_give(struct mgb_sim_events *e, int queue,
                          void (*begin)(struct mgb_sim_events *e, int queue))
{
    const struct mgb_sim_queue *q = &e->program->queues[queue];
    int out = q->engines[0] >= 0 ? e->engine_first[q->engines[0]] : -1;
    int in = q->engines[1] >= 0 ? e->engine_first[q->engines[1]] : -1;
    occupy(e, queue, -1);
    /* Through both lines at once, in the order of turns. */
    while (out >= 0 || in >= 0) {
        int64_t turn = turn_of(e, out) < turn_of(e, in) ? turn_of(e, out) : turn_of(e, in);
        int waiting = turn_of(e, out) == turn ? out / 2 : in / 2;
        if (turn_of(e, out) == turn)
            out = e->engine_links[out].after;
        if (turn_of(e, in) == turn)
            in = e->engine_links[in].after;
        if (!are_free(e, waiting))
            continue;
        line_leave(e, waiting);
        occupy(e, waiting, 1);
        begin(e, waiting);
    }
}
