/* mgbench devices --machine: what a simulated machine consists of. For people a picture, figures by device and what pairs of
 * GPUs copy at; for programs the table of devices, or of ways. */
#include "app/cli/devices.h"
#include "app/cli/machine.h"
#include "app/plot/text.h"
#include "app/script/terminal.h"
#include <mgb/text.h>
#include <string.h>

#define MATRIX_MOST 12 /* rows and columns that 80 columns hold */

/* Equal figures, so that people see one row. */
static bool same_figures(const struct mgb_machine_device *a, const struct mgb_machine_device *b)
{
    return strcmp(a->device.label, b->device.label) == 0 &&
           a->device.memory_bytes == b->device.memory_bytes &&
           memcmp(a->tflops, b->tflops, sizeof a->tflops) == 0 &&
           memcmp(&a->memory_gbps, &b->memory_gbps, sizeof a->memory_gbps) == 0 &&
           memcmp(&a->launch_us, &b->launch_us, sizeof a->launch_us) == 0 &&
           memcmp(&a->speed, &b->speed, sizeof a->speed) == 0;
}

/* "/gpu:0-7" */
static void devices_name(char *out, size_t size, const struct mgb_machine *m, int first, int last)
{
    char name[MGB_DEVICE_NAME_MAX];
    mgb_device_format(name, m->devices[first].device.name);
    if (last > first)
        snprintf(out, size, "%s-%d", name, m->devices[last].device.name.index);
    else
        snprintf(out, size, "%s", name);
}

static void device_add(struct mgb_table *table, const struct mgb_machine *m, int first, int last,
                       enum mgb_table_format format)
{
    const struct mgb_machine_device *d = &m->devices[first];
    bool people = format == MGB_TABLE_TEXT;
    char name[MGB_DEVICE_NAME_MAX + 16];
    devices_name(name, sizeof name, m, first, last);
    mgb_table_add_text(table, name);
    mgb_cli_memory_add(table, d->device.memory_bytes, format);
    for (int i = 0; i < 4; i++)
        if (i == 0 || d->tflops[i] > d->tflops[0] || !people)
            mgb_table_add_number(table, d->tflops[i]);
        else
            mgb_table_add_empty(table);
    mgb_table_add_number(table, d->memory_gbps);
    mgb_table_add_number(table, d->launch_us);
    if (!people)
        mgb_table_add_number(table, d->speed);
    mgb_table_add_text(table, *d->device.label ? d->device.label : NULL);
}

static enum mgb_status devices_print(const struct mgb_machine *m, enum mgb_table_format format)
{
    static const char *const names[] = {"device",      "memory_bytes", "f32_tflops",  "tf32_tflops",
                                        "bf16_tflops", "f16_tflops",   "memory_GBps", "launch_us",
                                        "speed",       "label"};
    static const char *const short_names[] = {"device", "memory", "tflops", "tf32", "bf16",
                                              "f16",    "GBps",   "us",     "label"};
    struct mgb_table *table;
    bool people = format == MGB_TABLE_TEXT;
    MGB_TRY(mgb_table_make(&table, people ? 9 : 10, people ? short_names : names));
    for (int i = 0, last; i < m->device_count; i = last + 1) {
        for (last = i; last + 1 < m->device_count && people && i > 0; last++)
            if (!same_figures(&m->devices[last + 1], &m->devices[i]))
                break;
        device_add(table, m, i, last, format);
    }
    enum mgb_status status = mgb_table_print(table, format, stdout);
    mgb_table_free(table);
    for (int i = 1; people && i < m->device_count; i++)
        if (m->devices[i].speed < 1 || m->devices[i].speed > 1)
            mgb_say(stdout, "/gpu:%d computes at %g of its kind.\n", i - 1, m->devices[i].speed);
    return status;
}

