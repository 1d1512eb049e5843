/* Names of a plan's tasks, and for which other tasks each one waits, as rows of the table task hold them. */
#include "app/session/tasks.h"
#include "app/session/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void task_write(FILE *out, const struct mgb_plan *plan, const struct mgb_flat *flat,
                       const struct session_task_waits *waits, int number)
{
    fputc('[', out);
    for (int i = waits->begin[number]; i < waits->begin[number + 1]; i++)
        fprintf(out, "%s%d", i > waits->begin[number] ? "," : "", waits->at[i]);
    fputc(']', out);
    fputc('\0', out);
    fputs(plan->tasks[flat->tasks[number].task].name, out);
    fputc('\0', out);
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
    struct mgb_flat flat;
    struct session_task_waits waits = {0};
    size_t size;
    if (mgb_plan_expand(&flat, plan) != MGB_OK)
        return false;
    texts->rows = plan->global_rows;
    texts->count = flat.count;
    bool listed = mgb_session_task_waits_make(&waits, plan, &flat, flat.count) == MGB_OK;
    FILE *out = listed ? open_memstream(&texts->memory, &size) : NULL;
    for (int i = 0; out && i < flat.count; i++)
        task_write(out, plan, &flat, &waits, i);
    bool written = out && !ferror(out);
    if (out)
        written = fclose(out) == 0 && written;
    mgb_session_task_waits_done(&waits);
    mgb_flat_done(&flat);
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
