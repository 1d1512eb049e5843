/* Why a step took other than the median; see store_stat.h. Compares exposed times, of which a device's are disjoint: busy
 * ones overlap, and what overlaps delays nothing. */
#include "db/store_stat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000

struct mgb_cause_device {
    char *name;
    size_t count; /* samples a phase */
    int64_t samples[MGB_PHASE_COUNT][MGB_CAUSE_SAMPLES];
    int64_t typical[MGB_PHASE_COUNT];
};

static enum mgb_status exposed_begin(struct mgb_statement *read, const struct mgb_causes *causes,
                                     int64_t number)
{
    MGB_TRY(
        mgb_sql_prepare(read, causes->sql,
                        "SELECT device, input_exposed_ns, fetch_exposed_ns, forward_exposed_ns, "
                        "backward_exposed_ns, join_exposed_ns, sum_exposed_ns, update_exposed_ns, "
                        "wait_exposed_ns FROM step_device WHERE segment_id = ? AND step = ?"));
    mgb_bind_int(read, causes->segment);
    mgb_bind_int(read, number);
    return MGB_OK;
}

static int64_t exposed_get(const struct mgb_statement *read, int phase)
{
    return mgb_stats_bound(mgb_column_int(read, phase + 1));
}

/* NULL: not seen before. */
static struct mgb_cause_device *device_find(const struct mgb_causes *causes, const char *name)
{
    for (size_t i = 0; i < causes->device_count; i++)
        if (strcmp(causes->devices[i].name, name) == 0)
            return &causes->devices[i];
    return NULL;
}

static struct mgb_cause_device *device_add(struct mgb_causes *causes, const char *name)
{
    struct mgb_cause_device *more =
        realloc(causes->devices, (causes->device_count + 1) * sizeof *more);
    if (!more)
        return NULL;
    causes->devices = more;
    struct mgb_cause_device *device = &more[causes->device_count];
    memset(device, 0, sizeof *device);
    device->name = strdup(name);
    if (!device->name)
        return NULL;
    causes->device_count++;
    return device;
}

static enum mgb_status sample_take(struct mgb_causes *causes, const struct mgb_statement *read)
{
    const char *name = mgb_column_text(read, 0);
    struct mgb_cause_device *device = device_find(causes, name);
    if (!device)
        device = device_add(causes, name);
    if (!device)
        return mgb_fail(MGB_NO_MEMORY, "no memory for the phases of %s", name);
    if (device->count == MGB_CAUSE_SAMPLES)
        return MGB_OK;
    for (int phase = 0; phase < MGB_PHASE_COUNT; phase++)
        device->samples[phase][device->count] = exposed_get(read, phase);
    device->count++;
    return MGB_OK;
}

static enum mgb_status samples_read(struct mgb_causes *causes, int64_t number)
{
    struct mgb_statement read;
    MGB_TRY(exposed_begin(&read, causes, number));
    for (;;) {
        bool row;
        MGB_TRY(mgb_statement_step(&row, &read));
        if (!row)
            return MGB_OK;
        enum mgb_status status = sample_take(causes, &read);
        if (status != MGB_OK) {
            mgb_statement_reset(&read);
            return status;
        }
    }
}

static int time_compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

enum mgb_status mgb_causes_read(struct mgb_causes *out, const int64_t *number, size_t count)
{
    size_t samples = count < MGB_CAUSE_SAMPLES ? count : MGB_CAUSE_SAMPLES;
    for (size_t i = 0; i < samples; i++)
        MGB_TRY(samples_read(out, number[i * count / samples]));
    for (size_t i = 0; i < out->device_count; i++) {
        struct mgb_cause_device *device = &out->devices[i];
        for (int phase = 0; phase < MGB_PHASE_COUNT; phase++) {
            qsort(device->samples[phase], device->count, sizeof(int64_t), time_compare);
            device->typical[phase] = device->samples[phase][device->count / 2];
        }
    }
    return MGB_OK;
}

void mgb_causes_done(struct mgb_causes *causes)
{
    for (size_t i = 0; i < causes->device_count; i++)
        free(causes->devices[i].name);
    free(causes->devices);
    *causes = (struct mgb_causes){0};
}

/* What a phase of a device took more than usual; less, where the step was short. */
struct growth {
    int64_t ns;
    enum mgb_phase phase;
    size_t device;
};

