/* Plots of a results file whose figures are known. */
#include "tests/support/check.h"

#include "app/cli/plot_charts.h"
#include "app/plot/text.h"
#include "db/store.h"
#include "tests/support/database.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000

static struct mgb_store *store;
static int64_t run;

static int store_setup(void **state)
{
    if (database_setup(state) != 0)
        return -1;
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_store_begin_run(&run, store, database_run()));
    return 0;
}

static int store_teardown(void **state)
{
    mgb_store_close(store);
    return database_teardown(state);
}

/* A segment of 30 steps of `ms` each, or one that did not fit. */
static int64_t segment_put(const struct mgb_record_segment *record, int64_t ms)
{
    int64_t segment;
    struct mgb_record_segment_end end = {.outcome = ms > 0 ? MGB_OUTCOME_OK : MGB_OUTCOME_OOM};
    assert_ok(mgb_store_begin_segment(&segment, store, record));
    for (int i = 0; ms > 0 && i < 30; i++) {
        struct mgb_record step = database_step(segment, i);
        step.step.start_ns = i * ms * MS;
        step.step.wall_ns = ms * MS;
        step.step.examples = record->effective.global_batch.value;
        assert_ok(mgb_store_put_steps(store, &step, 1));
        for (int d = 0; d < 2; d++) {
            struct mgb_record part = {.kind = MGB_RECORD_STEP_DEVICE,
                                      .step_device = {.segment = segment,
                                                      .step = i,
                                                      .device = d == 0 ? "/gpu:0" : "/cpu:0"}};
            part.step_device.exposed_ns[MGB_PHASE_FORWARD] = d == 0 ? ms * MS / 2 : 0;
            part.step_device.exposed_ns[MGB_PHASE_SUM] = ms * MS / 4;
            part.step_device.exposed_ns[MGB_PHASE_WAIT] = d == 0 ? ms * MS / 4 : ms * MS * 3 / 4;
            assert_ok(mgb_store_put_steps(store, &part, 1));
        }
    }
    assert_ok(mgb_store_finish_segment(NULL, store, segment, &end));
    return segment;
}

static struct mgb_record_segment placed(int gpus, int64_t batch, const char *weights,
                                        const char *merge)
{
    struct mgb_record_segment s = database_segment(run);
    s.effective.gpus.value = s.asked.gpus.value = gpus;
    s.effective.batch_per_gpu.value = batch;
    s.effective.global_batch.value = batch * gpus;
    s.effective.weights_at = s.effective.update_at = weights;
    s.effective.join_at = s.effective.loss_at = s.effective.sum_at = merge;
    s.effective.cpu_relocation.value = strcmp(weights, "/cpu:0") == 0;
    s.effective.cpu_merge.value = s.asked.cpu_merge.value = strcmp(merge, "/cpu:0") == 0;
    return s;
}

static void put(int gpus, int64_t batch, const char *weights, const char *merge, int64_t ms)
{
    struct mgb_record_segment s = placed(gpus, batch, weights, merge);
    segment_put(&s, ms);
}

/* The plot as text of 100 columns, or the message of the failure. */
static char *drawn(const char *path, const char *name, const char *words)
{
    struct mgb_reader *reader;
    struct mgb_picture picture;
    struct plot_cells cells;
    struct mgb_text_style style = {.width = 100};
    const struct plot_kind *kind = plot_kinds;
    char *text = NULL;
    size_t size;
    while (strcmp(kind->name, name) != 0)
        kind++;
    assert_ok(mgb_reader_open(&reader, path));
    enum mgb_status status = plot_cells_load(&cells, reader, words, kind->only_newest);
    if (status != MGB_OK) {
        mgb_reader_close(reader);
        return strdup(mgb_message_get());
    }
    mgb_picture_init(&picture);
    status = kind->from_cells ? kind->from_cells(&picture, &cells)
                              : kind->from_reader(&picture, &cells, reader);
    FILE *out = open_memstream(&text, &size);
    if (status == MGB_OK)
        assert_ok(mgb_picture_print(&picture, &style, out));
    else
        fputs(mgb_message_get(), out);
    fclose(out);
    mgb_picture_done(&picture);
    plot_cells_done(&cells);
    mgb_reader_close(reader);
    return text;
}

