/* The document of a trace: its head, processes and threads, the order of what a step is told in. See trace_json.h. */
#include "db/trace_json_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <mgb/text.h>

#include "db/export.h"

static enum mgb_status out_check(const struct mgb_trace_json *writer)
{
    return ferror(writer->out) ? mgb_export_fail(writer->name) : MGB_OK;
}

static enum mgb_status no_memory(void)
{
    return mgb_fail(MGB_NO_MEMORY, "writing a trace: memory is exhausted");
}

void mgb_trace_json_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, ",\"%s\":", key);
    mgb_json_put(out, text, strlen(text));
}

void mgb_trace_json_time(FILE *out, int64_t ns)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    fprintf(out, "%s%" PRIu64 ".%03" PRIu64, ns < 0 ? "-" : "", size / 1000, size % 1000);
}

static void event_open(struct mgb_trace_json *writer, char phase, const char *name, int process,
                       int thread)
{
    fprintf(writer->out, "%s\n{\"ph\":\"%c\"", writer->followed ? "," : "", phase);
    writer->followed = true;
    mgb_trace_json_text(writer->out, "name", name);
    fprintf(writer->out, ",\"pid\":%d,\"tid\":%d", process, thread);
}

void mgb_trace_json_event(struct mgb_trace_json *writer, char phase, const char *name,
                          const struct mgb_trace_thread *thread, int64_t ns)
{
    event_open(writer, phase, name, thread->process, thread->thread);
    fputs(",\"ts\":", writer->out);
    mgb_trace_json_time(writer->out, ns);
}

static void name_event(struct mgb_trace_json *writer, const char *what, int process, int thread,
                       const char *name)
{
    event_open(writer, 'M', what, process, thread);
    fputs(",\"args\":{\"name\":", writer->out);
    mgb_json_put(writer->out, name, strlen(name));
    fputs("}}", writer->out);
}

