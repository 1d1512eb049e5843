/* Machines: what is refused, routes against all there are, and what the planner gets to see. */
#include "tests/support/check.h"

#include "engine/base/random.h"
#include <math.h>
#include <mgb/machine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENDS_MOST 10

static uint32_t draw(uint64_t key, uint64_t at, uint32_t below)
{
    return mgb_random_below(mgb_random_at(key, at, 0).v[0], below);
}

static void *copy_of(const void *from, size_t size)
{
    void *block = mgb_machine_block(size);
    assert_non_null(block);
    memcpy(block, from, size);
    return block;
}

static struct mgb_machine_device device_make(enum mgb_device_kind kind, int index)
{
    return (struct mgb_machine_device){
        .device = {.name = {kind, index, 0}}, .tflops = {10}, .memory_gbps = 500, .board = -1};
}

/* /cpu:0, `gpus` and `switches`, no wires yet. */
static struct mgb_machine *machine_make(int gpus, int switches)
{
    struct mgb_machine *m = mgb_machine_block(sizeof *m);
    assert_non_null(m);
    strcpy(m->name, "drawn");
    m->source = copy_of("drawn", sizeof "drawn");
    m->device_count = gpus + 1;
    m->devices = mgb_machine_block((size_t)(gpus + 1) * sizeof *m->devices);
    m->devices[0] = device_make(MGB_DEVICE_CPU, 0);
    for (int i = 0; i < gpus; i++)
        m->devices[i + 1] = device_make(MGB_DEVICE_GPU, i);
    m->switch_count = switches;
    m->switches = mgb_machine_block((size_t)(switches + 1) * sizeof *m->switches);
    for (int i = 0; i < switches; i++)
        snprintf(m->switches[i], sizeof m->switches[i], "sw%d", i);
    m->wires = mgb_machine_block(64 * sizeof *m->wires);
    m->pairs = mgb_machine_block(64 * sizeof *m->pairs);
    return m;
}

static void wire_add(struct mgb_machine *m, int a, int b, double gbps, double back)
{
    m->wires[m->wire_count++] =
        (struct mgb_machine_wire){.a = a, .b = b, .gbps = gbps, .back_gbps = back, .latency_us = 1};
}

/* A tree of all ends, GPUs as leaves, and some further wires. */
static struct mgb_machine *machine_draw(uint64_t key)
{
    int gpus = 1 + (int)draw(key, 0, 4), switches = (int)draw(key, 1, 4);
    struct mgb_machine *m = machine_make(gpus, switches);
    int inner[ENDS_MOST] = {0}, inner_count = 1, ends = gpus + 1 + switches;
    for (int i = 0; i < switches; i++) {
        wire_add(m, inner[draw(key, 10 + (uint64_t)i, (uint32_t)inner_count)], gpus + 1 + i,
                 1 + draw(key, 20 + (uint64_t)i, 5), draw(key, 30 + (uint64_t)i, 3));
        inner[inner_count++] = gpus + 1 + i;
    }
    for (int i = 1; i <= gpus; i++)
        wire_add(m, i, inner[draw(key, 40 + (uint64_t)i, (uint32_t)inner_count)],
                 1 + draw(key, 50 + (uint64_t)i, 5), draw(key, 60 + (uint64_t)i, 3));
    for (int i = 0; i < 5; i++) {
        int a = (int)draw(key, 70 + (uint64_t)i, (uint32_t)ends);
        int b = (int)draw(key, 80 + (uint64_t)i, (uint32_t)ends);
        bool known = a == b;
        for (int w = 0; w < m->wire_count; w++)
            known = known || (m->wires[w].a == a && m->wires[w].b == b) ||
                    (m->wires[w].a == b && m->wires[w].b == a);
        if (!known)
            wire_add(m, a, b, 1 + draw(key, 90 + (uint64_t)i, 5), 0);
    }
    return m;
}

/* The best of all ways without a turn back, by trying them: fewest wires, then the widest. */
struct best {
    int count;
    double gbps;
};

