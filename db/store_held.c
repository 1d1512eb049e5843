/* Rows of what a segment holds and moves: memory, traffic, variables, duplicates; see store.h. Each kind is a function
 * that binds one row and a pair of statements; one loop serves all. A kind of a traced step has the step as its second
 * parameter. */
#include "db/store.h"

#include "db/store_private.h"

struct held_kind {
    size_t size; /* of a row's struct */
    const char *clear;
    const char *put; /* first parameter: the segment */
    bool by_step;    /* second: the step */
    void (*bind)(struct mgb_statement *put, const void *row);
};

static enum mgb_status held_write(struct mgb_store *store, const struct held_kind *kind,
                                  int64_t segment, int64_t step, const char *rows, size_t count)
{
    struct mgb_statement clear, put;
    MGB_TRY(mgb_sql_prepare(&clear, &store->sql, kind->clear));
    mgb_bind_int(&clear, segment);
    if (kind->by_step)
        mgb_bind_int(&clear, step);
    MGB_TRY(mgb_statement_run(&clear));
    for (size_t i = 0; i < count; i++) {
        MGB_TRY(mgb_sql_prepare(&put, &store->sql, kind->put));
        mgb_bind_int(&put, segment);
        if (kind->by_step)
            mgb_bind_int(&put, step);
        kind->bind(&put, rows + i * kind->size);
        MGB_TRY(mgb_statement_run(&put));
    }
    return MGB_OK;
}

static enum mgb_status held_put(struct mgb_store *store, const struct held_kind *kind,
                                int64_t segment, const void *rows, size_t count)
{
    MGB_TRY(mgb_store_begin(store, __func__));
    return mgb_store_end(store, held_write(store, kind, segment, 0, rows, count));
}

static void memory_bind(struct mgb_statement *put, const void *row)
{
    const struct mgb_record_memory *memory = row;
    mgb_bind_text(put, memory->device);
    mgb_bind_text(put, mgb_memory_category_name(memory->category));
    mgb_bind_maybe_int(put, memory->planned_bytes);
    mgb_bind_maybe_int(put, memory->peak_bytes);
}

enum mgb_status mgb_store_put_memory(struct mgb_store *store, int64_t segment,
                                     const struct mgb_record_memory *rows, size_t count)
{
    static const struct held_kind kind = {
        .size = sizeof *rows,
        .clear = "DELETE FROM memory WHERE segment_id = ?",
        .put = "INSERT INTO memory (segment_id, device, category, planned_bytes, peak_bytes) "
               "VALUES (?, ?, ?, ?, ?)",
        .bind = memory_bind};
    return held_put(store, &kind, segment, rows, count);
}

static void memory_total_bind(struct mgb_statement *put, const void *row)
{
    const struct mgb_record_memory_total *total = row;
    mgb_bind_text(put, total->device);
    mgb_bind_maybe_int(put, total->planned_bytes);
    mgb_bind_maybe_int(put, total->peak_bytes);
    mgb_bind_maybe_int(put, total->capacity_bytes);
}

enum mgb_status mgb_store_put_memory_totals(struct mgb_store *store, int64_t segment,
                                            const struct mgb_record_memory_total *rows,
                                            size_t count)
{
    static const struct held_kind kind = {
        .size = sizeof *rows,
        .clear = "DELETE FROM memory_total WHERE segment_id = ?",
        .put = "INSERT INTO memory_total (segment_id, device, planned_bytes, peak_bytes, "
               "capacity_bytes) VALUES (?, ?, ?, ?, ?)",
        .bind = memory_total_bind};
    return held_put(store, &kind, segment, rows, count);
}

static void task_memory_bind(struct mgb_statement *put, const void *row)
{
    const struct mgb_record_task_memory *held = row;
    mgb_bind_text(put, held->device);
    mgb_bind_text(put, mgb_memory_category_name(held->category));
    mgb_bind_int(put, held->at_ns);
    mgb_bind_int(put, held->bytes);
}

enum mgb_status mgb_store_put_task_memory(struct mgb_store *store, int64_t segment, int64_t step,
                                          const struct mgb_record_task_memory *rows, size_t count)
{
    static const struct held_kind kind = {
        .size = sizeof *rows,
        .clear = "DELETE FROM task_memory WHERE segment_id = ? AND step = ?",
        .put = "INSERT OR REPLACE INTO task_memory (segment_id, step, device, category, at_ns, "
               "bytes) VALUES (?, ?, ?, ?, ?, ?)",
        .by_step = true,
        .bind = task_memory_bind};
    MGB_TRY(mgb_store_begin(store, __func__));
    return mgb_store_end(store, held_write(store, &kind, segment, step, (const char *)rows, count));
}

static void traffic_bind(struct mgb_statement *put, const void *row)
{
    const struct mgb_record_traffic *traffic = row;
    mgb_bind_text(put, traffic->from);
    mgb_bind_text(put, traffic->to);
    mgb_bind_int(put, traffic->bytes_per_step);
    mgb_bind_maybe_int(put, traffic->time_per_step_ns);
}

enum mgb_status mgb_store_put_traffic(struct mgb_store *store, int64_t segment,
                                      const struct mgb_record_traffic *rows, size_t count)
{
    static const struct held_kind kind = {
        .size = sizeof *rows,
        .clear = "DELETE FROM traffic WHERE segment_id = ?",
        .put = "INSERT INTO traffic (segment_id, from_device, to_device, bytes_per_step, "
               "time_per_step_ns) VALUES (?, ?, ?, ?, ?)",
        .bind = traffic_bind};
    return held_put(store, &kind, segment, rows, count);
}

static void variable_bind(struct mgb_statement *put, const void *row)
{
    const struct mgb_record_variable *variable = row;
    mgb_bind_text(put, variable->name);
    mgb_bind_text(put, variable->scope ? variable->scope : "");
    mgb_bind_text(put, variable->shape);
    mgb_bind_text(put, variable->type);
    mgb_bind_int(put, variable->bytes);
    mgb_bind_text(put, variable->device);
    mgb_bind_text(put, mgb_variable_role_name(variable->role));
    mgb_bind_int(put, variable->storage);
}

enum mgb_status mgb_store_put_variables(struct mgb_store *store, int64_t segment,
                                        const struct mgb_record_variable *rows, size_t count)
{
    static const struct held_kind kind = {
        .size = sizeof *rows,
        .clear = "DELETE FROM variable WHERE segment_id = ?",
        .put = "INSERT INTO variable (segment_id, name, scope, shape, type, bytes, device, role, "
               "storage_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        .bind = variable_bind};
    return held_put(store, &kind, segment, rows, count);
}

static void duplicate_bind(struct mgb_statement *put, const void *row)
{
    const struct mgb_record_duplicate *duplicate = row;
    mgb_bind_text(put, duplicate->variable);
    mgb_bind_text(put, duplicate->twin);
    mgb_bind_text(put, duplicate->device);
    mgb_bind_int(put, duplicate->bytes);
    mgb_bind_text(put, duplicate->why);
}

enum mgb_status mgb_store_put_duplicates(struct mgb_store *store, int64_t segment,
                                         const struct mgb_record_duplicate *rows, size_t count)
{
    static const struct held_kind kind = {
        .size = sizeof *rows,
        .clear = "DELETE FROM duplicate WHERE segment_id = ?",
        .put = "INSERT INTO duplicate (segment_id, variable, twin, device, bytes, why) "
               "VALUES (?, ?, ?, ?, ?, ?)",
        .bind = duplicate_bind};
    return held_put(store, &kind, segment, rows, count);
}
