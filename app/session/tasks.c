/* See tasks.h. */
#include "app/session/tasks.h"

#include <stdlib.h>

/* Beyond so many members each all-reduce names its own waits only: all of all would grow with the square. */
enum { MOST_MEMBERS = 64 };

struct listing {
    const struct mgb_plan *plan;
    const struct mgb_flat *flat;
    int *seen; /* by flat number: the last list it is in, plus one */
    int *at;
    size_t used, room;
    bool failed;
};

static const struct mgb_task *task_at(const struct listing *list, int number)
{
    return &list->plan->tasks[list->flat->tasks[number].task];
}

static bool same_queue(const struct listing *list, int a, int b)
{
    const struct mgb_flat_task *x = &list->flat->tasks[a], *y = &list->flat->tasks[b];
    bool copies = task_at(list, a)->queue == MGB_QUEUE_COPY;
    if (x->device != y->device || copies != (task_at(list, b)->queue == MGB_QUEUE_COPY))
        return false;
    int from = x->from < 0 ? x->device : x->from, other = y->from < 0 ? y->device : y->from;
    return !copies || from == other;
}

static bool is_meant(const struct mgb_wait *wait, int own, int tower)
{
    if (wait->tower == MGB_EACH_TOWER)
        return true;
    return wait->tower == MGB_OWN ? tower == own || tower == MGB_ROOT : tower == wait->tower;
}

static void wait_add(struct listing *list, int number)
{
    if (list->used == list->room) {
        size_t room = list->room ? 2 * list->room : 256;
        int *more = realloc(list->at, room * sizeof *more);
        list->failed = list->failed || !more;
        if (!more)
            return;
        list->at = more;
        list->room = room;
    }
    list->at[list->used++] = number;
}

/* The waits of task `of` into the list of task `number`. */
static void waits_add(struct listing *list, int number, int of)
{
    const struct mgb_task *task = task_at(list, of);
    for (int w = 0; w < task->wait_count; w++) {
        const struct mgb_wait *wait = &list->plan->waits[task->wait_begin + w];
        for (int k = list->flat->first[wait->task]; k < list->flat->first[wait->task + 1]; k++) {
            if (list->seen[k] == number + 1 ||
                !is_meant(wait, list->flat->tasks[of].tower, list->flat->tasks[k].tower) ||
                same_queue(list, number, k))
                continue;
            list->seen[k] = number + 1;
            wait_add(list, k);
        }
    }
}

static bool meets(const struct listing *list, int a, int b)
{
    return task_at(list, b)->kind == MGB_TASK_ALLREDUCE &&
           task_at(list, a)->collective == task_at(list, b)->collective;
}

/* An all-reduce begins when the last member can: each waits for what any of them waits for. */
static void meeting_add(struct listing *list, int number)
{
    if (list->plan->tower_count > MOST_MEMBERS)
        return;
    for (int other = 0; other < list->flat->count; other++)
        if (other != number && meets(list, number, other))
            waits_add(list, number, other);
}

enum mgb_status mgb_session_task_waits_make(struct session_task_waits *out,
                                            const struct mgb_plan *plan,
                                            const struct mgb_flat *flat, int most)
{
    struct listing list = {.plan = plan, .flat = flat};
    int count = flat->count < most ? flat->count : most;
    int *begin = calloc((size_t)count + 1, sizeof *begin);
    list.seen = calloc((size_t)flat->count + 1, sizeof *list.seen);
    list.failed = !begin || !list.seen;
    for (int i = 0; i < count && !list.failed; i++) {
        waits_add(&list, i, i);
        if (task_at(&list, i)->kind == MGB_TASK_ALLREDUCE)
            meeting_add(&list, i);
        begin[i + 1] = (int)list.used;
    }
    free(list.seen);
    *out = (struct session_task_waits){count, begin, list.at};
    if (!list.failed)
        return MGB_OK;
    mgb_session_task_waits_done(out);
    return mgb_fail(MGB_NO_MEMORY, "listing what tasks wait for: memory is exhausted");
}

void mgb_session_task_waits_done(struct session_task_waits *waits)
{
    free(waits->begin);
    free(waits->at);
    *waits = (struct session_task_waits){0};
}
