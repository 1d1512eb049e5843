/* The bench: its picture, that its numbers are the snapshot's, that nothing is told by colour alone. */
#include "tests/app/tui/bench_scene.h"

#include "app/tui/list.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The picture of the scene in a body of that size, to be freed. */
static char *bench_text(int rows, int columns, bool utf8)
{
    struct tui_canvas canvas;
    assert_true(tui_canvas_init(&canvas, rows, columns, utf8));
    scene.ascii = !utf8;
    tui_view_bench.draw(&view, &canvas, tui_canvas_whole(&canvas), &scene);
    char *text = tui_canvas_text(&canvas);
    assert_non_null(text);
    tui_canvas_done(&canvas);
    return text;
}

/* At 80 x 24 the body has 20 rows. */
static char *body_text(void)
{
    return bench_text(20, 80, false);
}

static void assert_shows(const char *words)
{
    char *text = body_text();
    if (!strstr(text, words))
        fail_msg("\"%s\" is not in\n%s", words, text);
    free(text);
}

static void assert_shows_not(const char *words)
{
    char *text = body_text();
    if (strstr(text, words))
        fail_msg("\"%s\" is in\n%s", words, text);
    free(text);
}

/* Pictures are kept in tests/golden/screens; MGB_GOLDEN_WRITE=1 writes them anew. */
static void golden_check(const char *name, char *text)
{
    char path[1024], kept[20000] = "";
    snprintf(path, sizeof path, "%s/tests/golden/screens/%s", getenv("MGB_SOURCE_DIR"), name);
    if (getenv("MGB_GOLDEN_WRITE")) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(text, file);
        assert_int_equal(fclose(file), 0);
    }
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    kept[fread(kept, 1, sizeof kept - 1, file)] = '\0';
    fclose(file);
    if (strcmp(kept, text))
        fail_msg("%s has\n%sbut now it is\n%s", name, kept, text);
    free(text);
}

static void the_picture_is_the_kept_one(void **state)
{
    (void)state;
    struct fixture *f = bench_make(4);
    golden_check("bench-80x24.txt", bench_text(20, 80, true));
    golden_check("bench-80x24-ascii.txt", bench_text(20, 80, false));
    golden_check("bench-40x10.txt", bench_text(6, 40, true));
    golden_check("bench-200x60.txt", bench_text(56, 200, true));
    fixture_set_warmup(f);
    golden_check("bench-warmup.txt", bench_text(20, 80, true));
    fixture_set_ready(f);
    golden_check("bench-ready.txt", bench_text(20, 80, true));
    fixture_set_empty(f);
    golden_check("bench-empty.txt", bench_text(20, 80, true));
    fixture_free(f);
}

/* The cell that ends at column `end` of the line that has `label` in the answer. */
static double answer_cell(const char *text, const char *label, int end)
{
    const char *at = strstr(text, label);
    char cell[11] = "";
    assert_non_null(at);
    size_t line = strcspn(at, "\n");
    assert_true((int)line >= end);
    memcpy(cell, at + end - 10, 10);
    return strtod(cell, NULL);
}

static void assert_near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= .006 * fabs(wanted) + .0051))
        fail_msg("%g is shown for %g", got, wanted);
}

static void answer_check(const struct mgb_snapshot *s)
{
    char *text = body_text();
    const struct mgb_bench_segment *sides[] = {&s->before, &s->now};
    for (int i = 0; i < 2; i++) {
        int end = 22 + 11 * i;
        const double gib = 1 << 30;
        assert_near(answer_cell(text, "|step ms", end + 1), sides[i]->figures.median_ms);
        assert_near(answer_cell(text, "|examples/s", end + 1),
                    sides[i]->global_batch * 1e3 / sides[i]->figures.median_ms);
        assert_near(answer_cell(text, "|gpu:0 GiB", end + 1),
                    (double)sides[i]->memory[1].peak / gib);
        assert_near(answer_cell(text, "|cpu:0 GiB", end + 1),
                    (double)sides[i]->memory[0].peak / gib);
        assert_near(answer_cell(text, "|link MB/step", end + 1),
                    (double)sides[i]->traffic_bytes / 1e6);
    }
    free(text);
}