static void ways_try(struct best *best, const struct mgb_machine *m, bool *seen, int at, int to,
                     int count, double gbps)
{
    if (at == to) {
        if (best->count < 0 || count < best->count || (count == best->count && gbps > best->gbps))
            *best = (struct best){count, gbps};
        return;
    }
    seen[at] = true;
    for (int w = 0; w < m->wire_count; w++) {
        const struct mgb_machine_wire *wire = &m->wires[w];
        int next = wire->a == at ? wire->b : wire->b == at ? wire->a : -1;
        double speed = wire->a == at ? wire->gbps : wire->back_gbps;
        bool gpu = next > 0 && next < m->device_count;
        if (next >= 0 && !seen[next] && (!gpu || next == to))
            ways_try(best, m, seen, next, to, count + 1, speed < gbps ? speed : gbps);
    }
    seen[at] = false;
}

static void route_check(const struct mgb_machine *m, uint64_t key, int from, int to)
{
    struct mgb_route route;
    struct best best = {-1, 0};
    bool seen[ENDS_MOST] = {false};
    int at = from;
    double narrowest = INFINITY;
    ways_try(&best, m, seen, from, to, 0, INFINITY);
    assert_ok(mgb_machine_route(&route, m, from, to));
    for (int i = 0; i < route.count; i++) {
        const struct mgb_machine_wire *wire = &m->wires[route.wires[i] / 2];
        bool back = route.wires[i] % 2;
        double gbps = back ? wire->back_gbps : wire->gbps;
        assert_int_equal(back ? wire->b : wire->a, at);
        at = back ? wire->a : wire->b;
        narrowest = gbps < narrowest ? gbps : narrowest;
    }
    assert_int_equal(at, to);
    if (route.count != best.count || fabs(route.gbps - best.gbps) > 0 ||
        fabs(route.gbps - narrowest) > 0 || fabs(route.latency_us - route.count) > 0)
        fail_msg("draw %llu: from %d to %d: %d wires at %g GB/s, best %d at %g",
                 (unsigned long long)key, from, to, route.count, route.gbps, best.count, best.gbps);
}

static void a_route_is_the_widest_of_the_shortest_that_passes_no_third_gpu(void **state)
{
    (void)state;
    for (uint64_t key = 1; key <= 300; key++) {
        struct mgb_machine *m = machine_draw(key);
        assert_ok(mgb_machine_check(m));
        for (int from = 0; from < m->device_count; from++)
            for (int to = 0; to < m->device_count; to++)
                if (from != to)
                    route_check(m, key, from, to);
        mgb_machine_free(m);
    }
}

static void a_topology_has_each_ordered_pair_at_the_speed_of_its_route(void **state)
{
    (void)state;
    for (uint64_t key = 1; key <= 100; key++) {
        struct mgb_machine *m = machine_draw(key);
        struct mgb_topology topology;
        assert_ok(mgb_machine_check(m));
        assert_ok(mgb_machine_topology(&topology, m));
        assert_int_equal(topology.device_count, m->device_count);
        assert_int_equal(topology.link_count, m->device_count * (m->device_count - 1));
        for (int i = 0; i < topology.link_count; i++) {
            const struct mgb_link *link = &topology.links[i];
            struct mgb_route route, up, down;
            assert_ok(mgb_machine_route(&route, m, link->from, link->to));
            if (link->from == 0 || link->to == 0) {
                assert_true(fabs(link->gbps - route.gbps) <= 0);
                continue;
            }
            assert_ok(mgb_machine_route(&up, m, link->from, 0));
            assert_ok(mgb_machine_route(&down, m, 0, link->to));
            assert_true(fabs(link->peer_gbps - route.gbps) <= 0);
            assert_true(fabs(link->staged_gbps - fmin(up.gbps, down.gbps)) <= 0);
            assert_true(fabs(link->gbps - fmax(link->peer_gbps, link->staged_gbps)) <= 0);
            assert_int_equal(link->direct, link->peer_gbps >= link->staged_gbps);
        }
        mgb_topology_done(&topology);
        mgb_machine_free(m);
    }
}

