/* Memory a device needs: sizes of its arenas and the largest sum of live bytes by category. */
#include "engine/plan/build.h"

#include <string.h>

/* peaks[c] of one group; `change` has room for task_count + 1 sums a category and is left zeroed. */
static void group_peak(const struct mgb_planner *planner, const int *buffers, int count,
                       int64_t *change, int64_t peaks[MGB_MEMORY_CATEGORY_COUNT])
{
    int tasks = planner->tasks.count;
    for (int i = 0; i < count; i++) {
        const struct mgb_buffer *b = &planner->buffers.at[buffers[i]];
        int64_t *line = change + (size_t)b->category * ((size_t)tasks + 2);
        line[b->first] += mgb_plan_extent(planner, buffers[i]);
        line[b->last + 1] -= mgb_plan_extent(planner, buffers[i]);
    }
    for (int c = 0; c < MGB_MEMORY_CATEGORY_COUNT; c++) {
        int64_t *line = change + (size_t)c * ((size_t)tasks + 2), live = 0;
        peaks[c] = 0;
        for (int i = 0; i < tasks + 2; i++) {
            live += line[i];
            peaks[c] = live > peaks[c] ? live : peaks[c];
            line[i] = 0;
        }
    }
}

/* begin[g] .. begin[g + 1] of `list`: the buffers of group g. */
static void buffers_sort(const struct mgb_planner *planner, int *list, int *begin)
{
    int groups = mgb_plan_group_count(planner);
    for (int b = 0; b < planner->buffers.count; b++)
        begin[mgb_plan_group(planner, b) + 1]++;
    for (int g = 0; g < groups; g++)
        begin[g + 1] += begin[g];
    for (int b = planner->buffers.count - 1; b >= 0; b--)
        list[--begin[mgb_plan_group(planner, b) + 1]] = b;
    for (int g = 0; g < groups; g++)
        begin[g] = begin[g + 1];
    begin[groups] = planner->buffers.count;
}

static void use_add(struct mgb_planner *planner, int device, int group, const int64_t *peaks)
{
    const struct mgb_arena_size *arena = &planner->arenas[group];
    if (arena->lasting + arena->step == 0)
        return;
    struct mgb_device_use *use = &planner->plan->uses[planner->plan->use_count++];
    *use = (struct mgb_device_use){.device = device,
                                   .lasting_bytes = arena->lasting,
                                   .step_bytes = arena->step,
                                   .peak_bytes = arena->lasting + arena->step};
    memcpy(use->peak, peaks, sizeof use->peak);
}

typedef int64_t peak_row[MGB_MEMORY_CATEGORY_COUNT];

static void uses_fill(struct mgb_planner *planner, const peak_row *peaks, int *class_at)
{
    const struct mgb_plan *plan = planner->plan;
    int devices = plan->topology->device_count;
    for (int t = 0; t < plan->tower_count; t++)
        class_at[plan->towers[t].device] = plan->towers[t].class + 1;
    for (int d = 0; d < devices; d++) {
        int group = planner->rooted[d] ? d : class_at[d] > 0 ? devices + class_at[d] - 1 : -1;
        if (group >= 0)
            use_add(planner, d, group, peaks[group]);
    }
}

enum mgb_status mgb_plan_peak(struct mgb_planner *planner)
{
    int groups = mgb_plan_group_count(planner), devices = planner->plan->topology->device_count;
    planner->plan->uses = mgb_plan_alloc(planner, (size_t)devices, sizeof *planner->plan->uses);
    int *list = mgb_alloc(((size_t)planner->buffers.count + 1) * sizeof *list);
    int *begin = mgb_alloc(((size_t)groups + 2) * sizeof *begin);
    int *class_at = mgb_alloc((size_t)devices * sizeof *class_at);
    peak_row *peaks = mgb_alloc((size_t)groups * sizeof *peaks);
    int64_t *change =
        mgb_alloc(((size_t)planner->tasks.count + 2) * MGB_MEMORY_CATEGORY_COUNT * sizeof *change);
    if (!list || !begin || !class_at || !peaks || !change || planner->failed) {
        planner->failed = true;
    } else {
        buffers_sort(planner, list, begin);
        for (int g = 0; g < groups; g++)
            if (begin[g + 1] > begin[g])
                group_peak(planner, list + begin[g], begin[g + 1] - begin[g], change, peaks[g]);
        uses_fill(planner, peaks, class_at);
    }
    mgb_release(list);
    mgb_release(begin);
    mgb_release(class_at);
    mgb_release(peaks);
    mgb_release(change);
    return MGB_OK;
}
