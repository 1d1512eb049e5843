/* What the files of the fixture share. */
#ifndef TESTS_APP_TUI_FIXTURE_PARTS_H
#define TESTS_APP_TUI_FIXTURE_PARTS_H

#include "tests/app/tui/fixture.h"

void fixture_part_init(struct mgb_shared *shared);
void fixture_pressed_fill(struct fixture *f, int gpus);
void fixture_tasks_fill(struct fixture *f, int gpus);
void fixture_sweep_fill(struct fixture *f);

#endif
