/* Keys, clicks and sizes at random on the screen without a terminal, over benches of all kinds: every action fires, what is
 * drawn fits, nothing is left open. */
#include "app/tui/screen.h"
#include "engine/base/random.h"
#include "tests/app/tui/fixture.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tui_verb verbs[] = {
    {"compare", "A B", "two runs"}, {"rm", "RUN", "deletes"}, {"show", "RUN", "one run"}, {0}};

struct random {
    struct tui_screen *screen;
    struct tui_canvas canvas;
    uint64_t seed, count;
    int64_t now_ns;
};

static int draw(struct random *random, int below)
{
    return (int)mgb_random_below(mgb_random_at(random->seed, random->count++, 0).v[0],
                                 (uint32_t)below);
}

static struct fixture *bench_draw(struct random *random)
{
    static void (*const changes[])(struct fixture *) = {fixture_set_ready,      fixture_set_warmup,
                                                        fixture_set_long_names, fixture_set_unknown,
                                                        fixture_set_host,       fixture_set_empty};
    struct fixture *fixture = fixture_make(1 + draw(random, 16));
    assert_non_null(fixture);
    for (int i = 0; i < 6; i++)
        if (draw(random, 5) == 0)
            changes[i](fixture);
    fixture->snapshot.state = (enum mgb_bench_state)draw(random, MGB_BENCH_FAILED + 1);
    return fixture;
}

static void snapshot_change(struct random *random)
{
    struct fixture *fixture = bench_draw(random);
    fixture->snapshot.version = random->count;
    tui_screen_set_snapshot(random->screen, &fixture->snapshot);
    fixture_free(fixture);
}

static void picture_draw(struct random *random)
{
    int y, x, rows = 1 + draw(random, 80), columns = 1 + draw(random, 250);
    if (draw(random, 2) == 0)
        rows = 24, columns = 80;
    assert_true(tui_canvas_resize(&random->canvas, rows, columns));
    tui_screen_refresh(random->screen, random->now_ns);
    tui_screen_draw(random->screen, &random->canvas, &y, &x);
    assert_true(y < rows && (y < 0 || (x >= 0 && x < columns)));
}

static int key_draw(struct random *random)
{
    static const int others[] = {TUI_KEY_ESCAPE, TUI_KEY_ENTER,  TUI_KEY_BACKSPACE,
                                 TUI_KEY_DELETE, TUI_KEY_INSERT, TUI_KEY_RESIZE,
                                 0x4e2d,         0x301,          0x202e,
                                 0x10ffff,       TUI_KEY_F1 + 4};
    int pick = draw(random, 2 * TUI_ACT_COUNT + 40);
    if (pick < TUI_ACT_COUNT)
        return tui_key_read(tui_actions[pick].key);
    if (pick < 2 * TUI_ACT_COUNT)
        return tui_key_read(tui_actions[pick - TUI_ACT_COUNT].other);
    if (pick < 2 * TUI_ACT_COUNT + 20)
        return others[draw(random, (int)(sizeof others / sizeof *others))];
    return pick < 2 * TUI_ACT_COUNT + 30 ? TUI_KEY_ESCAPE : ' ' + draw(random, 95);
}

static void step(struct random *random)
{
    random->now_ns += 1000000 * (int64_t)draw(random, 400);
    if (draw(random, 40) == 0)
        snapshot_change(random);
    if (draw(random, 15) == 0)
        tui_screen_click(random->screen, draw(random, 90) - 5, draw(random, 260) - 5,
                         draw(random, 3) - 1, draw(random, 4) == 0);
    else
        tui_screen_key(random->screen, key_draw(random), random->now_ns);
    if (draw(random, 200) == 0)
        tui_screen_job_ended(random->screen, "show 1", "a\nb\n\x1b[31m\xff\n", draw(random, 2));
    if (draw(random, 3) == 0)
        picture_draw(random);
}

static void every_action_fires(const struct random *random)
{
    const int *fired = tui_screen_fired(random->screen);
    for (int i = 0; i < TUI_ACT_COUNT; i++)
        if (fired[i] == 0)
            fail_msg("seed %llu: '%s' never fired", (unsigned long long)random->seed,
                     tui_actions[i].name);
}

static void back_on_the_bench(struct random *random)
{
    int y, x;
    assert_true(tui_canvas_resize(&random->canvas, 24, 80));
    tui_screen_draw(random->screen, &random->canvas, &y, &x); /* unseen, keys do nothing */
    for (int i = 0; i < 4; i++)
        tui_screen_key(random->screen, TUI_KEY_ESCAPE, random->now_ns);
    tui_screen_key(random->screen, '1', random->now_ns);
    tui_screen_draw(random->screen, &random->canvas, &y, &x);
    char *text = tui_canvas_text(&random->canvas);
    assert_non_null(text);
    if (!strstr(text, "[1]Bench"))
        fail_msg("seed %llu: not the bench:\n%s", (unsigned long long)random->seed, text);
    free(text);
}

static void keys_and_clicks_at_random(uint64_t seed, int count)
{
    struct random random = {.seed = seed, .now_ns = 1000000000};
    struct tui_screen_options options = {
        .commands = {.verbs = verbs}, .utf8 = seed % 2 == 0, .record_dir = "/tmp/x"};
    assert_ok(tui_screen_make(&random.screen, &options));
    assert_true(tui_canvas_init(&random.canvas, 24, 80, options.utf8));
    snapshot_change(&random);
    for (int i = 0; i < count; i++) {
        if (i == count / 4) {
            const struct mgb_list *runs = fixture_list();
            tui_screen_set_runs(random.screen, runs);
            mgb_shared_drop(runs);
        }
        step(&random);
    }
    every_action_fires(&random);
    back_on_the_bench(&random);
    tui_screen_free(random.screen);
    tui_canvas_done(&random.canvas);
}

static void whatever_is_pressed_it_goes_on(void **state)
{
    (void)state;
    for (int i = 0; i < draw_count(2, 40); i++)
        keys_and_clicks_at_random((uint64_t)i + 1, 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_is_pressed_it_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
