/* Baselines are settled by name when files are merged: one that is there stays; see merge.h. */
#include "db/merge_private.h"

#include <stdio.h>

#include "db/store_private.h"

static enum mgb_status baseline_put(struct mgb_merger *m, const char *name, int64_t segment,
                                    int64_t set_ms)
{
    struct mgb_statement put, find;
    bool row;
    char line[256];
    MGB_TRY(mgb_sql_prepare(&put, &m->store->sql,
                            "INSERT OR IGNORE INTO baseline (name, segment_id, set_ms) "
                            "VALUES (?, ?, ?)"));
    mgb_bind_text(&put, name);
    mgb_bind_int(&put, segment);
    mgb_bind_int(&put, set_ms);
    MGB_TRY(mgb_statement_run(&put));
    if (sqlite3_changes(m->store->sql.handle) > 0) {
        m->now.baselines++;
        return MGB_OK;
    }
    MGB_TRY(mgb_sql_prepare(&find, &m->store->sql,
                            "SELECT s.run_id, b.segment_id <> ? FROM baseline AS b "
                            "JOIN segment AS s ON s.id = b.segment_id WHERE b.name = ?"));
    mgb_bind_int(&find, segment);
    mgb_bind_text(&find, name);
    MGB_TRY(mgb_statement_step(&row, &find));
    if (!row)
        return MGB_OK;
    if (mgb_column_int(&find, 1)) {
        m->now.baselines_kept++;
        snprintf(line, sizeof line, "baseline '%.100s' stays at run %lld of %.100s", name,
                 (long long)mgb_column_int(&find, 0), m->store->sql.path);
        mgb_merge_say(m, line);
    }
    mgb_statement_reset(&find);
    return MGB_OK;
}

/* Repetitions of a baseline whose first one was carried over: earlier, since that is the oldest. */
static enum mgb_status repetition_put(struct mgb_merger *m, const char *name, int64_t first,
                                      int64_t segment)
{
    struct mgb_statement put;
    MGB_TRY(mgb_sql_prepare(&put, &m->store->sql,
                            "INSERT OR IGNORE INTO baseline_segment (name, segment_id) "
                            "SELECT name, ? FROM baseline WHERE name = ? AND segment_id = ?"));
    mgb_bind_int(&put, segment);
    mgb_bind_text(&put, name);
    mgb_bind_int(&put, first);
    return mgb_statement_run(&put);
}

/* Its first one may have come in an earlier transaction, so it is found by its run and its place there. */
static enum mgb_status repetition_carry(struct mgb_merger *m, const char *name,
                                        int64_t source_first, int64_t source_segment)
{
    int64_t first, segment;
    if (!mgb_merge_ids_find(&segment, &m->work.ids[MGB_MERGE_SEGMENT], source_segment))
        return MGB_OK;
    MGB_TRY(mgb_merge_find_twin(
        &first, m,
        "SELECT r.uuid, (SELECT count(*) FROM segment WHERE run_id = r.id AND id < s.id) "
        "FROM segment AS s JOIN run AS r ON r.id = s.run_id WHERE s.id = ?",
        "SELECT id FROM segment WHERE run_id = (SELECT id FROM run WHERE uuid = ?) "
        "ORDER BY id LIMIT 1 OFFSET ?",
        source_first));
    return repetition_put(m, name, first, segment);
}

enum mgb_status mgb_merge_repetitions(struct mgb_merger *m, int64_t run)
{
    struct mgb_statement list;
    bool row;
    MGB_TRY(mgb_sql_prepare(&list, &m->source,
                            "SELECT x.name, b.segment_id, x.segment_id FROM baseline_segment AS x "
                            "JOIN baseline AS b ON b.name = x.name "
                            "JOIN segment AS s ON s.id = x.segment_id WHERE s.run_id = ?"));
    mgb_bind_int(&list, run);
    for (;;) {
        MGB_TRY(mgb_statement_step(&row, &list));
        if (!row)
            return MGB_OK;
        enum mgb_status status = repetition_carry(
            m, mgb_column_text(&list, 0), mgb_column_int(&list, 1), mgb_column_int(&list, 2));
        if (status != MGB_OK) {
            mgb_statement_reset(&list);
            return status;
        }
    }
}

enum mgb_status mgb_merge_baselines(struct mgb_merger *m, int64_t run)
{
    struct mgb_statement list;
    MGB_TRY(mgb_sql_prepare(&list, &m->source,
                            "SELECT b.name, b.segment_id, b.set_ms FROM baseline AS b "
                            "JOIN segment AS s ON s.id = b.segment_id WHERE s.run_id = ?"));
    mgb_bind_int(&list, run);
    for (;;) {
        bool row;
        int64_t segment;
        MGB_TRY(mgb_statement_step(&row, &list));
        if (!row)
            return MGB_OK;
        if (!mgb_merge_ids_find(&segment, &m->work.ids[MGB_MERGE_SEGMENT],
                                mgb_column_int(&list, 1)))
            continue;
        enum mgb_status status =
            baseline_put(m, mgb_column_text(&list, 0), segment, mgb_column_int(&list, 2));
        if (status != MGB_OK) {
            mgb_statement_reset(&list);
            return status;
        }
    }
}
