/* What one toggle would change, from a preview of it: nothing is opened. */
#include "app/session/workbench/presser_private.h"

#include "app/session/effective_columns.h"
#include "app/session/workbench/workbench.h"

#include <math.h>
#include <mgb/text.h>
#include <mgb/virtual.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "gpu:0", "on" */
static void text_shorten(char *out, size_t size, const char *text, enum mgb_option_id id)
{
    enum mgb_option_kind kind = mgb_placement_options()[id].kind;
    bool truth = kind == MGB_KIND_BOOL || kind == MGB_KIND_CHOICE;
    if (truth && strcmp(text, "true") == 0)
        text = "on";
    else if (truth && strcmp(text, "false") == 0)
        text = "off";
    snprintf(out, size, "%.*s", (int)size - 1, *text == '/' ? text + 1 : text);
}

/* The option whose text tells what another one came to. */
static enum mgb_option_id option_shown(enum mgb_option_id id, enum mgb_strategy strategy)
{
    if (id == MGB_OPTION_CPU_RELOCATION)
        return MGB_OPTION_WEIGHTS_AT;
    if (id == MGB_OPTION_CPU_MERGE || id == MGB_OPTION_MERGE_AT)
        return strategy == MGB_OUTPUTS ? MGB_OPTION_JOIN_AT : MGB_OPTION_SUM_AT;
    return id;
}

static void option_show(char *out, size_t size, enum mgb_option_id id,
                        const struct mgb_placement *asked, const struct mgb_preview *preview)
{
    char text[256];
    const struct mgb_effective *effective = mgb_preview_effective(preview);
    enum mgb_option_id shown = option_shown(id, effective->strategy);
    if (id == MGB_OPTION_LIKE) /* in effect it is the places */
        mgb_placement_get_text(text, sizeof text, asked, id);
    else
        mgb_effective_get_text(text, sizeof text, effective, mgb_preview_topology(preview), shown);
    if (id == MGB_OPTION_GPU_MEMORY && *text)
        mgb_format_bytes(text, sizeof text, strtoll(text, NULL, 10));
    text_shorten(out, size, *text ? text : "-", shown);
}

static int64_t traffic_sum(const struct mgb_plan *plan)
{
    int64_t bytes = 0;
    for (int i = 0; i < plan->traffic_count; i++)
        bytes += plan->traffic[i].bytes;
    return bytes;
}

/* Planned peak of the fullest device of a kind. */
static int64_t peak_find(const struct mgb_plan *plan, enum mgb_device_kind kind)
{
    int64_t most = 0;
    for (int i = 0; i < plan->use_count; i++)
        if (plan->topology->devices[plan->uses[i].device].name.kind == kind &&
            plan->uses[i].peak_bytes > most)
            most = plan->uses[i].peak_bytes;
    return most;
}

static void changes_fill(struct mgb_pressed_row *row, const struct mgb_plan *now,
                         const struct mgb_plan *next)
{
    row->traffic_change = traffic_sum(next) - traffic_sum(now);
    row->gpu_change = peak_find(next, MGB_DEVICE_GPU) - peak_find(now, MGB_DEVICE_GPU);
    row->cpu_change = peak_find(next, MGB_DEVICE_CPU) - peak_find(now, MGB_DEVICE_CPU);
}

static void row_refuse(struct mgb_pressed_row *row, enum mgb_pressed_from from, const char *reason)
{
    row->from = from;
    snprintf(row->reason, sizeof row->reason, "%s", reason);
}

static void oom_write(struct mgb_pressed_row *row)
{
    struct mgb_oom oom = mgb_oom_get();
    char needed[32], there[32], reason[sizeof row->reason];
    snprintf(reason, sizeof reason, "out of memory: %s would need %s and has %s", oom.device,
             mgb_format_bytes(needed, sizeof needed, oom.needed),
             mgb_format_bytes(there, sizeof there, oom.available));
    row_refuse(row, MGB_PRESSED_OOM, reason);
}

/* As mgb_run_set would refuse it: the old weights lie beside the new ones while they move. */
static enum mgb_status change_admit(const struct presser_base *base, const struct mgb_preview *next)
{
    const struct mgb_plan *old = mgb_preview_plan(base->preview), *plan = mgb_preview_plan(next);
    bool moves = base->open && !mgb_plan_same_lasting(old, plan);
    return mgb_plan_admit(plan, moves ? old : NULL, mgb_preview_effective(next)->gpu_memory);
}

