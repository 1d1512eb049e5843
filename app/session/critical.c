/* Critical paths of stored steps, for scripts. */
#include "app/session/private.h"
#include "db/select.h"
#include "db/trace.h"

#include <stdlib.h>
#include <string.h>

enum mgb_status mgb_hub_find_segment(void *context, int64_t *run, int64_t *segment,
                                     const char *words)
{
    struct mgb_reader *reader;
    struct mgb_selected found;
    MGB_TRY(mgb_hub_reader(context, &reader));
    MGB_TRY(mgb_select_one(&found, reader, words));
    *run = found.run;
    *segment = found.segment;
    return MGB_OK;
}

static void part_fill(struct script_part *out, const struct mgb_trace_step *step,
                      const struct mgb_critical_part *part)
{
    int task = part->task >= 0 ? part->task : part->before;
    *out = (struct script_part){
        .begin_ns = part->begin_ns, .end_ns = part->end_ns, .gap = part->task < 0};
    if (task < 0)
        return;
    const struct mgb_trace_task *of = &step->tasks[task];
    const struct mgb_trace_track *track = &step->tracks[of->track];
    out->phase = of->phase;
    out->kind = of->kind;
    out->name = of->name;
    out->device = of->device;
    out->from = track->kind == MGB_TRACK_LINK         ? track->device
                : track->kind == MGB_TRACK_COLLECTIVE ? ""
                                                      : NULL;
    out->bytes = of->bytes;
}

static enum mgb_status path_fill(struct script_path *out, const struct mgb_trace_step *step)
{
    struct mgb_critical_part *parts;
    MGB_TRY(mgb_trace_critical(&parts, &out->count, step));
    out->parts = calloc((size_t)out->count + 1, sizeof *out->parts);
    for (int i = 0; out->parts && i < out->count; i++)
        part_fill(&out->parts[i], step, &parts[i]);
    free(parts);
    return out->parts ? MGB_OK
                      : mgb_fail(MGB_NO_MEMORY, "finding the critical path: memory is exhausted");
}

enum mgb_status mgb_hub_critical(void *context, struct script_path *out, int64_t segment,
                                 int64_t number)
{
    struct mgb_reader *reader;
    *out = (struct script_path){0};
    MGB_TRY(mgb_hub_reader(context, &reader));
    struct mgb_trace_step *step = calloc(1, sizeof *step);
    if (!step)
        return mgb_fail(MGB_NO_MEMORY, "finding the critical path: memory is exhausted");
    enum mgb_status status =
        mgb_trace_load(step, reader, segment, (struct mgb_trace_listed){.step = number});
    if (status != MGB_OK) {
        free(step);
        return status;
    }
    out->memory = step;
    out->wall_ns = step->wall_ns;
    out->waits_known = step->waits_known;
    status = path_fill(out, step);
    if (status != MGB_OK)
        mgb_hub_critical_free(out);
    return status;
}

void mgb_hub_critical_free(struct script_path *path)
{
    free(path->parts);
    if (path->memory)
        mgb_trace_step_done(path->memory);
    free(path->memory);
    *path = (struct script_path){0};
}
