/* Reading segments for plots, and taking repetitions together. See plot_cells.h. */
#include "app/cli/plot_cells.h"
#include "app/cli/asking.h"
#include "app/cli/plot_words.h"
#include "app/plot/chart.h"
#include "app/session/judge.h"
#include "db/load.h"
#include "db/select.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mgb/text.h>

/* First the dimensions in their order, then the figures. A refused run was never settled: what was asked counts. */
static const char segment_sql[] =
    "SELECT m.name, m.options, h.name, r.backend, coalesce(s.precision, s.asked_precision, 'f32'),"
    " coalesce(s.gpus, s.asked_gpus, 1), coalesce(s.batch_mode, s.asked_batch_mode, 'weak'),"
    " coalesce(s.batch_per_gpu, s.asked_batch_per_gpu),"
    " coalesce(s.global_batch, s.asked_global_batch),"
    " coalesce(s.strategy, s.asked_strategy, 'outputs'), NULL,"
    " coalesce(s.cpu_relocation, s.asked_cpu_relocation),"
    " coalesce(s.cpu_merge, s.asked_cpu_merge), coalesce(s.weights_at, s.asked_weights_at),"
    " coalesce(s.join_at, s.asked_join_at), coalesce(s.loss_at, s.asked_loss_at),"
    " coalesce(s.sum_at, s.asked_sum_at, s.asked_merge_at),"
    " coalesce(s.update_at, s.asked_update_at), s.asked_gpu_list, s.asked_threads,"
    " s.asked_gpu_memory_bytes, s.relocation, s.allreduce, s.bucket_mib, s.overlap, s.wire_type,"
    " s.staged, s.stale, s.peer_access, s.pinned, s.graph, s.bn, s.recompute, s.logical, s.hosts,"
    " s.optimizer, r.data,"
    " r.id, s.id, r.simulated, s.oversubscribed, t.steady, " MGB_CLI_WRONG_SQL
    ", s.outcome, t.timed_steps, t.median_ns,"
    " t.ci95_low_ns, t.ci95_high_ns,"
    " CASE r.backend WHEN 'host' THEN s.threads END, (SELECT repeat FROM sweep_point"
    "   WHERE run_id = r.id ORDER BY sweep_id DESC LIMIT 1), (SELECT w.name || ' ' || "
    "p.settings_digest"
    "   FROM sweep_point AS p JOIN sweep AS w ON w.id = p.sweep_id WHERE p.run_id = r.id"
    "   ORDER BY p.sweep_id DESC LIMIT 1)"
    " FROM segment s JOIN run r ON r.id = s.run_id JOIN model m ON m.id = r.model_id"
    " JOIN machine h ON h.id = r.machine_id LEFT JOIN segment_stat t ON t.segment_id = s.id"
    " WHERE (s.outcome = 'oom' OR t.median_ns IS NOT NULL) AND ";

enum figure {
    FIGURE_RUN = PLOT_DIMENSIONS,
    FIGURE_SEGMENT,
    FIGURE_SIMULATED,
    FIGURE_OVERSUBSCRIBED,
    FIGURE_STEADY,
    FIGURE_WRONG,
    FIGURE_OUTCOME,
    FIGURE_STEPS,
    FIGURE_MEDIAN,
    FIGURE_LOW,
    FIGURE_HIGH,
    FIGURE_THREADS,
    FIGURE_REPEAT,
    FIGURE_SWEEP,
    FIGURES
};

static enum mgb_status no_memory(void)
{
    return mgb_fail(MGB_NO_MEMORY, "reading measurements for a plot: memory is exhausted");
}

static void cell_done(struct plot_cell *cell)
{
    for (int i = 0; i < PLOT_DIMENSIONS; i++)
        free(cell->values[i]);
    free(cell->segments);
    free(cell->repeats);
    free(cell->sweep);
}

void plot_cells_done(struct plot_cells *cells)
{
    for (size_t i = 0; i < cells->count; i++)
        cell_done(&cells->all[i]);
    free(cells->all);
    *cells = (struct plot_cells){0};
}