static void numbers_on_the_screen_are_the_snapshots(void **state)
{
    (void)state;
    struct fixture *f = bench_make(4);
    unsigned seed = 3;
    answer_check(&f->snapshot);
    for (int round = 0; round < 40; round++) {
        struct mgb_bench_segment *sides[] = {&f->snapshot.before, &f->snapshot.now};
        for (int i = 0; i < 2; i++) {
            seed = seed * 1664525u + 1013904223u;
            double any = (seed >> 8) % 100000 / 7. + .01;
            sides[i]->figures.median_ms = any;
            sides[i]->figures.examples_per_s = 1e5 / any;
            sides[i]->traffic_bytes = (int64_t)(any * 1e5);
            sides[i]->memory[0].peak = (int64_t)(any * 1e6);
            for (int k = 1; k < sides[i]->memory_count; k++)
                sides[i]->memory[k].peak = 1000;
            sides[i]->memory[1].peak = (int64_t)(any * 3e6);
        }
        answer_check(&f->snapshot);
    }
    fixture_free(f);
}

static void unknown_numbers_are_dashes(void **state)
{
    (void)state;
    struct fixture *f = bench_make(4);
    fixture_set_unknown(f);
    char *text = body_text();
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "NaN"));
    assert_null(strstr(text, "inf"));
    free(text);
    assert_shows("|step ms              -          -");
    assert_shows("|examples/s           -          -");
    assert_shows("|link MB/step         -          -");
    assert_shows("loss -");
    assert_shows("not judged yet");
    text = bench_text(56, 200, true);
    assert_null(strstr(text, "nan"));
    free(text);
    fixture_free(f);
}

static void what_would_happen_is_told_in_words(void **state)
{
    (void)state;
    struct fixture *f = bench_make(4);
    assert_shows("r  weights at  cpu:0     gpu:0           +37%*|");
    assert_shows("m  towers meet cpu:0     gpu:0     +190MB link|");
    assert_shows("s  strategy    outputs   gradients      -1.9%*|");
    assert_shows("3    +33%*|   refused|");
    assert_shows("16   same*|64     OOM|");
    assert_shows("p  peer access off       on          no change|");
    struct mgb_pressed_row *meet = &f->pressed.rows[1], *weights = &f->pressed.rows[0];
    meet->from = MGB_PRESSED_PARKED;
    assert_shows("n/a|");
    meet->from = MGB_PRESSED_NONE;
    assert_shows("...|");
    meet->from = MGB_PRESSED_PLANNED, meet->traffic_change = 0;
    assert_shows("+30MiB gpu|");
    meet->gpu_change = 0;
    assert_shows("-30MiB cpu|");
    meet->cpu_change = 0;
    assert_shows("same bytes|");
    assert_shows_not("stored");
    weights->base_run = 12; /* nothing was run yet: both sides are stored */
    assert_shows("pressed *stored");
    char known[320];
    assert_non_null(
        strstr(tui_bench_known(known, sizeof known, weights), "slower against stored run 12, "));
    weights->base_run = 0;
    snprintf(weights->verdict, sizeof weights->verdict, "undecided");
    assert_shows("+37%?*|");
    weights->ratio = 2.25;
    assert_shows("x2.25?*|");
    snprintf(weights->verdict, sizeof weights->verdict, "refused"); /* a figure, and no verdict */
    assert_shows("x2.25?*|");
    weights->low = weights->high = (double)NAN;
    assert_null(strstr(tui_bench_known(known, sizeof known, weights), "nan"));
    assert_non_null(strstr(known, "* x2.250 refused, "));
    f->snapshot.pressed = NULL; /* not found out yet: what is in force is shown all the same */
    assert_shows("r  weights at  cpu:0    ");
    fixture_free(f);
}

