/* Remarks about GPUs: ways between them that are not what they seem, and GPUs that are not alike. */
#include "app/session/rows.h"

#include <stdio.h>
#include <string.h>

#define UNLIKE 1.25 /* the larger over the smaller */

struct path_work {
    struct mgb_run *run;
    struct mgb_link link;
};

static void path_warn(struct script_session *session, const struct mgb_link *link)
{
    const char *from = session_device(session, link->from), *to = session_device(session, link->to);
    switch (link->verdict) {
    case MGB_PEER_UNTRIED:
        if (!link->peer && mgb_run_effective(session->run)->peer_access == MGB_CHOICE_YES)
            mgb_session_warn(session, "peer",
                             "there is no peer access from %s to %s: copies go by way of the host, "
                             "though peer_access = true",
                             from, to);
        return;
    case MGB_PEER_GOOD:
        return;
    case MGB_PEER_BAD:
        mgb_session_warn(session, "peer",
                         "copies from %s to %s by peer access arrive damaged: they go by way of "
                         "the host (an IOMMU or PCIe access control in the way?)",
                         from, to);
        return;
    case MGB_PEER_SLOW:
        mgb_session_warn(session, "peer",
                         "peer access from %s to %s reaches %.3g GB/s, by way of the host it is "
                         "%.3g: %s",
                         from, to, link->peer_gbps, link->staged_gbps,
                         link->direct ? "used all the same, as asked" : "copies go that way");
        return;
    case MGB_PEER_REFUSED:
        mgb_session_warn(session, "peer",
                         "the driver enables no peer access from %s to %s (there is a limit on "
                         "how many GPUs a GPU can reach): copies go by way of the host",
                         from, to);
        return;
    }
}

static bool path_there(const struct mgb_topology *topology, int from, int to)
{
    for (int i = 0; i < topology->link_count; i++)
        if (topology->links[i].from == from && topology->links[i].to == to)
            return topology->links[i].peer;
    return topology->devices[from].physical == topology->devices[to].physical;
}

static enum mgb_status path_try(void *argument)
{
    struct path_work *work = argument;
    return mgb_run_path(work->run, &work->link);
}

/* A failure shows again when the link is used. */
void mgb_session_warn_paths(struct script_session *session)
{
    const struct mgb_plan *plan = mgb_run_plan(session->run);
    const struct mgb_topology *topology = mgb_run_topology(session->run);
    const struct mgb_device *devices = topology->devices;
    int room = (int)(sizeof session->paths_told / sizeof *session->paths_told);
    for (int i = 0; i < plan->traffic_count && session->path_count < room; i++) {
        int from = plan->traffic[i].from, to = plan->traffic[i].to, pair = from << 16 | to;
        bool told = from == to || devices[from].class != MGB_CLASS_CUDA ||
                    devices[to].class != MGB_CLASS_CUDA;
        for (int k = 0; k < session->path_count; k++)
            told = told || session->paths_told[k] == pair;
        struct path_work work = {session->run,
                                 {.from = from, .to = to, .peer = path_there(topology, from, to)}};
        if (told || mgb_session_worker_call(session->worker, path_try, &work, NULL, NULL) != MGB_OK)
            continue;
        session->paths_told[session->path_count++] = pair;
        path_warn(session, &work.link);
    }
}

/* Names the first of a and b that is a quarter larger; 0: alike, or not known. */
static int larger(double a, double b)
{
    if (!(a > 0) || !(b > 0))
        return 0;
    return a > UNLIKE * b ? 1 : b > UNLIKE * a ? -1 : 0;
}

static bool unlike_warn(struct script_session *session, int one, int two)
{
    const struct mgb_device *devices = mgb_run_topology(session->run)->devices;
    const struct mgb_device *a = &devices[one], *b = &devices[two];
    const struct {
        const char *what;
        double a, b;
    } traits[] = {{"memory", (double)a->memory_bytes, (double)b->memory_bytes},
                  {"multiprocessors", a->cores, b->cores},
                  {"clock", a->clock_mhz, b->clock_mhz}};
    for (size_t i = 0; i < sizeof traits / sizeof *traits; i++) {
        int order = larger(traits[i].a, traits[i].b);
        if (order == 0)
            continue;
        mgb_session_warn(
            session, "unlike",
            "%s (%s) and %s (%s) are not alike, %s differs by %.0f %%: the slower one "
            "holds the others up",
            session_device(session, one), a->label, session_device(session, two), b->label,
            traits[i].what,
            100 * ((order > 0 ? traits[i].a / traits[i].b : traits[i].b / traits[i].a) - 1));
        return true;
    }
    return false;
}

void mgb_session_warn_unlike(struct script_session *session)
{
    const struct mgb_plan *plan = mgb_run_plan(session->run);
    const struct mgb_device *devices = mgb_run_topology(session->run)->devices;
    int first = plan->tower_count > 0 ? plan->towers[0].device : 0;
    for (int t = 1; t < plan->tower_count && !session->unlike_told; t++)
        if (devices[first].class == MGB_CLASS_CUDA)
            session->unlike_told = unlike_warn(session, first, plan->towers[t].device);
}
