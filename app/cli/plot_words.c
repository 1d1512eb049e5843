/* Words for placements, and which of them are needed to tell some apart. See plot_cells.h. */
#include "app/cli/plot_words.h"
#include "app/cli/asking.h"
#include <mgb/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { /* the details that are looked into here, in the order of plot_cells.c */
       RELOCATION = PLOT_FIRST_DETAIL,
       MERGE,
       WEIGHTS_AT,
       JOIN_AT,
       LOSS_AT,
       SUM_AT,
       UPDATE_AT,
       GPU_LIST,
       THREADS,
       GPU_MEMORY
};

static const char *const detail_names[PLOT_DIMENSIONS - PLOT_FIRST_DETAIL] = {
    "cpu_relocation", "cpu_merge", "weights_at", "join_at",    "loss_at",    "sum_at",
    "update_at",      "gpus",      "threads",    "gpu_memory", "relocation", "allreduce",
    "bucket_mib",     "overlap",   "wire_type",  "staged",     "stale",      "peer_access",
    "pinned",         "graph",     "bn",         "recompute",  "logical",    "hosts",
    "optimizer",      "data"};

bool plot_same(const struct plot_cell *a, const struct plot_cell *b, enum plot_dimension dimension)
{
    const char *x = a->values[dimension], *y = b->values[dimension];
    return x == y || (x && y && strcmp(x, y) == 0);
}

bool plot_alike(const struct plot_cell *a, const struct plot_cell *b,
                const enum plot_dimension *list, int count)
{
    for (int i = 0; i < count; i++)
        if (!plot_same(a, b, list[i]))
            return false;
    return true;
}

static bool is(const char *value, const char *what)
{
    return value && strcmp(value, what) == 0;
}

/* Name of the first GPU of a list as ["/gpu:1","/gpu:0"]. */
static void first_gpu(char out[32], const char *list)
{
    const char *from = list ? strchr(list, '/') : NULL;
    if (from)
        snprintf(out, 32, "%.*s", (int)strcspn(from, "\""), from);
    else
        snprintf(out, 32, "/gpu:0");
}

bool plot_places_fill(struct plot_cell *cell)
{
    char first[32], **v = cell->values;
    int length;
    first_gpu(first, v[GPU_LIST]);
    const char *weights = v[WEIGHTS_AT] ? v[WEIGHTS_AT] : is(v[RELOCATION], "1") ? "/cpu:0" : first;
    const char *sum = v[SUM_AT] ? v[SUM_AT] : is(v[MERGE], "0") ? first : "/cpu:0";
    const char *join = v[JOIN_AT] && is(v[PLOT_STRATEGY], "outputs") ? v[JOIN_AT] : sum;
    if (is(v[PLOT_STRATEGY], "allreduce"))
        length = asprintf(&v[PLOT_PLACES], "all-reduce, weights on every GPU");
    else if (is(v[PLOT_STRATEGY], "independent"))
        length = asprintf(&v[PLOT_PLACES], "no exchange, weights on every GPU");
    else if (cell->gpus <= 1)
        length = asprintf(&v[PLOT_PLACES], "weights %s", weights);
    else if (strcmp(join, sum) != 0)
        length = asprintf(&v[PLOT_PLACES], "weights %s, join %s, sum %s", weights, join, sum);
    else
        length = asprintf(&v[PLOT_PLACES], "weights %s, merge %s", weights, sum);
    if (length < 0)
        v[PLOT_PLACES] = NULL;
    return length >= 0;
}

const char *plot_device_word(const struct plot_cell *cell)
{
    if (cell->simulated)
        return "simulated GPUs";
    return is(cell->values[PLOT_BACKEND], "host") ? "CPU devices" : "GPUs";
}

/* Whether the model is there with several sets of options, so that its name does not tell all. */
static bool options_tell(const struct plot_cells *cells, const struct plot_cell *cell)
{
    for (size_t i = 0; i < cells->count; i++)
        if (plot_same(&cells->all[i], cell, PLOT_MODEL) &&
            !plot_same(&cells->all[i], cell, PLOT_OPTIONS))
            return true;
    return false;
}

char *plot_subject(const struct plot_cells *cells, const struct plot_cell *cell)
{
    char *text, *options = cell->values[PLOT_OPTIONS];
    bool plain = !options || !options_tell(cells, cell);
    if (asprintf(&text, "%s%s%s on %s, %s (backend %s)", cell->values[PLOT_MODEL], plain ? "" : " ",
                 plain ? "" : options, cell->values[PLOT_MACHINE], plot_device_word(cell),
                 cell->values[PLOT_BACKEND]) < 0)
        return NULL;
    return text;
}

static bool in_list(enum plot_dimension d, const enum plot_dimension *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i] == d)
            return true;
    return false;
}

/* The value of a dimension in words. */
static void dimension_print(FILE *out, const struct plot_cell *cell, enum plot_dimension d)
{
    const char *value = cell->values[d] ? cell->values[d] : "default";
    char size[40];
    if (d == PLOT_GPUS)
        fprintf(out, "%s GPU%s", value, strcmp(value, "1") == 0 ? "" : "s");
    else if (d == PLOT_BATCH_PER_GPU)
        fprintf(out, "batch %s per GPU", value);
    else if (d == PLOT_GLOBAL_BATCH)
        fprintf(out, "global batch %s", value);
    else if (d == PLOT_BATCH_MODE)
        fprintf(out, "%s scaling", value);
    else if (d < PLOT_FIRST_DETAIL)
        fputs(value, out);
    else if ((int)d == (int)GPU_MEMORY && cell->values[d])
        fprintf(out, "gpu_memory %s", mgb_format_bytes(size, sizeof size, atoll(value)));
    else
        fprintf(out, "%s %s", detail_names[d - PLOT_FIRST_DETAIL],
                mgb_cli_switch_word(detail_names[d - PLOT_FIRST_DETAIL], value));
}

/* Whether some two members agree in all of `told` and differ in `d`. */
static bool splits(const struct plot_scope *scope, enum plot_dimension d,
                   const enum plot_dimension *told, int count)
{
    for (size_t i = 0; i < scope->member_count; i++)
        for (size_t k = 0; k < i; k++) {
            const struct plot_cell *a = &scope->cells->all[scope->members[i]];
            const struct plot_cell *b = &scope->cells->all[scope->members[k]];
            if (!a->oom && !b->oom && !plot_same(a, b, d) && plot_alike(a, b, told, count))
                return true;
        }
    return false;
}

static bool is_mirrored(const struct plot_cell *cell)
{
    return is(cell->values[PLOT_STRATEGY], "allreduce") ||
           is(cell->values[PLOT_STRATEGY], "independent");
}

void plot_scope_settle(struct plot_scope *scope)
{
    scope->told_count = 0;
    for (int i = 0; i < scope->always_count; i++)
        scope->told[scope->told_count++] = scope->always[i];
    for (enum plot_dimension d = 0; d < PLOT_DIMENSIONS; d++)
        if (!in_list(d, scope->fixed, scope->fixed_count) &&
            !in_list(d, scope->told, scope->told_count) &&
            splits(scope, d, scope->told, scope->told_count))
            scope->told[scope->told_count++] = d;
}

char *plot_label(const struct plot_scope *scope, const struct plot_cell *cell)
{
    const char *before = "";
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (int i = 0; i < scope->told_count; i++) {
        if (scope->told[i] == PLOT_STRATEGY && is_mirrored(cell) &&
            in_list(PLOT_PLACES, scope->told, scope->told_count))
            continue; /* its places say so */
        fputs(before, out);
        dimension_print(out, cell, scope->told[i]);
        before = ", ";
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
