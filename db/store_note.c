/* Rows of sweeps, notes, tags and baselines; see store.h. */
#include "db/store.h"

#include <mgb/name.h>
#include "db/store_private.h"

static enum mgb_status sweep_put(int64_t *id, struct mgb_store *store,
                                 const struct mgb_record_sweep *record)
{
    struct mgb_statement put;
    MGB_TRY(mgb_sql_prepare(
        &put, &store->sql,
        "INSERT INTO sweep (name, started_ms, script, script_digest, settings, order_seed) "
        "VALUES (?, ?, ?, ?, ?, ?)"));
    mgb_bind_text(&put, record->name);
    mgb_bind_int(&put, mgb_store_now_ms());
    mgb_bind_text(&put, record->script);
    mgb_bind_text(&put, record->script_digest);
    mgb_bind_text(&put, record->settings);
    mgb_bind_maybe_int(&put, record->order_seed);
    MGB_TRY(mgb_statement_run(&put));
    *id = mgb_sql_last_id(&store->sql);
    return MGB_OK;
}

enum mgb_status mgb_store_begin_sweep(int64_t *sweep, struct mgb_store *store,
                                      const struct mgb_record_sweep *record)
{
    int64_t id = 0;
    *sweep = 0;
    MGB_TRY(mgb_name_check("sweep", record->name));
    MGB_TRY(mgb_store_begin(store, __func__));
    MGB_TRY(mgb_store_end(store, sweep_put(&id, store, record)));
    *sweep = id;
    return MGB_OK;
}

static enum mgb_status sweep_end(struct mgb_store *store, int64_t sweep)
{
    struct mgb_statement update;
    MGB_TRY(mgb_sql_prepare(&update, &store->sql, "UPDATE sweep SET finished_ms = ? WHERE id = ?"));
    mgb_bind_int(&update, mgb_store_now_ms());
    mgb_bind_int(&update, sweep);
    return mgb_statement_run(&update);
}

enum mgb_status mgb_store_finish_sweep(struct mgb_store *store, int64_t sweep)
{
    MGB_TRY(mgb_store_begin(store, __func__));
    return mgb_store_end(store, sweep_end(store, sweep));
}

static enum mgb_status sweep_point_put(struct mgb_store *store,
                                       const struct mgb_record_sweep_point *record)
{
    struct mgb_statement put;
    MGB_TRY(mgb_sql_prepare(&put, &store->sql,
                            "INSERT INTO sweep_point (sweep_id, point, repeat, position, settings, "
                            "settings_digest, run_id) VALUES (?, ?, ?, ?, ?, ?, ?)"));
    mgb_bind_int(&put, record->sweep);
    mgb_bind_int(&put, record->point);
    mgb_bind_int(&put, record->repeat);
    mgb_bind_int(&put, record->position);
    mgb_bind_text(&put, record->settings);
    mgb_bind_text(&put, record->settings_digest);
    mgb_bind_int(&put, record->run);
    return mgb_statement_run(&put);
}

enum mgb_status mgb_store_put_sweep_point(struct mgb_store *store,
                                          const struct mgb_record_sweep_point *record)
{
    MGB_TRY(mgb_store_begin(store, __func__));
    return mgb_store_end(store, sweep_point_put(store, record));
}

/* After an INSERT that takes the id from its row. */
static enum mgb_status run_needed(struct mgb_store *store, int64_t run)
{
    return sqlite3_changes(store->sql.handle) > 0
               ? MGB_OK
               : mgb_fail(MGB_MISSING, "there is no run %lld", (long long)run);
}

static enum mgb_status note_put(struct mgb_store *store, int64_t run, const char *text)
{
    struct mgb_statement put;
    MGB_TRY(mgb_sql_prepare(&put, &store->sql,
                            "INSERT INTO note (run_id, at_ms, text) "
                            "SELECT id, ?, ? FROM run WHERE id = ?"));
    mgb_bind_int(&put, mgb_store_now_ms());
    mgb_bind_text(&put, text);
    mgb_bind_int(&put, run);
    MGB_TRY(mgb_statement_run(&put));
    return run_needed(store, run);
}

enum mgb_status mgb_store_put_note(struct mgb_store *store, int64_t run, const char *text)
{
    MGB_TRY(mgb_note_check("note", text));
    MGB_TRY(mgb_store_begin(store, __func__));
    return mgb_store_end(store, note_put(store, run, text));
}

static enum mgb_status tag_put(struct mgb_store *store, int64_t run, const char *name)
{
    struct mgb_statement put;
    MGB_TRY(mgb_sql_prepare(&put, &store->sql,
                            "INSERT INTO tag (run_id, name) SELECT id, ? FROM run WHERE id = ? "
                            "ON CONFLICT (run_id, name) DO UPDATE SET name = excluded.name"));
    mgb_bind_text(&put, name);
    mgb_bind_int(&put, run);
    MGB_TRY(mgb_statement_run(&put));
    return run_needed(store, run);
}

