/* What a machine must be before anything is played on it: every fault is told with the machine's name, the field and the
 * value. Wires and pairs are in machine_check_ways.c. */
#include "engine/topo/machine_check.h"

#include "engine/base/memory.h"
#include <math.h>
#include <mgb/name.h>
#include <stdlib.h>
#include <string.h>

enum mgb_status mgb_machine_check_number(const struct mgb_machine *machine, const char *where,
                                         const char *field, double value, double least, double most)
{
    if (isfinite(value) && value >= least && value <= most)
        return MGB_OK;
    return mgb_fail(MGB_INVALID, "machine '%s': %s: %s: a number from %g to %g expected, got %g",
                    machine->name, where, field, least, most, value);
}

enum mgb_status mgb_machine_check_numbers(const struct mgb_machine *machine, const char *where,
                                          const struct mgb_machine_bound *bounds)
{
    for (const struct mgb_machine_bound *b = bounds; b->field; b++)
        MGB_TRY(mgb_machine_check_number(machine, where, b->field, b->value, b->least, b->most));
    return MGB_OK;
}

static enum mgb_status curve_check(const struct mgb_machine *machine, const char *where,
                                   const char *field, const struct mgb_curve *curve)
{
    if (curve->count < 0 || curve->count > MGB_CURVE_MOST)
        return mgb_fail(MGB_INVALID, "machine '%s': %s: %s: at most %d knots expected, got %d",
                        machine->name, where, field, MGB_CURVE_MOST, curve->count);
    for (int i = 0; i < curve->count; i++) {
        MGB_TRY(
            mgb_machine_check_number(machine, where, field, curve->at[i], 1e-6, MGB_MACHINE_MOST));
        MGB_TRY(mgb_machine_check_number(machine, where, field, curve->value[i], 1e-6, 4));
        if (i > 0 && curve->at[i] <= curve->at[i - 1])
            return mgb_fail(MGB_INVALID,
                            "machine '%s': %s: %s: sizes that rise expected, got %g after %g",
                            machine->name, where, field, curve->at[i], curve->at[i - 1]);
    }
    return MGB_OK;
}

static enum mgb_status factors_check(const struct mgb_machine *machine, const char *where,
                                     const struct mgb_machine_device *d)
{
    for (int i = 0; i < d->factor_count; i++) {
        const struct mgb_machine_factor *factor = &d->factors[i];
        if (!memchr(factor->kind, '\0', sizeof factor->kind))
            return mgb_fail(MGB_INVALID, "machine '%s': %s: factor %d has no name", machine->name,
                            where, i);
        MGB_TRY(mgb_machine_check_number(machine, where, factor->kind, factor->speed, 1e-3, 1e3));
        for (int k = 0; k < i; k++)
            if (strcmp(factor->kind, d->factors[k].kind) == 0)
                return mgb_fail(MGB_INVALID, "machine '%s': %s: the factor %s is given twice",
                                machine->name, where, factor->kind);
    }
    return MGB_OK;
}

/* What a CPU does of which nothing was said. */
static void cpu_complete(struct mgb_machine_device *d, const struct mgb_machine_host *host)
{
    if (d->tflops[0] == 0)
        d->tflops[0] = (host->cores > 0 ? host->cores : 1) / 20.0;
    if (d->memory_gbps == 0)
        d->memory_gbps = host->memory_gbps > 0 ? host->memory_gbps : 20;
}

static void device_complete(struct mgb_machine_device *d, const struct mgb_machine_host *host)
{
    if (d->device.name.kind == MGB_DEVICE_CPU)
        cpu_complete(d, host);
    for (int i = 1; i < 4; i++)
        d->tflops[i] = d->tflops[i] == 0 ? d->tflops[0] : d->tflops[i];
    d->copies_in = d->copies_in ? d->copies_in : 1;
    d->copies_out = d->copies_out ? d->copies_out : 1;
    d->board_speed = d->board_speed == 0 ? 1 : d->board_speed;
    d->speed = d->speed == 0 ? 1 : d->speed;
}

