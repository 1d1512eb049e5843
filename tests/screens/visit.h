/* What the tests of terminals have in common: mgbench-tui with a small model on a terminal of any kind and size, and every
 * screen of it, one after another. */
#ifndef TESTS_SCREENS_VISIT_H
#define TESTS_SCREENS_VISIT_H

#include "tests/screens/live.h"

/* mlp on two of four CPU devices, READY on a terminal that need not be large enough for the word: `await` is waited for,
 * "READY" when it is NULL. Words of mgbench-tui follow, ended by NULL. */
struct terminal *visit_start(struct program *program, const struct terminal_options *options,
                             const char *await, ...) __attribute__((sentinel));

/* A screen. */
struct visit_place {
    const char *key;  /* that shows it */
    const char *name; /* in the line of screens */
    const char *hint; /* a regex for the line below its body, which is drawn last */
};
enum { VISIT_PLACES = 8 };
extern const struct visit_place visit_places[VISIT_PLACES];

/* Shows a screen and waits until it is there with its heading. */
void visit_go(struct terminal *terminal, const struct visit_place *place);
/* Shows each, calls `see` on it, and goes back to the bench. */
void visit_all(struct terminal *terminal,
               void (*see)(struct terminal *terminal, const struct visit_place *place,
                           void *context),
               void *context);

/* Until the picture is as large as the terminal: its first rule reaches the last column, and keys are told on the last line
 * but one. What is left of the picture of a larger one may look so, of a smaller one not. */
void visit_await_size(struct terminal *terminal);

/* Of all that the program wrote so far: bytes beyond ASCII; sequences that set a colour. Newest megabyte. */
size_t visit_bytes_beyond_ascii(struct terminal *terminal);
size_t visit_color_sequences(struct terminal *terminal);
/* Cells that are bold, and that are reversed. */
int visit_bold(struct terminal *terminal);
int visit_reversed(struct terminal *terminal);

#endif