static void growth_keep(struct growth *kept, struct growth found, int64_t sign)
{
    if (sign * found.ns > sign * kept->ns)
        *kept = found;
}

/* Waiting is the shadow of what another device did: it counts only where nothing else grew. */
static enum mgb_status growth_find(struct growth *out, const struct mgb_causes *causes,
                                   int64_t number, int64_t excess_ns)
{
    struct growth work = {0}, wait = {0};
    struct mgb_statement read;
    int64_t sign = excess_ns < 0 ? -1 : 1;
    MGB_TRY(exposed_begin(&read, causes, number));
    for (;;) {
        bool row;
        MGB_TRY(mgb_statement_step(&row, &read));
        if (!row)
            break;
        const struct mgb_cause_device *device = device_find(causes, mgb_column_text(&read, 0));
        for (int phase = 0; device && phase < MGB_PHASE_COUNT; phase++)
            growth_keep(phase == MGB_PHASE_WAIT ? &wait : &work,
                        (struct growth){exposed_get(&read, phase) - device->typical[phase],
                                        (enum mgb_phase)phase, (size_t)(device - causes->devices)},
                        sign);
    }
    *out = sign * work.ns >= sign * excess_ns / 4 ? work : wait;
    if (sign * out->ns < sign * excess_ns / 4)
        out->ns = 0;
    return MGB_OK;
}

/* "+12.3 ms", "-45.6 us"; whole arithmetic, so that no locale has a say. */
static void growth_print(char *out, size_t size, const struct mgb_causes *causes,
                         const struct growth *growth)
{
    int64_t ns = llabs(growth->ns), unit = ns >= 1000000 ? 1000000 : 1000;
    int64_t tenths = (ns + unit / 20) / (unit / 10);
    snprintf(out, size, "%s on %s %c%" PRId64 ".%" PRId64 " %s", mgb_phase_name(growth->phase),
             causes->devices[growth->device].name, growth->ns < 0 ? '-' : '+', tenths / 10,
             tenths % 10, unit == 1000000 ? "ms" : "us");
}

/* States are sampled about once a second: the one nearest to a step lies within a second of it. */
static enum mgb_status throttle_find(char *out, size_t size, const struct mgb_causes *causes,
                                     int64_t start_ns, int64_t end_ns)
{
    struct mgb_statement read;
    bool row;
    *out = 0;
    MGB_TRY(mgb_sql_prepare(&read, causes->sql,
                            "SELECT throttle, device FROM sample WHERE run_id = ? AND at_ns "
                            "BETWEEN ? AND ? AND throttle <> '' ORDER BY at_ns LIMIT 1"));
    mgb_bind_int(&read, causes->run);
    mgb_bind_int(&read, start_ns - SECOND_NS);
    mgb_bind_int(&read, end_ns + SECOND_NS);
    MGB_TRY(mgb_statement_step(&row, &read));
    if (!row)
        return MGB_OK;
    snprintf(out, size, "throttle: %.60s on %.20s", mgb_column_text(&read, 0),
             mgb_column_text(&read, 1));
    mgb_statement_reset(&read);
    return MGB_OK;
}

enum mgb_status mgb_causes_find(char *out, const struct mgb_causes *causes, int64_t number,
                                int64_t start_ns, int64_t wall_ns)
{
    int64_t excess_ns = wall_ns - causes->median_ns;
    struct growth growth;
    *out = 0;
    if (excess_ns > 0)
        MGB_TRY(throttle_find(out, MGB_CAUSE_SIZE, causes, start_ns, start_ns + wall_ns));
    MGB_TRY(growth_find(&growth, causes, number, excess_ns));
    size_t used = strlen(out);
    if (growth.ns != 0) {
        if (used > 0)
            used += (size_t)snprintf(out + used, MGB_CAUSE_SIZE - used, "; ");
        growth_print(out + used, MGB_CAUSE_SIZE - used, causes, &growth);
    } else if (used == 0 && excess_ns > 0 && causes->ring_waits.known &&
               causes->ring_waits.value > 0) {
        snprintf(out, MGB_CAUSE_SIZE, "no phase grew; steps waited for the recorder %" PRId64 "x",
                 causes->ring_waits.value);
    }
    return MGB_OK;
}
