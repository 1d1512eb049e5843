/* Which rows are carried from one results file to another, and what they become there; see merge.h. */
#include "db/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "db/liveness.h"
#include "db/lock.h"
#include "db/merge_private.h"
#include "db/store_private.h"

static enum mgb_status copy(int64_t *count, struct mgb_merger *m, int table, int64_t key)
{
    return mgb_merge_copy(count, &m->copiers[table], &m->work, key);
}

void mgb_merge_say(const struct mgb_merger *m, const char *line)
{
    if (m->work.options->say)
        m->work.options->say(m->work.options->context, line);
}

enum mgb_status mgb_merge_find_twin(int64_t *to, struct mgb_merger *m, const char *source_text,
                                    const char *target_text, int64_t from)
{
    struct mgb_statement read, find;
    bool row;
    *to = 0;
    MGB_TRY(mgb_sql_prepare(&read, &m->source, source_text));
    mgb_bind_int(&read, from);
    MGB_TRY(mgb_statement_step(&row, &read));
    if (!row)
        return mgb_fail(MGB_CORRUPT, "%s: a row that others name is not there", m->source.path);
    enum mgb_status status = mgb_sql_prepare(&find, &m->store->sql, target_text);
    for (int i = 0; status == MGB_OK && i < sqlite3_column_count(read.compiled); i++) {
        sqlite3_bind_value(find.compiled, i + 1, sqlite3_column_value(read.compiled, i));
        find.bound++;
    }
    if (status == MGB_OK)
        status = mgb_statement_step(&row, &find);
    if (status == MGB_OK && row) {
        *to = mgb_column_int(&find, 0);
        mgb_statement_reset(&find);
    }
    mgb_statement_reset(&read);
    return status;
}

static enum mgb_status machine_carry(struct mgb_merger *m, int64_t from)
{
    int64_t to;
    MGB_TRY(copy(&m->now.machines, m, MGB_MERGE_T_MACHINE, from));
    MGB_TRY(mgb_merge_find_twin(&to, m, "SELECT key FROM machine WHERE id = ?",
                                "SELECT id FROM machine WHERE key = ?", from));
    MGB_TRY(mgb_merge_ids_add(&m->work.ids[MGB_MERGE_MACHINE], from, to));
    MGB_TRY(copy(NULL, m, MGB_MERGE_T_DEVICE, from));
    MGB_TRY(copy(NULL, m, MGB_MERGE_T_LINK, from));
    return copy(&m->now.noise_floors, m, MGB_MERGE_T_NOISE_FLOOR, from);
}

static enum mgb_status model_carry(struct mgb_merger *m, int64_t from)
{
    int64_t to;
    if (mgb_merge_ids_find(&to, &m->work.ids[MGB_MERGE_MODEL], from))
        return MGB_OK;
    MGB_TRY(copy(&m->now.models, m, MGB_MERGE_T_MODEL, from));
    MGB_TRY(mgb_merge_find_twin(
        &to, m, "SELECT name, options, graph_digest FROM model WHERE id = ?",
        "SELECT id FROM model WHERE name = ? AND options = ? AND graph_digest = ?", from));
    return mgb_merge_ids_add(&m->work.ids[MGB_MERGE_MODEL], from, to);
}

/* Sweeps have no uuid: begun in the same millisecond from the same words, it is the same one. */
static enum mgb_status sweep_carry(struct mgb_merger *m, int64_t from)
{
    int64_t to;
    if (mgb_merge_ids_find(&to, &m->work.ids[MGB_MERGE_SWEEP], from))
        return MGB_OK;
    MGB_TRY(mgb_merge_find_twin(
        &to, m,
        "SELECT name, started_ms, script_digest, settings, order_seed FROM sweep WHERE id = ?",
        "SELECT id FROM sweep WHERE name = ? AND started_ms = ? AND script_digest IS ? AND "
        "settings IS ? AND order_seed IS ?",
        from));
    if (to == 0) {
        MGB_TRY(copy(&m->now.sweeps, m, MGB_MERGE_T_SWEEP, from));
        to = mgb_sql_last_id(&m->store->sql);
    }
    return mgb_merge_ids_add(&m->work.ids[MGB_MERGE_SWEEP], from, to);
}

static enum mgb_status segment_carry(struct mgb_merger *m, int64_t from)
{
    MGB_TRY(copy(&m->now.segments, m, MGB_MERGE_T_SEGMENT, from));
    MGB_TRY(
        mgb_merge_ids_add(&m->work.ids[MGB_MERGE_SEGMENT], from, mgb_sql_last_id(&m->store->sql)));
    for (int table = MGB_MERGE_T_FIRST_OF_SEGMENT; table < MGB_MERGE_TABLES; table++)
        MGB_TRY(copy(table == MGB_MERGE_T_STEP ? &m->now.steps : NULL, m, table, from));
    return MGB_OK;
}

