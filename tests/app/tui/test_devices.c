/* The devices screen. */
#include "app/tui/devices.h"
#include "tests/app/tui/frame.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void line_has(struct frame_bench *bench, int rows, const char *words, const char *wanted)
{
    frame_bench_has(bench, rows, 100, words, wanted);
}

static void totals_are_the_sums_of_the_facts(void **state)
{
    (void)state;
    for (int gpus = 1; gpus <= 16; gpus *= 2) {
        struct frame_bench bench;
        frame_bench_make(&bench, &tui_view_devices, gpus);
        const struct mgb_facts *facts = &bench.fixture->facts;
        int64_t planned = 0, moved = 0;
        char bytes[32], words[64];
        for (int i = 0; i < facts->device_count; i++)
            planned += facts->devices[i].planned_bytes;
        for (int i = 0; i < facts->link_count; i++)
            moved += facts->links[i].bytes;
        snprintf(words, sizeof words, "planned %s in all", tui_bytes(bytes, sizeof bytes, planned));
        line_has(&bench, 60, "DEVICES", words);
        bench.fixture->snapshot.observer_share = 0.0061;
        line_has(&bench, 60, "DEVICES", "watching costs 0.6% of a core, planned ");
        snprintf(words, sizeof words, "%s moved a step", tui_bytes(bytes, sizeof bytes, moved));
        line_has(&bench, 60, "LINKS", words);
        assert_int_equal(tui_devices_traffic(facts), moved);
        frame_bench_done(&bench);
    }
}

static void devices_show_what_they_are_and_hold(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_devices, 4);
    bench.fixture->snapshot.now.memory[2].peak = INT64_C(2345) << 20;
    bench.fixture->snapshot.now.memory[2].held = INT64_C(100) << 20;
    line_has(&bench, 30, "gpu:1", "CUDA GPU      32   2.9 GiB   2.3 GiB 100.0 MiB  16.0 GiB");
    line_has(&bench, 30, "cpu:0", "no limit");
    bench.fixture->snapshot.now.memory[2].peak = -1;
    line_has(&bench, 30, "gpu:1", "2.9 GiB         - 100.0 MiB");
    fixture_set_host(bench.fixture);
    line_has(&bench, 30, "gpu:1", "CPU device");
    bench.fixture->devices[1].class = MGB_CLASS_SIMULATED;
    line_has(&bench, 30, "gpu:0", "simulated");
    bench.fixture->devices[2].used = false;
    line_has(&bench, 40, "gpu:1  CPU device", "not used");
    frame_bench_done(&bench);
}

static void gap_between_plan_and_peak_is_told(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_devices, 2);
    struct mgb_bench_memory *memory = &bench.fixture->snapshot.now.memory[0];
    line_has(&bench, 30, "-- cpu:0 ", "peak* as planned");
    memory->peak -= 3 << 20;
    line_has(&bench, 30, "-- cpu:0 ", "peak* 3.0 MiB under the plan");
    memory->peak += 4 << 20;
    line_has(&bench, 30, "-- cpu:0 ", "peak* 1.0 MiB over the plan");
    memory->peak = -1;
    char *text = frame_bench_text(&bench, 30, 100);
    assert_null(strstr(text, "the plan"));
    free(text);
    frame_bench_done(&bench);
}

static void bar_shows_categories_against_the_capacity(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_devices, 2);
    struct mgb_facts_device *gpu = &bench.fixture->devices[1];
    memset(gpu->planned, 0, sizeof gpu->planned);
    gpu->planned[MGB_MEMORY_WEIGHTS] = INT64_C(4) << 30;
    gpu->planned[MGB_MEMORY_ACTIVATIONS] = INT64_C(4) << 30;
    gpu->planned_bytes = INT64_C(8) << 30;
    char *text = frame_bench_text(&bench, 30, 100);
    char *line = frame_line(text, "gpu:0");
    int letters[128] = {0};
    for (const char *at = strchr(line, '['); at && *at != ']'; at++)
        letters[(unsigned char)*at & 127]++;
    assert_true(letters['w'] >= 4 && abs(letters['w'] - letters['a']) <= 1);
    assert_true(abs(letters['w'] + letters['a'] - letters['.']) <= 1);
    free(line);
    free(text);
    frame_bench_done(&bench);
}

