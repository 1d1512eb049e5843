/* See frame.h. */
#include "tests/app/tui/frame.h"

#include "tests/support/check.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

enum { MARK = '@', MARK_STYLE = TUI_SERIES + 7, TOP = 1, SIDE = 2 };

void *frame_state(const struct tui_view *view)
{
    void *state = calloc(1, view->state_size);
    assert_non_null(state);
    return state;
}

void frame_done(const struct tui_view *view, void *state)
{
    if (view->done)
        view->done(state);
    free(state);
}

char *frame_text(const struct tui_view *view, void *state, const struct tui_scene *scene, int rows,
                 int columns)
{
    struct tui_canvas canvas;
    setlocale(LC_CTYPE, "C.UTF-8");
    assert_true(tui_canvas_init(&canvas, rows, columns, !scene->ascii));
    view->draw(state, &canvas, tui_canvas_whole(&canvas), scene);
    char *text = tui_canvas_text(&canvas);
    assert_non_null(text);
    tui_canvas_done(&canvas);
    return text;
}

char *frame_line(const char *text, const char *words)
{
    const char *found = strstr(text, words);
    if (!found)
        fail_msg("nothing has \"%s\" in\n%s", words, text);
    while (found > text && found[-1] != '\n')
        found--;
    char *line = strndup(found, strcspn(found, "\n"));
    assert_non_null(line);
    return line;
}

int frame_count(const char *text, const char *words)
{
    int count = 0;
    for (const char *found = strstr(text, words); found; found = strstr(found, words)) {
        count++;
        found += strcspn(found, "\n");
    }
    return count;
}

void frame_bench_make(struct frame_bench *out, const struct tui_view *view, int gpus)
{
    *out = (struct frame_bench){.view = view, .fixture = fixture_make(gpus)};
    assert_non_null(out->fixture);
    fixture_desk_init(&out->desk);
    fixture_scene(&out->scene, out->fixture);
    out->scene.ascii = true;
    out->state = frame_state(view);
}

void frame_bench_done(struct frame_bench *bench)
{
    frame_done(bench->view, bench->state);
    fixture_free(bench->fixture);
}

char *frame_bench_text(struct frame_bench *bench, int rows, int columns)
{
    return frame_text(bench->view, bench->state, &bench->scene, rows, columns);
}

void frame_bench_has(struct frame_bench *bench, int rows, int columns, const char *words,
                     const char *wanted)
{
    char *text = frame_bench_text(bench, rows, columns), *line = frame_line(text, words);
    if (!strstr(line, wanted))
        fail_msg("no \"%s\" in \"%s\"", wanted, line);
    free(line);
    free(text);
}

static void frame_check(const struct tui_view *view, void *state, const struct tui_scene *scene,
                        int rows, int columns)
{
    struct tui_canvas canvas;
    assert_true(tui_canvas_init(&canvas, rows + 2 * TOP, columns + 2 * SIDE, !scene->ascii));
    for (int i = 0; i < canvas.rows * canvas.columns; i++)
        canvas.cells[i] = (struct tui_cell){MARK, MARK_STYLE};
    struct tui_rect area = {TOP, SIDE, rows, columns};
    view->draw(state, &canvas, area, scene);
    for (int y = 0; y < canvas.rows; y++)
        for (int x = 0; x < canvas.columns; x++) {
            struct tui_cell cell = canvas.cells[y * canvas.columns + x];
            bool inside = y >= TOP && y < TOP + rows && x >= SIDE && x < SIDE + columns;
            if (!inside && (cell.point != MARK || cell.style != MARK_STYLE))
                fail_msg("%s draws at %d,%d outside of %d x %d", view->name, y - TOP, x - SIDE,
                         rows, columns);
            if (scene->ascii && (cell.point < ' ' || cell.point > '~'))
                fail_msg("%s draws U+%04x without UTF-8", view->name, (unsigned)cell.point);
        }
    tui_canvas_done(&canvas);
}

static void sizes_check(const struct tui_view *view, struct fixture *fixture, struct tui_log *log)
{
    static const int rows[] = {6, 7, 8, 9, 10, 12, 13, 14, 17, 18, 20, 31, 60};
    static const int columns[] = {40, 41, 59, 60, 63, 64, 69, 70, 79, 80, 81, 113, 200};
    static const enum tui_action moves[] = {TUI_ACT_DOWN,    TUI_ACT_LAST,    TUI_ACT_RIGHT,
                                            TUI_ACT_PAGE_UP, TUI_ACT_ZOOM_IN, TUI_ACT_SORT};
    struct fixture_desk desk;
    struct tui_scene scene;
    fixture_desk_init(&desk);
    fixture_scene(&scene, fixture);
    scene.log = log;
    void *state = frame_state(view);
    for (size_t y = 0; y < sizeof rows / sizeof *rows; y++)
        for (size_t x = 0; x < sizeof columns / sizeof *columns; x++) {
            scene.ascii = (x + y) % 2 == 0;
            frame_check(view, state, &scene, rows[y], columns[x]);
            size_t move = (y * (sizeof columns / sizeof *columns) + x) % 6;
            view->act(state, moves[move], &scene, &desk.desk);
        }
    frame_done(view, state);
}

void frame_check_all(const struct tui_view *view, struct tui_log *log)
{
    static void (*const changes[])(struct fixture *) = {
        NULL,
        fixture_set_long_names,
        fixture_set_unknown,
        fixture_set_host,
        fixture_set_ready,
        fixture_set_empty,
        fixture_set_warmup,
    };
    static const int gpus[] = {1, 2, 4, 16};
    setlocale(LC_CTYPE, "C.UTF-8");
    for (size_t n = 0; n < sizeof gpus / sizeof *gpus; n++)
        for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
            if (changes[c] && n % 2) /* the changed ones at two sizes of machine */
                continue;
            struct fixture *fixture = fixture_make(gpus[n]);
            assert_non_null(fixture);
            if (changes[c])
                changes[c](fixture);
            sizes_check(view, fixture, log);
            fixture_free(fixture);
        }
}
