/* Rows of every step: what comes through the recorder's ring; see store.h. */
#include "db/store.h"

#include <math.h>

#include "db/store_private.h"

_Static_assert(MGB_PHASE_COUNT == 8, "step_device has a pair of columns for each phase");

static const char *number_status(double value)
{
    if (isnan(value))
        return "nan";
    if (isinf(value))
        return value > 0 ? "inf" : "-inf";
    return "ok";
}

static enum mgb_status step_put(struct mgb_sql *sql, const struct mgb_record_step *step)
{
    struct mgb_statement put;
    MGB_TRY(mgb_sql_prepare(&put, sql,
                            "INSERT INTO step (segment_id, step, epoch, warmup, start_ns, wall_ns, "
                            "examples, loss, loss_status) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    mgb_bind_int(&put, step->segment);
    mgb_bind_int(&put, step->step);
    mgb_bind_int(&put, step->epoch);
    mgb_bind_int(&put, step->warmup);
    mgb_bind_int(&put, step->start_ns);
    mgb_bind_int(&put, step->wall_ns);
    mgb_bind_int(&put, step->examples);
    mgb_bind_real(&put, step->has_loss ? step->loss : (double)NAN);
    mgb_bind_text(&put, step->has_loss ? number_status(step->loss) : "none");
    return mgb_statement_run(&put);
}

static enum mgb_status step_device_put(struct mgb_sql *sql,
                                       const struct mgb_record_step_device *record)
{
    struct mgb_statement put;
    MGB_TRY(mgb_sql_prepare(
        &put, sql,
        "INSERT INTO step_device (segment_id, step, device, finish_ns, input_busy_ns, "
        "input_exposed_ns, fetch_busy_ns, fetch_exposed_ns, forward_busy_ns, forward_exposed_ns, "
        "backward_busy_ns, backward_exposed_ns, join_busy_ns, join_exposed_ns, sum_busy_ns, "
        "sum_exposed_ns, update_busy_ns, update_exposed_ns, wait_busy_ns, wait_exposed_ns) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    mgb_bind_int(&put, record->segment);
    mgb_bind_int(&put, record->step);
    mgb_bind_text(&put, record->device);
    mgb_bind_maybe_int(&put, (struct mgb_maybe_int){record->finish_ns, record->has_finish});
    for (int phase = 0; phase < MGB_PHASE_COUNT; phase++) {
        mgb_bind_int(&put, record->busy_ns[phase]);
        mgb_bind_int(&put, record->exposed_ns[phase]);
    }
    return mgb_statement_run(&put);
}

static enum mgb_status metric_put(struct mgb_sql *sql, const struct mgb_record_metric *metric)
{
    struct mgb_statement put;
    MGB_TRY(mgb_sql_prepare(&put, sql,
                            "INSERT INTO metric (segment_id, step, split, name, value, "
                            "value_status) VALUES (?, ?, ?, ?, ?, ?)"));
    mgb_bind_int(&put, metric->segment);
    mgb_bind_int(&put, metric->step);
    mgb_bind_text(&put, metric->split);
    mgb_bind_text(&put, metric->name);
    mgb_bind_real(&put, metric->value);
    mgb_bind_text(&put, number_status(metric->value));
    return mgb_statement_run(&put);
}

static enum mgb_status task_put(struct mgb_sql *sql, const struct mgb_record_task *task)
{
    struct mgb_statement put;
    MGB_TRY(mgb_sql_prepare(
        &put, sql,
        "INSERT INTO task (segment_id, step, device, queue, kind, phase, name, start_ns, "
        "duration_ns, bytes, task, waits_for) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    mgb_bind_int(&put, task->segment);
    mgb_bind_int(&put, task->step);
    mgb_bind_text(&put, task->device);
    mgb_bind_text(&put, task->queue);
    mgb_bind_text(&put, task->kind);
    mgb_bind_text(&put, mgb_phase_name(task->phase));
    mgb_bind_text(&put, task->name);
    mgb_bind_int(&put, task->start_ns);
    mgb_bind_int(&put, task->duration_ns);
    mgb_bind_int(&put, task->bytes);
    mgb_bind_maybe_int(&put, (struct mgb_maybe_int){task->task, task->waits_for != NULL});
    mgb_bind_text(&put, task->waits_for);
    return mgb_statement_run(&put);
}

static void reading_bind(struct mgb_statement *put, int64_t reading)
{
    mgb_bind_maybe_int(put, (struct mgb_maybe_int){reading, reading != MGB_NO_READING});
}

static enum mgb_status sample_put(struct mgb_sql *sql, const struct mgb_record_sample *sample)
{
    struct mgb_statement put;
    MGB_TRY(mgb_sql_prepare(
        &put, sql,
        "INSERT INTO sample (run_id, segment_id, device, at_ns, clock_khz, memory_clock_khz, "
        "power_mw, temperature_mc, utilisation_ppm, memory_used_bytes, process_bytes, "
        "process_peak_bytes, throttle) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    mgb_bind_int(&put, sample->run);
    mgb_bind_maybe_int(&put, (struct mgb_maybe_int){sample->segment, sample->segment != 0});
    mgb_bind_text(&put, sample->device);
    mgb_bind_int(&put, sample->at_ns);
    reading_bind(&put, sample->clock_khz);
    reading_bind(&put, sample->memory_clock_khz);
    reading_bind(&put, sample->power_mw);
    reading_bind(&put, sample->temperature_mc);
    reading_bind(&put, sample->utilisation_ppm);
    reading_bind(&put, sample->memory_used_bytes);
    reading_bind(&put, sample->process_bytes);
    bool peak = sample->process_peak_bytes > 0;
    mgb_bind_maybe_int(&put, (struct mgb_maybe_int){sample->process_peak_bytes, peak});
    mgb_bind_text(&put, sample->throttle);
    return mgb_statement_run(&put);
}

static enum mgb_status record_put(struct mgb_sql *sql, const struct mgb_record *record)
{
    switch (record->kind) {
    case MGB_RECORD_STEP:
        return step_put(sql, &record->step);
    case MGB_RECORD_STEP_DEVICE:
        return step_device_put(sql, &record->step_device);
    case MGB_RECORD_METRIC:
        return metric_put(sql, &record->metric);
    case MGB_RECORD_TASK:
        return task_put(sql, &record->task);
    case MGB_RECORD_SAMPLE:
        return sample_put(sql, &record->sample);
    }
    return mgb_fail(MGB_STATE, "a record of unknown kind %d", (int)record->kind);
}

enum mgb_status mgb_store_put_steps(struct mgb_store *store, const struct mgb_record *records,
                                    size_t count)
{
    MGB_TRY(mgb_store_begin(store, __func__));
    enum mgb_status status = MGB_OK;
    for (size_t i = 0; i < count && status == MGB_OK; i++)
        status = record_put(&store->sql, &records[i]);
    return mgb_store_end(store, status);
}
