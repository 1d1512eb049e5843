/* The lines of the devices view about devices; links are in devices_links.c. */
#include "app/tui/devices.h"

#include "app/tui/chart.h"
#include "app/tui/words.h"

#include <stdio.h>
#include <string.h>

static const struct tui_column columns[] = {
    {"device", 5, 13, false, 9}, {"kind", 9, 10, false, 4},  {"rows", 4, 5, true, 2},
    {"planned", 8, 9, true, 8},  {"peak*", 8, 9, true, 6},   {"held", 8, 9, true, 3},
    {"capacity", 8, 9, true, 5}, {"memory", 8, 0, false, 7},
};
enum { COLUMN_COUNT = sizeof columns / sizeof *columns, BAR_COLUMN = COLUMN_COUNT - 1 };

bool tui_devices_is_heading(enum devices_kind kind)
{
    return kind != DEVICES_DEVICE && kind != DEVICES_LINK && kind != DEVICES_PEER;
}

const struct mgb_bench_memory *tui_devices_memory(const struct mgb_snapshot *snapshot,
                                                  const char *device)
{
    const struct mgb_bench_segment *now = &snapshot->now;
    for (int i = 0; i < now->memory_count && i < MGB_BENCH_DEVICES; i++)
        if (strcmp(now->memory[i].device, device) == 0)
            return &now->memory[i];
    return NULL;
}

static int64_t planned_sum(const struct mgb_facts *facts)
{
    int64_t sum = 0;
    for (int i = 0; i < facts->device_count; i++)
        sum += facts->devices[i].planned_bytes;
    return sum;
}

/* What a bar's whole width stands for: the device's memory, where that is limited, else the most that one needs. */
static double bar_whole(const struct mgb_facts *facts, const struct mgb_facts_device *device)
{
    int64_t most = device->capacity_bytes;
    for (int i = 0; most == 0 && i < facts->device_count; i++)
        if (!facts->devices[i].capacity_bytes)
            most = facts->devices[i].planned_bytes > most ? facts->devices[i].planned_bytes : most;
    return most > device->planned_bytes ? (double)most : (double)device->planned_bytes;
}

/* Categories peak at different times, so that their sum may exceed the device's peak: they share its bar. */
static void bar_draw(struct tui_canvas *canvas, struct tui_rect cell, const struct mgb_facts *facts,
                     const struct mgb_facts_device *device)
{
    struct tui_bar_part parts[MGB_MEMORY_CATEGORY_COUNT + 1];
    double whole = bar_whole(facts, device), sum = 0;
    int count = 0;
    for (int c = 0; c < MGB_MEMORY_CATEGORY_COUNT; c++)
        sum += (double)device->planned[c];
    if (whole <= 0 || sum <= 0 || cell.columns < 3)
        return;
    double used = (double)device->planned_bytes / whole;
    for (int c = 0; c < MGB_MEMORY_CATEGORY_COUNT; c++)
        if (device->planned[c] > 0)
            parts[count++] = (struct tui_bar_part){tui_category_letter((enum mgb_memory_category)c),
                                                   tui_category_style((enum mgb_memory_category)c),
                                                   (double)device->planned[c] / sum * used};
    parts[count++] = (struct tui_bar_part){'.', TUI_DIM, 1 - used};
    tui_chart_bar(canvas, cell, 0, 1, cell.columns - 2, parts, count);
    tui_put(canvas, cell, 0, 0, TUI_DIM, "[");
    tui_put(canvas, cell, 0, cell.columns - 1, TUI_DIM, "]");
}

static void device_draw(struct tui_canvas *canvas, struct tui_rect row,
                        const struct tui_table *table, const struct tui_scene *scene, int index)
{
    const struct mgb_facts *facts = scene->snapshot->facts;
    const struct mgb_facts_device *device = &facts->devices[index];
    const struct mgb_bench_memory *memory = tui_devices_memory(scene->snapshot, device->name);
    enum tui_style style = device->used ? TUI_PLAIN : TUI_DIM;
    char texts[BAR_COLUMN][40];
    snprintf(texts[0], sizeof texts[0], "%s", tui_device_words(device->name));
    snprintf(texts[1], sizeof texts[1], "%s", tui_class_words(device->class));
    snprintf(texts[2], sizeof texts[2], device->tower_rows ? "%d" : "-", device->tower_rows);
    tui_bytes(texts[3], sizeof texts[3], device->planned_bytes);
    tui_bytes(texts[4], sizeof texts[4], memory ? memory->peak : -1);
    tui_bytes(texts[5], sizeof texts[5], memory ? memory->held : -1);
    if (device->capacity_bytes)
        tui_bytes(texts[6], sizeof texts[6], device->capacity_bytes);
    else
        snprintf(texts[6], sizeof texts[6], "no limit");
    for (int i = 0; i < BAR_COLUMN; i++)
        tui_table_cell(table, columns, i, canvas, row, style, texts[i]);
    struct tui_rect bar = {row.y, row.x + table->x[BAR_COLUMN], row.rows, table->width[BAR_COLUMN]};
    if (device->used)
        bar_draw(canvas, tui_rect_clip(bar, row), facts, device);
    else
        tui_table_cell(table, columns, BAR_COLUMN, canvas, row, style, "not used");
}

static void rule_draw(struct tui_canvas *canvas, struct tui_rect row,
                      const struct mgb_snapshot *snapshot, int shown)
{
    const struct mgb_facts *facts = snapshot->facts;
    char title[96], right[96], bytes[32], cost[48] = "";
    if (snapshot->observer_share > 0 && row.columns >= 72)
        snprintf(cost, sizeof cost, "watching costs %.1f%% of a core, ",
                 snapshot->observer_share * 100);
    snprintf(title, sizeof title, shown == facts->device_count ? "DEVICES %d" : "DEVICES %d of %d",
             shown, facts->device_count);
    snprintf(right, sizeof right, "%splanned %s in all", cost,
             tui_bytes(bytes, sizeof bytes, planned_sum(facts)));
    tui_rule(canvas, row, 0, title, right);
}

void tui_devices_draw(struct tui_canvas *canvas, struct tui_rect row,
                      const struct devices_line *line, const struct tui_scene *scene, int left)
{
    const struct mgb_facts *facts = scene->snapshot->facts;
    struct tui_rect inner = tui_rect_inside(row, 0, 1);
    struct tui_table table;
    char title[64];
    if (line->kind == DEVICES_RULE) {
        rule_draw(canvas, row, scene->snapshot, line->index);
        return;
    }
    if (line->kind == DEVICES_IDLE_RULE) {
        snprintf(title, sizeof title, "DEVICES NOT USED %d", line->index);
        tui_rule(canvas, row, 0, title, NULL);
        return;
    }
    if (line->kind != DEVICES_HEAD && line->kind != DEVICES_DEVICE) {
        tui_devices_draw_link(canvas, row, line, scene, left);
        return;
    }
    struct tui_column fitted[COLUMN_COUNT];
    memcpy(fitted, columns, sizeof fitted);
    fitted[0].most = tui_device_columns(facts);
    tui_table_fit(&table, fitted, COLUMN_COUNT, inner.columns);
    if (line->kind == DEVICES_HEAD)
        tui_table_head(&table, columns, canvas, inner, -1, true);
    else
        device_draw(canvas, inner, &table, scene, line->index);
}