/* The ways of all pairs, or of those with /cpu:0 where there are too many. */
static enum mgb_status links_print(const struct mgb_topology *topology,
                                   enum mgb_table_format format)
{
    static const char *const names[] = {"from",      "to",      "copies",      "peer_access",
                                        "peer_GBps", "peer_us", "staged_GBps", "staged_us",
                                        "GBps",      "us"};
    struct mgb_table *table;
    MGB_TRY(mgb_table_make(&table, (int)(sizeof names / sizeof *names), names));
    for (int i = 0; i < topology->link_count; i++) {
        const struct mgb_link *link = &topology->links[i];
        char from[MGB_DEVICE_NAME_MAX], to[MGB_DEVICE_NAME_MAX];
        bool host = link->from == 0 || link->to == 0;
        mgb_table_add_text(table, mgb_device_format(from, topology->devices[link->from].name));
        mgb_table_add_text(table, mgb_device_format(to, topology->devices[link->to].name));
        mgb_table_add_text(table, host || link->direct ? "direct" : "staged");
        mgb_table_add_text(table, host          ? NULL
                                  : !link->peer ? "none"
                                                : mgb_peer_verdict_name(link->verdict));
        mgb_cli_figure_add(table, link->peer_gbps);
        mgb_cli_figure_add(table, link->peer_latency_us);
        mgb_cli_figure_add(table, link->staged_gbps);
        mgb_cli_figure_add(table, link->staged_latency_us);
        mgb_cli_figure_add(table, link->gbps);
        mgb_cli_figure_add(table, link->latency_us);
    }
    enum mgb_status status = mgb_table_print(table, format, stdout);
    mgb_table_free(table);
    return status;
}

static const struct mgb_link *link_find(const struct mgb_topology *topology, int from, int to)
{
    for (int i = 0; i < topology->link_count; i++)
        if (topology->links[i].from == from && topology->links[i].to == to)
            return &topology->links[i];
    return NULL;
}

/* Rows are where bytes leave. */
static void matrix_print(const struct mgb_topology *topology, const char *title, bool peer)
{
    int most = topology->device_count - 1;
    most = most > MATRIX_MOST ? MATRIX_MOST : most;
    printf("\n%s\n%-8s", title, "from\\to");
    for (int to = 1; to <= most; to++)
        printf("%6d", topology->devices[to].name.index);
    putchar('\n');
    for (int from = 1; from <= most; from++) {
        char name[MGB_DEVICE_NAME_MAX];
        printf("%-8s", mgb_device_format(name, topology->devices[from].name));
        for (int to = 1; to <= most; to++) {
            const struct mgb_link *link = link_find(topology, from, to);
            double gbps = !link ? 0 : peer ? link->peer_gbps : link->staged_gbps;
            char text[MGB_FIGURE] = "-";
            if (gbps > 0)
                snprintf(text, sizeof text, gbps < 100 ? "%.1f" : "%.0f", gbps);
            printf("%6s", text);
        }
        putchar('\n');
    }
    if (topology->device_count - 1 > most)
        printf("The first %d of %d GPUs.\n", most, topology->device_count - 1);
}

static enum mgb_status picture_print(const struct mgb_machine *machine,
                                     const struct mgb_topology *topology)
{
    mgb_say(stdout, "%s%s%s (simulated)\n\n", machine->name, *machine->summary ? ": " : "",
            machine->summary);
    MGB_TRY(mgb_cli_machine_draw(machine, mgb_text_style_find().utf8));
    putchar('\n');
    MGB_TRY(devices_print(machine, MGB_TABLE_TEXT));
    if (topology->device_count <= 2 || topology->device_count > MGB_MACHINE_PAIRED)
        return MGB_OK;
    matrix_print(topology, "copies between GPUs with peer access, GB/s (-: not possible)", true);
    matrix_print(topology, "without, by way of the host, GB/s", false);
    return MGB_OK;
}

enum mgb_status mgb_cli_machine_show(const struct mgb_machine *machine, bool links,
                                     enum mgb_table_format format)
{
    struct mgb_topology topology;
    MGB_TRY(mgb_machine_topology(&topology, machine));
    enum mgb_status status = links                      ? links_print(&topology, format)
                             : format == MGB_TABLE_TEXT ? picture_print(machine, &topology)
                                                        : devices_print(machine, format);
    mgb_topology_done(&topology);
    return status;
}
