/* The bench: the placement in force, what each key would change, and how the step answers. The program's first screen. */
#include "app/tui/bench.h"

#include "app/tui/chart.h"
#include "app/tui/screen_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How the steps of the segment in force are: told beside the chart, so that no warm-up passes for a measurement. */
static void steps_write(char *out, size_t size, const struct mgb_snapshot *s)
{
    const struct script_figures *g = &s->now.figures;
    static const char said[] = "not steady";
    const char *why = g->steady == 0 && g->not_steady ? g->not_steady : "";
    if (strncmp(why, said, sizeof said - 1) == 0)
        why += sizeof said - 1;
    why += strspn(why, ": ");
    if (!s->now.number)
        snprintf(out, size, "%s",
                 s->history && s->history->count ? "of the run that has ended" : "no step yet");
    else if (g->steps == 0)
        snprintf(out, size, "warm-up: %lld steps, nothing measured yet",
                 (long long)g->warmup_steps);
    else
        snprintf(out, size, "%lld timed, %lld warm-up%s%s%s", (long long)g->steps,
                 (long long)g->warmup_steps,
                 g->steady < 0 ? ""
                 : g->steady   ? ", steady"
                               : ", NOT STEADY",
                 *why ? ": " : "", why);
}

static void chart_draw(struct tui_canvas *canvas, struct tui_rect area,
                       const struct tui_scene *scene)
{
    const struct mgb_snapshot *s = scene->snapshot;
    char right[160], title[60] = "STEP ms";
    bool before = s->before.number > 0 && s->before.figures.steps > 0;
    int pool = tui_chart_steps(
        canvas, tui_rect_inside(area, 1, 0),
        &(struct tui_chart_request){.history = s->history,
                                    .before_ms = before ? s->before.figures.median_ms : NAN});
    if (pool > 1)
        snprintf(title, sizeof title, "STEP ms, medians of %d", pool);
    steps_write(right, sizeof right, s);
    int room = area.columns - (int)strlen(title) - 14; /* a rule leaves out what does not fit */
    if (room >= 0 && room < (int)strlen(right))
        right[room] = '\0';
    tui_rule(canvas, area, 0, title, right);
    if (pool == 0)
        tui_put(canvas, area, 1, 1, TUI_DIM, "the time of every step, once it runs");
}

static void bench_draw(void *state, struct tui_canvas *canvas, struct tui_rect area,
                       const struct tui_scene *scene)
{
    int devices[MGB_BENCH_DEVICES], towers;
    int count = tui_bench_devices(devices, &towers, scene->snapshot->facts);
    struct tui_layout_bench at = tui_layout_bench_make(area, count, towers);
    tui_bench_draw_placement(canvas, at.placement, scene);
    tui_bench_draw_answer(canvas, at.answer, scene);
    if (at.answer.y == at.placement.y)
        for (int y = 0; y < at.placement.rows; y++)
            tui_fill(canvas, area, at.placement.y - area.y + y, at.placement.columns, 1, TUI_DIM,
                     y ? 0x2502 : 0x252c, y ? '|' : '+');
    if (at.chart.rows > 0)
        chart_draw(canvas, at.chart, scene);
    if (at.phases.rows > 0)
        tui_bench_draw_phases(canvas, at.phases, at.phase_rows, state, scene);
    if (at.facts.rows > 0)
        tui_bench_draw_facts(canvas, at.facts, scene);
}

static void say_refusal(struct tui_desk *desk, const struct mgb_pressed_row *row)
{
    char text[320];
    const char *name = mgb_placement_options()[row->option].name;
    snprintf(text, sizeof text, "%s: %s", name,
             *row->reason ? row->reason : "it has no meaning under this strategy");
    desk->say(desk, MGB_LINE_WARNING, text);
}

/* Out of memory is asked for all the same: the plan may be wrong, and the refusal names device, needed and free. */
static void toggle(const struct tui_scene *scene, struct tui_desk *desk, int number, int direction)
{
    const struct mgb_snapshot *s = scene->snapshot;
    struct bench_line line = tui_bench_line(number, s);
    const struct mgb_pressed_row *row = tui_bench_row(s, line.option, direction);
    bool current = !scene->pending || !scene->pending->options;
    if (!s->facts)
        desk->say(desk, MGB_LINE_WARNING, "no model yet: M chooses one");
    else if (current && row &&
             (row->from == MGB_PRESSED_REFUSED || row->from == MGB_PRESSED_PARKED))
        say_refusal(desk, row);
    else
        desk->ask(desk, &(struct mgb_wish){.kind = MGB_WISH_TOGGLE,
                                           .option = line.option,
                                           .direction = direction});
}