static bool value_keep(char **out, const struct mgb_value *value)
{
    int length = 0;
    switch (value->kind) {
    case MGB_VALUE_INT:
        length = asprintf(out, "%lld", (long long)value->integer);
        break;
    case MGB_VALUE_REAL:
        length = asprintf(out, "%.10g", value->real);
        break;
    case MGB_VALUE_TEXT:
        length = (*out = strdup(value->text)) ? 0 : -1;
        break;
    case MGB_VALUE_NULL:
    case MGB_VALUE_BLOB:
        break;
    }
    if (length < 0)
        *out = NULL;
    return length >= 0;
}

static double ms_of(const struct mgb_value *value)
{
    return value->kind == MGB_VALUE_INT ? (double)value->integer / 1e6 : NAN;
}

static void figures_take(struct plot_cell *cell, const struct mgb_value *v)
{
    cell->run = mgb_value_int(&v[FIGURE_RUN]);
    cell->segments[0] = mgb_value_int(&v[FIGURE_SEGMENT]);
    cell->count = 1;
    cell->simulated = mgb_value_int(&v[FIGURE_SIMULATED]) == 1;
    cell->oversubscribed = mgb_value_int(&v[FIGURE_OVERSUBSCRIBED]) == 1;
    cell->unsteady = v[FIGURE_STEADY].kind == MGB_VALUE_INT && v[FIGURE_STEADY].integer == 0;
    cell->wrong = mgb_value_int(&v[FIGURE_WRONG]);
    cell->oom = v[FIGURE_OUTCOME].kind == MGB_VALUE_TEXT && !strcmp(v[FIGURE_OUTCOME].text, "oom");
    cell->steps = mgb_value_int(&v[FIGURE_STEPS]);
    cell->ms = ms_of(&v[FIGURE_MEDIAN]);
    cell->low_ms = ms_of(&v[FIGURE_LOW]);
    cell->high_ms = ms_of(&v[FIGURE_HIGH]);
    cell->threads = mgb_value_int(&v[FIGURE_THREADS]);
    cell->repeats[0] = mgb_value_int(&v[FIGURE_REPEAT]);
    cell->gpus = mgb_value_int(&v[PLOT_GPUS]);
    cell->batch_per_gpu = mgb_value_int(&v[PLOT_BATCH_PER_GPU]);
    cell->global_batch = mgb_value_int(&v[PLOT_GLOBAL_BATCH]);
    int64_t towers = cell->gpus > 0 ? cell->gpus : 1;
    if (cell->global_batch == 0)
        cell->global_batch = towers * (cell->batch_per_gpu ? cell->batch_per_gpu : 32);
    if (cell->batch_per_gpu == 0)
        cell->batch_per_gpu = (cell->global_batch + towers - 1) / towers;
}

/* Of a run that did not fit only one of the two batches is known. */
static bool batches_fill(struct plot_cell *cell)
{
    char **per_gpu = &cell->values[PLOT_BATCH_PER_GPU], **global = &cell->values[PLOT_GLOBAL_BATCH];
    if (!*per_gpu && asprintf(per_gpu, "%lld", (long long)cell->batch_per_gpu) < 0)
        *per_gpu = NULL;
    if (!*global && asprintf(global, "%lld", (long long)cell->global_batch) < 0)
        *global = NULL;
    return *per_gpu && *global;
}

static enum mgb_status row_take(void *context, const struct mgb_value *values, int count)
{
    struct plot_cells *cells = context;
    struct plot_cell cell = {0};
    if (count != FIGURES)
        return mgb_fail(MGB_STATE, "reading measurements for a plot: %d columns", count);
    cell.segments = malloc(sizeof *cell.segments);
    cell.repeats = malloc(sizeof *cell.repeats);
    bool good = cell.segments && cell.repeats && value_keep(&cell.sweep, &values[FIGURE_SWEEP]);
    for (int i = 0; good && i < PLOT_DIMENSIONS; i++)
        good = value_keep(&cell.values[i], &values[i]);
    if (good) {
        figures_take(&cell, values);
        good = batches_fill(&cell) && plot_places_fill(&cell);
    }
    struct plot_cell *all = good ? realloc(cells->all, (cells->count + 1) * sizeof *all) : NULL;
    if (!all) {
        cell_done(&cell);
        return no_memory();
    }
    cells->all = all;
    cells->all[cells->count++] = cell;
    return MGB_OK;
}

