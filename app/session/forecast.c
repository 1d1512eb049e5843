/* What a cell of a sweep would come to: planned, never opened. */
#include "app/session/preview.h"
#include "app/session/private.h"

#include <math.h>
#include <stdio.h>

static double share(const struct mgb_topology *topology, const struct mgb_device_use *use)
{
    int64_t limit = topology->devices[use->device].memory_bytes;
    return limit > 0 ? (double)use->peak_bytes / (double)limit : (double)use->peak_bytes * 1e-15;
}

/* The accelerator that is filled most, and the host. */
static void memory_fill(struct script_forecast *out, const struct mgb_plan *plan)
{
    const struct mgb_topology *topology = plan->topology;
    double fullest = -1;
    for (int i = 0; i < plan->use_count; i++) {
        const struct mgb_device_use *use = &plan->uses[i];
        const struct mgb_device *device = &topology->devices[use->device];
        if (device->name.kind != MGB_DEVICE_GPU) {
            out->cpu_bytes += use->peak_bytes;
        } else if (share(topology, use) > fullest) {
            fullest = share(topology, use);
            out->gpu_bytes = use->peak_bytes;
            mgb_device_format(out->gpu, device->name);
        }
    }
}

static enum mgb_status plan_look(struct script_forecast *out,
                                 const struct script_open_request *request)
{
    struct mgb_preview *preview;
    MGB_TRY(mgb_session_preview(&preview, request));
    out->backend = mgb_preview_backend(preview);
    memory_fill(out, mgb_preview_plan(preview));
    enum mgb_status status =
        mgb_plan_admit(mgb_preview_plan(preview), NULL, mgb_preview_effective(preview)->gpu_memory);
    mgb_preview_free(preview);
    return status;
}

static enum mgb_status keep_seconds(void *context, const struct mgb_value *values, int count)
{
    (void)count;
    if (values[0].kind == MGB_VALUE_REAL)
        *(double *)context = values[0].real;
    return MGB_OK;
}

/* The mean of the same cell's runs, whichever sweep they belong to; NaN when there were none. */
static double seconds_find(struct mgb_hub *hub, const char *digest)
{
    static const char sql[] =
        "SELECT avg(finished_ms - started_ms) / 1e3 FROM run WHERE outcome IN ('ok', 'oom')"
        "   AND id IN (SELECT run_id FROM sweep_point WHERE settings_digest = ?1)";
    struct mgb_reader *reader;
    struct mgb_value parameter = mgb_value_of_text(digest);
    double seconds = (double)NAN;
    struct mgb_query_sink sink = {&seconds, NULL, keep_seconds};
    if (!hub->options.database || mgb_hub_reader(hub, &reader) != MGB_OK ||
        mgb_query_run(reader, sql, &parameter, 1, &sink) != MGB_OK)
        return (double)NAN;
    return seconds;
}

enum mgb_status mgb_hub_forecast(void *context, struct script_forecast *out,
                                 const struct script_open_request *request)
{
    *out = (struct script_forecast){.seconds = (double)NAN};
    out->status = plan_look(out, request);
    if (out->status != MGB_OK)
        snprintf(out->message, sizeof out->message, "%s", mgb_message_get());
    if (out->status == MGB_NO_MEMORY || out->status == MGB_INTERRUPTED)
        return mgb_fail(out->status, "%s", out->message);
    if (request->point)
        out->seconds = seconds_find(context, request->point->digest);
    return MGB_OK;
}

enum mgb_status mgb_hub_largest_batch(void *context, int64_t *batch,
                                      const struct script_open_request *request)
{
    struct mgb_preview *preview;
    (void)context;
    MGB_TRY(mgb_session_preview(&preview, request));
    enum mgb_status status = mgb_preview_largest_batch(preview, batch);
    mgb_preview_free(preview);
    return status;
}