static void what_is_simulated_is_told_in_its_time(void **state)
{
    (void)state;
    struct fixture *f = bench_make(4);
    struct mgb_pressed_row *weights = &f->pressed.rows[0];
    char known[320];
    f->facts.simulated = true;
    weights->from = MGB_PRESSED_PREDICTED;
    weights->ms = 247.3;
    weights->ratio = 0.731;
    snprintf(weights->verdict, sizeof weights->verdict, "faster");
    assert_shows("~247.3ms|");
    assert_shows("pressed ~sim");
    assert_int_equal(tui_bench_effect_style(weights), TUI_GOOD);
    assert_non_null(strstr(tui_bench_known(known, sizeof known, weights),
                           "~ 247.3 ms simulated, x0.731 an example"));
    fixture_free(f);
}

static void the_largest_batch_that_fits_is_told_once_it_is_known(void **state)
{
    (void)state;
    struct fixture *f = bench_make(4);
    assert_shows("weak: grows with GPUs");
    f->pressed.largest_batch = 96;
    assert_shows("global      128       most that fits: 96");
    fixture_free(f);
}

static void what_is_asked_for_is_pending_until_it_is_in_force(void **state)
{
    (void)state;
    struct fixture *f = bench_make(4);
    assert_shows_not("pending");
    pending.options = UINT64_C(1) << MGB_OPTION_WEIGHTS_AT | UINT64_C(1) << MGB_OPTION_BATCH |
                      UINT64_C(1) << MGB_OPTION_RECOMPUTE | UINT64_C(1) << MGB_OPTION_CPU_MERGE;
    snprintf(pending.value[MGB_OPTION_WEIGHTS_AT], 64, "/gpu:1");
    snprintf(pending.value[MGB_OPTION_BATCH], 64, "128");
    snprintf(pending.value[MGB_OPTION_RECOMPUTE], 64, "block");
    assert_shows("r  weights at  cpu:0     gpu:1         pending|");
    assert_shows("m  towers meet cpu:0     default       pending|");
    snprintf(pending.value[MGB_OPTION_CPU_MERGE], 64, "false");
    assert_shows("m  towers meet cpu:0     gpu:0         pending|");
    assert_shows("batch/GPU   32        128           pending|");
    assert_shows("recompute=block pending");
    fixture_free(f);
}

/* Each change of meaning changes letters: a terminal without colours shows it too. */
static void nothing_is_told_by_colour_alone(void **state)
{
    (void)state;
    static const char *const verdicts[] = {"faster", "slower", "same", "undecided", "refused"};
    struct fixture *f = bench_make(4);
    char *texts[12];
    int count = 0;
    for (int i = 0; i < 5; i++) {
        snprintf(f->snapshot.answer.verdict, 16, "%s", verdicts[i]);
        texts[count++] = body_text();
    }
    f->snapshot.verified.equal = false;
    texts[count++] = body_text();
    f->snapshot.phases.slowest = 1;
    texts[count++] = body_text();
    f->facts.duplicate_count = 0;
    texts[count++] = body_text();
    f->snapshot.now.memory[2].planned--; /* more than planned */
    texts[count++] = body_text();
    f->snapshot.now.figures.steady = 0, f->snapshot.now.figures.not_steady = "drift";
    texts[count++] = body_text();
    f->history.at[150].warmup = true;
    texts[count++] = body_text();
    f->facts.simulated = true;
    texts[count++] = body_text();
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(texts[i], texts[k]);
    assert_non_null(strstr(texts[0], "-27% FASTER"));
    assert_non_null(strstr(texts[3], "UNDECIDED"));
    assert_non_null(strstr(texts[5], "DIFFERENT"));
    assert_non_null(strstr(texts[8], "!"));
    assert_non_null(strstr(texts[9], "NOT STEADY: drift"));
    assert_non_null(strstr(texts[11], "SIMULATED"));
    for (int i = 0; i < count; i++)
        free(texts[i]);
    fixture_free(f);
}