static void expect(void **state, const char *name, const char *words, const char *wanted)
{
    char *text = drawn(*state, name, words);
    assert_string_equal(text, wanted);
    free(text);
}

static void expect_part(void **state, const char *name, const char *words, const char *part)
{
    char *text = drawn(*state, name, words);
    if (!strstr(text, part))
        fail_msg("not there: %s\nin:\n%s", part, text);
    free(text);
}

static void placements_are_bars_from_the_fastest_on(void **state)
{
    put(1, 32, "/gpu:0", "/cpu:0", 6);
    put(2, 32, "/gpu:0", "/cpu:0", 10);
    put(2, 32, "/gpu:0", "/gpu:0", 8);
    put(2, 32, "/cpu:0", "/cpu:0", 20);
    put(2, 32, "/cpu:0", "/gpu:0", 0);
    expect(state, "placement", NULL,
           "Step time by placement: tiny on here, CPU devices (backend host)\n"
           "Lower is better. Bar: median step; [ ]: its 95 % interval (block bootstrap); n = 30 "
           "timed steps.\n"
           "\n"
           "2 GPUs, weak scaling, batch per GPU 32: 64 examples a step. Fastest: weights /gpu:0, "
           "merge /gpu:0,\n"
           "by 25 %. One GPU with 32 examples: 6 ms\n"
           "step time, ms (lower is better)\n"
           "weights /gpu:0, merge /gpu:0 ################### 8 [8, 8]\n"
           "weights /gpu:0, merge /cpu:0 ######################## 10 [10, 10]\n"
           "weights /cpu:0, merge /cpu:0 ############################################### 20 [20, "
           "20]\n"
           "weights /cpu:0, merge /gpu:0 out of memory\n"
           "\n"
           "Backend host: /gpu:N are CPU devices.\n");
}

static void what_places_do_not_tell_is_added(void **state)
{
    struct mgb_record_segment s = placed(2, 32, "/gpu:0", "/cpu:0");
    segment_put(&s, 10);
    s.effective.strategy = "gradients";
    segment_put(&s, 9);
    s.effective.overlap = MGB_KNOWN_INT(0);
    segment_put(&s, 12);
    expect_part(state, "placement", "tiny",
                "weights /gpu:0, merge /cpu:0, outputs, overlap default");
    expect_part(state, "placement", "tiny", "weights /gpu:0, merge /cpu:0, gradients, overlap no");
}

static void a_single_placement_is_no_answer(void **state)
{
    put(2, 32, "/gpu:0", "/cpu:0", 10);
    expect(state, "placement", NULL,
           "only one placement of tiny is measured there; the others: mgbench -e placement.lua "
           "--model tiny");
    expect(state, "scaling", NULL,
           "scaling needs one batch on several numbers of GPUs, and tiny is not measured so; to do "
           "it: mgbench -e scaling.lua --model tiny --gpus 1,2,4");
    expect(state, "batch", NULL,
           "throughput by batch needs several batches, and tiny is measured with one; to do it: "
           "mgbench -e batch.lua --model tiny");
    expect_part(state, "memory", NULL, "nothing of this is recorded for run 1 of tiny");
    expect_part(state, "placement", "huge", "huge");
}

static void nothing_recorded_is_said(void **state)
{
    expect(state, "placement", "tiny",
           "no finished measurement of model 'tiny'; one: mgbench run tiny");
}

