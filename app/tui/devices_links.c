/* The lines of the devices view about links and peers, and what is told of the one in hand. */
#include "app/tui/devices.h"
#include "app/tui/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct tui_column columns[] = {
    {"link", 13, 29, false, 9}, {"a step", 9, 10, true, 8}, {"share", 6, 6, true, 7},
    {"GB/s*", 6, 7, true, 6},   {"latency", 8, 8, true, 3}, {"of step", 7, 8, true, 4},
    {"peer", 4, 12, false, 5},
};
enum { COLUMN_COUNT = sizeof columns / sizeof *columns, CELL = 7, NAME = 9 };

int64_t tui_devices_traffic(const struct mgb_facts *facts)
{
    int64_t sum = 0;
    for (int i = 0; i < facts->link_count; i++)
        sum += facts->links[i].bytes;
    return sum;
}

static bool link_is_sound(const struct mgb_facts *facts, const struct mgb_facts_link *link)
{
    return link->from >= 0 && link->from < facts->device_count && link->to >= 0 &&
           link->to < facts->device_count;
}

const char *tui_devices_peer_words(const struct mgb_facts *facts, const struct mgb_facts_link *link)
{
    if (!link_is_sound(facts, link) || !tui_device_is_gpu(&facts->devices[link->from]) ||
        !tui_device_is_gpu(&facts->devices[link->to]))
        return "-";
    const char *asked = facts->options[MGB_OPTION_PEER_ACCESS].effective;
    if (!link->peer)
        return "no: via host";
    return strcmp(asked, "false") == 0 || strcmp(asked, "off") == 0 ? "off" : "yes";
}

/* What the bytes of a step need at the link's measured peak, as a share of the step; NaN: not known. */
static double link_use(const struct tui_scene *scene, const struct mgb_facts_link *link)
{
    double step_ms = scene->snapshot->now.number ? scene->snapshot->now.figures.median_ms : NAN;
    if (!(link->gbps > 0) || !(step_ms > 0))
        return NAN;
    return (double)link->bytes / (link->gbps * 1e6) / step_ms;
}

static void percent_write(char *out, size_t size, double share)
{
    if (isnan(share))
        snprintf(out, size, "-");
    else
        snprintf(out, size, share > 0 && share < .0005 ? "<0.1%%" : "%.1f%%", 100 * share);
}

static void link_name(char *out, size_t size, const struct mgb_facts *facts,
                      const struct mgb_facts_link *link)
{
    snprintf(out, size, "%s -> %s", tui_device_at(facts, link->from),
             tui_device_at(facts, link->to));
}

static void link_draw(struct tui_canvas *canvas, struct tui_rect row, const struct tui_table *table,
                      const struct tui_scene *scene, const struct mgb_facts_link *link)
{
    const struct mgb_facts *facts = scene->snapshot->facts;
    int64_t all = tui_devices_traffic(facts);
    char texts[COLUMN_COUNT][80];
    link_name(texts[0], sizeof texts[0], facts, link);
    tui_bytes(texts[1], sizeof texts[1], link->bytes);
    percent_write(texts[2], sizeof texts[2], all ? (double)link->bytes / (double)all : NAN);
    tui_number(texts[3], sizeof texts[3], link->gbps > 0 ? link->gbps : NAN);
    if (link->latency_us > 0)
        snprintf(texts[4], sizeof texts[4], "%.1f us", link->latency_us);
    else
        snprintf(texts[4], sizeof texts[4], "-");
    percent_write(texts[5], sizeof texts[5], link_use(scene, link));
    snprintf(texts[6], sizeof texts[6], "%s", tui_devices_peer_words(facts, link));
    for (int i = 0; i < COLUMN_COUNT; i++)
        tui_table_cell(table, columns, i, canvas, row, link->bytes ? TUI_PLAIN : TUI_DIM, texts[i]);
}

static const struct mgb_facts_link *link_find(const struct mgb_facts *facts, int from, int to)
{
    for (int i = 0; i < facts->link_count; i++)
        if (facts->links[i].from == from && facts->links[i].to == to)
            return &facts->links[i];
    return NULL;
}

static void peer_cell(char out[CELL + 8], const struct mgb_facts *facts, int from, int to)
{
    const struct mgb_facts_link *link = from == to ? NULL : link_find(facts, from, to);
    char number[32] = "";
    if (link && link->gbps > 0)
        snprintf(number, sizeof number, " %.*f", link->gbps < 99.95 ? 1 : 0, link->gbps);
    snprintf(out, CELL + 8, "%s%.12s",
             from == to   ? "-"
             : !link      ? "."
             : link->peer ? "P"
                          : "h",
             number);
}

