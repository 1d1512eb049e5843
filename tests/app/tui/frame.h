/* Drawing a view as tests want it: into a frame of marks that must stay, at every size, and as text. */
#ifndef TESTS_APP_TUI_FRAME_H
#define TESTS_APP_TUI_FRAME_H

#include "tests/app/tui/fixture.h"

/* Zeroed state of a view, and its end. */
void *frame_state(const struct tui_view *view);
void frame_done(const struct tui_view *view, void *state);
/* The picture of a scene at a size, to be freed; UTF-8 unless the scene is of ASCII. */
char *frame_text(const struct tui_view *view, void *state, const struct tui_scene *scene, int rows,
                 int columns);
/* The first line of `text` that has the words, without its newline, to be freed; fails the test when there is none. */
char *frame_line(const char *text, const char *words);
/* How many lines have the words. */
int frame_count(const char *text, const char *words);

/* A view alone, without UTF-8, over a fixture that a test can change and a desk that remembers. */
struct frame_bench {
    const struct tui_view *view;
    struct fixture *fixture;
    struct tui_scene scene;
    struct fixture_desk desk;
    void *state;
};
void frame_bench_make(struct frame_bench *out, const struct tui_view *view, int gpus);
void frame_bench_done(struct frame_bench *bench);
char *frame_bench_text(struct frame_bench *bench, int rows, int columns); /* as frame_text */
/* The first line that has the words has these, too; fails the test otherwise. */
void frame_bench_has(struct frame_bench *bench, int rows, int columns, const char *words,
                     const char *wanted);

/* Draws 40 x 6 to 200 x 60 with 1 to 16 GPUs, every kind of snapshot, after some moves, with and without UTF-8: nothing is
 * drawn outside of the area, and without UTF-8 all is ASCII. `log` may be NULL. */
void frame_check_all(const struct tui_view *view, struct tui_log *log);

#endif