static void links_tell_share_peak_latency_and_use(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_devices, 1);
    const struct mgb_facts_link *link = &bench.fixture->links[0];
    char wanted[80];
    double share = 100.0 * (double)link->bytes /
                   (double)(bench.fixture->links[0].bytes + bench.fixture->links[1].bytes);
    double use = 100.0 * (double)link->bytes / (link->gbps * 1e6) / 247.4;
    snprintf(wanted, sizeof wanted, "100.0 MiB  %.1f%%   11.70   9.5 us     %.1f%%", share, use);
    line_has(&bench, 30, "cpu:0 -> gpu:0", wanted);
    bench.fixture->links[0].gbps = 0;
    line_has(&bench, 30, "cpu:0 -> gpu:0", "      -   9.5 us        -");
    frame_bench_done(&bench);
}

static void peers_are_told_in_words(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_devices, 2);
    struct mgb_facts *facts = &bench.fixture->facts;
    struct mgb_facts_link *peers = &bench.fixture->links[facts->link_count - 1];
    assert_string_equal(tui_devices_peer_words(facts, &bench.fixture->links[0]), "-");
    assert_string_equal(tui_devices_peer_words(facts, peers), "off");
    snprintf(facts->options[MGB_OPTION_PEER_ACCESS].effective, 96, "true");
    assert_string_equal(tui_devices_peer_words(facts, peers), "yes");
    line_has(&bench, 40, "gpu:0 -> gpu:1", "yes");
    line_has(&bench, 40, " gpu:0    -", "P 18.2");
    peers->peer = false;
    line_has(&bench, 40, "gpu:0 -> gpu:1", "no: via host");
    line_has(&bench, 40, " gpu:0    -", "h 18.2");
    frame_bench_done(&bench);
}

static void one_gpu_has_no_matrix(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_devices, 1);
    char *text = frame_bench_text(&bench, 60, 100);
    assert_null(strstr(text, "PEERS"));
    free(text);
    frame_bench_done(&bench);
}

static void detail_tells_identity_and_categories(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_devices, 2);
    line_has(&bench, 30, ">", ">cpu:0");
    tui_view_devices.act(bench.state, TUI_ACT_DOWN, &bench.scene, &bench.desk.desk);
    line_has(&bench, 30, "pci", "0000:07:00.0");
    line_has(&bench, 30, "uuid", bench.fixture->devices[1].uuid);
    line_has(&bench, 30, "r replicas", "a activ 2.5 GiB");
    line_has(&bench, 30, "sensors: nothing read yet", "mgbench doctor tells");
    snprintf(bench.fixture->snapshot.now.memory[1].sensed,
             sizeof bench.fixture->snapshot.now.memory[1].sensed, "1410 MHz, held back by power");
    line_has(&bench, 30, "sensors: 1410 MHz", "held back by power");
    tui_view_devices.act(bench.state, TUI_ACT_UP, &bench.scene, &bench.desk.desk);
    line_has(&bench, 30, "clocks", "not read on this backend");
    tui_view_devices.act(bench.state, TUI_ACT_DOWN, &bench.scene, &bench.desk.desk);
    assert_true(tui_view_devices.act(bench.state, TUI_ACT_OPEN, &bench.scene, &bench.desk.desk));
    assert_int_equal(bench.desk.shown, 1);
    assert_non_null(strstr(bench.desk.shown_text, bench.fixture->devices[1].uuid));
    frame_bench_done(&bench);
}

static void walk_visits_every_line_but_headings(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_devices, 3);
    int lines = 4 + bench.fixture->facts.link_count + 3, visited = 0;
    char last[200] = "";
    for (int i = 0; i < 2 * lines; i++) {
        char *text = frame_bench_text(&bench, 10, 100);
        char *line = frame_line(text, "\n>");
        free(line);
        line = frame_line(strstr(text, "\n>") + 1, ">");
        if (strcmp(line, last) != 0)
            visited++;
        snprintf(last, sizeof last, "%s", line);
        assert_null(strstr(line, "latency"));
        assert_null(strstr(line, "--"));
        free(line);
        free(text);
        tui_view_devices.act(bench.state, TUI_ACT_DOWN, &bench.scene, &bench.desk.desk);
    }
    assert_int_equal(visited, lines);
    tui_view_devices.act(bench.state, TUI_ACT_FIRST, &bench.scene, &bench.desk.desk);
    line_has(&bench, 10, ">", ">cpu:0");
    line_has(&bench, 10, "DEVICES", "DEVICES 4");
    frame_bench_done(&bench);
}

