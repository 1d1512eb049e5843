/* Where a device's time went in a step, from the spans in which its queues worked: measured ones or simulated ones. A copy
 * between devices counts for both of them; the host's wait for the batch counts as input on every device, since all of them
 * wait for it. */
#include "engine/plan/device_times.h"

/* Which phase a moment belongs to when several run: the work itself hides what goes on beside it. */
static const enum mgb_phase rank[] = {MGB_PHASE_FORWARD, MGB_PHASE_BACKWARD, MGB_PHASE_UPDATE,
                                      MGB_PHASE_SUM,     MGB_PHASE_JOIN,     MGB_PHASE_FETCH,
                                      MGB_PHASE_INPUT};

static int64_t clip(int64_t ns, int64_t low, int64_t high)
{
    return ns < low ? low : ns > high ? high : ns;
}

/* Heap sort by time: the C library's sort may allocate. */
static void boundary_sift(struct mgb_boundary *b, int root, int count)
{
    for (int child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && b[child].ns < b[child + 1].ns)
            child++;
        if (b[root].ns >= b[child].ns)
            return;
        struct mgb_boundary held = b[root];
        b[root] = b[child];
        b[child] = held;
    }
}

static void boundaries_sort(struct mgb_boundary *b, int count)
{
    for (int i = count / 2 - 1; i >= 0; i--)
        boundary_sift(b, i, count);
    for (int end = count - 1; end > 0; end--) {
        struct mgb_boundary held = b[0];
        b[0] = b[end];
        b[end] = held;
        boundary_sift(b, 0, end);
    }
}

static int interval_add(struct mgb_boundary *b, int count, enum mgb_phase phase, int64_t begin,
                        int64_t end)
{
    if (end <= begin)
        return count;
    b[count] = (struct mgb_boundary){begin, (int)phase, 1};
    b[count + 1] = (struct mgb_boundary){end, (int)phase, -1};
    return count + 2;
}

/* The stretch up to `until`, during which depth[phase] tasks of each phase ran. */
static void stretch_add(struct mgb_device_times *out, const int depth[MGB_PHASE_COUNT], int64_t ns)
{
    bool hidden = false;
    for (size_t i = 0; i < sizeof rank / sizeof rank[0]; i++) {
        if (depth[rank[i]] <= 0)
            continue;
        out->busy[rank[i]] += ns;
        if (!hidden)
            out->exposed[rank[i]] += ns;
        hidden = true;
    }
    if (!hidden)
        out->exposed[MGB_PHASE_WAIT] += ns;
}

void mgb_device_times_fill(struct mgb_device_times *out, struct mgb_boundary *b, int device,
                           const struct mgb_span *spans, int span_count,
                           const struct mgb_step_clock *clock)
{
    int64_t start_ns = clock->start_ns, end_ns = clock->end_ns;
    int depth[MGB_PHASE_COUNT] = {0};
    int count = interval_add(b, 0, MGB_PHASE_INPUT, start_ns, clock->input_ns);
    *out = (struct mgb_device_times){.device = device};
    for (int i = 0; i < span_count; i++) {
        const struct mgb_span *span = &spans[i];
        if (span->device != device && span->from != device)
            continue;
        int64_t begin = clip(span->start_ns, start_ns, end_ns),
                end = clip(span->end_ns, start_ns, end_ns);
        count = interval_add(b, count, span->phase, begin, end);
        bool tower = span->tower >= 0 && span->from < 0 &&
                     (span->phase == MGB_PHASE_FORWARD || span->phase == MGB_PHASE_BACKWARD);
        if (tower && end - start_ns > out->finish_ns)
            out->finish_ns = end - start_ns;
    }
    boundaries_sort(b, count);
    int64_t at = start_ns;
    for (int i = 0; i < count; i++) {
        stretch_add(out, depth, b[i].ns - at);
        at = b[i].ns;
        depth[b[i].phase] += b[i].step;
    }
    stretch_add(out, depth, end_ns - at);
}
