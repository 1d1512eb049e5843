/* Storms over the program while it steps: what is drawn at random is drawn again from its number (MGB_SEED), and what the
 * head line acknowledged must be in the database afterwards. */
#ifndef TESTS_SCREENS_STORM_H
#define TESTS_SCREENS_STORM_H

#include "tests/screens/database.h"

enum { STORM_RUNS = 8192 };

struct storm {
    struct program *program;
    struct terminal *terminal;
    uint64_t state;            /* of the draws */
    int64_t run, steps;        /* of the head line, as read last */
    int64_t shown[STORM_RUNS]; /* steps that it told, by run */
    int begun;                 /* how often the program was started */
    char pressed[112];         /* the file of MGBENCH_PRESSED */
};

/* cmocka's set-up and tear-down: the state is a struct storm, its number printed. */
int storm_begin(void **state);
int storm_end(void **state);

/* Below `below`, which is at least 1. */
uint32_t storm_draw(struct storm *storm, uint32_t below);
/* `few`, or in the wide version (MGB_LONG=1) `wide`. */
int storm_count(int few, int wide);

/* A small mlp on two CPU devices, READY; then running, with steps that were shown and more after them. */
struct terminal *storm_start(struct storm *storm, int rows, int columns);
void storm_run(struct storm *storm);
/* Takes what comes for `ms` at most and reads the head line. */
void storm_look(struct storm *storm, int ms);
void storm_pass(struct storm *storm, int ms); /* the same, for that long */
/* A key that ends it may have been among others: then it ended well, and is started again. True: it was. */
bool storm_revive(struct storm *storm);
/* Whatever is open is closed, the bench in front of 24 x 80; it answers. */
void storm_calm(struct storm *storm);
/* q, and y where that asks: it ends with 0 and the terminal as it was. Then storm_check. */
void storm_quit(struct storm *storm);
/* The file is whole; no run is open; no run has a hole; none has fewer steps than were shown. */
void storm_check(struct storm *storm);
/* How often an action has fired, over all that have ended. */
int storm_fired(struct storm *storm, const char *action);

#endif