enum mgb_status mgb_store_put_tag(struct mgb_store *store, int64_t run, const char *name)
{
    MGB_TRY(mgb_name_check("tag", name));
    MGB_TRY(mgb_store_begin(store, __func__));
    return mgb_store_end(store, tag_put(store, run, name));
}

static enum mgb_status noise_floor_put(struct mgb_store *store,
                                       const struct mgb_record_noise_floor *record)
{
    struct mgb_statement put;
    MGB_TRY(mgb_sql_prepare(
        &put, &store->sql,
        "INSERT INTO noise_floor (machine_id, backend, measured_ms, floor, comparisons, "
        "false_verdicts, settings) SELECT machine_id, backend, ?, ?, ?, ?, ? FROM run "
        "WHERE id = ?"));
    mgb_bind_int(&put, mgb_store_now_ms());
    mgb_bind_real(&put, record->floor);
    mgb_bind_int(&put, record->comparisons);
    mgb_bind_int(&put, record->false_verdicts);
    mgb_bind_text(&put, record->settings);
    mgb_bind_int(&put, record->run);
    MGB_TRY(mgb_statement_run(&put));
    if (sqlite3_changes(store->sql.handle) == 0)
        return mgb_fail(MGB_MISSING, "storing a noise floor: there is no run %lld",
                        (long long)record->run);
    return MGB_OK;
}

enum mgb_status mgb_store_put_noise_floor(struct mgb_store *store,
                                          const struct mgb_record_noise_floor *record)
{
    MGB_TRY(mgb_store_begin(store, __func__));
    return mgb_store_end(store, noise_floor_put(store, record));
}

static enum mgb_status repetition_put(struct mgb_store *store, const char *name, int64_t segment)
{
    struct mgb_statement put;
    MGB_TRY(mgb_sql_prepare(&put, &store->sql,
                            "INSERT INTO baseline_segment (name, segment_id) VALUES (?, ?) "
                            "ON CONFLICT DO NOTHING"));
    mgb_bind_text(&put, name);
    mgb_bind_int(&put, segment);
    return mgb_statement_run(&put);
}

/* The oldest one is the one in baseline: merging carries it over first. Replacing takes the old repetitions along. */
static enum mgb_status baselines_put(struct mgb_store *store, const char *name,
                                     const int64_t *segments, size_t count)
{
    struct mgb_statement put;
    int64_t oldest = segments[0];
    for (size_t i = 1; i < count; i++)
        oldest = segments[i] < oldest ? segments[i] : oldest;
    MGB_TRY(mgb_sql_prepare(
        &put, &store->sql,
        "INSERT OR REPLACE INTO baseline (name, segment_id, set_ms) VALUES (?, ?, ?)"));
    mgb_bind_text(&put, name);
    mgb_bind_int(&put, oldest);
    mgb_bind_int(&put, mgb_store_now_ms());
    MGB_TRY(mgb_statement_run(&put));
    for (size_t i = 0; i < count; i++)
        MGB_TRY(repetition_put(store, name, segments[i]));
    return MGB_OK;
}

enum mgb_status mgb_store_set_baselines(struct mgb_store *store, const char *name,
                                        const int64_t *segments, size_t count)
{
    MGB_TRY(mgb_name_check("baseline set", name));
    MGB_TRY(mgb_store_begin(store, __func__));
    return mgb_store_end(store, baselines_put(store, name, segments, count));
}

enum mgb_status mgb_store_set_baseline(struct mgb_store *store, const char *name, int64_t segment)
{
    return mgb_store_set_baselines(store, name, &segment, 1);
}

/* Deletes the row of a literal statement whose last parameter is `name`; MGB_MISSING when there is none. `run` is bound
 * before it unless 0. */
static enum mgb_status named_delete(struct mgb_store *store, const char *sql, int64_t run,
                                    const char *name)
{
    struct mgb_statement put;
    MGB_TRY(mgb_sql_prepare(&put, &store->sql, sql));
    if (run)
        mgb_bind_int(&put, run);
    mgb_bind_text(&put, name);
    MGB_TRY(mgb_statement_run(&put));
    if (sqlite3_changes(store->sql.handle) > 0)
        return MGB_OK;
    return run ? mgb_fail(MGB_MISSING, "run %lld has no tag '%s'", (long long)run, name)
               : mgb_fail(MGB_MISSING, "there is no baseline '%s'", name);
}

enum mgb_status mgb_store_delete_tag(struct mgb_store *store, int64_t run, const char *name)
{
    static const char sql[] = "DELETE FROM tag WHERE run_id = ? AND name = ?";
    MGB_TRY(mgb_store_begin(store, __func__));
    return mgb_store_end(store, named_delete(store, sql, run, name));
}

enum mgb_status mgb_store_delete_baseline(struct mgb_store *store, const char *name)
{
    static const char sql[] = "DELETE FROM baseline WHERE name = ?";
    MGB_TRY(mgb_store_begin(store, __func__));
    return mgb_store_end(store, named_delete(store, sql, 0, name));
}
