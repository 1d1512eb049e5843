/* See trace.h. */
#include "db/trace.h"

#include <stdlib.h>
#include <string.h>

struct text { /* in a list, so that they stay where they are */
    struct text *next;
    char at[];
};

struct waiting { /* a task's waits as numbers, before all numbers are known */
    int64_t *numbers;
    size_t count, capacity;
};

struct loading {
    struct mgb_trace_step *step;
    size_t task_capacity, track_capacity;
    struct waiting waits; /* tasks' wait_begin and wait_count point into it */
};

static enum mgb_status no_memory(void)
{
    return mgb_fail(MGB_NO_MEMORY, "reading a traced step: memory is exhausted");
}

/* A copy that lives as long as the step; texts repeat, so the newest few are looked at first. */
static const char *text_keep(struct mgb_trace_step *step, const struct mgb_value *value)
{
    const char *wanted = mgb_value_text(value);
    int looked = 0;
    for (struct text *text = step->memory; text && looked < 32; text = text->next, looked++)
        if (strcmp(text->at, wanted) == 0)
            return text->at;
    size_t size = strlen(wanted) + 1;
    struct text *text = malloc(sizeof *text + size);
    if (!text)
        return NULL;
    memcpy(text->at, wanted, size);
    text->next = step->memory;
    step->memory = text;
    return text->at;
}

/* Room for one more of `size` bytes each. */
static bool room_make(void **list, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity)
        return true;
    size_t more = *capacity * 2 + 64;
    void *grown = realloc(*list, more * size);
    if (!grown)
        return false;
    *list = grown;
    *capacity = more;
    return true;
}

/* "[3,14]"; anything else in a damaged file is as if nothing were known. */
static bool waits_read(struct loading *load, const struct mgb_value *value)
{
    const char *at = mgb_value_text(value);
    if (*at != '[') {
        load->step->waits_known = false;
        return true;
    }
    for (at++; *at && *at != ']';) {
        char *end;
        long long number = strtoll(at, &end, 10);
        if (end == at) {
            load->step->waits_known = false;
            break;
        }
        if (!room_make((void **)&load->waits.numbers, &load->waits.capacity, load->waits.count,
                       sizeof *load->waits.numbers))
            return false;
        load->waits.numbers[load->waits.count++] = number;
        at = *end == ',' ? end + 1 : end;
    }
    return true;
}

static int track_find(struct loading *load, const struct mgb_trace_track *wanted)
{
    struct mgb_trace_step *step = load->step;
    for (int i = 0; i < step->track_count; i++) {
        const struct mgb_trace_track *track = &step->tracks[i];
        if (track->kind == wanted->kind && track->device == wanted->device &&
            track->to == wanted->to)
            return i;
    }
    if (!room_make((void **)&step->tracks, &load->track_capacity, (size_t)step->track_count,
                   sizeof *step->tracks))
        return -1;
    step->tracks[step->track_count] = *wanted;
    return step->track_count++;
}

/* Devices' names are asked for again and again: the same text has the same address here. */
static const char *device_keep(struct loading *load, const struct mgb_value *value)
{
    const char *wanted = mgb_value_text(value);
    for (int i = 0; i < load->step->track_count; i++) {
        const struct mgb_trace_track *track = &load->step->tracks[i];
        if (strcmp(track->device, wanted) == 0)
            return track->device;
        if (track->to && strcmp(track->to, wanted) == 0)
            return track->to;
    }
    return text_keep(load->step, value);
}

/* The column queue: the device itself, "collective", or where a copy comes from. */
static struct mgb_trace_track track_of(struct loading *load, const char *device,
                                       const struct mgb_value *queue, const char *kind)
{
    const char *text = mgb_value_text(queue);
    if (strcmp(text, "collective") == 0 || strcmp(kind, "allreduce") == 0)
        return (struct mgb_trace_track){MGB_TRACK_COLLECTIVE, device, NULL};
    if (strcmp(text, device) == 0)
        return (struct mgb_trace_track){MGB_TRACK_COMPUTE, device, NULL};
    return (struct mgb_trace_track){MGB_TRACK_LINK, device_keep(load, queue), device};
}