static void what_a_pair_reaches_stands_beside_its_wires(void **state)
{
    (void)state;
    struct mgb_machine *m = machine_make(3, 0);
    struct mgb_topology topology;
    for (int i = 1; i <= 3; i++)
        wire_add(m, 0, i, 12, 0);
    m->pairs[m->pair_count++] = (struct mgb_machine_pair){.from = 2, .to = 1, .no_peer = true};
    m->pairs[m->pair_count++] = (struct mgb_machine_pair){
        .from = 1, .to = 2, .on_gbps = 9, .off_gbps = 20, .on_latency_us = 8};
    m->pairs[m->pair_count++] = (struct mgb_machine_pair){.from = 1, .to = 3, .on_gbps = 25};
    assert_ok(mgb_machine_check(m));
    assert_ok(mgb_machine_topology(&topology, m));
    for (int i = 0; i < topology.link_count; i++) {
        const struct mgb_link *link = &topology.links[i];
        if (link->from == 1 && link->to == 2) { /* slower with than without */
            assert_int_equal(link->verdict, MGB_PEER_SLOW);
            assert_false(link->direct);
            assert_true(fabs(link->gbps - 20) <= 0 && fabs(link->peer_latency_us - 8) <= 0);
        } else if (link->from == 2 && link->to == 1) {
            assert_false(link->peer);
            assert_true(fabs(link->gbps - 12) <= 0);
        } else if (link->from == 1 && link->to == 3) {
            assert_true(link->direct && fabs(link->gbps - 25) <= 0);
        }
    }
    mgb_topology_done(&topology);
    mgb_machine_free(m);
}

static void defaults_are_filled_in(void **state)
{
    (void)state;
    struct mgb_machine *m = machine_make(1, 0);
    wire_add(m, 0, 1, 12, 0);
    m->devices[0].tflops[0] = m->devices[0].memory_gbps = 0;
    m->host.cores = 40;
    m->host.memory_gbps = 100;
    assert_ok(mgb_machine_check(m));
    assert_true(fabs(m->wires[0].back_gbps - 12) <= 0);
    assert_string_equal(m->wires[0].kind, "pcie");
    assert_true(fabs(m->devices[0].tflops[0] - 2) <= 0);
    assert_true(fabs(m->devices[0].memory_gbps - 100) <= 0);
    assert_true(fabs(m->devices[1].tflops[3] - 10) <= 0);
    assert_true(fabs(m->devices[1].speed - 1) <= 0 && fabs(m->devices[1].board_speed - 1) <= 0);
    assert_int_equal(m->devices[1].copies_in, 1);
    assert_true(fabs(m->host.core_total - 40) <= 0 && fabs(m->host.reduce_gbps - 100) <= 0);
    assert_true(fabs(m->collective.tree_share - 0.92) <= 0);
    mgb_machine_free(m);
}

static void hosts_are_what_no_network_joins(void **state)
{
    (void)state;
    struct mgb_machine *m = machine_make(4, 3); /* two on /cpu:0, two on sw0, both on sw2 */
    wire_add(m, 0, 1, 12, 0);
    wire_add(m, 0, 2, 12, 0);
    wire_add(m, 5, 3, 12, 0);
    wire_add(m, 5, 4, 12, 0);
    wire_add(m, 0, 7, 12, 0);
    wire_add(m, 5, 7, 12, 0);
    wire_add(m, 6, 2, 50, 0); /* sw1 joins GPUs only, as an NVSwitch does */
    wire_add(m, 6, 1, 50, 0);
    strcpy(m->wires[4].kind, "network");
    strcpy(m->wires[5].kind, "network");
    assert_ok(mgb_machine_check(m));
    assert_int_equal(m->node_count, 2);
    static const int wanted[] = {0, 0, 0, 1, 1};
    for (int i = 0; i < 5; i++)
        assert_int_equal(m->devices[i].node, wanted[i]);
    mgb_machine_free(m);
}

struct fault {
    void (*make)(struct mgb_machine *machine);
    const char *words;
};

