/* What the tests of a session that runs have in common: a small model on the bench, keys whose end is awaited, and what
 * stands on the screen. */
#ifndef TESTS_SCREENS_LIVE_H
#define TESTS_SCREENS_LIVE_H

#include "tests/screens/database.h"

/* cmocka's set-up and tear-down: the state is a struct program. */
int live_begin(void **state);
int live_end(void **state);

/* mlp on two of four CPU devices, READY. `environment` and the words after it are added; both end with NULL. */
struct terminal *live_ready(struct program *program, const char *const *environment, ...)
    __attribute__((sentinel));
/* Space, until a step of the run is done; Space, until it is paused. */
void live_run(struct terminal *terminal);
void live_pause(struct terminal *terminal);
/* Until nothing more is drawn: a picture comes in pieces. Only where nothing runs. */
void live_rest(struct terminal *terminal);
/* q, until it has ended well with the terminal as it was. */
void live_quit(struct terminal *terminal);
/* A line after ':'. */
void live_command(struct terminal *terminal, const char *line);
/* Until this segment is in force, runs and has timed steps. */
void live_await_segment(struct terminal *terminal, int number);

/* Word `number` (from 0) of what follows `label`, words being apart by blanks and rules; fails when there is no such line.
 * Borrowed until the fourth call after it. */
const char *live_word(struct terminal *terminal, const char *label, int number);
/* Until that word is this one: a picture comes in pieces. */
void live_check_word(struct terminal *terminal, const char *label, int number,
                     const char *expected);

#endif