enum { NUMBER, DEVICE, QUEUE, KIND, PHASE, NAME, START, DURATION, BYTES, WAITS, COLUMNS };
static const char task_query[] =
    "SELECT coalesce(task, row_number() OVER (ORDER BY task, id) - 1) AS number, device, queue, "
    "kind, phase, name, "
    "start_ns, duration_ns, bytes, waits_for FROM task WHERE segment_id = ? AND step = ? "
    "ORDER BY task, id";

/* A damaged file may hold anything: sums of three of these stay far from the ends. */
static int64_t time_read(const struct mgb_value *value, int64_t least)
{
    const int64_t most = INT64_MAX / 4;
    return value->integer < least ? least : value->integer > most ? most : value->integer;
}

static enum mgb_status task_take(void *context, const struct mgb_value *values, int count)
{
    struct loading *load = context;
    struct mgb_trace_step *step = load->step;
    (void)count;
    if (!room_make((void **)&step->tasks, &load->task_capacity, (size_t)step->task_count,
                   sizeof *step->tasks))
        return no_memory();
    struct mgb_trace_task task = {.number = values[NUMBER].integer,
                                  .kind = text_keep(step, &values[KIND]),
                                  .phase = text_keep(step, &values[PHASE]),
                                  .name = text_keep(step, &values[NAME]),
                                  .device = device_keep(load, &values[DEVICE]),
                                  .start_ns = time_read(&values[START], -INT64_MAX / 4),
                                  .duration_ns = time_read(&values[DURATION], 0),
                                  .bytes = values[BYTES].integer,
                                  .wait_begin = (int)load->waits.count};
    if (!task.kind || !task.phase || !task.name || !task.device ||
        !waits_read(load, &values[WAITS]))
        return no_memory();
    struct mgb_trace_track track = track_of(load, task.device, &values[QUEUE], task.kind);
    task.track = track.device ? track_find(load, &track) : -1;
    if (task.track < 0)
        return no_memory();
    task.wait_count = (int)load->waits.count - task.wait_begin;
    step->tasks[step->task_count++] = task;
    return MGB_OK;
}