static void end_answer(void *context, struct tui_desk *desk, const char *text)
{
    (void)context;
    if (text)
        desk->ask(desk, &(struct mgb_wish){.kind = MGB_WISH_END});
}

static void run_end(const struct mgb_snapshot *s, struct tui_desk *desk)
{
    char question[120] = "end the run and give the devices back? y/N";
    if (s->state == MGB_BENCH_EMPTY || s->state == MGB_BENCH_READY) {
        desk->say(desk, MGB_LINE_WARNING, "nothing is open: no device is held");
        return;
    }
    if (s->now.run_id)
        snprintf(question, sizeof question, "end run %lld and give the devices back? y/N",
                 (long long)s->now.run_id);
    desk->confirm(desk, question, end_answer, NULL);
}

static void undo(const struct tui_scene *scene, struct tui_desk *desk)
{
    if (scene->snapshot->undo_count == 0 && !(scene->pending && scene->pending->wishes))
        desk->say(desk, MGB_LINE_WARNING, "there is no change to undo");
    else
        desk->ask(desk, &(struct mgb_wish){.kind = MGB_WISH_UNDO});
}

static void scroll(struct bench_state *state, int by)
{
    int last = state->rows - state->fits;
    state->top = state->top + by > last ? last : state->top + by;
    state->top = state->top < 0 ? 0 : state->top;
}

/* Lines of bench_words.c, by the key that toggles them. */
static const struct {
    enum tui_action action;
    int line, direction;
} toggles[] = {{TUI_ACT_WEIGHTS, 0, 1},        {TUI_ACT_MERGE, 1, 1},
               {TUI_ACT_STRATEGY, 2, 1},       {TUI_ACT_MORE_GPUS, 3, 1},
               {TUI_ACT_FEWER_GPUS, 3, -1},    {TUI_ACT_LARGER_BATCH, 4, 1},
               {TUI_ACT_SMALLER_BATCH, 4, -1}, {TUI_ACT_PEER, 5, 1}};

/* What is left to the screen: running, choosing what is trained, recording, comparing. */
static bool bench_act(void *state, enum tui_action action, const struct tui_scene *scene,
                      struct tui_desk *desk)
{
    struct bench_state *bench = state;
    for (size_t i = 0; i < sizeof toggles / sizeof *toggles; i++)
        if (toggles[i].action == action) {
            toggle(scene, desk, toggles[i].line, toggles[i].direction);
            return true;
        }
    if (action == TUI_ACT_OPTIONS)
        tui_bench_options(scene, desk);
    else if (action == TUI_ACT_WHAT_IF)
        tui_bench_what_if(scene, desk);
    else if (action == TUI_ACT_UNDO)
        undo(scene, desk);
    else if (action == TUI_ACT_END)
        run_end(scene->snapshot, desk);
    else if (action == TUI_ACT_UP || action == TUI_ACT_DOWN)
        scroll(bench, action == TUI_ACT_UP ? -1 : 1);
    else if (action == TUI_ACT_PAGE_UP || action == TUI_ACT_PAGE_DOWN)
        scroll(bench, action == TUI_ACT_PAGE_UP ? -bench->fits : bench->fits);
    else
        return false;
    return true;
}

static void bench_click(void *state, int y, int x, int wheel, const struct tui_scene *scene,
                        struct tui_desk *desk)
{
    (void)y, (void)x, (void)scene, (void)desk;
    scroll(state, wheel);
}

static void bench_hint(void *state, struct tui_canvas *canvas, struct tui_rect row,
                       const struct tui_scene *scene)
{
    static const char *const parts[][2] = {{"r m s g b p", "toggle"}, {"u", "undo"},
                                           {"c", "compare"},          {"w", "what-if"},
                                           {"R", "record"},           {"q", "quit"}};
    (void)state;
    int x = tui_put(canvas, row, 0, 1, TUI_KEY, "space");
    x = tui_put(canvas, row, 0, x + 1, TUI_PLAIN, tui_run_word(scene->snapshot));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int needed = (int)(strlen(parts[i][0]) + strlen(parts[i][1])) + 3;
        if (x + needed > row.columns)
            continue;
        x = tui_put(canvas, row, 0, x + 2, TUI_KEY, parts[i][0]);
        x = tui_put(canvas, row, 0, x + 1, TUI_PLAIN, parts[i][1]);
    }
}

const struct tui_view tui_view_bench = {.name = "Bench",
                                        .place = TUI_ON_BENCH,
                                        .state_size = sizeof(struct bench_state),
                                        .draw = bench_draw,
                                        .act = bench_act,
                                        .click = bench_click,
                                        .hint = bench_hint};
