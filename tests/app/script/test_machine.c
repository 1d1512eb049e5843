/* Machine files: every shipped one is sound and wired as its kind is, and what is wrong with others is told plainly. */
#include "tests/app/script/run_text.h"

#include "app/script/machine.h"
#include "app/script/models.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct mgb_machine *machine_read(const char *name)
{
    struct mgb_script *script;
    struct mgb_script_settings settings = {0};
    struct mgb_machine *machine;
    assert_int_equal(mgb_script_make(&script, &settings), MGB_OK);
    if (mgb_script_read_machine(script, &machine, name) != MGB_OK)
        fail_msg("%s: %s", name, mgb_script_error_get(script)->text);
    mgb_script_free(script); /* the machine outlives it */
    return machine;
}

static void machine_look(void *context, const char *name, const char *path)
{
    struct mgb_machine *m = machine_read(name);
    struct mgb_topology topology;
    assert_string_equal(m->name, name);
    assert_string_equal(m->file, path);
    assert_true(*m->summary && strlen(m->source) > 200);
    assert_int_equal(mgb_machine_topology(&topology, m), MGB_OK);
    assert_int_equal(topology.link_count, m->device_count * (m->device_count - 1));
    for (int i = 0; i < topology.link_count; i++)
        assert_true(topology.links[i].gbps > 0);
    for (int i = 1; i < m->device_count; i++) {
        assert_true(m->devices[i].device.memory_bytes > 0 && *m->devices[i].device.label);
        assert_true(m->devices[i].compute.count > 1 && m->devices[i].memory.count > 1);
    }
    mgb_topology_done(&topology);
    mgb_machine_free(m);
    ++*(int *)context;
}

static void every_shipped_machine_is_sound(void **state)
{
    (void)state;
    int count = 0;
    assert_true(mgb_machines_each(NULL, 0, machine_look, &count));
    assert_true(count >= 12);
}

/* Speed of the wires of one kind at a device. */
static double gbps_at(const struct mgb_machine *m, int device, const char *kind)
{
    double sum = 0;
    for (int w = 0; w < m->wire_count; w++)
        if (strcmp(m->wires[w].kind, kind) == 0 &&
            (m->wires[w].a == device || m->wires[w].b == device))
            sum += m->wires[w].gbps;
    return sum;
}

static double gbps_between(const struct mgb_machine *m, int a, int b)
{
    for (int w = 0; w < m->wire_count; w++)
        if ((m->wires[w].a == a && m->wires[w].b == b) ||
            (m->wires[w].a == b && m->wires[w].b == a))
            return m->wires[w].gbps;
    return 0;
}

static bool passes_kind(const struct mgb_machine *m, int from, int to, const char *kind)
{
    struct mgb_route route;
    assert_int_equal(mgb_machine_route(&route, m, from, to), MGB_OK);
    for (int i = 0; i < route.count; i++)
        if (strcmp(m->wires[route.wires[i] / 2].kind, kind) == 0)
            return true;
    return false;
}

/* shared/numbers/hardware.md section 5 */
static void a_dgx1_has_four_links_a_p100_and_six_a_v100(void **state)
{
    (void)state;
    static const char *const names[] = {"dgx1-p100", "dgx1v"};
    static const double link[] = {18, 20}, links[] = {4, 6};
    for (int k = 0; k < 2; k++) {
        struct mgb_machine *m = machine_read(names[k]);
        assert_int_equal(m->device_count, 9);
        for (int i = 1; i <= 8; i++)
            assert_true(fabs(gbps_at(m, i, "nvlink") - links[k] * link[k]) < 1e-9);
        for (int i = 1; i <= 4; i++) /* its twin in the other quad */
            assert_true(gbps_between(m, i, i + 4) > 0);
        assert_true(gbps_between(m, 1, 6) <= 0);
        assert_true(passes_kind(m, 1, 6, "qpi") && !passes_kind(m, 1, 4, "qpi"));
        assert_true(passes_kind(m, 0, 5, "qpi") && !passes_kind(m, 0, 4, "qpi"));
        mgb_machine_free(m);
    }
    struct mgb_machine *m = machine_read("dgx1v");
    assert_true(fabs(gbps_between(m, 1, 4) - 40) < 1e-9 && fabs(gbps_between(m, 1, 2) - 20) < 1e-9);
    mgb_machine_free(m);
}