static enum mgb_status rows_query(struct plot_cells *out, struct mgb_reader *reader,
                                  const char *where, const struct mgb_value *parameter)
{
    struct mgb_query_sink sink = {out, NULL, row_take};
    char *sql;
    if (asprintf(&sql, "%s%s", segment_sql, where) < 0)
        return no_memory();
    enum mgb_status status = mgb_query_run(reader, sql, parameter, parameter ? 1 : 0, &sink);
    free(sql);
    return status;
}

static bool same_placement(const struct plot_cell *a, const struct plot_cell *b)
{
    for (int i = 0; i < PLOT_DIMENSIONS; i++)
        if (!plot_same(a, b, i))
            return false;
    return a->oom == b->oom;
}

/* A repetition of the same point of a sweep, whichever of its interrupted attempts measured it, that is not there yet. */
static bool is_repetition(const struct plot_cell *to, const struct plot_cell *from)
{
    if (!to->sweep || !from->sweep || strcmp(to->sweep, from->sweep) != 0)
        return false;
    for (int i = 0; i < to->count; i++)
        if (to->repeats[i] == from->repeats[0])
            return false;
    return true;
}

/* Adds the segment of `from` to `to`, or counts it as an older one. */
static bool repetition_take(struct plot_cell *to, const struct plot_cell *from, bool all)
{
    size_t size = ((size_t)to->count + 1) * sizeof(int64_t);
    if (!all && !is_repetition(to, from)) {
        to->older++;
        return true;
    }
    int64_t *segments = realloc(to->segments, size), *repeats = realloc(to->repeats, size);
    to->segments = segments ? segments : to->segments;
    to->repeats = repeats ? repeats : to->repeats;
    if (!segments || !repeats)
        return false;
    to->repeats[to->count] = from->repeats[0];
    to->segments[to->count++] = from->segments[0];
    to->unsteady = to->unsteady || from->unsteady;
    to->wrong |= from->wrong;
    to->steps = from->steps < to->steps ? from->steps : to->steps;
    return true;
}

/* Cells of the same placement become one; the newest segment comes first in the list. */
static enum mgb_status repetitions_join(struct plot_cells *cells, bool all)
{
    size_t kept = 0;
    bool good = true;
    for (size_t i = 0; i < cells->count; i++) {
        struct plot_cell *found = NULL;
        for (size_t k = 0; k < kept && !found; k++)
            if (same_placement(&cells->all[k], &cells->all[i]))
                found = &cells->all[k];
        if (!found) {
            cells->all[kept++] = cells->all[i];
            continue;
        }
        good = good && repetition_take(found, &cells->all[i], all);
        cell_done(&cells->all[i]);
    }
    cells->count = kept;
    return good ? MGB_OK : no_memory();
}

static enum mgb_status odd_find(struct plot_cell *cell, struct mgb_reader *reader,
                                const struct mgb_side *side)
{
    struct mgb_judged_odd odd;
    struct mgb_selection all = {.segments = calloc((size_t)cell->count, sizeof *all.segments),
                                .count = (size_t)cell->count};
    char ms[40], low[40], high[40];
    if (!all.segments)
        return no_memory();
    for (int i = 0; i < cell->count; i++)
        all.segments[i].segment = cell->segments[i];
    enum mgb_status status = mgb_judge_odd_find(&odd, reader, &all, side, false);
    free(all.segments);
    if (status == MGB_OK && odd.number > 0)
        snprintf(cell->odd, sizeof cell->odd,
                 "run %lld took %s ms, the others %s to %s: something else was going on; repeat it",
                 (long long)odd.run, mgb_format_figure(ms, odd.ns / 1e6),
                 mgb_format_figure(low, odd.low_ns / 1e6),
                 mgb_format_figure(high, odd.high_ns / 1e6));
    return status;
}

/* Of several repetitions: the mean of their medians, with the interval that comparing gives one side. */
static enum mgb_status cell_locate(struct plot_cell *cell, struct mgb_reader *reader)
{
    struct mgb_loaded_side side;
    struct mgb_comparison result;
    struct mgb_compare_options options = {.floor = MGB_COMPARE_FLOOR};
    MGB_TRY(mgb_side_load(&side, reader, cell->segments, cell->count));
    enum mgb_status status = mgb_compare(&result, &side.side, &side.side, &options);
    if (status == MGB_OK && !cell->simulated)
        status = odd_find(cell, reader, &side.side);
    mgb_side_done(&side);
    if (status == MGB_OK && isfinite(result.a.ns) && result.a.ns > 0) {
        cell->ms = result.a.ns / 1e6;
        cell->low_ms = result.a.low_ns / 1e6;
        cell->high_ms = result.a.high_ns / 1e6;
    }
    return status;
}

