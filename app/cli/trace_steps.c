/* See trace_steps.h. */
#include "app/cli/trace_steps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct range {
    int64_t first, last;
};

static bool number_read(const char **at, int64_t *out)
{
    const char *digits = *at + (**at == '-');
    char *end;
    if (*digits < '0' || *digits > '9')
        return false;
    errno = 0;
    *out = strtoll(*at, &end, 10);
    *at = end;
    return errno == 0;
}

/* The range that `*at` begins with; goes on behind it and the comma after it. */
static bool range_read(const char **at, struct range *out)
{
    if (!number_read(at, &out->first))
        return false;
    out->last = out->first;
    if (**at == '-') {
        ++*at;
        if (!number_read(at, &out->last) || out->last < out->first)
            return false;
    }
    if (**at == ',' && (*at)[1]) {
        ++*at;
        return true;
    }
    return **at == '\0';
}

static bool is_there(const struct mgb_trace_list *list, int64_t timed)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->steps[i].timed == timed)
            return true;
    return false;
}

void mgb_cli_steps_text(char *out, size_t size, const struct mgb_trace_list *list)
{
    size_t used = (size_t)snprintf(out, size, list->count == 1 ? "step " : "steps ");
    for (size_t i = 0, end; i < list->count && used + 48 < size; i = end) {
        int64_t first = list->steps[i].timed, last = first;
        for (end = i + 1; end < list->count && list->steps[end].timed == last + 1; end++)
            last++;
        used += (size_t)snprintf(out + used, size - used, "%s%" PRId64, i ? ", " : "", first);
        if (last > first)
            used += (size_t)snprintf(out + used, size - used, "%s%" PRId64,
                                     first < 0 ? " to " : "-", last);
        if (end < list->count && used + 48 >= size)
            snprintf(out + used, size - used, ", ...");
    }
}

#define HOW "mgbench run ... --trace 5-8, or trace_steps = \"5-8\" in mgb.run"

static enum mgb_status not_traced(const struct mgb_trace_list *list, const struct range *range,
                                  int64_t step, int64_t run)
{
    char steps[300];
    mgb_cli_steps_text(steps, sizeof steps, list);
    if (step < 0 || range->first < 0 || step < list->timed_steps)
        return mgb_fail(MGB_MISSING,
                        "step %" PRId64 " of run %" PRId64
                        " was not traced; traced: %s. To trace others: " HOW,
                        step, run, steps);
    return mgb_fail(MGB_MISSING,
                    "run %" PRId64 " has no timed step %" PRId64 ": there are %" PRId64
                    ", from 0; traced: %s. To trace others: " HOW,
                    run, step, list->timed_steps, steps);
}

static bool is_wanted(const char *text, int64_t timed)
{
    struct range range;
    while (*text) {
        if (!range_read(&text, &range))
            return false;
        if (timed >= range.first && timed <= range.last)
            return true;
    }
    return false;
}

enum mgb_status mgb_cli_steps_choose(struct mgb_trace_list *list, const char *text, int64_t run)
{
    if (list->count == 0)
        return mgb_fail(MGB_MISSING,
                        "no step of run %" PRId64
                        " was traced (it has no warm-up or too many tasks for one unasked). To "
                        "trace: " HOW,
                        run);
    if (!text)
        return MGB_OK;
    struct range range;
    const char *at = text;
    do {
        if (!range_read(&at, &range))
            return mgb_fail(MGB_INVALID,
                            "--steps: numbers and ranges expected, such as 5-8 or -2,3, got '%s'",
                            text);
        for (int64_t step = range.first; step <= range.last; step++)
            if (!is_there(list, step))
                return not_traced(list, &range, step, run);
    } while (*at);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (is_wanted(text, list->steps[i].timed))
            list->steps[kept++] = list->steps[i];
    list->count = kept;
    return MGB_OK;
}
