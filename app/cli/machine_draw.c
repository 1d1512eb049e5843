/* How the devices of a machine hang together: a tree of the shortest ways from /cpu:0, and then, by kind, the wires that
 * are not in it. GPUs are leaves. */
#include "app/cli/machine.h"
#include "app/script/terminal.h"
#include <mgb/text.h>
#include <stdlib.h>
#include <string.h>

#define CHILDREN_MOST 24 /* of one end, shown */
#define DEPTH_MOST 16

struct drawing {
    const struct mgb_machine *machine;
    int ends;
    int *above;  /* the end above each, -1: not reached */
    int *wire;   /* the wire to it */
    int *child;  /* the first end below it, in order of number; -1: none */
    int *next;   /* the next one beside it */
    bool *drawn; /* by wire */
    const char *tee, *corner, *bar;
};

static const char *end_name(char out[MGB_DEVICE_NAME_MAX], const struct mgb_machine *machine,
                            int end)
{
    if (end >= machine->device_count)
        return machine->switches[end - machine->device_count];
    return mgb_device_format(out, machine->devices[end].device.name);
}

static bool is_gpu(const struct mgb_machine *machine, int end)
{
    return end < machine->device_count && machine->devices[end].device.name.kind == MGB_DEVICE_GPU;
}

/* "12 GB/s" or "3.78 GB/s, back 2.54" and the rest, into `out`; returns it. */
static char *wire_text(char *out, size_t size, const struct mgb_machine_wire *wire, bool from_b)
{
    char one[MGB_FIGURE], two[MGB_FIGURE], back[MGB_FIGURE + 8] = "", late[MGB_FIGURE + 8] = "";
    mgb_format_figure(one, from_b ? wire->back_gbps : wire->gbps);
    mgb_format_figure(two, from_b ? wire->gbps : wire->back_gbps);
    if (wire->gbps < wire->back_gbps || wire->gbps > wire->back_gbps)
        snprintf(back, sizeof back, ", back %s", two);
    if (wire->latency_us > 0)
        snprintf(late, sizeof late, ", %s us", mgb_format_figure(two, wire->latency_us));
    snprintf(out, size, "%s GB/s%s%s, %s", one, back, late, wire->kind);
    return out;
}

/* Breadth first from /cpu:0 over the wires in their order; each end hangs below the first that reaches it. */
static void tree_grow(struct drawing *d, int *queue)
{
    const struct mgb_machine *m = d->machine;
    int length = 1;
    queue[0] = 0;
    for (int i = 0; i < d->ends; i++)
        d->above[i] = d->child[i] = d->next[i] = -1;
    d->above[0] = 0;
    for (int i = 0; i < length; i++) {
        int at = queue[i], last = -1;
        for (int w = 0; w < m->wire_count && !is_gpu(m, at); w++) {
            int other = m->wires[w].a == at   ? m->wires[w].b
                        : m->wires[w].b == at ? m->wires[w].a
                                              : 0;
            if (other == 0 || d->above[other] >= 0)
                continue;
            d->above[other] = at;
            d->wire[other] = w;
            d->drawn[w] = true;
            queue[length++] = other;
            if (last < 0)
                d->child[at] = other;
            else
                d->next[last] = other;
            last = other;
        }
    }
}

static void below_draw(const struct drawing *d, int end, const char *prefix, int depth)
{
    char name[MGB_DEVICE_NAME_MAX], text[160], inner[DEPTH_MOST * 8];
    int shown = 0;
    for (int at = d->child[end]; at >= 0 && depth < DEPTH_MOST; at = d->next[at], shown++) {
        const struct mgb_machine_wire *wire = &d->machine->wires[d->wire[at]];
        bool last = d->next[at] < 0;
        if (shown == CHILDREN_MOST) {
            int more = 0;
            for (; at >= 0; at = d->next[at])
                more++;
            mgb_say(stdout, "%s%s ... and %d more\n", prefix, d->corner, more);
            return;
        }
        mgb_say(stdout, "%s%s %s  %s\n", prefix, last ? d->corner : d->tee,
                end_name(name, d->machine, at), wire_text(text, sizeof text, wire, wire->b == end));
        snprintf(inner, sizeof inner, "%s%s", prefix, last ? "   " : d->bar);
        below_draw(d, at, inner, depth + 1);
    }
}

static bool same_wire(const struct mgb_machine_wire *a, const struct mgb_machine_wire *b)
{
    char one[160], two[160];
    return strcmp(wire_text(one, sizeof one, a, false), wire_text(two, sizeof two, b, false)) == 0;
}

/* The wires beside the tree, those alike in one paragraph. */
static void beside_draw(struct drawing *d)
{
    const struct mgb_machine *m = d->machine;
    for (int w = 0; w < m->wire_count; w++) {
        char a[MGB_DEVICE_NAME_MAX], b[MGB_DEVICE_NAME_MAX], text[160], item[80];
        int column, count = 0;
        if (d->drawn[w])
            continue;
        column = printf("beside: %s:", wire_text(text, sizeof text, &m->wires[w], false));
        for (int k = w; k < m->wire_count; k++) {
            const struct mgb_machine_wire *wire = &m->wires[k];
            if (d->drawn[k] || !same_wire(wire, &m->wires[w]))
                continue;
            d->drawn[k] = true;
            if (++count > 4 * CHILDREN_MOST)
                continue;
            int width = snprintf(item, sizeof item, "%s %s - %s", count > 1 ? "," : "",
                                 end_name(a, m, wire->a), end_name(b, m, wire->b));
            if (column + width > 78) { /* a comma may follow */
                fputs(count > 1 ? ",\n        " : "\n        ", stdout);
                column = 8;
                width -= count > 1;
                memmove(item, item + (count > 1), strlen(item) + (count <= 1));
            }
            mgb_say(stdout, "%s", item);
            column += width;
        }
        if (count > 4 * CHILDREN_MOST)
            printf(", and %d more", count - 4 * CHILDREN_MOST);
        putchar('\n');
    }
}

enum mgb_status mgb_cli_machine_draw(const struct mgb_machine *machine, bool utf8)
{
    int ends = machine->device_count + machine->switch_count;
    size_t size = ((size_t)ends + 1) * sizeof(int);
    struct drawing d = {.machine = machine,
                        .ends = ends,
                        .above = malloc(size),
                        .wire = malloc(size),
                        .child = malloc(size),
                        .next = malloc(size),
                        .drawn = calloc((size_t)machine->wire_count + 1, sizeof *d.drawn),
                        .tee = utf8 ? "├─" : "|-",
                        .corner = utf8 ? "└─" : "`-",
                        .bar = utf8 ? "│  " : "|  "};
    int *queue = malloc(size);
    bool good = d.above && d.wire && d.child && d.next && d.drawn && queue;
    if (good) {
        const struct mgb_device *host = &machine->devices[0].device;
        char bytes[32] = "";
        if (host->memory_bytes > 0)
            mgb_format_bytes(bytes, sizeof bytes, host->memory_bytes);
        mgb_say(stdout, "/cpu:0  %s%s%s\n", host->label, *host->label && *bytes ? ", " : "", bytes);
        tree_grow(&d, queue);
        below_draw(&d, 0, "", 0);
        beside_draw(&d);
    }
    free(d.above);
    free(d.wire);
    free(d.child);
    free(d.next);
    free(d.drawn);
    free(queue);
    return good ? MGB_OK
                : mgb_fail(MGB_NO_MEMORY, "drawing machine '%s': memory is exhausted",
                           machine->name);
}
