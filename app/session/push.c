/* What every step and every second leaves in the record. */
#include "app/session/rows.h"
#include "app/session/sensors.h"
#include "app/session/tasks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void push_devices(struct script_session *session, const struct mgb_step_result *result)
{
    struct mgb_record record = {.kind = MGB_RECORD_STEP_DEVICE};
    for (int i = 0; i < result->device_count; i++) {
        const struct mgb_device_times *times = &result->devices[i];
        record.step_device = (struct mgb_record_step_device){
            .segment = session->segment_id,
            .step = result->index,
            .device = session_device(session, times->device),
            .finish_ns = times->finish_ns,
            .has_finish = times->finish_ns > 0,
        };
        memcpy(record.step_device.busy_ns, times->busy, sizeof times->busy);
        memcpy(record.step_device.exposed_ns, times->exposed, sizeof times->exposed);
        mgb_recorder_push(session->hub->recorder, &record);
    }
}

static void push_metrics(struct script_session *session, const struct mgb_step_result *result)
{
    struct mgb_record record = {.kind = MGB_RECORD_METRIC};
    for (int i = 0; i < result->metric_count; i++) {
        const char *name;
        mgb_graph_metric_at(session->graph, i, &name);
        record.metric = (struct mgb_record_metric){.segment = session->segment_id,
                                                   .step = result->index,
                                                   .split = "train",
                                                   .name = name,
                                                   .value = result->metrics[i]};
        mgb_recorder_push(session->hub->recorder, &record);
    }
}

static void push_tasks(struct script_session *session, const struct mgb_step_result *result)
{
    const struct mgb_plan *plan = result->plan;
    struct mgb_record record = {.kind = MGB_RECORD_TASK};
    const struct session_task_texts *texts =
        result->task_count > 0 ? mgb_session_task_texts(&session->trace, plan) : NULL;
    for (int i = 0; i < result->task_count; i++) {
        const struct mgb_task_time *time = &result->tasks[i];
        const struct mgb_task *task = &plan->tasks[time->task];
        bool link = task->queue == MGB_QUEUE_COPY && time->from >= 0;
        bool collective = task->queue == MGB_QUEUE_COPY && time->from < 0;
        record.task = (struct mgb_record_task){
            .segment = session->segment_id,
            .step = result->index,
            .device = session_device(session, time->device),
            .queue = collective ? "collective"
                                : session_device(session, link ? time->from : time->device),
            .kind = mgb_task_kind_name(task->kind),
            .name = texts ? texts->name[i] : "?",
            .phase = task->phase,
            .start_ns = time->start_ns,
            .duration_ns = time->duration_ns,
            .bytes = task->bytes,
            .task = i,
            .waits_for = texts ? texts->waits_for[i] : NULL,
        };
        mgb_recorder_push(session->hub->recorder, &record);
    }
}

void mgb_session_push_step(struct script_session *session, const struct mgb_record *record,
                           const struct mgb_step_result *result)
{
    mgb_recorder_push(session->hub->recorder, record);
    push_devices(session, result);
    push_metrics(session, result);
    push_tasks(session, result);
}

/* Resident bytes of this process, or unknown. */
static int64_t process_bytes(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return MGB_NO_READING;
    int got = fscanf(file, "%*d %ld", &pages);
    fclose(file);
    return got == 1 ? pages * sysconf(_SC_PAGESIZE) : MGB_NO_READING;
}

/* The largest it ever was; 0 when the kernel does not say. */
static int64_t process_peak_bytes(void)
{
    long long kib = 0;
    char line[128];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "VmHWM: %lld kB", &kib) != 1)
        ;
    if (file)
        fclose(file);
    return kib * 1024;
}

void mgb_session_push_sample(struct script_session *session, int64_t now)
{
    struct mgb_record record = {.kind = MGB_RECORD_SAMPLE};
    if (session->sim) /* of another machine, at no time of the run's */
        return;
    record.sample = (struct mgb_record_sample){
        .run = session->run_id,
        .segment = session->segment_id,
        .device = "/cpu:0",
        .at_ns = now - session->began_ns,
        .clock_khz = MGB_NO_READING,
        .memory_clock_khz = MGB_NO_READING,
        .power_mw = MGB_NO_READING,
        .temperature_mc = MGB_NO_READING,
        .utilisation_ppm = MGB_NO_READING,
        .memory_used_bytes = MGB_NO_READING,
        .process_bytes = process_bytes(),
        .process_peak_bytes = process_peak_bytes(),
    };
    mgb_recorder_push(session->hub->recorder, &record);
    mgb_session_sensors_push(session, false);
}