/* Cells lie side by side: a range that is too long for one is told by its half width. */
static void intervals_fit_their_cells(void **state)
{
    (void)state;
    struct fixture *f = bench_make(1);
    struct script_figures *g = &f->snapshot.now.figures, *before = &f->snapshot.before.figures;
    before->ci95_low_ms = 1.078, before->ci95_high_ms = 1.184;
    g->ci95_low_ms = 1.375, g->ci95_high_ms = 2.394;
    assert_shows("|95% int.    1.08..1.18 1.38..2.39");
    before->ci95_low_ms = 247.1, before->ci95_high_ms = 247.4;
    g->ci95_low_ms = 98765, g->ci95_high_ms = 123456;
    assert_shows("|95% int.      +-0.061%      +-11%");
    fixture_free(f);
}

static void small_memory_is_told_in_mib(void **state)
{
    (void)state;
    struct fixture *f = bench_make(1);
    for (int i = 0; i < 2; i++) {
        f->devices[i].planned_bytes = 2000000 << i;
        f->snapshot.now.memory[i].peak = f->snapshot.now.memory[i].planned = 2000000 << i;
    }
    assert_shows("gpu:0 MiB");
    assert_shows("3.81/3.81");
    fixture_free(f);
}

static void a_verdict_that_is_not_given_has_its_reason(void **state)
{
    (void)state;
    struct fixture *f = bench_make(1);
    snprintf(f->snapshot.answer.verdict, 16, "refused");
    snprintf(f->snapshot.answer.reason, 100, "never steady");
    assert_shows("|3/2 .731 REFUSED never steady");
    f->snapshot.answer.efficiency = 1.2;
    assert_shows("eff 120%? (weak)");
    f->snapshot.answer.efficiency = 0.9;
    assert_shows("eff 90% (weak)");
    f->snapshot.answer.doubtful = true;
    assert_shows("eff 90%? (weak)");
    f->snapshot.answer.speedup =
        (double)NAN; /* nothing to scale against: the room is the reason's */
    snprintf(f->snapshot.answer.verdict, 16, "undecided");
    snprintf(f->snapshot.answer.reason, 100, "one segment each");
    assert_shows("|one segment each");
    fixture_free(f);
}

static void warm_up_is_never_a_measurement(void **state)
{
    (void)state;
    struct fixture *f = bench_make(4);
    fixture_set_warmup(f);
    f->snapshot.now.figures.median_ms = 123.4; /* whoever fills it in: no timed step, no figure */
    f->snapshot.now.figures.examples_per_s = 5678;
    assert_shows("|step ms          338.4    warm-up");
    assert_shows("warm-up: 2 steps, nothing measured yet");
    assert_shows_not("123.4");
    assert_shows_not("5678");
    fixture_free(f);
}

static void before_the_first_run_only_the_plan_is_shown(void **state)
{
    (void)state;
    struct fixture *f = bench_make(2);
    fixture_set_ready(f);
    assert_shows("2.95 plan");
    assert_shows("|link MB/step         -        382");
    assert_shows("no device is touched");
    assert_shows("not run yet");
    fixture_set_host(f);
    assert_shows("(host: CPU devices)");
    fixture_set_empty(f);
    assert_shows("M chooses");
    fixture_free(f);
}

static void what_is_wrong_is_told(void **state)
{
    (void)state;
    struct fixture *f = bench_make(1);
    struct mgb_snapshot *s = &f->snapshot;
    assert_shows("duplicates 1! 121.5 KiB");
    f->facts.duplicate_count = f->facts.leftover_count = 0;
    assert_shows("91.0 MiB stored once | loss 6.7312 | duplicates 0 | leftovers 0");
    snprintf(s->message, sizeof s->message, "out of memory on /gpu:0");
    char *text = bench_text(56, 200, true);
    assert_non_null(strstr(text, "! out of memory on /gpu:0"));
    free(text);
    s->state = MGB_BENCH_BUSY;
    snprintf(s->doing, sizeof s->doing, "verifying 7 of 20");
    assert_shows("verifying 7 of 20...");
    s->state = MGB_BENCH_FAILED;
    assert_shows("FAILED: space opens a new run");
    fixture_free(f);
}