static void switched_machines_join_all_pairs_alike(void **state)
{
    (void)state;
    static const char *const names[] = {"dgx-a100", "dgx-h100", "dgx-h200"};
    for (int k = 0; k < 3; k++) {
        struct mgb_machine *m = machine_read(names[k]);
        struct mgb_route first, route;
        assert_int_equal(mgb_machine_route(&first, m, 1, 2), MGB_OK);
        for (int from = 1; from <= 8; from++)
            for (int to = 1; to <= 8; to++)
                if (from != to) {
                    assert_int_equal(mgb_machine_route(&route, m, from, to), MGB_OK);
                    assert_int_equal(route.count, 2);
                    assert_true(fabs(route.gbps - first.gbps) < 1e-9);
                }
        assert_int_equal(m->collective.switch_gbps > 0, k > 0);
        mgb_machine_free(m);
    }
}

static void k80s_are_two_a_board_and_see_each_other_at_amazon_only(void **state)
{
    (void)state;
    static const char *const names[] = {"gce-k80-8", "p2-8xlarge"};
    for (int k = 0; k < 2; k++) {
        struct mgb_machine *m = machine_read(names[k]);
        assert_int_equal(m->pair_count, 56);
        for (int i = 0; i < m->pair_count; i++)
            assert_int_equal(m->pairs[i].no_peer, k == 0);
        for (int i = 1; i <= 8; i++)
            assert_int_equal(m->devices[i].board, (i - 1) / 2);
        mgb_machine_free(m);
    }
}

static void the_far_socket_is_slow_on_pcie(void **state)
{
    (void)state;
    struct mgb_machine *m = machine_read("p100-pcie-4");
    struct mgb_route near, far, back;
    assert_int_equal(mgb_machine_route(&near, m, 0, 1), MGB_OK);
    assert_int_equal(mgb_machine_route(&far, m, 0, 3), MGB_OK);
    assert_int_equal(mgb_machine_route(&back, m, 3, 0), MGB_OK);
    assert_true(fabs(near.gbps - 12.15) < 1e-9 && fabs(far.gbps - 3.78) < 1e-9);
    assert_true(fabs(back.gbps - 2.54) < 1e-9);
    mgb_machine_free(m);
}

#define SPEC(more)                                                                                 \
    "mgb.machine{ name = 'x', gpu = { count = 2, f32_tflops = 1, memory_gbps = 1 }, links = { { "  \
    "'/cpu:0', '/gpu:0', gbps = 1 }, { '/cpu:0', '/gpu:1', gbps = 1 } }, source = 's', " more " }"

static void a_machine_tells_its_facts(void **state)
{
    (void)state;
    passes("local m = " SPEC(
        "summary = 'two'") " assert(m.name == 'x' and m.summary == 'two' and "
                           "m.gpus == 2 and m.nodes == 1 and m.file == nil and #m.digest == 16 and "
                           "tostring(m) == 'machine x')");
    passes("local a, b = " SPEC("") ", " SPEC(
        "speeds = { ['/gpu:1'] = 0.5 }") " "
                                         "assert(a.digest ~= b.digest and a.digest == " SPEC(
                                             "summary = 'z'") ".digest)");
    passes("assert(mgb.machine('dgx1v') == mgb.machine('dgx1v'))");
    fails(
        "local m = " SPEC("") " print(m.gpu)",
        "a machine has no field 'gpu': there are name, summary, source, file, gpus, nodes, digest "
        "and with");
}

static void nodes_are_the_same_again_behind_a_network(void **state)
{
    (void)state;
    passes("local m = " SPEC(
        "nodes = 3, network = { gbps = 10 }, peers = { off = 4 }") " "
                                                                   "assert(m.gpus == 6 and m.nodes "
                                                                   "== 3)");
    fails(SPEC("nodes = 3"), "mgb.machine 'x': nodes: network = { gbps =, latency_us = } expected "
                             "beside it");
    fails(SPEC("nodes = 100000, network = { gbps = 1 }"),
          "mgb.machine 'x': at most 131072 GPUs expected, got 200000");
}

