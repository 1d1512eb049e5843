/* The bench over a fixture, with what is pending at hand. */
#ifndef TESTS_APP_TUI_BENCH_SCENE_H
#define TESTS_APP_TUI_BENCH_SCENE_H

#include "app/tui/bench.h"
#include "tests/app/tui/fixture.h"
#include "tests/support/check.h"

static struct tui_scene scene;
static struct mgb_pending pending;
static struct bench_state view; /* of the view */

/* To be freed by the test. */
static inline struct fixture *bench_make(int gpus)
{
    struct fixture *f = fixture_make(gpus);
    assert_non_null(f);
    fixture_scene(&scene, f);
    pending = (struct mgb_pending){0};
    scene.pending = &pending;
    view = (struct bench_state){0};
    return f;
}

#endif