static enum mgb_status cells_join(struct plot_cells *cells, struct mgb_reader *reader, bool all)
{
    MGB_TRY(repetitions_join(cells, all));
    for (size_t i = 0; i < cells->count; i++)
        if (cells->all[i].count > 1 && !cells->all[i].oom)
            MGB_TRY(cell_locate(&cells->all[i], reader));
    return MGB_OK;
}

static enum mgb_status name_take(void *context, const struct mgb_value *values, int count)
{
    char **out = context;
    (void)count;
    free(*out);
    return value_keep(out, &values[0]) ? MGB_OK : no_memory();
}

/* The model of that name, or of the newest run. *out stays NULL when there is none. */
static enum mgb_status model_find(char **out, struct mgb_reader *reader, const char *words)
{
    struct mgb_query_sink sink = {out, NULL, name_take};
    struct mgb_value name = mgb_value_of_text(words);
    *out = NULL;
    if (!words)
        return mgb_query_run(reader,
                             "SELECT m.name FROM run r JOIN model m ON m.id = r.model_id"
                             " ORDER BY r.started_ms DESC, r.id DESC LIMIT 1",
                             NULL, 0, &sink);
    return mgb_query_run(reader, "SELECT name FROM model WHERE name = ? LIMIT 1", &name, 1, &sink);
}

/* Whether the words are the number of one run, which stands for all its segments. */
static bool is_run(const char *words)
{
    return strspn(words, "0123456789") == strlen(words) || strncmp(words, "last", 4) == 0;
}

static enum mgb_status selection_load(struct plot_cells *out, struct mgb_reader *reader,
                                      const char *words)
{
    struct mgb_selection chosen;
    MGB_TRY(mgb_select(&chosen, reader, words));
    bool whole = chosen.count == 1 && is_run(words);
    enum mgb_status status = MGB_OK;
    for (size_t i = chosen.count; status == MGB_OK && i-- > 0;) { /* newest first */
        struct mgb_value id =
            mgb_value_of_int(whole ? chosen.segments[i].run : chosen.segments[i].segment);
        status = rows_query(
            out, reader, whole ? "s.run_id = ? ORDER BY s.started_ms DESC, s.id DESC" : "s.id = ?",
            &id);
    }
    mgb_selection_done(&chosen);
    return status;
}

static enum mgb_status cells_read(struct plot_cells *out, struct mgb_reader *reader,
                                  const char *words, bool only_newest, bool *all)
{
    char *model;
    MGB_TRY(model_find(&model, reader, words));
    *all = !model;
    if (!model && words)
        return selection_load(out, reader, words);
    if (!model)
        return mgb_fail(MGB_MISSING,
                        "there are no runs in the results database yet; the first one: "
                        "mgbench run mlp");
    struct mgb_value name = mgb_value_of_text(model);
    enum mgb_status status = rows_query(
        out, reader,
        only_newest
            ? "m.name = ? AND s.outcome <> 'oom' ORDER BY s.started_ms DESC, s.id DESC LIMIT 1"
            : "m.name = ? ORDER BY s.started_ms DESC, s.id DESC",
        &name);
    if (status == MGB_OK && out->count == 0)
        status = mgb_fail(MGB_MISSING, "no finished measurement of model '%s'; one: mgbench run %s",
                          model, model);
    free(model);
    return status;
}

enum mgb_status plot_cells_load(struct plot_cells *out, struct mgb_reader *reader,
                                const char *words, bool only_newest)
{
    bool all = false;
    *out = (struct plot_cells){0};
    enum mgb_status status = cells_read(out, reader, words, only_newest, &all);
    if (status == MGB_OK && out->count == 0)
        status = mgb_fail(MGB_MISSING, "'%s' has no finished measurement: see mgbench runs", words);
    if (status == MGB_OK)
        status = cells_join(out, reader, all);
    if (status == MGB_OK && !plot_cells_settle(out))
        status = no_memory();
    if (status != MGB_OK)
        plot_cells_done(out);
    return status;
}
