/* Rows of segments and of what a segment holds and moves; see store.h. */
#include "db/store.h"

#include "db/store_private.h"

/* The columns that asked and effective share, in the order of placement_bind. */
#define COLUMNS(P)                                                                                 \
    P "strategy, " P "gpus, " P "gpu_list, " P "batch_mode, " P "batch_per_gpu, " P                \
      "global_batch, " P "cpu_relocation, " P "cpu_merge, " P "weights_at, " P "join_at, " P       \
      "loss_at, " P "sum_at, " P "update_at, " P "relocation, " P "allreduce, " P "bucket_mib, " P \
      "overlap, " P "wire_type, " P "staged, " P "stale, " P "peer_access, " P "pinned, " P        \
      "graph, " P "bn, " P "precision, " P "recompute, " P "logical, " P "gpu_memory_bytes, " P    \
      "threads, " P "hosts"
#define TEN "?, ?, ?, ?, ?, ?, ?, ?, ?, ?"

static void placement_bind(struct mgb_statement *put, const struct mgb_record_placement *placement)
{
    mgb_bind_text(put, placement->strategy);
    mgb_bind_maybe_int(put, placement->gpus);
    mgb_bind_text(put, placement->gpu_list);
    mgb_bind_text(put, placement->batch_mode);
    mgb_bind_maybe_int(put, placement->batch_per_gpu);
    mgb_bind_maybe_int(put, placement->global_batch);
    mgb_bind_maybe_int(put, placement->cpu_relocation);
    mgb_bind_maybe_int(put, placement->cpu_merge);
    mgb_bind_text(put, placement->weights_at);
    mgb_bind_text(put, placement->join_at);
    mgb_bind_text(put, placement->loss_at);
    mgb_bind_text(put, placement->sum_at);
    mgb_bind_text(put, placement->update_at);
    mgb_bind_text(put, placement->relocation);
    mgb_bind_text(put, placement->allreduce);
    mgb_bind_maybe_real(put, placement->bucket_mib);
    mgb_bind_maybe_int(put, placement->overlap);
    mgb_bind_text(put, placement->wire_type);
    mgb_bind_maybe_int(put, placement->staged);
    mgb_bind_maybe_int(put, placement->stale);
    mgb_bind_text(put, placement->peer_access);
    mgb_bind_text(put, placement->pinned);
    mgb_bind_text(put, placement->graph);
    mgb_bind_text(put, placement->bn);
    mgb_bind_text(put, placement->precision);
    mgb_bind_text(put, placement->recompute);
    mgb_bind_maybe_int(put, placement->logical);
    mgb_bind_maybe_int(put, placement->gpu_memory_bytes);
    mgb_bind_maybe_int(put, placement->threads);
    mgb_bind_maybe_int(put, placement->hosts);
}

static enum mgb_status segment_put(int64_t *id, struct mgb_store *store,
                                   const struct mgb_record_segment *record)
{
    struct mgb_statement put;
    MGB_TRY(mgb_sql_prepare(
        &put, &store->sql,
        "INSERT INTO segment (" COLUMNS("asked_") ", " COLUMNS(
            "") ", asked_like, asked_merge_at, "
                "run_id, started_ms, outcome, first_step, warmup_rule, warmup_steps, optimizer, "
                "plan_digest, tower_rows, gave_way, oversubscribed, target_noise, max_time_ns) "
                "VALUES (" TEN ", " TEN ", " TEN ", " TEN ", " TEN ", " TEN
                ", ?, ?, ?, ?, 'running', " TEN ")"));
    placement_bind(&put, &record->asked);
    placement_bind(&put, &record->effective);
    mgb_bind_text(&put, record->asked.like);
    mgb_bind_text(&put, record->asked.merge_at);
    mgb_bind_int(&put, record->run);
    mgb_bind_int(&put, mgb_store_now_ms());
    mgb_bind_int(&put, record->first_step);
    mgb_bind_text(&put, record->warmup_rule);
    mgb_bind_maybe_int(&put, record->warmup_steps);
    mgb_bind_text(&put, record->optimizer);
    mgb_bind_text(&put, record->plan_digest);
    mgb_bind_text(&put, record->tower_rows);
    mgb_bind_text(&put, record->gave_way);
    mgb_bind_maybe_int(&put, record->oversubscribed);
    mgb_bind_maybe_real(&put, record->target_noise);
    mgb_bind_maybe_int(&put, record->max_time_ns);
    MGB_TRY(mgb_statement_run(&put));
    *id = mgb_sql_last_id(&store->sql);
    return MGB_OK;
}

enum mgb_status mgb_store_begin_segment(int64_t *segment, struct mgb_store *store,
                                        const struct mgb_record_segment *record)
{
    int64_t id = 0;
    *segment = 0;
    MGB_TRY(mgb_store_begin(store, __func__));
    MGB_TRY(mgb_store_end(store, segment_put(&id, store, record)));
    *segment = store->last_segment = id;
    return MGB_OK;
}