static void wrong_tables_are_told_from_right_ones(void **state)
{
    (void)state;
    fails("mgb.machine(3)", "mgb.machine: table, name or file of a machine expected, got 3");
    fails("mgb.machine('dgx1-p10')", "mgb.machine: there is no machine 'dgx1-p10' (did you mean "
                                     "'dgx1-p100'?); mgbench machines lists them");
    fails("mgb.machine{}", "mgb.machine: name: text expected, got nil");
    fails("mgb.machine{ name = 'x', gpus = 8 }", "mgb.machine: gpus: table expected, got 8");
    fails(SPEC("sourse = 's'"), "mgb.machine: unknown option 'sourse' (did you mean 'source'?)");
    fails(SPEC("host = { core = 2 }"),
          "mgb.machine 'x': host: unknown option 'core' (did you mean 'cores'?)");
    fails(SPEC("peers = { { '/gpu:0', '/gpu:7', on = 3 } }"),
          "mgb.machine 'x': peers[1]: a GPU from /gpu:0 to /gpu:1 expected, got \"/gpu:7\"");
    fails(SPEC("peers = { { '/gpu:0', '/gpu:1', on = 'fast' } }"),
          "mgb.machine 'x': peers[1].on: { gbps =, latency_us = } expected, got \"fast\"");
    fails(SPEC("speeds = { ['/gpu:5'] = 1 }"),
          "mgb.machine 'x': speeds: a GPU from /gpu:0 to /gpu:1 expected, got \"/gpu:5\"");
    fails(
        SPEC("costs = { { 'zz', 1, 1, 1 } }"),
        "mgb.machine 'x': costs[1]: { \"16 digits of the signature\", threads, rows, ns, rows, ns, "
        "... } expected, got a table");
    fails(SPEC("uncertainty = 3"),
          "mgb.machine: uncertainty: number from 0.0 to 1.0 expected, got 3");
    fails(
        "mgb.machine{ name = 'x', gpu = { f32_tflops = 1, memory_gbps = 1, efficiency = { compute "
        "= { { 1 } } } }, source = 's' }",
        "mgb.machine 'x': gpu.efficiency.compute[1]: { size, share } expected, got a table");
    fails("mgb.machine{ name = 'x', gpu = { memory_gbps = 1 }, source = 's' }",
          "mgb.machine 'x': gpu: f32_tflops: number expected, got nil");
}

static void each_figure_needs_a_source_and_each_source_a_figure(void **state)
{
    (void)state;
#define SOURCED(source)                                                                            \
    "mgb.machine{ name = 'x', gpu = { f32_tflops = 1, memory_gbps = 1 }, links = { { '/cpu:0', "   \
    "'/gpu:0', gbps = 1, kind = 'x1' } }, source = " source " }"
    passes(SOURCED("{ gpu = 'a', links = 'b' }"));
    passes(SOURCED("{ gpu = { f32_tflops = 'a', memory_gbps = 'b' }, ['links.x1'] = 'c' }"));
    fails(SOURCED("nil"), "mgb.machine 'x': source: where its figures come from expected, got nil");
    fails(SOURCED("{ ['gpu.f32_tflops'] = 'a', links = 'b' }"),
          "mgb.machine 'x': source: nothing says where gpu.memory_gbps comes from");
    fails(SOURCED("{ gpu = 'a' }"),
          "mgb.machine 'x': source: nothing says where links.x1.gbps comes from");
    fails(SOURCED("{ gpu = 'a', links = 'b', ['gpu.f32_tflop'] = 'c' }"),
          "mgb.machine 'x': source: 'gpu.f32_tflop' is no figure of this machine (did you mean "
          "'gpu.f32_tflops'?)");
    fails(SOURCED("{ gpu = '', links = 'b' }"),
          "mgb.machine 'x': source of gpu: a text expected, got \"\"");
    fails("local s = {} s.s = s " SOURCED("s"),
          "mgb.machine 'x': source of s.s.s.s.s.s.s.s: tables within tables 8 deep");
}

/* A sound table with parts of it taken out, exchanged or put elsewhere gives a machine or a message of its own, never an
 * error from inside. */