static void no_source(struct mgb_machine *m)
{
    m->source[0] = '\0';
}
static void no_name(struct mgb_machine *m)
{
    m->name[0] = '\0';
}
static void no_cpu(struct mgb_machine *m)
{
    m->devices[0] = device_make(MGB_DEVICE_GPU, 7);
}
static void twice(struct mgb_machine *m)
{
    m->devices[2].device.name.index = 0;
}
static void no_flops(struct mgb_machine *m)
{
    m->devices[1].tflops[0] = 0;
}
static void not_a_number(struct mgb_machine *m)
{
    m->devices[1].memory_gbps = NAN;
}
static void endless(struct mgb_machine *m)
{
    m->devices[1].launch_us = INFINITY;
}
static void backwards(struct mgb_machine *m)
{
    m->devices[1].compute = (struct mgb_curve){.count = 2, .at = {10, 5}, .value = {0.5, 0.6}};
}
static void too_good(struct mgb_machine *m)
{
    m->devices[1].memory = (struct mgb_curve){.count = 1, .at = {10}, .value = {5}};
}
static void wire_nowhere(struct mgb_machine *m)
{
    m->wires[0].b = 99;
}
static void wire_to_itself(struct mgb_machine *m)
{
    m->wires[0].b = m->wires[0].a;
}
static void wire_still(struct mgb_machine *m)
{
    m->wires[0].gbps = 0;
}
static void wire_twice(struct mgb_machine *m)
{
    wire_add(m, 1, 0, 3, 0);
}
static void alone(struct mgb_machine *m)
{
    m->wire_count = 1;
}
static void behind_a_gpu(struct mgb_machine *m)
{
    m->wires[1].a = 1;
}
static void switch_alone(struct mgb_machine *m)
{
    m->switch_count = 1;
    strcpy(m->switches[0], "sw0");
}
static void pair_of_host(struct mgb_machine *m)
{
    m->pairs[m->pair_count++].to = 1;
}
static void pair_twice(struct mgb_machine *m)
{
    for (int i = 0; i < 2; i++)
        m->pairs[m->pair_count++] = (struct mgb_machine_pair){.from = 1, .to = 2};
}
static void cost_twice(struct mgb_machine *m)
{
    const struct mgb_machine_cost cost[2] = {{1, 2, 3, 4}, {1, 2, 3, 5}};
    m->costs = copy_of(cost, sizeof cost);
    m->cost_count = 2;
}
static void jittery(struct mgb_machine *m)
{
    m->step_sigma = 2;
}
static void slow_cores(struct mgb_machine *m)
{
    m->host.core_total = -1;
}

static void each_fault_is_told_with_machine_field_and_value(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        {no_source, "source: where its figures come from"},
        {no_name, "a machine's name"},
        {no_cpu, "first device is not /cpu:0"},
        {twice, "a device is there twice: /gpu:0"},
        {no_flops,
         "machine 'drawn': /gpu:0: f32_tflops: a number from 1e-06 to 1e+06 expected, got 0"},
        {not_a_number, "/gpu:0: memory_gbps"},
        {endless, "/gpu:0: launch_us: a number from 0 to 1e+06 expected, got inf"},
        {backwards, "/gpu:0: efficiency.compute: sizes that rise expected, got 5 after 10"},
        {too_good, "/gpu:0: efficiency.memory: a number from 1e-06 to 4 expected, got 5"},
        {wire_nowhere, "links: a wire between two ends expected, got /cpu:0 - end 99"},
        {wire_to_itself, "links: a wire between two ends expected, got /cpu:0 - /cpu:0"},
        {wire_still, "/cpu:0 - /gpu:0: gbps: a number from 1e-06 to 1e+06 expected, got 0"},
        {wire_twice, "links: /cpu:0 - /gpu:0 is there twice"},
        {alone, "links: /gpu:1 is not connected with /cpu:0"},
        {behind_a_gpu,
         "/gpu:1 is not connected with /cpu:0, at least not other than through a GPU"},
        {switch_alone, "links: no wire leads to switch 'sw0'"},
        {pair_of_host, "peers: two GPUs expected, got /cpu:0 - /gpu:0"},
        {pair_twice, "peers: /gpu:0 - /gpu:1 is given twice"},
        {cost_twice, "costs: 0000000000000001 of 2 rows with 3 threads is given twice"},
        {jittery, "jitter: step: a number from 0 to 1 expected, got 2"},
        {slow_cores, "host: core_total: a number from 0 to 1e+06 expected, got -1"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct mgb_machine *m = machine_make(2, 0);
        wire_add(m, 0, 1, 12, 0);
        wire_add(m, 0, 2, 12, 0);
        faults[i].make(m);
        assert_status(mgb_machine_check(m), MGB_INVALID);
        assert_message(faults[i].words);
        mgb_machine_free(m);
    }
}

