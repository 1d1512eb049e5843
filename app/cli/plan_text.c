/* See plan_text.h. */
#include "app/cli/plan_text.h"
#include "app/script/table.h"
#include <inttypes.h>
#include <stdlib.h>

#define MIB (1024.0 * 1024.0)

enum mgb_status mgb_cli_plan_count(int64_t counts[MGB_CLI_TASK_KINDS], int64_t *all,
                                   const struct mgb_plan *plan)
{
    struct mgb_flat flat;
    for (int kind = 0; kind < MGB_CLI_TASK_KINDS; kind++)
        counts[kind] = 0;
    MGB_TRY(mgb_plan_expand(&flat, plan));
    for (int i = 0; i < flat.count; i++)
        counts[plan->tasks[flat.tasks[i].task].kind]++;
    *all = flat.count;
    mgb_flat_done(&flat);
    return MGB_OK;
}

static enum mgb_status tasks_print(const struct mgb_plan *plan)
{
    int64_t counts[MGB_CLI_TASK_KINDS], all;
    MGB_TRY(mgb_cli_plan_count(counts, &all, plan));
    printf("%-11s%" PRId64, "tasks", all);
    for (int kind = 0, first = 1; kind < MGB_CLI_TASK_KINDS; kind++)
        if (counts[kind] > 0) {
            printf("%s%" PRId64 " %s", first ? ": " : ", ", counts[kind],
                   mgb_task_kind_name((enum mgb_task_kind)kind));
            first = 0;
        }
    putchar('\n');
    return MGB_OK;
}

static void device_add(struct mgb_table *table, const struct mgb_plan *plan, int device)
{
    char name[MGB_DEVICE_NAME_MAX];
    mgb_table_add_text(table, mgb_device_format(name, plan->topology->devices[device].name));
}

/* A fixed number of decimals, so that columns stand under each other. */
static void size_add(struct mgb_table *table, int64_t bytes)
{
    char text[32];
    snprintf(text, sizeof text, bytes < 0.05 * MIB ? "<0.1" : "%.1f", (double)bytes / MIB);
    mgb_table_add_figure(table, bytes > 0 ? text : NULL);
}

static enum mgb_status table_show(struct mgb_table *table)
{
    enum mgb_status status = mgb_table_print(table, MGB_TABLE_TEXT, stdout);
    mgb_table_free(table);
    return status;
}

/* Short enough for all of them on a line of 80. */
static const char *category_heading(enum mgb_memory_category category)
{
    switch (category) {
    case MGB_MEMORY_GRADIENTS:
        return "grads";
    case MGB_MEMORY_ACTIVATIONS:
        return "activ";
    case MGB_MEMORY_WORKSPACE:
        return "work";
    case MGB_MEMORY_WEIGHTS:
    case MGB_MEMORY_REPLICAS:
    case MGB_MEMORY_SLOTS:
    case MGB_MEMORY_MERGE:
    case MGB_MEMORY_LEFTOVER:
    case MGB_MEMORY_INPUT:
    case MGB_MEMORY_CATEGORY_COUNT:
        break;
    }
    return mgb_memory_category_name(category);
}

static bool category_is_used(const struct mgb_plan *plan, int category)
{
    for (int i = 0; i < plan->use_count; i++)
        if (plan->uses[i].peak[category] > 0)
            return true;
    return false;
}

/* Columns: the peak, and those categories that some device has. */
static enum mgb_status memory_print(const struct mgb_plan *plan)
{
    const char *names[MGB_MEMORY_CATEGORY_COUNT + 2] = {"MiB held", "peak"};
    int categories[MGB_MEMORY_CATEGORY_COUNT], count = 0;
    struct mgb_table *table;
    for (int c = 0; c < MGB_MEMORY_CATEGORY_COUNT; c++)
        if (category_is_used(plan, c)) {
            names[2 + count] = category_heading((enum mgb_memory_category)c);
            categories[count++] = c;
        }
    MGB_TRY(mgb_table_make(&table, count + 2, names));
    for (int i = 0; i < plan->use_count; i++) {
        device_add(table, plan, plan->uses[i].device);
        size_add(table, plan->uses[i].peak_bytes);
        for (int c = 0; c < count; c++)
            size_add(table, plan->uses[i].peak[categories[c]]);
    }
    return table_show(table);
}

/* Of the towers, when they are not all the same. */
static void rows_print(const struct mgb_plan *plan)
{
    bool same = true;
    for (int i = 1; i < plan->tower_count; i++)
        same = same && plan->towers[i].rows == plan->towers[0].rows;
    if (same)
        return;
    printf("%-10s", "rows");
    for (int i = 0; i < plan->tower_count; i++)
        printf(" %lld", (long long)plan->towers[i].rows);
    putchar('\n');
}

/* Tables whose gradients travel as the rows that a tower's examples touch. */
static void packed_print(const struct mgb_plan *plan)
{
    for (int v = 0; v < mgb_graph_variable_count(plan->graph); v++) {
        struct mgb_variable_info info = mgb_graph_variable_at(plan->graph, v);
        int64_t bytes;
        int towers = mgb_plan_packers(plan, v, &bytes);
        if (towers > 0)
            printf("%-11s%s: %.1f of %.1f MiB from %d tower%s\n", "rows sent", info.name,
                   (double)bytes / MIB, (double)info.bytes / MIB, towers, towers == 1 ? "" : "s");
    }
}

static int64_t bytes_between(const struct mgb_plan *plan, int from, int to)
{
    int64_t bytes = 0;
    for (int i = 0; i < plan->traffic_count; i++)
        if (plan->traffic[i].from == from && plan->traffic[i].to == to)
            bytes += plan->traffic[i].bytes;
    return bytes;
}

/* Who sends is a line, who receives a column. */
static enum mgb_status traffic_print(const struct mgb_plan *plan)
{
    int count = plan->use_count;
    char(*texts)[MGB_DEVICE_NAME_MAX + 3] = calloc((size_t)count + 1, sizeof *texts);
    const char **names = calloc((size_t)count + 1, sizeof *names);
    struct mgb_table *table = NULL;
    enum mgb_status status = MGB_OK;
    if (texts && names) {
        names[0] = "MiB moved";
        for (int i = 0; i < count; i++) {
            char name[MGB_DEVICE_NAME_MAX];
            int device = plan->uses[i].device;
            snprintf(texts[i], sizeof texts[i], "to %s",
                     mgb_device_format(name, plan->topology->devices[device].name));
            names[i + 1] = texts[i];
        }
        status = mgb_table_make(&table, count + 1, names);
    } else {
        status = mgb_fail(MGB_NO_MEMORY, "printing a plan: memory is exhausted");
    }
    free(texts);
    free(names);
    MGB_TRY(status);
    for (int from = 0; from < count; from++) {
        device_add(table, plan, plan->uses[from].device);
        for (int to = 0; to < count; to++)
            size_add(table, bytes_between(plan, plan->uses[from].device, plan->uses[to].device));
    }
    return table_show(table);
}

enum mgb_status mgb_cli_plan_print(const struct mgb_plan *plan, int64_t largest)
{
    rows_print(plan);
    MGB_TRY(tasks_print(plan));
    if (largest >= 0)
        printf("%-11s%" PRId64 " for each GPU\n", "largest", largest);
    packed_print(plan);
    MGB_TRY(memory_print(plan));
    if (plan->traffic_count == 0)
        return MGB_OK;
    putchar('\n');
    return traffic_print(plan);
}