static enum mgb_status run_new_carry(struct mgb_merger *m, int64_t from,
                                     const struct mgb_merge_ids *segments)
{
    MGB_TRY(copy(&m->now.runs, m, MGB_MERGE_T_RUN, from));
    MGB_TRY(mgb_merge_ids_add(&m->work.ids[MGB_MERGE_RUN], from, mgb_sql_last_id(&m->store->sql)));
    for (size_t i = 0; i < segments->count; i++)
        MGB_TRY(segment_carry(m, segments->from[i]));
    return copy(NULL, m, MGB_MERGE_T_SAMPLE, from);
}

/* A run that is there already: its segments are the same ones in the same order. */
static enum mgb_status run_known_match(struct mgb_merger *m, int64_t from, int64_t to,
                                       const struct mgb_merge_ids *segments)
{
    struct mgb_merge_ids theirs = {0};
    m->now.runs_known++;
    MGB_TRY(mgb_merge_ids_add(&m->work.ids[MGB_MERGE_RUN], from, to));
    enum mgb_status status = mgb_merge_ids_ask(
        &theirs, &m->store->sql, "SELECT id FROM segment WHERE run_id = ? ORDER BY id", to);
    for (size_t i = 0; status == MGB_OK && i < segments->count && i < theirs.count; i++)
        status =
            mgb_merge_ids_add(&m->work.ids[MGB_MERGE_SEGMENT], segments->from[i], theirs.from[i]);
    mgb_merge_ids_done(&theirs);
    return status;
}

static enum mgb_status sweeps_carry(struct mgb_merger *m, int64_t run)
{
    struct mgb_merge_ids sweeps = {0};
    enum mgb_status status = mgb_merge_ids_ask(
        &sweeps, &m->source, "SELECT DISTINCT sweep_id FROM sweep_point WHERE run_id = ?", run);
    for (size_t i = 0; status == MGB_OK && i < sweeps.count; i++)
        status = sweep_carry(m, sweeps.from[i]);
    mgb_merge_ids_done(&sweeps);
    MGB_TRY(status);
    return copy(NULL, m, MGB_MERGE_T_SWEEP_POINT, run);
}

static enum mgb_status run_carry(struct mgb_merger *m, int64_t run)
{
    int64_t to;
    struct mgb_merge_ids segments = {0}, models = {0};
    MGB_TRY(mgb_merge_ids_ask(&models, &m->source, "SELECT model_id FROM run WHERE id = ?", run));
    enum mgb_status status = models.count ? model_carry(m, models.from[0]) : MGB_OK;
    mgb_merge_ids_done(&models);
    if (status == MGB_OK)
        status = mgb_merge_ids_ask(&segments, &m->source,
                                   "SELECT id FROM segment WHERE run_id = ? ORDER BY id", run);
    if (status == MGB_OK)
        status = mgb_merge_find_twin(&to, m, "SELECT uuid FROM run WHERE id = ?",
                                     "SELECT id FROM run WHERE uuid = ?", run);
    if (status == MGB_OK)
        status = to ? run_known_match(m, run, to, &segments) : run_new_carry(m, run, &segments);
    mgb_merge_ids_done(&segments);
    MGB_TRY(status);
    MGB_TRY(copy(&m->now.tags, m, MGB_MERGE_T_TAG, run));
    MGB_TRY(copy(&m->now.notes, m, MGB_MERGE_T_NOTE, run));
    MGB_TRY(mgb_merge_baselines(m, run));
    MGB_TRY(mgb_merge_repetitions(m, run));
    return sweeps_carry(m, run);
}

/* What is named "running" and may be: its figures would stop in the middle. */
static enum mgb_status run_is_going(bool *out, struct mgb_merger *m, int64_t run, const char *path)
{
    struct mgb_statement find;
    bool row;
    *out = false;
    MGB_TRY(mgb_sql_prepare(&find, &m->source,
                            "SELECT " MGB_LIVENESS_COLUMNS
                            " FROM run WHERE id = ? AND outcome = 'running'"));
    mgb_bind_int(&find, run);
    MGB_TRY(mgb_statement_step(&row, &find));
    if (!row)
        return MGB_OK;
    struct mgb_identity identity;
    mgb_liveness_read(&identity, &find, 0);
    mgb_statement_reset(&find);
    enum mgb_liveness liveness = mgb_identity_liveness(&identity);
    *out = liveness == MGB_ALIVE ||
           (liveness == MGB_LIVENESS_UNKNOWN && mgb_lock_find_holder(path).held);
    return MGB_OK;
}

