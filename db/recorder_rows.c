/* The recorder's storing functions: those of the store, carried to its thread; see recorder.h. */
#include "db/recorder_private.h"
#include "db/store_private.h"

static enum mgb_status begin_run(struct mgb_store *store, const struct mgb_request *request)
{
    return mgb_store_begin_run(request->id_out, store, request->rows);
}

enum mgb_status mgb_recorder_begin_run(int64_t *run, struct mgb_recorder *recorder,
                                       const struct mgb_record_run *record)
{
    *run = 0;
    struct mgb_request request = {.id_out = run, .rows = record};
    return mgb_recorder_call(recorder, begin_run, &request, MGB_REQUEST_RESUMES);
}

static enum mgb_status finish_run(struct mgb_store *store, const struct mgb_request *request)
{
    return mgb_store_finish_run(store, request->id, request->outcome, request->text);
}

enum mgb_status mgb_recorder_finish_run(struct mgb_recorder *recorder, int64_t run,
                                        enum mgb_outcome outcome, const char *message)
{
    if (run == 0)
        return MGB_OK;
    struct mgb_request request = {.id = run, .outcome = outcome, .text = message};
    return mgb_recorder_call(recorder, finish_run, &request, MGB_REQUEST_ALWAYS);
}

static enum mgb_status begin_segment(struct mgb_store *store, const struct mgb_request *request)
{
    const struct mgb_record_segment *record = request->rows;
    if (mgb_store_is_broken(store, record->run))
        return MGB_OK;
    return mgb_store_begin_segment(request->id_out, store, record);
}

enum mgb_status mgb_recorder_begin_segment(int64_t *segment, struct mgb_recorder *recorder,
                                           const struct mgb_record_segment *record)
{
    *segment = 0;
    if (record->run == 0)
        return MGB_OK;
    struct mgb_request request = {.id_out = segment, .rows = record};
    return mgb_recorder_call(recorder, begin_segment, &request, MGB_REQUEST_RECORDING);
}

static enum mgb_status finish_segment(struct mgb_store *store, const struct mgb_request *request)
{
    return mgb_store_finish_segment(request->stat_out, store, request->id, request->rows);
}

enum mgb_status mgb_recorder_finish_segment(struct mgb_record_segment_stat *stat,
                                            struct mgb_recorder *recorder, int64_t segment,
                                            const struct mgb_record_segment_end *end)
{
    if (stat)
        *stat = (struct mgb_record_segment_stat){0};
    if (mgb_recorder_is_lost(recorder, segment))
        return MGB_OK;
    struct mgb_request request = {.stat_out = stat, .id = segment, .rows = end};
    return mgb_recorder_call(recorder, finish_segment, &request, MGB_REQUEST_RECORDING);
}

static enum mgb_status put_memory(struct mgb_store *store, const struct mgb_request *request)
{
    return mgb_store_put_memory(store, request->id, request->rows, request->count);
}

enum mgb_status mgb_recorder_put_memory(struct mgb_recorder *recorder, int64_t segment,
                                        const struct mgb_record_memory *rows, size_t count)
{
    if (mgb_recorder_is_lost(recorder, segment))
        return MGB_OK;
    struct mgb_request request = {.id = segment, .rows = rows, .count = count};
    return mgb_recorder_call(recorder, put_memory, &request, MGB_REQUEST_RECORDING);
}

static enum mgb_status put_memory_totals(struct mgb_store *store, const struct mgb_request *request)
{
    return mgb_store_put_memory_totals(store, request->id, request->rows, request->count);
}

enum mgb_status mgb_recorder_put_memory_totals(struct mgb_recorder *recorder, int64_t segment,
                                               const struct mgb_record_memory_total *rows,
                                               size_t count)
{
    if (mgb_recorder_is_lost(recorder, segment))
        return MGB_OK;
    struct mgb_request request = {.id = segment, .rows = rows, .count = count};
    return mgb_recorder_call(recorder, put_memory_totals, &request, MGB_REQUEST_RECORDING);
}

static enum mgb_status put_task_memory(struct mgb_store *store, const struct mgb_request *request)
{
    return mgb_store_put_task_memory(store, request->id, request->step, request->rows,
                                     request->count);
}

enum mgb_status mgb_recorder_put_task_memory(struct mgb_recorder *recorder, int64_t segment,
                                             int64_t step,
                                             const struct mgb_record_task_memory *rows,
                                             size_t count)
{
    if (mgb_recorder_is_lost(recorder, segment))
        return MGB_OK;
    struct mgb_request request = {.id = segment, .step = step, .rows = rows, .count = count};
    return mgb_recorder_call(recorder, put_task_memory, &request, MGB_REQUEST_RECORDING);
}

static enum mgb_status put_traffic(struct mgb_store *store, const struct mgb_request *request)
{
    return mgb_store_put_traffic(store, request->id, request->rows, request->count);
}