/* The GPU of column `n`: those in use come first; -1: there is none. */
static int receiver_at(const struct mgb_facts *facts, int n)
{
    for (int used = 1; used >= 0; used--)
        for (int i = 0; i < facts->device_count; i++)
            if (tui_device_is_gpu(&facts->devices[i]) && facts->devices[i].used == (used == 1) &&
                n-- == 0)
                return i;
    return -1;
}

/* Where not all receivers fit, those that are not in use are left out, until one scrolls to them. */
static bool all_fit(const struct mgb_facts *facts, int room)
{
    int gpus = 0;
    for (int i = 0; i < facts->device_count; i++)
        gpus += tui_device_is_gpu(&facts->devices[i]);
    return gpus * CELL <= room;
}

/* One row of the matrix, `from` negative: the names of the receivers. `used`: of the part about GPUs in use. */
static void peers_draw(struct tui_canvas *canvas, struct tui_rect row,
                       const struct mgb_facts *facts, int from, int left, bool used)
{
    char text[CELL + 8];
    if (from >= 0)
        tui_put(canvas, row, 0, 0, TUI_PLAIN, tui_device_at(facts, from));
    struct tui_rect cells = tui_rect_inside(row, 0, NAME);
    bool brief = used && left == 0 && !all_fit(facts, cells.columns);
    for (int x = 0, n = left; x + CELL <= cells.columns; x += CELL, n++) {
        int to = receiver_at(facts, n);
        if (to < 0 || (brief && !facts->devices[to].used))
            break;
        enum tui_style style = facts->devices[to].used ? TUI_PLAIN : TUI_DIM;
        struct tui_rect cell = {cells.y, cells.x + x, cells.rows, CELL - 1};
        if (from >= 0)
            peer_cell(text, facts, from, to);
        tui_put(canvas, cell, 0, 0, from >= 0 ? style : TUI_DIM,
                from >= 0 ? text : tui_device_at(facts, to));
    }
}

void tui_devices_draw_link(struct tui_canvas *canvas, struct tui_rect row,
                           const struct devices_line *line, const struct tui_scene *scene, int left)
{
    const struct mgb_facts *facts = scene->snapshot->facts;
    struct tui_rect inner = tui_rect_inside(row, 0, 1);
    struct tui_table table;
    char title[96], right[64], bytes[32];
    struct tui_column fitted[COLUMN_COUNT];
    memcpy(fitted, columns, sizeof fitted);
    fitted[0].most = 2 * tui_device_columns(facts) + (int)strlen(" -> ");
    tui_table_fit(&table, fitted, COLUMN_COUNT, inner.columns);
    if (line->kind == DEVICES_LINKS_RULE) {
        snprintf(title, sizeof title, "LINKS %d", line->index);
        snprintf(right, sizeof right, "%s moved a step",
                 tui_bytes(bytes, sizeof bytes, tui_devices_traffic(facts)));
        tui_rule(canvas, row, 0, title, right);
    } else if (line->kind == DEVICES_IDLE_LINKS_RULE) {
        snprintf(title, sizeof title, "LINKS NOT USED %d", line->index);
        tui_rule(canvas, row, 0, title, NULL);
    } else if (line->kind == DEVICES_LINKS_HEAD) {
        tui_table_head(&table, columns, canvas, inner, -1, true);
    } else if (line->kind == DEVICES_LINK) {
        link_draw(canvas, inner, &table, scene, &facts->links[line->index]);
    } else if (line->kind == DEVICES_PEERS_RULE) {
        tui_rule(canvas, row, 0, "PEERS from row to column",
                 "P peer  h via host  . no link  GB/s*");
    } else if (line->kind == DEVICES_IDLE_PEERS_RULE) {
        tui_rule(canvas, row, 0, "PEERS NOT USED from row to column",
                 "P peer  h via host  . no link  GB/s*");
    } else if (line->kind == DEVICES_PEERS_HEAD) {
        peers_draw(canvas, inner, facts, -1, left, line->index == 1);
    } else {
        peers_draw(canvas, inner, facts, line->index, left, facts->devices[line->index].used);
    }
}