static void counts_add(struct mgb_merge_counts *sum, const struct mgb_merge_counts *more)
{
    int64_t *to = (int64_t *)sum;
    const int64_t *from = (const int64_t *)more;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

static enum mgb_status run_merge(struct mgb_merger *m, int64_t run, const char *path)
{
    bool going;
    char line[256];
    MGB_TRY(run_is_going(&going, m, run, path));
    if (going) {
        m->counts->runs_going++;
        snprintf(line, sizeof line, "run %lld of %.200s is still going: left out", (long long)run,
                 path);
        mgb_merge_say(m, line);
        return MGB_OK;
    }
    m->now = (struct mgb_merge_counts){0};
    m->work.ids[MGB_MERGE_RUN].count = m->work.ids[MGB_MERGE_SEGMENT].count = 0;
    size_t models = m->work.ids[MGB_MERGE_MODEL].count, sweeps = m->work.ids[MGB_MERGE_SWEEP].count;
    MGB_TRY(mgb_store_begin(m->store, __func__));
    enum mgb_status status = mgb_store_end(m->store, run_carry(m, run));
    if (status == MGB_OK) {
        counts_add(m->counts, &m->now);
    } else { /* their rows are gone again */
        m->work.ids[MGB_MERGE_MODEL].count = models;
        m->work.ids[MGB_MERGE_SWEEP].count = sweeps;
    }
    return status;
}

static enum mgb_status machines_merge(struct mgb_merger *m, const struct mgb_merge_ids *machines)
{
    enum mgb_status status = MGB_OK;
    m->now = (struct mgb_merge_counts){0};
    MGB_TRY(mgb_store_begin(m->store, __func__));
    for (size_t i = 0; i < machines->count && status == MGB_OK; i++)
        status = machine_carry(m, machines->from[i]);
    status = mgb_store_end(m->store, status);
    if (status == MGB_OK)
        counts_add(m->counts, &m->now);
    return status;
}

static bool stop_asked(const struct mgb_merger *m)
{
    return m->work.options->stop && m->work.options->stop(m->work.options->context);
}

static enum mgb_status rows_merge(struct mgb_merger *m, const char *path)
{
    struct mgb_merge_ids machines = {0}, runs = {0};
    enum mgb_status status = MGB_OK;
    for (int i = 0; i < MGB_MERGE_TABLES && status == MGB_OK; i++)
        status = mgb_merge_copier_open(&m->copiers[i], &m->work, &mgb_merge_tables[i]);
    if (status == MGB_OK)
        status = mgb_merge_ids_ask(&machines, &m->source, "SELECT id FROM machine ORDER BY id", 0);
    if (status == MGB_OK)
        status = machines_merge(m, &machines);
    if (status == MGB_OK)
        status = mgb_merge_ids_ask(&runs, &m->source, "SELECT id FROM run ORDER BY id", 0);
    for (size_t i = 0; i < runs.count && status == MGB_OK; i++)
        status = stop_asked(m) ? mgb_fail(MGB_INTERRUPTED, "merging was stopped")
                               : run_merge(m, runs.from[i], path);
    mgb_merge_ids_done(&machines);
    mgb_merge_ids_done(&runs);
    for (int i = 0; i < MGB_MERGE_TABLES; i++)
        mgb_merge_copier_close(&m->copiers[i]);
    return status;
}

static enum mgb_status files_differ(const char *source, const char *target)
{
    struct stat a, b;
    if (stat(source, &a) == 0 && stat(target, &b) == 0 && a.st_dev == b.st_dev &&
        a.st_ino == b.st_ino)
        return mgb_fail(MGB_INVALID, "%s and %s are the same file", source, target);
    return MGB_OK;
}

/* Runs that were killed come along as running ones: this marks them and works out their figures. */
static enum mgb_status target_settle(struct mgb_store *target)
{
    char found[128];
    MGB_TRY(mgb_db_mark_crashed(NULL, target));
    MGB_TRY(mgb_sql_text(found, sizeof found, &target->sql,
                         "SELECT \"table\" FROM pragma_foreign_key_check LIMIT 1"));
    if (found[0])
        return mgb_fail(MGB_CORRUPT,
                        "%s: a row of %s belongs to nothing; mgbench doctor "
                        "--thorough tells more",
                        target->sql.path, found);
    return MGB_OK;
}

enum mgb_status mgb_merge(struct mgb_merge_counts *counts, struct mgb_store *target,
                          const char *source, const struct mgb_merge_options *options)
{
    static const struct mgb_merge_options none = {0};
    MGB_TRY(files_differ(source, target->sql.path));
    struct mgb_merger m = {.counts = counts, .store = target};
    MGB_TRY(mgb_merge_source_open(&m.source, source, target->sql.path));
    m.work = (struct mgb_merge_work){
        .source = &m.source, .target = &target->sql, .options = options ? options : &none};
    enum mgb_status status = mgb_store_hold(target);
    if (status == MGB_OK) {
        status = mgb_sql_run(&m.source, "BEGIN"); /* all of it as it is now */
        if (status == MGB_OK)
            status = rows_merge(&m, source);
        if (status == MGB_OK)
            status = target_settle(target);
        mgb_store_release(target);
    }
    mgb_sql_close(&m.source);
    for (int i = 0; i < MGB_MERGE_KINDS; i++)
        mgb_merge_ids_done(&m.work.ids[i]);
    return status;
}