static void what_is_not_used_comes_last(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_devices, 4);
    bench.fixture->devices[1].used = bench.fixture->devices[3].used = false;
    line_has(&bench, 60, "-- DEVICES ", "DEVICES 3 of 5");
    line_has(&bench, 60, "DEVICES NOT", "DEVICES NOT USED 2");
    line_has(&bench, 60, "LINKS NOT", "LINKS NOT USED 1");
    line_has(&bench, 60, "-- LINKS ", "LINKS 8");
    char *text = frame_bench_text(&bench, 60, 100);
    assert_true(strstr(text, " gpu:2  CUDA GPU") > strstr(text, "DEVICES NOT USED"));
    assert_true(strstr(text, " gpu:3  CUDA GPU") < strstr(text, "LINKS 8"));
    assert_true(strstr(text, "gpu:0 -> gpu:1") > strstr(text, "LINKS NOT USED"));
    free(text);
    frame_bench_done(&bench);
}

static void peers_in_use_come_first_and_fit_80x24(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_devices, 8);
    for (int i = 1; i <= 8; i++)
        bench.fixture->devices[i].used = i == 3 || i == 7;
    for (int i = 0; i < bench.fixture->facts.link_count; i++) {
        struct mgb_facts_link *link = &bench.fixture->links[i];
        bool busy = (link->from == 0 || link->from == 3 || link->from == 7) &&
                    (link->to == 3 || link->to == 7 || link->to == 0);
        link->bytes = busy && (link->from == 0 || link->to == 0) ? 1000 : 0;
    }
    char *text = frame_bench_text(&bench, 20, 80);
    char *peers = strstr(text, "PEERS");
    assert_non_null(peers);
    char *head = frame_line(peers, "gpu:");
    assert_non_null(strstr(head, "gpu:2  gpu:6  gpu:0"));
    char *row = strstr(peers, "\n gpu:2 ");
    assert_non_null(row);
    assert_non_null(strstr(row, "\n gpu:6 "));
    free(head);
    free(text);
    text = frame_bench_text(&bench, 100, 80);
    assert_non_null(strstr(strstr(text, "PEERS NOT USED"), "\n gpu:0 "));
    free(text);
    text = frame_bench_text(&bench, 100, 60);
    head = frame_line(strstr(text, "PEERS"), "gpu:");
    assert_non_null(strstr(head, "gpu:2  gpu:6"));
    assert_null(strstr(head, "gpu:0")); /* not all fit */
    free(head);
    free(text);
    text = frame_bench_text(&bench, 6, 40);
    row = frame_line(text, "DEVICES");
    assert_null(strstr(row, "nned")); /* both have no room: the title alone */
    free(row);
    free(text);
    frame_bench_done(&bench);
}

static void filter_leaves_what_has_its_words(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_devices, 4);
    bench.scene.filter = "gpu:2";
    char *text = frame_bench_text(&bench, 40, 100);
    assert_int_equal(frame_count(text, "CUDA GPU  "), 1);
    assert_int_equal(frame_count(text, " -> "), 2);
    char *line = frame_line(text, "DEVICES");
    assert_non_null(strstr(line, "DEVICES 1 of 5"));
    free(line);
    free(text);
    bench.scene.filter = "nonsense";
    line_has(&bench, 40, "nothing", "nothing has \"nonsense\"");
    frame_bench_done(&bench);
}

static void no_model_says_what_to_do(void **state)
{
    (void)state;
    struct frame_bench bench;
    frame_bench_make(&bench, &tui_view_devices, 4);
    fixture_set_empty(bench.fixture);
    line_has(&bench, 20, "no model", "M on the bench");
    for (int action = 0; action < TUI_ACT_COUNT; action++)
        tui_view_devices.act(bench.state, (enum tui_action)action, &bench.scene, &bench.desk.desk);
    frame_bench_done(&bench);
}

static void every_size_stays_inside(void **state)
{
    (void)state;
    frame_check_all(&tui_view_devices, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_are_the_sums_of_the_facts),
        cmocka_unit_test(devices_show_what_they_are_and_hold),
        cmocka_unit_test(gap_between_plan_and_peak_is_told),
        cmocka_unit_test(bar_shows_categories_against_the_capacity),
        cmocka_unit_test(links_tell_share_peak_latency_and_use),
        cmocka_unit_test(peers_are_told_in_words),
        cmocka_unit_test(one_gpu_has_no_matrix),
        cmocka_unit_test(detail_tells_identity_and_categories),
        cmocka_unit_test(walk_visits_every_line_but_headings),
        cmocka_unit_test(what_is_not_used_comes_last),
        cmocka_unit_test(peers_in_use_come_first_and_fit_80x24),
        cmocka_unit_test(filter_leaves_what_has_its_words),
        cmocka_unit_test(no_model_says_what_to_do),
        cmocka_unit_test(every_size_stays_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
