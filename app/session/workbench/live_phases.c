/* Means over the newest steps: where the time of each device went, and what bounds a step. */
#include "app/session/workbench/live_private.h"

#include <stdio.h>
#include <string.h>

#define WINDOW_NS INT64_C(1000000000)

static int64_t live_sum(struct live_bucket *out, const struct mgb_live *live)
{
    memset(out, 0, sizeof *out);
    for (int back = 0; back < MGB_LIVE_BUCKETS && out->wall_ns < WINDOW_NS; back++) {
        int at = (live->bucket - back + MGB_LIVE_BUCKETS) % MGB_LIVE_BUCKETS;
        const struct live_bucket *bucket = &live->buckets[at];
        if (bucket->steps == 0)
            break;
        out->wall_ns += bucket->wall_ns;
        out->steps += bucket->steps;
        out->count = bucket->count;
        for (int i = 0; i < bucket->count; i++) {
            out->devices[i].device = bucket->devices[i].device;
            out->devices[i].finish_ns += bucket->devices[i].finish_ns;
            for (int p = 0; p < MGB_PHASE_COUNT; p++) {
                out->devices[i].busy_ns[p] += bucket->devices[i].busy_ns[p];
                out->devices[i].exposed_ns[p] += bucket->devices[i].exposed_ns[p];
            }
        }
    }
    return out->steps;
}

static void means_fill(struct mgb_bench_phases *out, const struct live_bucket *sum,
                       const struct mgb_facts *facts)
{
    out->wall_ns = sum->wall_ns / sum->steps;
    out->steps = sum->steps;
    out->count = sum->count;
    for (int i = 0; i < sum->count; i++) {
        const struct live_times *times = &sum->devices[i];
        struct mgb_bench_device_times *mean = &out->devices[i];
        if (facts && times->device < facts->device_count)
            memcpy(mean->device, facts->devices[times->device].name, sizeof mean->device);
        mean->finish_ns = times->finish_ns / sum->steps;
        for (int p = 0; p < MGB_PHASE_COUNT; p++) {
            mean->busy_ns[p] = times->busy_ns[p] / sum->steps;
            mean->exposed_ns[p] = times->exposed_ns[p] / sum->steps;
        }
        if (mean->finish_ns > 0 &&
            (out->slowest < 0 || mean->finish_ns > out->devices[out->slowest].finish_ns))
            out->slowest = i;
    }
}

/* While nothing works: towers work side by side, and what has no tower before or after them. 0: not so long. */
static int64_t waiting_ns(const struct mgb_bench_phases *phases)
{
    int64_t towers = 0, others = 0;
    for (int i = 0; i < phases->count; i++) {
        const struct mgb_bench_device_times *times = &phases->devices[i];
        int64_t works = phases->wall_ns - times->exposed_ns[MGB_PHASE_WAIT];
        if (times->finish_ns <= 0)
            others += works;
        else
            towers = works > towers ? works : towers;
    }
    int64_t rest = phases->wall_ns - towers - others;
    return phases->count > 0 && rest > 0 ? rest : 0;
}

/* Of all devices and phases the one that nothing else hid for longest, or that nothing worked. Of equal ones that of the
 * slowest device. */
static void bound_write(struct mgb_bench_phases *out)
{
    int device = -1, phase = 0;
    int64_t most = 0, waiting = waiting_ns(out);
    for (int i = 0; i < out->count; i++)
        for (int p = 0; p < MGB_PHASE_COUNT; p++) {
            int64_t ns = out->devices[i].exposed_ns[p];
            if (p == MGB_PHASE_WAIT || ns < most || (ns == most && i != out->slowest) || ns == 0)
                continue;
            most = ns;
            device = i;
            phase = p;
        }
    if (out->wall_ns > 0 && waiting > most)
        snprintf(out->bound, sizeof out->bound, "waiting (%.0f%% of the mean)",
                 100 * (double)waiting / (double)out->wall_ns);
    if (device < 0 || out->wall_ns <= 0 || waiting > most)
        return;
    const char *name = out->devices[device].device;
    snprintf(out->bound, sizeof out->bound, "%s on %s (%.0f%% of the mean)",
             mgb_phase_name((enum mgb_phase)phase), *name == '/' ? name + 1 : name,
             100 * (double)most / (double)out->wall_ns);
}

void mgb_live_phases(struct mgb_live *live, struct mgb_bench_phases *out)
{
    struct live_bucket sum;
    memset(out, 0, sizeof *out);
    out->slowest = -1;
    pthread_mutex_lock(&live->lock);
    int64_t steps = live_sum(&sum, live);
    const struct mgb_facts *facts = mgb_shared_hold(live->facts);
    out->warmup = live->bucket_warmup;
    pthread_mutex_unlock(&live->lock);
    if (steps > 0) {
        means_fill(out, &sum, facts);
        bound_write(out);
    }
    mgb_shared_drop(facts);
}
