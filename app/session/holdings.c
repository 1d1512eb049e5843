/* What a segment holds and moves: memory, traffic, variables, duplicates, from the plan in force. */
#include "app/session/rows.h"

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
                    .peak_bytes =
                        mgb_session_trace_peak(&session->trace, u, (enum mgb_memory_category)c),
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

static enum mgb_variable_role role_of(const struct mgb_storage *storage,
                                      const struct mgb_variable_info *info)
{
    switch (storage->role) {
    case MGB_ROLE_MASTER:
        return info->twin >= 0 ? MGB_VARIABLE_DUPLICATE : MGB_VARIABLE_MASTER;
    case MGB_ROLE_REPLICA:
        return MGB_VARIABLE_REPLICA;
    case MGB_ROLE_SLOT:
        return MGB_VARIABLE_SLOT;
    case MGB_ROLE_LEFTOVER:
        return MGB_VARIABLE_LEFTOVER;
    }
    return MGB_VARIABLE_MASTER;
}

/* Two storages are the same bytes when device, arena and offset agree. */
static int64_t storage_number(struct mgb_place place, int64_t offset)
{
    return ((int64_t)place.device << 44) + ((int64_t)place.arena << 42) +
           (place.offset + offset) / 4;
}

/* The next tower after `tower` (0: the first) that has an instance of a storage that stands for all of its class; -1 when
 * there is none. Tower 0 has entries of its own. */
static int instance_next(const struct mgb_plan *plan, const struct mgb_storage *storage, int tower)
{
    for (tower++; tower < plan->tower_count; tower++)
        if (plan->towers[tower].class == plan->buffers[storage->buffer].class)
            return tower;
    return -1;
}

static int instances_count(const struct mgb_plan *plan)
{
    int count = 0;
    for (int i = 0; i < plan->storage_count; i++)
        count += plan->storages[i].tower == MGB_EACH_TOWER
                     ? plan->classes[plan->buffers[plan->storages[i].buffer].class].tower_count
                     : 1;
    return count;
}

static void variable_fill(struct mgb_record_variable *row, char shape[64],
                          const struct script_session *session, const struct mgb_storage *storage,
                          int tower)
{
    const struct mgb_plan *plan = mgb_run_plan(session->run);
    struct mgb_variable_info info = mgb_graph_variable_at(plan->graph, storage->variable);
    struct mgb_place place = mgb_plan_place(plan, storage->buffer, tower);
    *row = (struct mgb_record_variable){
        .name = info.name,
        .scope = info.scope,
        .shape = mgb_shape_format(shape, 64, &info.shape),
        .type = "f32",
        .bytes = storage->bytes,
        .device = session_device(session, place.device),
        .role = role_of(storage, &info),
        .storage = storage_number(place, storage->offset),
    };
}

static void record_variables(struct script_session *session, const struct mgb_plan *plan)
{
    int most = instances_count(plan), count = 0;
    struct mgb_record_variable *row = calloc((size_t)most + 1, sizeof *row);
    char(*shape)[64] = calloc((size_t)most + 1, sizeof *shape);
    for (int i = 0; row && shape && i < plan->storage_count; i++) {
        const struct mgb_storage *storage = &plan->storages[i];
        if (storage->tower != MGB_EACH_TOWER) {
            variable_fill(&row[count], shape[count], session, storage, storage->tower);
            count++;
            continue;
        }
        for (int tower = instance_next(plan, storage, 0); tower >= 0 && count < most;
             tower = instance_next(plan, storage, tower), count++)
            variable_fill(&row[count], shape[count], session, storage, tower);
    }
    if (row && shape)
        mgb_recorder_put_variables(session->hub->recorder, session->segment_id, row, (size_t)count);
    free(row);
    free(shape);
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