static void the_newest_measurement_counts_and_the_older_is_told(void **state)
{
    put(2, 32, "/gpu:0", "/cpu:0", 50);
    put(2, 32, "/gpu:0", "/cpu:0", 10);
    put(2, 32, "/gpu:0", "/gpu:0", 8);
    expect_part(state, "placement", "tiny", " 10 [10, 10]\n");
    expect_part(state, "placement", "tiny", "1 older\nleft out.\n");
    /* Named, they are repetitions: the mean of their medians. */
    expect_part(state, "placement", "1.1,1.2,1.3", "# 30 [");
    expect_part(state, "placement", "1.1,1.2,1.3", "n =\n1 to 2 runs of 30 timed steps.\n");
}

static void a_run_unlike_the_others_of_its_placement_is_told(void **state)
{
    struct mgb_reader *reader;
    struct plot_cells cells;
    put(2, 32, "/gpu:0", "/cpu:0", 50);
    put(2, 32, "/gpu:0", "/cpu:0", 10);
    put(2, 32, "/gpu:0", "/cpu:0", 8);
    assert_ok(mgb_reader_open(&reader, *state));
    assert_ok(plot_cells_load(&cells, reader, "1.1,1.2,1.3", false));
    assert_int_equal(cells.count, 1);
    assert_string_equal(cells.all[0].odd, "run 1 took 50 ms, the others 8 to 10: something else "
                                          "was going on; repeat it");
    plot_cells_done(&cells);
    assert_ok(plot_cells_load(&cells, reader, "1.2,1.3", false));
    assert_string_equal(cells.all[0].odd, "");
    plot_cells_done(&cells);
    mgb_reader_close(reader);
}

static void scaling_tells_how_far_from_ideal(void **state)
{
    put(1, 32, "/gpu:0", "/cpu:0", 8);
    put(2, 32, "/gpu:0", "/cpu:0", 10);
    put(4, 32, "/gpu:0", "/cpu:0", 16);
    expect_part(state, "scaling", NULL,
                "Weak scaling, batch per GPU 32. 4 GPUs give 2 times the rate of one (outputs): "
                "efficiency 50 %\n");
    expect_part(state, "scaling", NULL, "weak: time(1 GPU, b) / time(N GPUs, N b)");
    expect_part(state, "scaling", NULL, "  16000 +");
    expect_part(state, "scaling", NULL, ". ideal: N times one GPU\n");
}

static void what_exchanging_costs_is_a_number(void **state)
{
    put(1, 32, "/gpu:0", "/cpu:0", 8);
    put(2, 32, "/gpu:0", "/cpu:0", 10);
    struct mgb_record_segment s = placed(2, 32, "/gpu:0", "/cpu:0");
    s.effective.strategy = "independent";
    segment_put(&s, 9);
    expect_part(state, "scaling", NULL,
                "2 GPUs give 1.6 times the rate of one (outputs): efficiency 80 %.\n"
                "Exchanging costs it 1 ms, 10 % of the step\n");
}

static void strong_scaling_is_a_panel_of_its_own(void **state)
{
    put(1, 32, "/gpu:0", "/cpu:0", 8);
    put(2, 32, "/gpu:0", "/cpu:0", 8);
    for (int gpus = 1; gpus <= 2; gpus++) {
        struct mgb_record_segment s = placed(gpus, 64 / gpus, "/gpu:0", "/cpu:0");
        s.effective.batch_mode = "strong";
        segment_put(&s, 12 / gpus);
    }
    expect_part(state, "scaling", NULL, "Weak scaling, batch per GPU 32. 2 GPUs give 2 times");
    expect_part(state, "scaling", NULL, "Strong scaling, global batch 64. 2 GPUs give 2 times");
    expect_part(state, "scaling", NULL, "strong: time(1 GPU, B) / (N\ntime(N GPUs, B)).\n");
}

static void the_edge_of_memory_is_the_smallest_batch_that_failed(void **state)
{
    put(2, 32, "/gpu:0", "/cpu:0", 10);
    put(2, 64, "/gpu:0", "/cpu:0", 16);
    put(2, 256, "/gpu:0", "/cpu:0", 0);
    put(2, 128, "/gpu:0", "/cpu:0", 0);
    expect_part(state, "batch", NULL, "Highest: 8000 examples/s at global batch 128 (2 GPUs)\n");
    expect_part(state, "batch", NULL, "| 256: out of memory: 2 GPUs\n");
    char *text = drawn(*state, "batch", NULL);
    assert_null(strstr(text, "512: out of memory"));
    free(text);
}

