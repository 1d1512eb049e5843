/* Names of a plan's tasks, and for which other tasks each one waits, as rows of the table task hold them. Order within a
 * queue is not among the waits: queue and start tell it. */
#include "app/session/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond so many members each all-reduce names its own waits only: all of all would grow with the square. */
enum { MOST_MEMBERS = 64 };

struct listing {
    const struct mgb_plan *plan;
    struct mgb_flat flat;
    FILE *out;
    char *seen; /* by flat number: already in the list at hand */
    int count;  /* in it */
};

static const struct mgb_task *task_at(const struct listing *list, int number)
{
    return &list->plan->tasks[list->flat.tasks[number].task];
}

static bool same_queue(const struct listing *list, int a, int b)
{
    const struct mgb_flat_task *x = &list->flat.tasks[a], *y = &list->flat.tasks[b];
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

/* The waits of task `of` into the list of task `number`. */
static void waits_write(struct listing *list, int number, int of)
{
    const struct mgb_task *task = task_at(list, of);
    for (int w = 0; w < task->wait_count; w++) {
        const struct mgb_wait *wait = &list->plan->waits[task->wait_begin + w];
        for (int k = list->flat.first[wait->task]; k < list->flat.first[wait->task + 1]; k++) {
            if (list->seen[k] ||
                !is_meant(wait, list->flat.tasks[of].tower, list->flat.tasks[k].tower) ||
                same_queue(list, number, k))
                continue;
            list->seen[k] = 1;
            fprintf(list->out, "%s%d", list->count++ ? "," : "", k);
        }
    }
}

static bool meets(const struct listing *list, int a, int b)
{
    return task_at(list, b)->kind == MGB_TASK_ALLREDUCE &&
           task_at(list, a)->collective == task_at(list, b)->collective;
}

/* An all-reduce begins when the last member can: each waits for what any of them waits for. */
static void meeting_write(struct listing *list, int number)
{
    if (list->plan->tower_count > MOST_MEMBERS)
        return;
    for (int other = 0; other < list->flat.count; other++)
        if (other != number && meets(list, number, other))
            waits_write(list, number, other);
}

static void task_write(struct listing *list, int number)
{
    memset(list->seen, 0, (size_t)list->flat.count);
    list->count = 0;
    fputc('[', list->out);
    waits_write(list, number, number);
    if (task_at(list, number)->kind == MGB_TASK_ALLREDUCE)
        meeting_write(list, number);
    fputc(']', list->out);
    fputc('\0', list->out);
    fputs(task_at(list, number)->name, list->out);
    fputc('\0', list->out);
}

static bool texts_point(struct session_task_texts *texts)
{
    texts->name = calloc((size_t)texts->count + 1, sizeof *texts->name);
    texts->waits_for = calloc((size_t)texts->count + 1, sizeof *texts->waits_for);
    if (!texts->name || !texts->waits_for)
        return false;
    const char *at = texts->memory;
    for (int i = 0; i < texts->count; i++) {
        texts->waits_for[i] = at;
        at += strlen(at) + 1;
        texts->name[i] = at;
        at += strlen(at) + 1;
    }
    return true;
}

static bool texts_write(struct session_task_texts *texts, const struct mgb_plan *plan)
{
    struct listing list = {.plan = plan};
    size_t size;
    if (mgb_plan_expand(&list.flat, plan) != MGB_OK)
        return false;
    texts->rows = plan->global_rows;
    texts->count = list.flat.count;
    list.seen = malloc((size_t)list.flat.count + 1);
    list.out = list.seen ? open_memstream(&texts->memory, &size) : NULL;
    for (int i = 0; list.out && i < list.flat.count; i++)
        task_write(&list, i);
    bool written = list.out && !ferror(list.out);
    if (list.out)
        written = fclose(list.out) == 0 && written;
    free(list.seen);
    mgb_flat_done(&list.flat);
    return written && texts_point(texts);
}

void mgb_session_task_texts_free(struct session_task_texts *texts)
{
    while (texts) {
        struct session_task_texts *next = texts->next;
        free(texts->name);
        free(texts->waits_for);
        free(texts->memory);
        free(texts);
        texts = next;
    }
}

const struct session_task_texts *mgb_session_task_texts(struct session_trace *trace,
                                                        const struct mgb_plan *plan)
{
    /* Under one placement the rows say which plan it is; its address may be that of one that is gone. */
    for (struct session_task_texts *texts = trace->texts; texts; texts = texts->next)
        if (texts->rows == plan->global_rows)
            return texts;
    struct session_task_texts *texts = calloc(1, sizeof *texts);
    if (!texts || !texts_write(texts, plan)) {
        mgb_session_task_texts_free(texts);
        return NULL;
    }
    texts->next = trace->texts;
    trace->texts = texts;
    return texts;
}