static void a_machine_too_deep_for_routes_is_refused(void **state)
{
    (void)state;
    struct mgb_machine *m = machine_make(1, 9);
    wire_add(m, 0, 2, 1, 0);
    for (int i = 0; i < 8; i++)
        wire_add(m, 2 + i, 3 + i, 1, 0);
    wire_add(m, 10, 1, 1, 0);
    assert_status(mgb_machine_check(m), MGB_INVALID);
    assert_message("/gpu:0 is 10 wires from /cpu:0, more than 8");
    mgb_machine_free(m);
}

static void a_digest_is_of_the_figures_alone(void **state)
{
    (void)state;
    struct mgb_machine *a = machine_draw(5), *b = machine_draw(5);
    strcpy(b->summary, "another summary");
    assert_ok(mgb_machine_check(a));
    assert_ok(mgb_machine_check(b));
    assert_true(mgb_machine_digest(a) == mgb_machine_digest(b));
    b->devices[1].memory_gbps += 1;
    assert_true(mgb_machine_digest(a) != mgb_machine_digest(b));
    mgb_machine_free(a);
    mgb_machine_free(b);
}

static void a_curve_is_linear_between_knots_in_the_logarithm(void **state)
{
    (void)state;
    const struct mgb_curve none = {0},
                           curve = {.count = 3, .at = {1e3, 1e5, 1e6}, .value = {0.1, 0.5, 0.9}};
    assert_true(fabs(mgb_curve_at(&none, 7) - 1) <= 0);
    assert_true(fabs(mgb_curve_at(&curve, 1) - 0.1) <= 0);
    assert_true(fabs(mgb_curve_at(&curve, 1e5) - 0.5) < 1e-12);
    assert_true(fabs(mgb_curve_at(&curve, 1e4) - 0.3) < 1e-12);
    assert_true(fabs(mgb_curve_at(&curve, 1e12) - 0.9) <= 0);
    double last = 0;
    for (double at = 10; at < 1e8; at *= 1.3) {
        double value = mgb_curve_at(&curve, at);
        assert_true(value >= last);
        last = value;
    }
}

static void thousands_of_gpus_are_checked_and_get_a_topology_of_the_host(void **state)
{
    (void)state;
    struct mgb_machine *m = machine_make(3000, 0);
    struct mgb_topology topology;
    struct mgb_machine_wire *wires = mgb_machine_block(3000 * sizeof *wires);
    for (int i = 0; i < 3000; i++)
        wires[i] = (struct mgb_machine_wire){.a = 0, .b = i + 1, .gbps = 10};
    struct mgb_machine_wire *few = m->wires;
    m->wires = wires;
    m->wire_count = 3000;
    assert_ok(mgb_machine_check(m));
    assert_ok(mgb_machine_topology(&topology, m));
    assert_int_equal(topology.link_count, 6000);
    mgb_topology_done(&topology);
    struct mgb_machine *shell = mgb_machine_block(sizeof *shell); /* frees what was exchanged */
    shell->wires = few;
    mgb_machine_free(shell);
    mgb_machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_route_is_the_widest_of_the_shortest_that_passes_no_third_gpu),
        cmocka_unit_test(a_topology_has_each_ordered_pair_at_the_speed_of_its_route),
        cmocka_unit_test(what_a_pair_reaches_stands_beside_its_wires),
        cmocka_unit_test(defaults_are_filled_in),
        cmocka_unit_test(hosts_are_what_no_network_joins),
        cmocka_unit_test(each_fault_is_told_with_machine_field_and_value),
        cmocka_unit_test(a_machine_too_deep_for_routes_is_refused),
        cmocka_unit_test(a_digest_is_of_the_figures_alone),
        cmocka_unit_test(a_curve_is_linear_between_knots_in_the_logarithm),
        cmocka_unit_test(thousands_of_gpus_are_checked_and_get_a_topology_of_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