static void tables_at_random_are_read_or_refused_in_words(void **state)
{
    (void)state;
    passes("math.randomseed(7)\n"
           "local function sound() return { name = 'x', summary = 's', host = { cores = 4, "
           "memory_gbps = 9 },\n"
           "  gpu = { count = 2, f32_tflops = 1, memory_gbps = 1, board_size = 2, efficiency = { "
           "compute = { { 1, .5 }, { 9, 1 } }, conv2d = 2 } },\n"
           "  links = { { '/cpu:0', 'sw', gbps = 1 }, { 'sw', '/gpu:0', gbps = 1, latency_us = 2 "
           "}, { 'sw', '/gpu:1', gbps = 1, kind = 'q' } },\n"
           "  peers = { on = 3, { '/gpu:0', '/gpu:1', off = { 1, 2 } }, source = 'p' }, jitter = { "
           "step = .1 }, collective = { hop_us = 1 },\n"
           "  costs = { { '0123456789abcdef', 1, 2, 3.5 } }, speeds = { ['/gpu:1'] = 2 }, nodes = "
           "2, network = { gbps = 1 }, source = 's' } end\n"
           "local odd = { 0, -1, 1e308, 1/0, 0/0, 'x', '', '/gpu:0', '\\0', true, {}, { {} }, { 1, "
           "2 }, print, 3, 2^53, '/host:1/gpu:0', 1e9 // 1 | 0 }\n"
           "local function tables(t, into)\n"
           "  into[#into + 1] = t\n"
           "  for _, v in pairs(t) do if type(v) == 'table' then tables(v, into) end end\n"
           "  return into\n"
           "end\n"
           "local read, refused = 0, 0\n"
           "for i = 1, 600 do\n"
           "  local spec = sound()\n"
           "  for _ = 1, math.random(0, 2) do\n"
           "    local all = tables(spec, {})\n"
           "    local t, keys = all[math.random(#all)], {}\n"
           "    for k in pairs(t) do keys[#keys + 1] = k end\n"
           "    table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)\n"
           "    local key = keys[1] and math.random(3) > 1 and keys[math.random(#keys)] or "
           "odd[math.random(#odd)]\n"
           "    if key == key and key ~= nil then t[key] = math.random(4) > 1 and "
           "odd[math.random(#odd)] or nil end\n"
           "  end\n"
           "  local ok, what = pcall(mgb.machine, spec)\n"
           "  if ok then read = read + 1 else\n"
           "    refused = refused + 1\n"
           "    what = tostring(what):gsub('^[^:]*:%d+: ', '')\n"
           "    assert(what:find('^mgb.machine') or what:find('^machine ') or what:find('^a "
           "machine') or what:find('^a switch'), i .. ': ' .. what)\n"
           "    assert(not what:find('attempt to') and not what:find('bad argument'), i .. ': ' .. "
           "what)\n"
           "  end\n"
           "end\n"
           "assert(read > 100 and refused > 200, read .. ' ' .. refused)\n");
}

static void a_run_takes_a_machine_and_no_other_backend(void **state)
{
    (void)state;
    fails("mgb.run{ model = 'mlp', machine = 3 }",
          "mgb.machine: table, name or file of a machine expected, got 3");
    fails("mgb.run{ model = 'mlp', machine = 'dgx1v', backend = 'host' }",
          "mgb.run: machine: backend \"host\" cannot play on machine dgx1v; leave backend out, or "
          "give \"sim\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shipped_machine_is_sound),
        cmocka_unit_test(a_dgx1_has_four_links_a_p100_and_six_a_v100),
        cmocka_unit_test(switched_machines_join_all_pairs_alike),
        cmocka_unit_test(k80s_are_two_a_board_and_see_each_other_at_amazon_only),
        cmocka_unit_test(the_far_socket_is_slow_on_pcie),
        cmocka_unit_test(a_machine_tells_its_facts),
        cmocka_unit_test(nodes_are_the_same_again_behind_a_network),
        cmocka_unit_test(wrong_tables_are_told_from_right_ones),
        cmocka_unit_test(each_figure_needs_a_source_and_each_source_a_figure),
        cmocka_unit_test(tables_at_random_are_read_or_refused_in_words),
        cmocka_unit_test(a_run_takes_a_machine_and_no_other_backend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