static void order_event(struct mgb_trace_json *writer, const char *what, int process, int thread,
                        int place)
{
    event_open(writer, 'M', what, process, thread);
    fprintf(writer->out, ",\"args\":{\"sort_index\":%d}}", place);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static int process_find(struct mgb_trace_json *writer, const char *device)
{
    for (int i = 0; i < writer->thread_count; i++)
        if (strcmp(writer->threads[i].device, device) == 0)
            return writer->threads[i].process;
    int process = ++writer->process_count;
    name_event(writer, "process_name", process, 0, device);
    event_open(writer, 'M', "process_labels", process, 0);
    fputs(",\"args\":{\"labels\":", writer->out);
    mgb_json_put(writer->out, writer->label, strlen(writer->label));
    fputs("}}", writer->out);
    order_event(writer, "process_sort_index", process, 0, process);
    return process;
}

static void thread_name(struct mgb_trace_json *writer, const struct mgb_trace_thread *thread)
{
    char name[128];
    if (thread->kind == MGB_TRACK_COMPUTE)
        snprintf(name, sizeof name, "compute");
    else if (thread->kind == MGB_TRACK_COLLECTIVE)
        snprintf(name, sizeof name, "all-reduce");
    else
        snprintf(name, sizeof name, "copy to %s", thread->to);
    name_event(writer, "thread_name", thread->process, thread->thread, name);
    order_event(writer, "thread_sort_index", thread->process, thread->thread, thread->thread);
}

const struct mgb_trace_thread *mgb_trace_json_thread(struct mgb_trace_json *writer,
                                                     enum mgb_track_kind kind, const char *device,
                                                     const char *to)
{
    for (int i = 0; i < writer->thread_count; i++) {
        const struct mgb_trace_thread *have = &writer->threads[i];
        if (have->kind == kind && strcmp(have->device, device) == 0 && same_text(have->to, to))
            return have;
    }
    struct mgb_trace_thread *more =
        realloc(writer->threads, ((size_t)writer->thread_count + 1) * sizeof *more);
    if (!more)
        return NULL;
    writer->threads = more;
    struct mgb_trace_thread made = {
        .device = strdup(device), .to = to ? strdup(to) : NULL, .kind = kind};
    if (!made.device || (to && !made.to)) {
        free(made.device);
        free(made.to);
        return NULL;
    }
    made.process = process_find(writer, device);
    made.thread = writer->thread_count + 1; /* of all, which some viewers want */
    more[writer->thread_count++] = made;
    thread_name(writer, &more[writer->thread_count - 1]);
    return &more[writer->thread_count - 1];
}

struct head {
    FILE *out;
    char *label; /* of the writer */
    char **names;
    int count;
};

static enum mgb_status head_columns(void *context, const char *const *names, int count)
{
    struct head *head = context;
    head->names = calloc((size_t)count + 1, sizeof *head->names);
    for (; head->names && head->count < count; head->count++)
        if (!(head->names[head->count] = strdup(names[head->count])))
            break;
    return head->names && head->count == count ? MGB_OK : no_memory();
}

static void label_fill(char label[64], const char *backend)
{
    snprintf(label, 64, "%.40s%s", backend,
             strcmp(backend, "sim") == 0    ? ": simulated"
             : strcmp(backend, "host") == 0 ? ": CPU device"
                                            : "");
}

static enum mgb_status head_row(void *context, const struct mgb_value *values, int count)
{
    struct head *head = context;
    char number[MGB_EXPORT_NUMBER];
    for (int i = 0; i < count; i++) {
        const struct mgb_value *value = &values[i];
        if (strcmp(head->names[i], "backend") == 0 && value->kind == MGB_VALUE_TEXT)
            label_fill(head->label, value->text);
        if (value->kind == MGB_VALUE_TEXT)
            mgb_trace_json_text(head->out, head->names[i], value->text);
        else if (value->kind == MGB_VALUE_INT && strcmp(head->names[i], "simulated") == 0)
            fprintf(head->out, ",\"simulated\":%s", value->integer ? "true" : "false");
        else if (value->kind == MGB_VALUE_INT)
            fprintf(head->out, ",\"%s\":%" PRId64, head->names[i], value->integer);
        else if (value->kind == MGB_VALUE_REAL)
            fprintf(head->out, ",\"%s\":%s", head->names[i],
                    mgb_export_number(number, value->real, true));
    }
    return MGB_OK;
}

static enum mgb_status head_write(struct mgb_trace_json *writer, struct mgb_reader *reader,
                                  int64_t segment, const char *columns)
{
    char text[640];
    const struct mgb_value which = mgb_value_of_int(segment);
    struct head head = {.out = writer->out, .label = writer->label};
    struct mgb_query_sink sink = {&head, head_columns, head_row};
    snprintf(text, sizeof text, "SELECT %s FROM run_summary WHERE segment_id = ?", columns);
    enum mgb_status status = mgb_query_run(reader, text, &which, 1, &sink);
    for (int i = 0; i < head.count; i++)
        free(head.names[i]);
    free(head.names);
    return status;
}

enum mgb_status mgb_trace_json_begin(struct mgb_trace_json *writer, struct mgb_reader *reader,
                                     int64_t segment)
{
    writer->begun = true;
    fputs(
        "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"time\":\"microseconds since the run began\"",
        writer->out);
    mgb_trace_json_text(writer->out, "written_by", writer->program);
    enum mgb_status status =
        head_write(writer, reader, segment,
                   "run_id, segment_id, run_uuid, started, program_version, model, model_options, "
                   "backend, simulated, machine, data, optimizer, seed, steps, warmup_steps, "
                   "step_ms_median, outcome");
    fputs(",\"placement\":{\"effective\":true", writer->out);
    if (status == MGB_OK)
        status = head_write(
            writer, reader, segment,
            "strategy, gpus, gpu_list, batch_mode, batch_per_gpu, global_batch, cpu_relocation, "
            "cpu_merge, weights_at, join_at, loss_at, sum_at, update_at, relocation, allreduce, "
            "bucket_mib, overlap, wire_type, staged, stale, bn, precision, recompute, threads");
    fputs("}},\"traceEvents\":[", writer->out);
    return status == MGB_OK ? out_check(writer) : status;
}

/* By task, how much of it is on the critical path; NULL: memory is exhausted. */
static int64_t *path_make(const struct mgb_trace_step *step)
{
    struct mgb_critical_part *parts;
    int count;
    int64_t *on_path = calloc((size_t)step->task_count + 1, sizeof *on_path);
    if (!on_path || !step->waits_known)
        return on_path;
    if (mgb_trace_critical(&parts, &count, step) != MGB_OK) {
        free(on_path);
        return NULL;
    }
    for (int i = 0; i < count; i++)
        if (parts[i].task >= 0)
            on_path[parts[i].task] += parts[i].end_ns - parts[i].begin_ns;
    free(parts);
    return on_path;
}

static void instants_write(struct mgb_trace_json *writer, const struct mgb_trace_step *step)
{
    const struct mgb_trace_thread *first = &writer->threads[0];
    char name[64], number[MGB_EXPORT_NUMBER];
    snprintf(name, sizeof name, "step %" PRId64 " begins", step->at.step);
    mgb_trace_json_event(writer, 'i', name, first, step->start_ns);
    fprintf(writer->out,
            ",\"s\":\"g\",\"cat\":\"step\",\"args\":{\"step\":%" PRId64 ",\"timed\":%" PRId64
            ",\"epoch\":%" PRId64 "}}",
            step->at.step, step->at.timed, step->epoch);
    snprintf(name, sizeof name, "step %" PRId64 " ends", step->at.step);
    mgb_trace_json_event(writer, 'i', name, first, step->start_ns + step->wall_ns);
    fprintf(writer->out,
            ",\"s\":\"g\",\"cat\":\"step\",\"args\":{\"step\":%" PRId64 ",\"loss\":%s}}",
            step->at.step, step->has_loss ? mgb_export_number(number, step->loss, false) : "null");
}

static enum mgb_status tracks_write(struct mgb_trace_json *writer,
                                    const struct mgb_trace_step *step)
{
    enum mgb_status status = MGB_OK;
    int64_t *on_path = path_make(step);
    for (int i = 0; i < step->track_count && status == MGB_OK; i++) {
        const struct mgb_trace_track *track = &step->tracks[i];
        const struct mgb_trace_thread *thread =
            mgb_trace_json_thread(writer, track->kind, track->device, track->to);
        if (!thread || !on_path)
            status = no_memory();
        else if (writer->stop && writer->stop(writer->context))
            status = mgb_fail(MGB_INTERRUPTED, "interrupted");
        else
            status = mgb_trace_json_track(writer, step, i, thread, on_path);
    }
    free(on_path);
    if (status == MGB_OK && writer->thread_count > 0)
        instants_write(writer, step);
    return status;
}

enum mgb_status mgb_trace_json_step(struct mgb_trace_json *writer, struct mgb_reader *reader,
                                    int64_t segment, const struct mgb_trace_step *step)
{
    MGB_TRY(tracks_write(writer, step));
    MGB_TRY(mgb_trace_json_flows(writer, step));
    MGB_TRY(mgb_trace_json_memory(writer, reader, segment, step));
    return out_check(writer);
}

enum mgb_status mgb_trace_json_end(struct mgb_trace_json *writer)
{
    for (int i = 0; i < writer->thread_count; i++) {
        free(writer->threads[i].device);
        free(writer->threads[i].to);
    }
    free(writer->threads);
    writer->threads = NULL;
    writer->thread_count = 0;
    if (!writer->begun)
        return MGB_OK;
    writer->begun = false;
    fputs("\n]}\n", writer->out);
    (void)fflush(writer->out); /* leaves its mark on the stream */
    return out_check(writer);
}