/* Tasks are in the order of their numbers. */
static int task_find(const struct mgb_trace_step *step, int64_t number)
{
    int low = 0, high = step->task_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (step->tasks[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < step->task_count && step->tasks[low].number == number ? low : -1;
}

static enum mgb_status waits_resolve(struct loading *load)
{
    struct mgb_trace_step *step = load->step;
    step->waits = malloc((load->waits.count + 1) * sizeof *step->waits);
    if (!step->waits)
        return no_memory();
    step->wait_count = (int)load->waits.count;
    for (size_t i = 0; i < load->waits.count; i++)
        step->waits[i] = task_find(step, load->waits.numbers[i]);
    return MGB_OK;
}

static enum mgb_status step_take(void *context, const struct mgb_value *values, int count)
{
    struct mgb_trace_step *step = context;
    (void)count;
    step->epoch = values[0].integer;
    step->start_ns = time_read(&values[1], 0);
    step->wall_ns = time_read(&values[2], 0);
    step->examples = values[3].integer;
    step->has_loss = values[4].kind == MGB_VALUE_REAL;
    step->loss = values[4].real;
    return MGB_OK;
}

static int track_rank(enum mgb_track_kind kind)
{
    return kind == MGB_TRACK_COMPUTE ? 0 : kind == MGB_TRACK_LINK ? 1 : 2;
}

/* /gpu:2 before /gpu:10. */
static int device_order(const char *a, const char *b)
{
    size_t x = strlen(a), y = strlen(b);
    const char *first = strrchr(a, ':'), *second = strrchr(b, ':');
    bool alike = first && second && first - a == second - b && !strncmp(a, b, (size_t)(first - a));
    if (alike && x != y)
        return x < y ? -1 : 1;
    return strcmp(a, b);
}

static int by_place(const struct mgb_trace_track *a, const struct mgb_trace_track *b)
{
    int device = device_order(a->device, b->device);
    if (device != 0)
        return device;
    if (a->kind != b->kind)
        return track_rank(a->kind) - track_rank(b->kind);
    return a->to && b->to ? device_order(a->to, b->to) : 0;
}

/* Few tracks: sorted by insertion, with the tasks renumbered after. */
static enum mgb_status tracks_sort(struct mgb_trace_step *step)
{
    int *place = malloc(((size_t)step->track_count + 1) * 2 * sizeof *place);
    if (!place)
        return no_memory();
    int *now = place + step->track_count + 1; /* where the track that was i stands now */
    for (int i = 0; i < step->track_count; i++) {
        struct mgb_trace_track track = step->tracks[i];
        int k = i;
        for (; k > 0 && by_place(&step->tracks[k - 1], &track) > 0; k--) {
            step->tracks[k] = step->tracks[k - 1];
            place[k] = place[k - 1];
        }
        step->tracks[k] = track;
        place[k] = i;
    }
    for (int k = 0; k < step->track_count; k++)
        now[place[k]] = k;
    for (int i = 0; i < step->task_count; i++)
        step->tasks[i].track = now[step->tasks[i].track];
    free(place);
    return MGB_OK;
}

enum mgb_status mgb_trace_load(struct mgb_trace_step *out, struct mgb_reader *reader,
                               int64_t segment, struct mgb_trace_listed at)
{
    const struct mgb_value which[] = {mgb_value_of_int(segment), mgb_value_of_int(at.step)};
    *out = (struct mgb_trace_step){.at = at, .waits_known = true};
    struct loading load = {.step = out};
    struct mgb_query_sink tasks = {.context = &load, .row = task_take};
    struct mgb_query_sink step = {.context = out, .row = step_take};
    enum mgb_status status;
    MGB_TRY_GOTO(status,
                 mgb_query_run(reader,
                               "SELECT epoch, start_ns, wall_ns, examples, loss FROM step "
                               "WHERE segment_id = ? AND step = ?",
                               which, 2, &step),
                 end);
    MGB_TRY_GOTO(status, mgb_query_run(reader, task_query, which, 2, &tasks), end);
    if (out->task_count == 0)
        MGB_TRY_GOTO(status,
                     mgb_fail(MGB_MISSING, "step %lld of segment %lld was not traced",
                              (long long)at.step, (long long)segment),
                     end);
    MGB_TRY_GOTO(status, waits_resolve(&load), end);
    MGB_TRY_GOTO(status, tracks_sort(out), end);
end:
    free(load.waits.numbers);
    if (status != MGB_OK)
        mgb_trace_step_done(out);
    return status;
}

void mgb_trace_step_done(struct mgb_trace_step *step)
{
    for (struct text *text = step->memory, *next; text; text = next) {
        next = text->next;
        free(text);
    }
    free(step->tracks);
    free(step->tasks);
    free(step->waits);
    *step = (struct mgb_trace_step){0};
}

enum mgb_status mgb_trace_critical(struct mgb_critical_part **parts, int *count,
                                   const struct mgb_trace_step *step)
{
    struct mgb_critical_task *tasks = malloc(((size_t)step->task_count + 1) * sizeof *tasks);
    if (!tasks)
        return no_memory();
    for (int i = 0; i < step->task_count; i++)
        tasks[i] = (struct mgb_critical_task){.queue = step->tasks[i].track,
                                              .start_ns = step->tasks[i].start_ns,
                                              .duration_ns = step->tasks[i].duration_ns,
                                              .wait_begin = step->tasks[i].wait_begin,
                                              .wait_count = step->tasks[i].wait_count};
    struct mgb_critical_request request = {
        .tasks = tasks, .count = step->task_count, .waits = step->waits, .wall_ns = step->wall_ns};
    enum mgb_status status = mgb_critical_find(parts, count, &request);
    free(tasks);
    return status;
}
