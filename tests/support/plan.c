/* Machines and placements of plan.h. */
#include "tests/support/plan.h"

#include "engine/base/memory.h"
#include "engine/graph/graph.h"
#include "tests/support/check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void plan_machine_make(struct mgb_topology *out, int gpus)
{
    *out = (struct mgb_topology){.machine = "test", .device_count = gpus + 1};
    out->devices = mgb_alloc((size_t)(gpus + 1) * sizeof *out->devices);
    assert_non_null(out->devices);
    for (int d = 0; d <= gpus; d++) {
        out->devices[d].name.kind = d == 0 ? MGB_DEVICE_CPU : MGB_DEVICE_GPU;
        out->devices[d].name.index = d == 0 ? 0 : d - 1;
        out->devices[d].class = MGB_CLASS_CPU;
        out->devices[d].physical = d;
    }
}

static int *places_make(int count, int place, int gpus)
{
    int *places = mgb_alloc((size_t)count * sizeof *places);
    assert_non_null(places);
    for (int v = 0; v < count; v++)
        places[v] = place == PLAN_SPREAD ? PLAN_GPU(v % gpus) : place;
    return places;
}

static void placement_make(struct mgb_effective *out, const struct mgb_graph *graph,
                           const struct plan_setup *setup)
{
    int towers = setup->gpus > 0 ? setup->gpus : 1, variables = graph->variable_count;
    int *devices = mgb_alloc((size_t)towers * sizeof *devices);
    assert_non_null(devices);
    for (int t = 0; t < towers; t++)
        devices[t] = setup->gpus == 0 ? PLAN_CPU : PLAN_GPU(setup->order ? setup->order[t] : t);
    bool mirrored = setup->strategy == MGB_ALLREDUCE || setup->strategy == MGB_INDEPENDENT;
    *out =
        (struct mgb_effective){.strategy = setup->strategy,
                               .tower_count = towers,
                               .tower_device = devices,
                               .global_batch = setup->batch,
                               .batch_per_gpu = (setup->batch + towers - 1) / towers,
                               .variable_count = variables,
                               .join_at = setup->join,
                               .loss_at = setup->loss,
                               .weights_at = setup->home,
                               .sum_at = setup->sum,
                               .update_at = setup->update,
                               .relocation = setup->clone ? MGB_CLONE : MGB_MOVE,
                               .relocated = setup->original != setup->home,
                               .allreduce = setup->allreduce,
                               .bucket_bytes = setup->bucket_bytes ? setup->bucket_bytes : 25 << 20,
                               .overlap = !setup->no_overlap,
                               .bn = setup->sync ? MGB_BN_SYNC : MGB_BN_TOWER,
                               .threads = 1,
                               .cpu_threads = 1};
    if (mirrored)
        return;
    out->home = places_make(variables, setup->home, setup->gpus);
    out->sum = places_make(variables, setup->sum, setup->gpus);
    out->update = places_make(variables, setup->update, setup->gpus);
    out->original = places_make(variables, setup->original, setup->gpus);
}

void plan_world_make(struct plan_world *out, const struct mgb_graph *graph,
                     const struct plan_setup *setup)
{
    out->topology = mgb_alloc(sizeof *out->topology);
    out->placement = mgb_alloc(sizeof *out->placement);
    assert_true(out->topology && out->placement);
    plan_machine_make(out->topology, setup->gpus);
    placement_make(out->placement, graph, setup);
    out->request =
        (struct mgb_plan_request){.kind = setup->evaluate ? MGB_PLAN_EVALUATE : MGB_PLAN_TRAIN,
                                  .graph = graph,
                                  .topology = out->topology,
                                  .placement = out->placement,
                                  .facts = setup->facts,
                                  .optimizer = setup->optimizer,
                                  .rows = setup->rows ? setup->rows : setup->batch};
}

void plan_world_done(struct plan_world *world)
{
    mgb_release(world->topology->devices);
    mgb_release((void *)world->placement->tower_device);
    mgb_release((void *)world->placement->home);
    mgb_release((void *)world->placement->sum);
    mgb_release((void *)world->placement->update);
    mgb_release((void *)world->placement->original);
    mgb_release(world->topology);
    mgb_release(world->placement);
}

struct mgb_plan *plan_make(struct plan_world *world, const struct mgb_graph *graph,
                           const struct plan_setup *setup)
{
    struct mgb_plan *plan = NULL;
    plan_world_make(world, graph, setup);
    assert_ok(mgb_plan_make(&plan, &world->request));
    return plan;
}

int64_t plan_traffic(const struct mgb_plan *plan, int from, int to)
{
    for (int i = 0; i < plan->traffic_count; i++)
        if (plan->traffic[i].from == from && plan->traffic[i].to == to)
            return plan->traffic[i].bytes;
    return 0;
}

const struct mgb_device_use *plan_use(const struct mgb_plan *plan, int device)
{
    for (int i = 0; i < plan->use_count; i++)
        if (plan->uses[i].device == device)
            return &plan->uses[i];
    fail_msg("the plan does not use device %d", device);
    return NULL;
}

int plan_find_task(const struct mgb_plan *plan, enum mgb_task_kind kind, enum mgb_phase phase,
                   int n)
{
    for (int i = 0; i < plan->task_count; i++)
        if (plan->tasks[i].kind == kind && plan->tasks[i].phase == phase && n-- == 0)
            return i;
    return -1;
}

int plan_count_tasks(const struct mgb_plan *plan, enum mgb_task_kind kind, enum mgb_phase phase)
{
    int count = 0;
    while (plan_find_task(plan, kind, phase, count) >= 0)
        count++;
    return count;
}

static char *file_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    size_t length = fread(text, 1, (1 << 20) - 1, file);
    text[length] = '\0';
    fclose(file);
    return text;
}

void plan_check_golden(const struct mgb_plan *plan, const char *name)
{
    const char *source = getenv("MGB_SOURCE_DIR"), *update = getenv("MGB_UPDATE_GOLDEN");
    char path[1024], *text;
    assert_non_null(source);
    snprintf(path, sizeof path, "%s/tests/golden/plans/%s.txt", source, name);
    assert_ok(mgb_plan_text(&text, plan));
    if (update && strcmp(update, "1") == 0) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fputs(text, file) >= 0, 1);
        assert_int_equal(fclose(file), 0);
    }
    char *golden = file_read(path);
    if (!golden)
        fail_msg("%s is missing: run with MGB_UPDATE_GOLDEN=1 to write it", path);
    assert_string_equal(text, golden);
    free(golden);
    mgb_text_free(text);
}
