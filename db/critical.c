/* See critical.h. */
#include "db/critical.h"

#include <stdbool.h>
#include <stdlib.h>

struct walk {
    const struct mgb_critical_request *request;
    int *ahead;   /* by task: the one before it on its queue, -1: none */
    bool *passed; /* by task: on the path already; waits of a damaged file may go in circles */
    struct mgb_critical_part *parts; /* last first */
    int count;
    int64_t at; /* where the path is, going back */
};

static int64_t within(const struct walk *walk, int64_t ns)
{
    return ns < 0 ? 0 : ns > walk->request->wall_ns ? walk->request->wall_ns : ns;
}

static int64_t start_of(const struct walk *walk, int task)
{
    return within(walk, walk->request->tasks[task].start_ns);
}

static int64_t end_of(const struct walk *walk, int task)
{
    const struct mgb_critical_task *t = &walk->request->tasks[task];
    int64_t duration = t->duration_ns < 0 ? 0 : t->duration_ns;
    if (t->start_ns > INT64_MAX - duration)
        return walk->request->wall_ns;
    return within(walk, t->start_ns + duration);
}

/* Goes back to `begin`, or stays when that is not before where the path is. */
static void part_add(struct walk *walk, int task, int before, int64_t begin)
{
    if (begin >= walk->at)
        return;
    walk->parts[walk->count++] = (struct mgb_critical_part){
        .task = task, .before = before, .begin_ns = begin, .end_ns = walk->at};
    walk->at = begin;
}

static int predecessor_find(const struct walk *walk, int task)
{
    const struct mgb_critical_task *t = &walk->request->tasks[task];
    int best = walk->ahead[task];
    if (best >= 0 && walk->passed[best])
        best = -1;
    for (int i = 0; i < t->wait_count; i++) {
        int other = walk->request->waits[t->wait_begin + i];
        if (other < 0 || other >= walk->request->count || walk->passed[other])
            continue;
        if (best < 0 || end_of(walk, other) > end_of(walk, best))
            best = other;
    }
    return best;
}

static int last_find(const struct walk *walk)
{
    int last = -1;
    for (int i = 0; i < walk->request->count; i++)
        if (last < 0 || end_of(walk, i) >= end_of(walk, last))
            last = i;
    return last;
}

static void path_walk(struct walk *walk)
{
    int task = last_find(walk);
    if (task >= 0)
        part_add(walk, -1, -1, end_of(walk, task));
    for (int next; task >= 0 && walk->at > 0; task = next) {
        walk->passed[task] = true;
        next = predecessor_find(walk, task);
        int64_t ended = next < 0 ? 0 : end_of(walk, next), start = start_of(walk, task);
        part_add(walk, task, -1, start > ended ? start : ended);
        part_add(walk, -1, task, ended);
    }
    part_add(walk, -1, -1, 0);
}

/* Queues are numbered from 0 without large holes. */
static bool queues_link(struct walk *walk)
{
    const struct mgb_critical_request *request = walk->request;
    int most = 0;
    for (int i = 0; i < request->count; i++)
        most = request->tasks[i].queue > most ? request->tasks[i].queue : most;
    int *last = malloc(((size_t)most + 1) * sizeof *last);
    if (!last)
        return false;
    for (int i = 0; i <= most; i++)
        last[i] = -1;
    for (int i = 0; i < request->count; i++) {
        int queue = request->tasks[i].queue;
        walk->ahead[i] = queue < 0 ? -1 : last[queue];
        if (queue >= 0)
            last[queue] = i;
    }
    free(last);
    return true;
}

static void parts_turn(struct walk *walk)
{
    for (int i = 0; i < walk->count / 2; i++) {
        struct mgb_critical_part held = walk->parts[i];
        walk->parts[i] = walk->parts[walk->count - 1 - i];
        walk->parts[walk->count - 1 - i] = held;
    }
}

enum mgb_status mgb_critical_find(struct mgb_critical_part **parts, int *part_count,
                                  const struct mgb_critical_request *request)
{
    struct walk walk = {.request = request, .at = request->wall_ns < 0 ? 0 : request->wall_ns};
    size_t count = (size_t)request->count + 1;
    walk.ahead = calloc(count, sizeof *walk.ahead);
    walk.passed = calloc(count, sizeof *walk.passed);
    walk.parts = calloc(2 * count + 1, sizeof *walk.parts); /* each task and what is before it */
    bool made = walk.ahead && walk.passed && walk.parts && queues_link(&walk);
    if (made) {
        path_walk(&walk);
        parts_turn(&walk);
    }
    free(walk.ahead);
    free(walk.passed);
    if (!made) {
        free(walk.parts);
        return mgb_fail(MGB_NO_MEMORY, "finding the critical path: memory is exhausted");
    }
    *parts = walk.parts;
    *part_count = walk.count;
    return MGB_OK;
}