static enum mgb_status device_check(const struct mgb_machine *machine, struct mgb_machine_device *d)
{
    char where[MGB_DEVICE_NAME_MAX];
    mgb_device_format(where, d->device.name);
    if (d->device.name.kind != MGB_DEVICE_CPU && d->device.name.kind != MGB_DEVICE_GPU)
        return mgb_fail(MGB_INVALID,
                        "machine '%s': '%s' is no device: /cpu:0, /gpu:1 and their like expected",
                        machine->name, where);
    device_complete(d, &machine->host);
    const struct mgb_machine_bound bounds[] = {
        {"memory_bytes", (double)d->device.memory_bytes, 0, MGB_MACHINE_MOST},
        {"f32_tflops", d->tflops[0], 1e-6, 1e6},
        {"tf32_tflops", d->tflops[1], 1e-6, 1e6},
        {"bf16_tflops", d->tflops[2], 1e-6, 1e6},
        {"f16_tflops", d->tflops[3], 1e-6, 1e6},
        {"memory_gbps", d->memory_gbps, 1e-6, 1e6},
        {"launch_us", d->launch_us, 0, 1e6},
        {"copies_in", d->copies_in, 1, 64},
        {"copies_out", d->copies_out, 1, 64},
        {"board", d->board, -1, MGB_MACHINE_DEVICES_MOST},
        {"board_speed", d->board_speed, 1e-3, 1},
        {"speed", d->speed, 1e-3, 1e3},
        {NULL, 0, 0, 0}};
    MGB_TRY(mgb_machine_check_numbers(machine, where, bounds));
    MGB_TRY(curve_check(machine, where, "efficiency.compute", &d->compute));
    MGB_TRY(curve_check(machine, where, "efficiency.memory", &d->memory));
    return factors_check(machine, where, d);
}

static uint64_t name_key(struct mgb_device_name name)
{
    return (uint64_t)name.kind << 60 | (uint64_t)(uint32_t)name.host << 30 |
           (uint64_t)(uint32_t)name.index;
}

int mgb_machine_key_order(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a, two = *(const uint64_t *)b;
    return (one > two) - (one < two);
}

static enum mgb_status names_check(const struct mgb_machine *machine)
{
    uint64_t *keys = mgb_alloc((size_t)machine->device_count * sizeof *keys);
    if (!keys)
        return mgb_fail(MGB_NO_MEMORY, "machine '%s': memory is exhausted", machine->name);
    for (int i = 0; i < machine->device_count; i++)
        keys[i] = name_key(machine->devices[i].device.name);
    qsort(keys, (size_t)machine->device_count, sizeof *keys, mgb_machine_key_order);
    enum mgb_status status = MGB_OK;
    for (int i = 1; i < machine->device_count && status == MGB_OK; i++)
        if (keys[i] == keys[i - 1])
            status = mgb_fail(MGB_INVALID, "machine '%s': a device is there twice: %s:%d",
                              machine->name, keys[i] >> 60 == MGB_DEVICE_GPU ? "/gpu" : "/cpu",
                              (int)(keys[i] & 0x3fffffff));
    mgb_release(keys);
    return status;
}

static enum mgb_status devices_check(struct mgb_machine *machine)
{
    static const struct mgb_device_name cpu0 = {MGB_DEVICE_CPU, 0, 0};
    if (machine->device_count < 1 || machine->device_count > MGB_MACHINE_DEVICES_MOST)
        return mgb_fail(MGB_INVALID, "machine '%s': 1 to %d devices expected, got %d",
                        machine->name, MGB_MACHINE_DEVICES_MOST, machine->device_count);
    if (!mgb_device_equal(machine->devices[0].device.name, cpu0))
        return mgb_fail(MGB_INVALID, "machine '%s': its first device is not /cpu:0", machine->name);
    for (int i = 0; i < machine->device_count; i++)
        MGB_TRY(device_check(machine, &machine->devices[i]));
    return names_check(machine);
}

static void host_complete(struct mgb_machine *machine)
{
    struct mgb_machine_host *host = &machine->host;
    struct mgb_machine_collective *c = &machine->collective;
    host->core_total = host->core_total == 0 ? host->cores : host->core_total;
    host->reduce_gbps = host->reduce_gbps == 0 ? host->memory_gbps : host->reduce_gbps;
    c->ring_share = c->ring_share == 0 ? 1 : c->ring_share;
    c->tree_share = c->tree_share == 0 ? 0.92 : c->tree_share;
}