void mgb_presser_lookup_fill(struct mgb_lookup *lookup, const struct mgb_facts *facts,
                             const struct mgb_preview *next)
{
    struct session_effective_column columns[MGB_EFFECTIVE_COLUMNS];
    snprintf(lookup->model, sizeof lookup->model, "%s", facts->model);
    snprintf(lookup->backend, sizeof lookup->backend, "%s", facts->backend);
    lookup->column_count = mgb_session_effective_columns(columns, mgb_preview_effective(next),
                                                         mgb_preview_topology(next));
    for (int i = 0; i < lookup->column_count; i++) {
        snprintf(lookup->columns[i][0], sizeof lookup->columns[i][0], "%s", columns[i].name);
        snprintf(lookup->columns[i][1], sizeof lookup->columns[i][1], "%s", columns[i].value);
    }
}

/* Also where all that differs is whether a device may be listed twice: no step is another one by that, and its stored segments
 * would be those of the placement in force. */
static bool is_same(const struct mgb_effective *now, const struct mgb_effective *next)
{
    struct mgb_effective alike = *next;
    alike.logical = now->logical;
    return mgb_effective_equal(now, &alike);
}

/* Both plans are played: what is simulated has its answer at once. False: it cannot be played, and the plan has to do. */
static bool row_predict(struct mgb_pressed_row *row, const struct presser_base *base,
                        struct mgb_preview *next)
{
    struct mgb_virtual_step step;
    if (mgb_preview_play(base->preview, &step) != MGB_OK || step.wall_ns <= 0)
        return false;
    double now = (double)step.wall_ns / mgb_preview_effective(base->preview)->global_batch;
    if (mgb_preview_play(next, &step) != MGB_OK)
        return false;
    row->from = MGB_PRESSED_PREDICTED;
    row->ms = (double)step.wall_ns / 1e6;
    row->ratio = (double)step.wall_ns / mgb_preview_effective(next)->global_batch / now;
    row->low = row->high = row->ratio;
    snprintf(row->verdict, sizeof row->verdict, "%s",
             row->ratio < 1   ? "faster"
             : row->ratio > 1 ? "slower"
                              : "same");
    return true;
}

static void row_judge(struct mgb_pressed_row *row, struct mgb_lookup *lookup,
                      const struct presser_base *base, struct mgb_preview *next,
                      const struct mgb_placement *asked)
{
    option_show(row->next, sizeof row->next, row->option, asked, next);
    changes_fill(row, mgb_preview_plan(base->preview), mgb_preview_plan(next));
    if (is_same(mgb_preview_effective(base->preview), mgb_preview_effective(next))) {
        row->from = MGB_PRESSED_SAME;
    } else if (change_admit(base, next) != MGB_OK) {
        oom_write(row);
    } else if (!base->facts->simulated || !row_predict(row, base, next)) {
        row->from = MGB_PRESSED_PLANNED;
        mgb_presser_lookup_fill(lookup, base->facts, next);
    }
}

/* The request as it would be with the toggle's value. */
static enum mgb_status next_preview(struct mgb_preview **out, struct script_open_request *request,
                                    const struct mgb_pressed_row *row)
{
    const struct mgb_option *options = mgb_placement_options();
    enum mgb_option_id twin = mgb_toggle_twin(row->option);
    if (twin != MGB_OPTION_COUNT)
        MGB_TRY(mgb_placement_set(&request->placement, options[twin].name, "nil"));
    MGB_TRY(mgb_placement_set(&request->placement, options[row->option].name, row->value));
    request->fresh = UINT64_C(1) << row->option;
    return mgb_session_preview(out, request);
}

void mgb_presser_row_find(struct mgb_pressed_row *row, struct mgb_lookup *lookup,
                          const struct presser_base *base)
{
    const struct mgb_option *option = &mgb_placement_options()[row->option];
    struct script_open_request request = *base->request;
    struct mgb_preview *next;
    char reason[sizeof row->reason] = "";
    lookup->column_count = 0;
    row->ratio = row->low = row->high = row->ms = (double)NAN;
    if (!(option->strategies >> base->facts->strategy & 1)) {
        snprintf(reason, sizeof reason, "n/a under %s",
                 base->facts->options[MGB_OPTION_STRATEGY].effective);
        row_refuse(row, MGB_PRESSED_PARKED, reason);
        return;
    }
    option_show(row->now, sizeof row->now, row->option, &request.placement, base->preview);
    if (!mgb_toggle_next(row->value, sizeof row->value, reason, sizeof reason, row->option,
                         row->direction, base->facts, &request.placement)) {
        row_refuse(row, MGB_PRESSED_REFUSED, reason);
        return;
    }
    text_shorten(row->next, sizeof row->next, row->value, row->option); /* until it is planned */
    if (next_preview(&next, &request, row) != MGB_OK) {
        row_refuse(row, MGB_PRESSED_REFUSED, mgb_message_get());
        return;
    }
    row_judge(row, lookup, base, next, &request.placement);
    mgb_preview_free(next);
}