static void every_device_can_be_reached(void **state)
{
    (void)state;
    static const int sizes[][2] = {{20, 80}, {6, 40}, {6, 80}, {12, 60}, {56, 200}};
    for (int i = 0; i < 5; i++)
        for (int gpus = 1; gpus <= 16; gpus++) {
            struct fixture *f = bench_make(gpus);
            struct fixture_desk desk;
            bool seen[17] = {false};
            fixture_desk_init(&desk);
            snprintf(f->snapshot.phases.bound, 20, "nothing");
            for (int steps = 0; steps <= gpus + 1; steps++) {
                char *text = bench_text(sizes[i][0], sizes[i][1], true);
                for (int k = 0; k <= gpus; k++) {
                    char name[32];
                    snprintf(name, sizeof name, k ? "\n gpu:%d " : "\n cpu:0 ", k - 1);
                    seen[k] |= strstr(text, name) != NULL;
                }
                free(text);
                assert_true(tui_view_bench.act(&view, TUI_ACT_DOWN, &scene, &desk.desk));
            }
            for (int k = 0; k <= gpus; k++)
                assert_true(seen[k]);
            for (int steps = 0; steps <= gpus; steps++)
                tui_view_bench.act(&view, TUI_ACT_UP, &scene, &desk.desk);
            assert_int_equal(view.top, 0);
            fixture_free(f);
        }
}

static void every_size_can_be_drawn(void **state)
{
    (void)state;
    for (int variant = 0; variant < 5; variant++) {
        struct fixture *f = bench_make(variant == 4 ? 16 : 3);
        if (variant == 1)
            fixture_set_long_names(f);
        else if (variant == 2)
            fixture_set_unknown(f);
        else if (variant == 3)
            fixture_set_empty(f);
        for (int rows = 6; rows <= 60; rows += 6)
            for (int columns = 40; columns <= 220; columns += 9) {
                char *text = bench_text(rows, columns, rows % 4);
                assert_null(strchr(text, '\x1b'));
                free(text);
            }
        fixture_free(f);
    }
}

static void the_hint_names_keys(void **state)
{
    (void)state;
    struct fixture *f = bench_make(1);
    struct tui_canvas canvas;
    assert_true(tui_canvas_init(&canvas, 1, 80, true));
    tui_view_bench.hint(&view, &canvas, tui_canvas_whole(&canvas), &scene);
    char *text = tui_canvas_text(&canvas);
    assert_non_null(strstr(text, "space pause  r m s g b p toggle  u undo"));
    free(text);
    tui_canvas_done(&canvas);
    fixture_free(f);
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_picture_is_the_kept_one),
        cmocka_unit_test(numbers_on_the_screen_are_the_snapshots),
        cmocka_unit_test(unknown_numbers_are_dashes),
        cmocka_unit_test(what_would_happen_is_told_in_words),
        cmocka_unit_test(what_is_simulated_is_told_in_its_time),
        cmocka_unit_test(the_largest_batch_that_fits_is_told_once_it_is_known),
        cmocka_unit_test(what_is_asked_for_is_pending_until_it_is_in_force),
        cmocka_unit_test(nothing_is_told_by_colour_alone),
        cmocka_unit_test(intervals_fit_their_cells),
        cmocka_unit_test(small_memory_is_told_in_mib),
        cmocka_unit_test(a_verdict_that_is_not_given_has_its_reason),
        cmocka_unit_test(warm_up_is_never_a_measurement),
        cmocka_unit_test(before_the_first_run_only_the_plan_is_shown),
        cmocka_unit_test(what_is_wrong_is_told),
        cmocka_unit_test(every_device_can_be_reached),
        cmocka_unit_test(every_size_can_be_drawn),
        cmocka_unit_test(the_hint_names_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
