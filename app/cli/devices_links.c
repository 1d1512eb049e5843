/* mgbench devices --links: the ways between GPUs, tried with peer access and by way of the host. */
#include "app/cli/devices.h"

#include "app/script/table.h"
#include <mgb/preview.h>
#include <stdio.h>

void mgb_cli_figure_add(struct mgb_table *table, double value)
{
    if (value > 0)
        mgb_table_add_number(table, value);
    else
        mgb_table_add_empty(table);
}

static void link_add(struct mgb_table *table, const struct mgb_topology *topology,
                     const struct mgb_link *link)
{
    char from[MGB_DEVICE_NAME_MAX], to[MGB_DEVICE_NAME_MAX];
    mgb_table_add_text(table, mgb_device_format(from, topology->devices[link->from].name));
    mgb_table_add_text(table, mgb_device_format(to, topology->devices[link->to].name));
    mgb_table_add_text(table, link->direct ? "direct" : "staged");
    mgb_table_add_text(table, link->verdict != MGB_PEER_UNTRIED
                                  ? mgb_peer_verdict_name(link->verdict)
                              : link->peer ? "untried"
                                           : "none");
    mgb_cli_figure_add(table, link->peer_gbps);
    mgb_cli_figure_add(table, link->peer_latency_us);
    mgb_cli_figure_add(table, link->staged_gbps);
    mgb_cli_figure_add(table, link->staged_latency_us);
}

static bool link_shown(const struct mgb_topology *topology, const struct mgb_link *link)
{
    return topology->devices[link->from].class == MGB_CLASS_CUDA &&
           topology->devices[link->to].class == MGB_CLASS_CUDA;
}

enum mgb_status mgb_cli_devices_links(struct mgb_topology *topology, const char *backend,
                                      enum mgb_table_format format)
{
    static const char *const names[] = {"from",      "to",      "copies",      "peer_access",
                                        "peer_GBps", "peer_us", "staged_GBps", "staged_us"};
    struct mgb_table *table;
    int shown = 0;
    for (int i = 0; i < topology->link_count; i++)
        shown += link_shown(topology, &topology->links[i]);
    if (shown == 0)
        return mgb_fail(MGB_MISSING,
                        "--links tries the ways between GPUs: backend %s has fewer than two",
                        backend);
    MGB_TRY(mgb_preview_paths(topology, backend));
    MGB_TRY(mgb_table_make(&table, (int)(sizeof names / sizeof *names), names));
    for (int i = 0; i < topology->link_count; i++)
        if (link_shown(topology, &topology->links[i]))
            link_add(table, topology, &topology->links[i]);
    enum mgb_status status = mgb_table_print(table, format, stdout);
    mgb_table_free(table);
    return status;
}