static void shares_of_phases_add_up(void **state)
{
    put(2, 32, "/gpu:0", "/cpu:0", 8);
    expect(state, "phases", "last",
           "Where a step's time goes, by device: tiny on here, CPU devices (backend host)\n"
           "Means of n = 30 timed steps. A phase counts while the device computes nothing else: "
           "what is hidden\n"
           "behind computing is not in it. fetch, join and sum are what placement costs; wait is "
           "idle time\n"
           "(lower is better).\n"
           "\n"
           "Run 1: 2 GPUs, global batch 64, weights /gpu:0, merge /cpu:0 (outputs), 8 ms a step. "
           "/gpu:0\n"
           "computes 50 % of the step, moves and merges 25 %, waits 25 %\n"
           "share of the step's time, %\n"
           "/gpu:0 ###########################################=====================............"
           "......... 100\n"
           "       forward 50, sum 25, wait 25\n"
           "/cpu:0 =====================......................................................."
           "......... 100\n"
           "       sum 25, wait 75\n"
           "  # forward  = sum  . wait\n"
           "\n"
           "Backend host: /gpu:N are CPU devices.\n");
}

static void memory_is_planned_beside_measured_with_the_capacity(void **state)
{
    struct mgb_record_segment s = placed(2, 32, "/gpu:0", "/cpu:0");
    int64_t segment = segment_put(&s, 8);
    struct mgb_record_memory parts[] = {{.device = "/gpu:0",
                                         .category = MGB_MEMORY_WEIGHTS,
                                         .planned_bytes = MGB_KNOWN_INT(2 << 20),
                                         .peak_bytes = MGB_KNOWN_INT(2 << 20)},
                                        {.device = "/gpu:0",
                                         .category = MGB_MEMORY_ACTIVATIONS,
                                         .planned_bytes = MGB_KNOWN_INT(4 << 20),
                                         .peak_bytes = MGB_KNOWN_INT(3 << 20)}};
    struct mgb_record_memory_total total = {.device = "/gpu:0",
                                            .planned_bytes = MGB_KNOWN_INT(6 << 20),
                                            .peak_bytes = MGB_KNOWN_INT(5 << 20),
                                            .capacity_bytes = MGB_KNOWN_INT(8 << 20)};
    assert_ok(mgb_store_put_memory(store, segment, parts, 2));
    assert_ok(mgb_store_put_memory_totals(store, segment, &total, 1));
    expect_part(state, "memory", "last", "8 ms a step. Fullest GPU:\n/gpu:0 with 6.0 MiB\n");
    expect_part(state, "memory", "last",
                "memory, MiB (lower is better)\n"
                "/gpu:0 planned  ###################oooooooooooooooooooooooooooooooooooooo 6\n"
                "                weights 2, activations 4; capacity 8; peak of the device 6\n"
                "/gpu:0 measured ###################ooooooooooooooooooooooooooooo 5\n"
                "                weights 2, activations 3; capacity 8; peak of the device 5\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, store_setup, store_teardown)
        TEST(placements_are_bars_from_the_fastest_on),
        TEST(what_places_do_not_tell_is_added),
        TEST(a_single_placement_is_no_answer),
        TEST(nothing_recorded_is_said),
        TEST(the_newest_measurement_counts_and_the_older_is_told),
        TEST(a_run_unlike_the_others_of_its_placement_is_told),
        TEST(scaling_tells_how_far_from_ideal),
        TEST(what_exchanging_costs_is_a_number),
        TEST(strong_scaling_is_a_panel_of_its_own),
        TEST(the_edge_of_memory_is_the_smallest_batch_that_failed),
        TEST(shares_of_phases_add_up),
        TEST(memory_is_planned_beside_measured_with_the_capacity),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