static enum mgb_status host_check(struct mgb_machine *machine)
{
    host_complete(machine);
    const struct mgb_machine_host *host = &machine->host;
    const struct mgb_machine_collective *c = &machine->collective;
    const struct mgb_machine_bound of_host[] = {{"cores", host->cores, 0, 1e6},
                                                {"core_total", host->core_total, 0, 1e6},
                                                {"memory_gbps", host->memory_gbps, 0, 1e6},
                                                {"reduce_gbps", host->reduce_gbps, 0, 1e6},
                                                {"pageable_gbps", host->pageable_gbps, 0, 1e6},
                                                {"submit_us", host->submit_us, 0, 1e6},
                                                {"step_us", host->step_us, 0, 1e9},
                                                {"copy_waits", host->copy_waits, 0, 2},
                                                {NULL, 0, 0, 0}};
    const struct mgb_machine_bound of_collective[] = {{"start_us", c->start_us, 0, 1e6},
                                                      {"hop_us", c->hop_us, 0, 1e6},
                                                      {"network_hop_us", c->network_hop_us, 0, 1e6},
                                                      {"ring_share", c->ring_share, 1e-3, 1},
                                                      {"tree_share", c->tree_share, 1e-3, 1},
                                                      {"switch_gbps", c->switch_gbps, 0, 1e6},
                                                      {"compute_share", c->compute_share, 0, 1},
                                                      {NULL, 0, 0, 0}};
    const struct mgb_machine_bound own[] = {{"device", machine->device_sigma, 0, 1},
                                            {"step", machine->step_sigma, 0, 1},
                                            {NULL, 0, 0, 0}};
    MGB_TRY(mgb_machine_check_numbers(machine, "host", of_host));
    MGB_TRY(mgb_machine_check_numbers(machine, "collective", of_collective));
    MGB_TRY(mgb_machine_check_numbers(machine, "jitter", own));
    return mgb_machine_check_number(machine, "of times", "uncertainty", machine->uncertainty, 0, 1);
}

static int cost_order(const void *a, const void *b)
{
    const struct mgb_machine_cost *one = a, *two = b;
    if (one->signature != two->signature)
        return one->signature > two->signature ? 1 : -1;
    if (one->threads != two->threads)
        return one->threads > two->threads ? 1 : -1;
    return (one->rows > two->rows) - (one->rows < two->rows);
}

static enum mgb_status costs_check(struct mgb_machine *machine)
{
    struct mgb_machine_cost *costs = machine->costs;
    if (machine->cost_count < 0)
        return mgb_fail(MGB_INVALID, "machine '%s': costs: %d of them", machine->name,
                        machine->cost_count);
    if (machine->cost_count > 0)
        qsort(costs, (size_t)machine->cost_count, sizeof *costs, cost_order);
    for (int i = 0; i < machine->cost_count; i++) {
        const struct mgb_machine_bound bounds[] = {{"rows", (double)costs[i].rows, 1, 1e12},
                                                   {"threads", costs[i].threads, 0, 1e6},
                                                   {"ns", costs[i].ns, 0, 1e15},
                                                   {NULL, 0, 0, 0}};
        MGB_TRY(mgb_machine_check_numbers(machine, "costs", bounds));
        if (i > 0 && cost_order(&costs[i], &costs[i - 1]) == 0)
            return mgb_fail(MGB_INVALID,
                            "machine '%s': costs: %016llx of %lld rows with %d threads is given "
                            "twice",
                            machine->name, (unsigned long long)costs[i].signature,
                            (long long)costs[i].rows, costs[i].threads);
    }
    return MGB_OK;
}

static enum mgb_status words_check(const struct mgb_machine *machine)
{
    if (!memchr(machine->name, '\0', sizeof machine->name) ||
        !memchr(machine->summary, '\0', sizeof machine->summary))
        return mgb_fail(MGB_INVALID, "a machine's name or summary does not end");
    MGB_TRY(mgb_name_check("a machine's name", machine->name));
    if (*machine->summary)
        MGB_TRY(mgb_note_check("a machine's summary", machine->summary));
    if (!machine->source || !*machine->source)
        return mgb_fail(MGB_INVALID,
                        "machine '%s': source: where its figures come from expected, got nothing",
                        machine->name);
    return MGB_OK;
}

enum mgb_status mgb_machine_check(struct mgb_machine *machine)
{
    MGB_TRY(words_check(machine));
    MGB_TRY(host_check(machine));
    MGB_TRY(devices_check(machine));
    MGB_TRY(costs_check(machine));
    return mgb_machine_check_ways(machine);
}
