/* Slices and flows of a step. Tasks are shown as they ran, cut where clocks let one begin before the one before it on the
 * same queue had ended. */
#include "db/trace_json_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "db/export.h"

static enum mgb_status no_memory(void)
{
    return mgb_fail(MGB_NO_MEMORY, "writing a trace: memory is exhausted");
}

struct slices {
    struct mgb_trace_json *writer;
    const struct mgb_trace_step *step;
    const struct mgb_trace_thread *thread;
    const int64_t *on_path;
    const int *tasks;           /* of the track, in order */
    const int64_t *begin, *end; /* of each of them, cut */
    int count;
    bool waits; /* the track's idle time is shown too */
};

static void slice_open(const struct slices *s, const char *name, const char *category,
                       int64_t begin, int64_t end)
{
    mgb_trace_json_event(s->writer, 'X', name, s->thread, s->step->start_ns + begin);
    fputs(",\"dur\":", s->writer->out);
    mgb_trace_json_time(s->writer->out, end - begin);
    mgb_trace_json_text(s->writer->out, "cat", category);
}

static void task_write(const struct slices *s, int which)
{
    const struct mgb_trace_task *task = &s->step->tasks[s->tasks[which]];
    FILE *out = s->writer->out;
    slice_open(s, task->name, task->kind, s->begin[which], s->end[which]);
    fprintf(out, ",\"args\":{\"task\":%" PRId64, task->number);
    mgb_trace_json_text(out, "phase", task->phase);
    if (task->bytes > 0)
        fprintf(out, ",\"bytes\":%" PRId64, task->bytes);
    if (task->bytes > 0 && task->duration_ns > 0) {
        char number[MGB_EXPORT_NUMBER]; /* bytes a nanosecond are 1e9 bytes a second */
        fprintf(out, ",\"gbps\":%s",
                mgb_export_number(number, (double)task->bytes / (double)task->duration_ns, true));
    }
    if (s->on_path[s->tasks[which]] > 0)
        fprintf(out, ",\"critical_ns\":%" PRId64, s->on_path[s->tasks[which]]);
    fputs("}}", out);
}

/* What the task after a wait waited for: of all it names, the one that ended last. */
static const struct mgb_trace_task *awaited(const struct slices *s, int which)
{
    const struct mgb_trace_task *task = &s->step->tasks[s->tasks[which]], *last = NULL;
    for (int i = 0; i < task->wait_count; i++) {
        int other = s->step->waits[task->wait_begin + i];
        if (other < 0)
            continue;
        const struct mgb_trace_task *candidate = &s->step->tasks[other];
        if (!last ||
            candidate->start_ns + candidate->duration_ns > last->start_ns + last->duration_ns)
            last = candidate;
    }
    return last;
}

/* `which`: the task that comes next, `count` for the end of the step. */
static void wait_write(const struct slices *s, int64_t begin, int64_t end, int which)
{
    if (!s->waits || end <= begin)
        return;
    const struct mgb_trace_task *last = which < s->count ? awaited(s, which) : NULL;
    slice_open(s, "wait", "wait", begin, end);
    if (last) {
        fputs(",\"args\":{\"phase\":\"wait\"", s->writer->out);
        mgb_trace_json_text(s->writer->out, "for", last->name);
        mgb_trace_json_text(s->writer->out, "on", last->device);
        fputc('}', s->writer->out);
    }
    fputc('}', s->writer->out);
}

static const char *phase_at(const struct slices *s, int which)
{
    return s->step->tasks[s->tasks[which]].phase;
}

/* Tasks first .. end - 1 are of one phase. */
static void phase_write(const struct slices *s, int first, int end)
{
    slice_open(s, phase_at(s, first), "phase", s->begin[first], s->end[end - 1]);
    fputc('}', s->writer->out);
    for (int i = first; i < end; i++) {
        if (i > first)
            wait_write(s, s->end[i - 1], s->begin[i], i);
        task_write(s, i);
    }
}

static void slices_write(const struct slices *s)
{
    char name[48];
    int64_t at = 0;
    snprintf(name, sizeof name, "step %" PRId64, s->step->at.step);
    slice_open(s, name, "step", 0, s->step->wall_ns);
    fprintf(s->writer->out, ",\"args\":{\"step\":%" PRId64 ",\"timed\":%" PRId64 "}}",
            s->step->at.step, s->step->at.timed);
    for (int first = 0, end; first < s->count; first = end) {
        for (end = first + 1; end < s->count; end++)
            if (strcmp(phase_at(s, first), phase_at(s, end)) != 0)
                break;
        wait_write(s, at, s->begin[first], first);
        phase_write(s, first, end);
        at = s->end[end - 1];
    }
    wait_write(s, at, s->step->wall_ns, s->count);
}

