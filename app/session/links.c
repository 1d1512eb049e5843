/* Links whose speed the database does not know yet are measured when a run begins on them. */
#include "app/session/links.h"

#include "app/session/rows.h"

#include <stdlib.h>
#include <string.h>

#define BUDGET_NS 50000000 /* a run; what is left over waits for the next one */

struct asking {
    mgb_session_link_known *known;
    void *context;
};

static enum mgb_status link_tell(void *context, const struct mgb_value *values, int columns)
{
    const struct asking *asking = context;
    (void)columns;
    asking->known(asking->context, values[0].text, values[1].text, values[2].real,
                  (double)mgb_value_int(&values[3]) / 1e3);
    return MGB_OK;
}

enum mgb_status mgb_session_links_known(struct mgb_hub *hub, const char *key, const char *backend,
                                        mgb_session_link_known *known, void *context)
{
    static const char sql[] =
        "SELECT l.from_device, l.to_device, l.gbps, l.latency_ns FROM link AS l JOIN machine AS m "
        "ON m.id = l.machine_id WHERE m.key = ? AND l.backend = ? AND l.gbps IS NOT NULL";
    char own[24];
    struct mgb_reader *reader;
    MGB_TRY(mgb_hub_reader(hub, &reader));
    if (!key)
        mgb_session_machine_key(own, sizeof own);
    const struct mgb_value parameters[] = {mgb_value_of_text(key ? key : own),
                                           mgb_value_of_text(backend)};
    struct asking asking = {known, context};
    struct mgb_query_sink sink = {&asking, NULL, link_tell};
    return mgb_query_run(reader, sql, parameters, 2, &sink);
}

struct unknown_links {
    const struct mgb_topology *topology;
    struct mgb_link *links;
    int count;
};

/* Moves what the database has figures of behind the others. */
static void link_remove(void *context, const char *from, const char *to, double gbps,
                        double latency_us)
{
    struct unknown_links *unknown = context;
    const struct mgb_device *devices = unknown->topology->devices;
    (void)gbps;
    (void)latency_us;
    for (int i = 0; i < unknown->count; i++) {
        char names[2][MGB_DEVICE_NAME_MAX];
        struct mgb_link link = unknown->links[i];
        mgb_device_format(names[0], devices[link.from].name);
        mgb_device_format(names[1], devices[link.to].name);
        if (strcmp(names[0], from) != 0 || strcmp(names[1], to) != 0)
            continue;
        memmove(&unknown->links[i], &unknown->links[i + 1],
                (size_t)(--unknown->count - i) * sizeof link);
        unknown->links[unknown->count] = link;
        return;
    }
}

struct measuring {
    struct mgb_run *run;
    struct mgb_link *links;
    int count, measured;
    int all; /* with those whose speed is known already: peer access is tried anew by every process */
};

static enum mgb_status links_measure(void *argument)
{
    struct measuring *work = argument;
    for (int i = 0; i < work->all; i++)
        MGB_TRY(mgb_run_path(work->run, &work->links[i]));
    return mgb_run_measure_links(work->run, work->links, work->count, BUDGET_NS, &work->measured);
}

/* What trying peer access has shown. */
static void row_tried(struct mgb_record_link *row, const struct mgb_link *link)
{
    row->peer_access = MGB_KNOWN_INT(link->direct);
    row->peer_verdict = mgb_peer_verdict_name(link->verdict);
    if (link->peer_gbps > 0)
        row->peer_gbps = MGB_KNOWN_REAL(link->peer_gbps);
    if (link->staged_gbps > 0)
        row->staged_gbps = MGB_KNOWN_REAL(link->staged_gbps);
    if (link->peer_latency_us > 0)
        row->peer_latency_ns = MGB_KNOWN_INT((int64_t)(link->peer_latency_us * 1e3));
    if (link->staged_latency_us > 0)
        row->staged_latency_ns = MGB_KNOWN_INT((int64_t)(link->staged_latency_us * 1e3));
}

static void rows_fill(struct session_description *out, const struct mgb_topology *topology,
                      const struct mgb_link *links, int link_count)
{
    int room = (int)(sizeof out->links / sizeof *out->links), count = 0;
    for (int i = 0; i < link_count && count < room; i++) {
        const struct mgb_link *link = &links[i];
        if (link->gbps <= 0 && link->verdict == MGB_PEER_UNTRIED)
            continue;
        struct mgb_record_link *row = &out->links[count];
        row->from =
            mgb_device_format(out->link_names[count][0], topology->devices[link->from].name);
        row->to = mgb_device_format(out->link_names[count][1], topology->devices[link->to].name);
        bool memory = topology->devices[link->from].class == MGB_CLASS_CPU &&
                      topology->devices[link->to].class == MGB_CLASS_CPU;
        row->kind = memory ? "memory" : NULL;
        row->peer_access = MGB_KNOWN_INT(link->peer);
        if (link->gbps > 0)
            row->gbps = MGB_KNOWN_REAL(link->gbps);
        if (link->latency_us > 0)
            row->latency_ns = MGB_KNOWN_INT((int64_t)(link->latency_us * 1e3));
        if (link->verdict != MGB_PEER_UNTRIED)
            row_tried(row, link);
        count++;
    }
    out->machine_row.links = out->links;
    out->machine_row.link_count = count;
}

static struct mgb_link link_find(const struct mgb_topology *topology, int from, int to)
{
    for (int i = 0; i < topology->link_count; i++)
        if (topology->links[i].from == from && topology->links[i].to == to)
            return topology->links[i];
    return (struct mgb_link){.from = from, .to = to};
}

enum mgb_status mgb_session_describe_links(struct session_description *out,
                                           struct script_session *session)
{
    const struct mgb_plan *plan = mgb_run_plan(session->run);
    const struct mgb_topology *topology = mgb_run_topology(session->run);
    struct mgb_link *links = calloc((size_t)plan->traffic_count + 1, sizeof *links);
    struct unknown_links unknown = {topology, links, 0};
    enum mgb_status status = MGB_OK;
    bool measured = !session->sim;
    for (int i = 0; links && i < plan->traffic_count; i++) {
        const struct mgb_traffic *traffic = &plan->traffic[i];
        if (traffic->from != traffic->to)
            links[unknown.count++] =
                measured
                    ? (struct mgb_link){.from = traffic->from,
                                        .to = traffic->to,
                                        .peer =
                                            link_find(topology, traffic->from, traffic->to).peer}
                    : link_find(topology, traffic->from, traffic->to);
    }
    int count = unknown.count;
    if (count > 0 && !measured) { /* as the machine's description has it */
        rows_fill(out, topology, links, count);
    } else if (count > 0 &&
               mgb_session_links_known(session->hub, out->key, mgb_run_backend(session->run),
                                       link_remove, &unknown) == MGB_OK) {
        struct measuring work = {session->run, links, unknown.count, 0, count};
        status = mgb_session_worker_call(session->worker, links_measure, &work, NULL, NULL);
        if (status == MGB_OK)
            rows_fill(out, topology, links, count);
    }
    free(links);
    return status == MGB_TIMEOUT || status == MGB_DEVICE ? status : MGB_OK;
}