/* What its sensors say, or why there is nothing to tell. */
static void sensors_draw(struct tui_canvas *canvas, struct tui_rect area,
                         const struct mgb_facts_device *device, const struct tui_scene *scene)
{
    const struct mgb_bench_segment *now = &scene->snapshot->now;
    const char *sensed = "";
    for (int i = 0; i < now->memory_count; i++)
        if (strcmp(now->memory[i].device, device->name) == 0)
            sensed = now->memory[i].sensed;
    if (*sensed)
        tui_print(canvas, area, area.rows - 1, 1, TUI_PLAIN, "sensors: %s", sensed);
    else if (device->class == MGB_CLASS_CUDA && !scene->snapshot->facts->simulated)
        tui_put(canvas, area, area.rows - 1, 1, TUI_DIM,
                "sensors: nothing read yet; mgbench doctor tells if they are missing");
    else
        tui_put(canvas, area, area.rows - 1, 1, TUI_DIM,
                "clocks, throttle: not read on this backend");
}

static void device_detail(struct tui_canvas *canvas, struct tui_rect area,
                          const struct mgb_facts_device *device, const struct tui_scene *scene)
{
    char bytes[32];
    int y = 1, x = 1;
    x = tui_print(canvas, area, y, 1, TUI_PLAIN, "%s, %s%s%s", tui_class_words(device->class),
                  *device->label ? device->label : "no label", *device->pci ? ", pci " : "",
                  device->pci);
    if (*device->uuid && area.rows > 5)
        y++, x = -1;
    if (*device->uuid)
        tui_print(canvas, area, y, x + 2, TUI_PLAIN, "uuid %s", device->uuid);
    y++, x = 1;
    for (int c = 0; c < MGB_MEMORY_CATEGORY_COUNT; c++) {
        enum mgb_memory_category category = (enum mgb_memory_category)c;
        char text[64];
        if (device->planned[c] <= 0)
            continue;
        snprintf(text, sizeof text, "%c %s %s  ", tui_category_letter(category),
                 tui_category_word(category), tui_bytes(bytes, sizeof bytes, device->planned[c]));
        if (x > 1 && x + tui_text_width(canvas, text) > area.columns && y < area.rows - 2)
            y++, x = 1;
        x = tui_put(canvas, area, y, x, tui_category_style(category), text);
    }
    if (x == 1)
        tui_put(canvas, area, y, x, TUI_DIM, "nothing is planned on it");
    sensors_draw(canvas, area, device, scene);
}

static void link_detail(struct tui_canvas *canvas, struct tui_rect area,
                        const struct mgb_facts_link *link, const struct tui_scene *scene)
{
    char bytes[32], peak[32], needed[32];
    double ms = link->gbps > 0 ? (double)link->bytes / (link->gbps * 1e6) : NAN;
    tui_print(canvas, area, 1, 1, TUI_PLAIN, "%s a step; peak measured on the idle link: %s GB/s",
              tui_bytes(bytes, sizeof bytes, link->bytes),
              tui_number(peak, sizeof peak, link->gbps > 0 ? link->gbps : NAN));
    tui_print(canvas, area, 2, 1, TUI_PLAIN, "at its peak the step's bytes need %s ms",
              tui_number(needed, sizeof needed, ms));
    tui_print(canvas, area, 3, 1, TUI_DIM, "peer access: %s%s",
              tui_devices_peer_words(scene->snapshot->facts, link),
              link->there ? "" : "; the machine's description has no such link");
}

/* Whether the device reached what was planned for it. */
static void gap_write(char *out, size_t size, const struct tui_scene *scene,
                      const struct mgb_facts_device *device)
{
    const struct mgb_bench_memory *memory = tui_devices_memory(scene->snapshot, device->name);
    char bytes[32];
    *out = '\0';
    if (!memory || memory->peak < 0 || !device->used)
        return;
    int64_t gap = memory->peak - device->planned_bytes;
    if (gap == 0)
        snprintf(out, size, "peak* as planned");
    else
        snprintf(out, size, "peak* %s %s the plan",
                 tui_bytes(bytes, sizeof bytes, gap < 0 ? -gap : gap), gap < 0 ? "under" : "over");
}

void tui_devices_detail(struct tui_canvas *canvas, struct tui_rect area,
                        const struct devices_line *line, const struct tui_scene *scene)
{
    const struct mgb_facts *facts = scene->snapshot->facts;
    char name[96], gap[64] = "";
    if (line->kind == DEVICES_LINK) {
        link_name(name, sizeof name, facts, &facts->links[line->index]);
    } else {
        snprintf(name, sizeof name, "%s", tui_device_at(facts, line->index));
        gap_write(gap, sizeof gap, scene, &facts->devices[line->index]);
    }
    tui_rule(canvas, area, 0, name, gap);
    if (line->kind == DEVICES_LINK)
        link_detail(canvas, area, &facts->links[line->index], scene);
    else
        device_detail(canvas, area, &facts->devices[line->index], scene);
}