static struct mgb_maybe_int oom_bytes(const struct mgb_record_segment_end *end, int64_t bytes)
{
    return (struct mgb_maybe_int){.known = end->oom_device != NULL, .value = bytes};
}

/* The row is there: it was boiled down just before. */
static enum mgb_status replicas_put(struct mgb_store *store, int64_t segment,
                                    const struct mgb_record_segment_end *end)
{
    struct mgb_statement update;
    if (!end->replicas_agree.known)
        return MGB_OK;
    MGB_TRY(mgb_sql_prepare(&update, &store->sql,
                            "UPDATE segment_stat SET replicas_agree = ? WHERE segment_id = ?"));
    mgb_bind_maybe_int(&update, end->replicas_agree);
    mgb_bind_int(&update, segment);
    return mgb_statement_run(&update);
}

static enum mgb_status segment_end(struct mgb_record_segment_stat *stat, struct mgb_store *store,
                                   int64_t segment, const struct mgb_record_segment_end *end)
{
    struct mgb_statement update;
    struct mgb_maybe_int needed = oom_bytes(end, end->oom_needed_bytes);
    needed.known = needed.known && needed.value > 0; /* a driver that has none left does not say */
    MGB_TRY(mgb_sql_prepare(&update, &store->sql,
                            "UPDATE segment SET outcome = ?, message = ?, finished_ms = ?, "
                            "warmup_steps = coalesce(?, warmup_steps), digest = ?, oom_device = ?, "
                            "oom_needed_bytes = ?, oom_available_bytes = ?, stop_reason = ?, "
                            "ring_waits = ? WHERE id = ?"));
    mgb_bind_text(&update, mgb_outcome_name(end->outcome));
    mgb_bind_text(&update, end->message);
    mgb_bind_int(&update, mgb_store_now_ms());
    mgb_bind_maybe_int(&update, end->warmup_steps);
    mgb_bind_text(&update, end->digest);
    mgb_bind_text(&update, end->oom_device);
    mgb_bind_maybe_int(&update, needed);
    mgb_bind_maybe_int(&update, oom_bytes(end, end->oom_available_bytes));
    mgb_bind_text(&update, end->stop_reason);
    mgb_bind_maybe_int(&update, end->ring_waits);
    mgb_bind_int(&update, segment);
    MGB_TRY(mgb_statement_run(&update));
    if (sqlite3_changes(store->sql.handle) == 0)
        return mgb_fail(MGB_MISSING, "%s has no segment %lld", store->sql.path, (long long)segment);
    MGB_TRY(mgb_store_boil(stat, store, segment, end));
    return replicas_put(store, segment, end);
}

enum mgb_status mgb_store_finish_segment(struct mgb_record_segment_stat *stat,
                                         struct mgb_store *store, int64_t segment,
                                         const struct mgb_record_segment_end *end)
{
    struct mgb_record_segment_stat boiled = {0};
    if (end->outcome == MGB_OUTCOME_RUNNING)
        return mgb_fail(MGB_STATE, "segment %lld ends as running", (long long)segment);
    MGB_TRY(mgb_store_begin(store, __func__));
    MGB_TRY(mgb_store_end(store, segment_end(&boiled, store, segment, end)));
    if (stat)
        *stat = boiled;
    return MGB_OK;
}

static enum mgb_status segment_find_running(int64_t *segment, struct mgb_store *store, int64_t run)
{
    struct mgb_statement find;
    bool row;
    *segment = 0;
    MGB_TRY(mgb_sql_prepare(
        &find, &store->sql,
        "SELECT id FROM segment WHERE run_id = ? AND outcome = 'running' ORDER BY id LIMIT 1"));
    mgb_bind_int(&find, run);
    MGB_TRY(mgb_statement_step(&row, &find));
    if (!row)
        return MGB_OK;
    *segment = mgb_column_int(&find, 0);
    mgb_statement_reset(&find);
    return MGB_OK;
}

enum mgb_status mgb_store_end_segments(struct mgb_store *store, int64_t run,
                                       enum mgb_outcome outcome, struct mgb_maybe_int finished_ms)
{
    for (;;) {
        int64_t segment;
        struct mgb_statement update;
        struct mgb_record_segment_stat stat;
        MGB_TRY(segment_find_running(&segment, store, run));
        if (segment == 0)
            return MGB_OK;
        MGB_TRY(mgb_sql_prepare(&update, &store->sql,
                                "UPDATE segment SET outcome = ?, finished_ms = ? WHERE id = ?"));
        mgb_bind_text(&update, mgb_outcome_name(outcome));
        mgb_bind_maybe_int(&update, finished_ms);
        mgb_bind_int(&update, segment);
        MGB_TRY(mgb_statement_run(&update));
        MGB_TRY(mgb_store_boil(&stat, store, segment, &(struct mgb_record_segment_end){0}));
    }
}