static int64_t clip(int64_t ns, int64_t low, int64_t high)
{
    return ns < low ? low : ns > high ? high : ns;
}

enum mgb_status mgb_trace_json_track(struct mgb_trace_json *writer,
                                     const struct mgb_trace_step *step, int track,
                                     const struct mgb_trace_thread *thread, const int64_t *on_path)
{
    size_t room = (size_t)step->task_count + 1;
    int *tasks = malloc(room * sizeof *tasks), count = 0;
    int64_t *begin = malloc(room * sizeof *begin), *end = malloc(room * sizeof *end), at = 0;
    bool made = tasks && begin && end;
    for (int i = 0; made && i < step->task_count; i++) {
        const struct mgb_trace_task *task = &step->tasks[i];
        if (task->track != track)
            continue;
        tasks[count] = i;
        begin[count] = clip(task->start_ns, at, step->wall_ns);
        end[count] = clip(task->start_ns + task->duration_ns, begin[count], step->wall_ns);
        at = end[count++];
    }
    struct slices slices = {.writer = writer,
                            .step = step,
                            .thread = thread,
                            .on_path = on_path,
                            .tasks = tasks,
                            .begin = begin,
                            .end = end,
                            .count = count,
                            .waits = step->tracks[track].kind == MGB_TRACK_COMPUTE};
    if (made)
        slices_write(&slices);
    free(tasks);
    free(begin);
    free(end);
    return made ? MGB_OK : no_memory();
}

/* By copy: the first task on the device of arrival that waits for it; -1: none says so. */
static int *consumers_make(const struct mgb_trace_step *step)
{
    int *first = malloc(((size_t)step->task_count + 1) * sizeof *first);
    for (int i = 0; first && i < step->task_count; i++)
        first[i] = -1;
    for (int i = 0; first && i < step->task_count; i++) {
        const struct mgb_trace_task *task = &step->tasks[i];
        const char *where = step->tracks[task->track].device; /* of a copy, where it takes from */
        for (int w = 0; w < task->wait_count; w++) {
            int on = step->waits[task->wait_begin + w];
            if (on >= 0 && first[on] < 0 && strcmp(where, step->tasks[on].device) == 0)
                first[on] = i;
        }
    }
    return first;
}

static void flow_end(struct mgb_trace_json *writer, char phase,
                     const struct mgb_trace_thread *thread, int64_t ns)
{
    mgb_trace_json_event(writer, phase, "copy", thread, ns);
    fprintf(writer->out, ",\"cat\":\"copy\",\"id\":%" PRId64 "%s}", writer->flows,
            phase == 'f' ? ",\"bp\":\"e\"" : "");
}

/* From the copy's slice to the one that takes what it brought: where nobody names it, to what the device does then. */
static enum mgb_status flow_write(struct mgb_trace_json *writer, const struct mgb_trace_step *step,
                                  int copy, int consumer)
{
    const struct mgb_trace_task *task = &step->tasks[copy];
    const struct mgb_trace_track *from = &step->tracks[task->track];
    const struct mgb_trace_thread *thread;
    int64_t end = clip(task->start_ns + task->duration_ns, 0, step->wall_ns), at = end;
    thread = mgb_trace_json_thread(writer, from->kind, from->device, from->to);
    if (!thread)
        return no_memory();
    writer->flows++;
    flow_end(writer, 's', thread, step->start_ns + clip(task->start_ns, 0, step->wall_ns));
    const struct mgb_trace_track *to =
        consumer < 0 ? NULL : &step->tracks[step->tasks[consumer].track];
    if (to)
        at = clip(step->tasks[consumer].start_ns, at, step->wall_ns);
    thread = to ? mgb_trace_json_thread(writer, to->kind, to->device, to->to)
                : mgb_trace_json_thread(writer, MGB_TRACK_COMPUTE, task->device, NULL);
    if (!thread)
        return no_memory();
    flow_end(writer, 'f', thread, step->start_ns + at);
    return MGB_OK;
}

enum mgb_status mgb_trace_json_flows(struct mgb_trace_json *writer,
                                     const struct mgb_trace_step *step)
{
    enum mgb_status status = MGB_OK;
    int *consumers = consumers_make(step);
    if (!consumers)
        return no_memory();
    for (int i = 0; i < step->task_count && status == MGB_OK; i++)
        if (step->tracks[step->tasks[i].track].kind == MGB_TRACK_LINK &&
            strcmp(step->tasks[i].kind, "copy") == 0)
            status = flow_write(writer, step, i, consumers[i]);
    free(consumers);
    return status;
}