enum mgb_status mgb_recorder_put_traffic(struct mgb_recorder *recorder, int64_t segment,
                                         const struct mgb_record_traffic *rows, size_t count)
{
    if (mgb_recorder_is_lost(recorder, segment))
        return MGB_OK;
    struct mgb_request request = {.id = segment, .rows = rows, .count = count};
    return mgb_recorder_call(recorder, put_traffic, &request, MGB_REQUEST_RECORDING);
}

static enum mgb_status put_variables(struct mgb_store *store, const struct mgb_request *request)
{
    return mgb_store_put_variables(store, request->id, request->rows, request->count);
}

enum mgb_status mgb_recorder_put_variables(struct mgb_recorder *recorder, int64_t segment,
                                           const struct mgb_record_variable *rows, size_t count)
{
    if (mgb_recorder_is_lost(recorder, segment))
        return MGB_OK;
    struct mgb_request request = {.id = segment, .rows = rows, .count = count};
    return mgb_recorder_call(recorder, put_variables, &request, MGB_REQUEST_RECORDING);
}

static enum mgb_status put_duplicates(struct mgb_store *store, const struct mgb_request *request)
{
    return mgb_store_put_duplicates(store, request->id, request->rows, request->count);
}

enum mgb_status mgb_recorder_put_duplicates(struct mgb_recorder *recorder, int64_t segment,
                                            const struct mgb_record_duplicate *rows, size_t count)
{
    if (mgb_recorder_is_lost(recorder, segment))
        return MGB_OK;
    struct mgb_request request = {.id = segment, .rows = rows, .count = count};
    return mgb_recorder_call(recorder, put_duplicates, &request, MGB_REQUEST_RECORDING);
}

static enum mgb_status begin_sweep(struct mgb_store *store, const struct mgb_request *request)
{
    return mgb_store_begin_sweep(request->id_out, store, request->rows);
}

enum mgb_status mgb_recorder_begin_sweep(int64_t *sweep, struct mgb_recorder *recorder,
                                         const struct mgb_record_sweep *record)
{
    *sweep = 0;
    struct mgb_request request = {.id_out = sweep, .rows = record};
    return mgb_recorder_call(recorder, begin_sweep, &request, MGB_REQUEST_RECORDING);
}

static enum mgb_status finish_sweep(struct mgb_store *store, const struct mgb_request *request)
{
    return mgb_store_finish_sweep(store, request->id);
}

static enum mgb_status hold(struct mgb_store *store, const struct mgb_request *request)
{
    (void)request;
    MGB_TRY(mgb_store_hold(store));
    return store->incomplete[0] ? mgb_store_probe(store) : MGB_OK;
}

enum mgb_status mgb_recorder_hold(struct mgb_recorder *recorder)
{
    struct mgb_request request = {0};
    return mgb_recorder_call(recorder, hold, &request, MGB_REQUEST_RESUMES);
}

static enum mgb_status release(struct mgb_store *store, const struct mgb_request *request)
{
    (void)request;
    mgb_store_release(store);
    return MGB_OK;
}

void mgb_recorder_release(struct mgb_recorder *recorder)
{
    struct mgb_request request = {0};
    (void)mgb_recorder_call(recorder, release, &request, MGB_REQUEST_ALWAYS);
}

enum mgb_status mgb_recorder_finish_sweep(struct mgb_recorder *recorder, int64_t sweep)
{
    if (sweep == 0)
        return MGB_OK;
    struct mgb_request request = {.id = sweep};
    return mgb_recorder_call(recorder, finish_sweep, &request, MGB_REQUEST_RECORDING);
}

static enum mgb_status put_sweep_point(struct mgb_store *store, const struct mgb_request *request)
{
    return mgb_store_put_sweep_point(store, request->rows);
}

enum mgb_status mgb_recorder_put_sweep_point(struct mgb_recorder *recorder,
                                             const struct mgb_record_sweep_point *record)
{
    if (record->sweep == 0 || record->run == 0)
        return MGB_OK;
    struct mgb_request request = {.rows = record};
    return mgb_recorder_call(recorder, put_sweep_point, &request, MGB_REQUEST_RECORDING);
}

static enum mgb_status put_note(struct mgb_store *store, const struct mgb_request *request)
{
    return mgb_store_put_note(store, request->id, request->text);
}

enum mgb_status mgb_recorder_put_note(struct mgb_recorder *recorder, int64_t run, const char *text)
{
    if (run == 0)
        return MGB_OK;
    struct mgb_request request = {.id = run, .text = text};
    return mgb_recorder_call(recorder, put_note, &request, MGB_REQUEST_RECORDING);
}

static enum mgb_status put_tag(struct mgb_store *store, const struct mgb_request *request)
{
    return mgb_store_put_tag(store, request->id, request->text);
}

enum mgb_status mgb_recorder_put_tag(struct mgb_recorder *recorder, int64_t run, const char *name)
{
    if (run == 0)
        return MGB_OK;
    struct mgb_request request = {.id = run, .text = name};
    return mgb_recorder_call(recorder, put_tag, &request, MGB_REQUEST_RECORDING);
}
