/* How fast CPU devices compute at best is measured when a run begins on them and the database does not know it yet. */
#include "app/session/rows.h"

#include <string.h>

#define BUDGET_NS 20000000

static enum mgb_status known_take(void *context, const struct mgb_value *values, int columns)
{
    (void)columns;
    *(bool *)context = mgb_value_int(&values[0]) > 0;
    return MGB_OK;
}

static bool is_known(struct script_session *session, const char *key)
{
    static const char sql[] = "SELECT count(*) FROM device AS d JOIN machine AS m ON m.id = "
                              "d.machine_id WHERE m.key = ? AND d.backend = ? AND d.f32_tflops IS "
                              "NOT NULL";
    bool known = true; /* what cannot be asked is not measured again and again */
    struct mgb_reader *reader;
    const struct mgb_value parameters[] = {mgb_value_of_text(key),
                                           mgb_value_of_text(mgb_run_backend(session->run))};
    struct mgb_query_sink sink = {&known, NULL, known_take};
    if (mgb_hub_reader(session->hub, &reader) == MGB_OK)
        (void)mgb_query_run(reader, sql, parameters, 2, &sink);
    return known;
}

struct measuring {
    struct mgb_run *run;
    double core_tflops;
};

static enum mgb_status peak_measure(void *argument)
{
    struct measuring *work = argument;
    return mgb_run_measure_peak(work->run, &work->core_tflops, BUDGET_NS);
}

enum mgb_status mgb_session_describe_peak(struct session_description *out,
                                          struct script_session *session)
{
    struct measuring work = {session->run, 0};
    struct mgb_maybe_int cores = out->machine_row.cores;
    if (strcmp(mgb_run_backend(session->run), "host") != 0 || is_known(session, out->key))
        return MGB_OK;
    enum mgb_status status =
        mgb_session_worker_call(session->worker, peak_measure, &work, NULL, NULL);
    if (status == MGB_TIMEOUT || status == MGB_DEVICE)
        return status;
    if (status != MGB_OK || work.core_tflops <= 0)
        return MGB_OK;
    if (!cores.known)
        cores = out->machine_row.threads;
    for (int i = 0; i < out->machine_row.device_count; i++) /* they share the cores */
        out->devices[i].f32_tflops = MGB_KNOWN_REAL(work.core_tflops * (double)cores.value);
    return MGB_OK;
}
