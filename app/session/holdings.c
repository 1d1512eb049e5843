/* What a segment holds and moves: memory, traffic, variables, duplicates, from the plan in force. */
#include "app/session/rows.h"
#include "app/session/stored.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the categories held; `session->trace` knows what was measured. */
static void record_memory(struct script_session *session, const struct mgb_plan *plan)
{
    int rows = plan->use_count * MGB_MEMORY_CATEGORY_COUNT, count = 0;
    struct mgb_record_memory *row = calloc((size_t)rows + 1, sizeof *row);
    for (int u = 0; row && u < plan->use_count; u++) {
        const struct mgb_device_use *use = &plan->uses[u];
        for (int c = 0; c < MGB_MEMORY_CATEGORY_COUNT; c++)
            if (use->peak[c])
                row[count++] = (struct mgb_record_memory){
                    .device = session_device(session, use->device),
                    .category = (enum mgb_memory_category)c,
                    .planned_bytes = MGB_KNOWN_INT(use->peak[c]),
                    .peak_bytes = session->sim
                                      ? (struct mgb_maybe_int){0} /* nothing is held */
                                      : mgb_session_trace_peak(&session->trace, u,
                                                               (enum mgb_memory_category)c),
                };
    }
    if (row)
        mgb_recorder_put_memory(session->hub->recorder, session->segment_id, row, (size_t)count);
    free(row);
}

/* What the devices held: as planned, and as measured once steps were made. */
static void record_totals(struct script_session *session, const struct mgb_plan *plan)
{
    const struct mgb_topology *topology = mgb_run_topology(session->run);
    struct mgb_record_memory_total *row = calloc((size_t)plan->use_count + 1, sizeof *row);
    struct mgb_memory_use *held = calloc((size_t)topology->device_count, sizeof *held);
    int count = 0;
    if (held && session->segment_steps > 0)
        (void)mgb_run_memory(session->run, held, topology->device_count, &count);
    for (int u = 0; row && u < plan->use_count; u++) {
        const struct mgb_device_use *use = &plan->uses[u];
        int64_t limit = topology->devices[use->device].memory_bytes;
        row[u] = (struct mgb_record_memory_total){.device = session_device(session, use->device),
                                                  .planned_bytes = MGB_KNOWN_INT(use->peak_bytes)};
        if (limit)
            row[u].capacity_bytes = MGB_KNOWN_INT(limit);
        if (use->device >= count)
            continue;
        row[u].planned_bytes = MGB_KNOWN_INT(held[use->device].planned_bytes);
        if (held[use->device].measured_peak_bytes >= 0)
            row[u].peak_bytes = MGB_KNOWN_INT(held[use->device].measured_peak_bytes);
    }
    if (row)
        mgb_recorder_put_memory_totals(session->hub->recorder, session->segment_id, row,
                                       (size_t)plan->use_count);
    free(held);
    free(row);
}

static void record_traffic(struct script_session *session, const struct mgb_plan *plan)
{
    struct mgb_record_traffic *row = calloc((size_t)plan->traffic_count + 1, sizeof *row);
    if (!row)
        return;
    for (int i = 0; i < plan->traffic_count; i++)
        row[i] = (struct mgb_record_traffic){.from = session_device(session, plan->traffic[i].from),
                                             .to = session_device(session, plan->traffic[i].to),
                                             .bytes_per_step = plan->traffic[i].bytes,
                                             .time_per_step_ns =
                                                 mgb_session_trace_link(&session->trace, i)};
    mgb_recorder_put_traffic(session->hub->recorder, session->segment_id, row,
                             (size_t)plan->traffic_count);
    free(row);
}

/* Two storages are the same bytes when device, arena and offset agree. */
static int64_t storage_number(struct mgb_place place, int64_t offset)
{
    return ((int64_t)place.device << 44) + ((int64_t)place.arena << 42) +
           (place.offset + offset) / 4;
}

static void variable_fill(struct mgb_record_variable *row, char shape[64],
                          const struct script_session *session, const struct session_stored *stored)
{
    const struct mgb_plan *plan = mgb_run_plan(session->run);
    struct mgb_variable_info info = mgb_graph_variable_at(plan->graph, stored->storage->variable);
    *row = (struct mgb_record_variable){
        .name = info.name,
        .scope = info.scope,
        .shape = mgb_shape_format(shape, 64, &info.shape),
        .type = "f32",
        .bytes = stored->storage->bytes,
        .device = session_device(session, stored->place.device),
        .role = stored->role,
        .storage = storage_number(stored->place, stored->storage->offset),
    };
}

static void record_variables(struct script_session *session, const struct mgb_plan *plan)
{
    struct session_stored *list;
    int count;
    if (mgb_session_stored_list(&list, &count, plan) != MGB_OK)
        return;
    struct mgb_record_variable *row = calloc((size_t)count + 1, sizeof *row);
    char(*shape)[64] = calloc((size_t)count + 1, sizeof *shape);
    for (int i = 0; row && shape && i < count; i++)
        variable_fill(&row[i], shape[i], session, &list[i]);
    if (row && shape)
        mgb_recorder_put_variables(session->hub->recorder, session->segment_id, row, (size_t)count);
    free(row);
    free(shape);
    free(list);
}

static void record_duplicates(struct script_session *session, const struct mgb_plan *plan)
{
    struct mgb_check check;
    if (mgb_check_make(&check, plan) != MGB_OK)
        return;
    struct mgb_record_duplicate *row = calloc((size_t)check.finding_count + 1, sizeof *row);
    for (int i = 0; row && i < check.finding_count; i++) {
        const struct mgb_finding *finding = &check.findings[i];
        row[i] = (struct mgb_record_duplicate){
            .variable = mgb_graph_variable_at(plan->graph, finding->variable).name,
            .twin = mgb_graph_variable_at(plan->graph, finding->twin).name,
            .device = session_device(session, finding->device),
            .bytes = finding->bytes,
            .why = finding->why,
        };
    }
    if (row)
        mgb_recorder_put_duplicates(session->hub->recorder, session->segment_id, row,
                                    (size_t)check.finding_count);
    free(row);
    mgb_check_done(&check);
}

void mgb_session_record_holdings(struct script_session *session)
{
    const struct mgb_plan *plan = mgb_run_plan(session->run);
    if (!session->segment_id)
        return;
    mgb_session_record_measured(session);
    record_variables(session, plan);
    record_duplicates(session, plan);
}

void mgb_session_record_measured(struct script_session *session)
{
    const struct mgb_plan *plan = mgb_run_plan(session->run);
    if (!session->segment_id)
        return;
    record_memory(session, plan);
    record_totals(session, plan);
    record_traffic(session, plan);
}
