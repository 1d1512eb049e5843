/* Turns: the placement in force and the one before, one after the other and again, each for as long as figures need. What
 * comes of it are repetitions of either, and statements as if the keys had been pressed. */
#include "app/session/workbench/commands.h"

#include <stdio.h>
#include <stdlib.h>

#define TURN_NS INT64_C(1000000000)       /* a turn takes at least so long */
#define TURN_LONG_NS INT64_C(10000000000) /* from then on fewer steps are enough */

enum { TURNS_DEFAULT = 5, TURNS_MOST = 100, TURN_STEPS = 30, TURN_LEAST_STEPS = 10 };

static void turns_end(struct mgb_workbench *bench)
{
    bench->turns.total = bench->turns.done = 0;
    bench->draft->doing[0] = '\0';
}

void mgb_bench_turns_stop(struct mgb_workbench *bench)
{
    if (!bench->turns.total)
        return;
    mgb_bench_say(bench, MGB_LINE_NOTE, "turns: stopped in turn %d of %d", bench->turns.done,
                  bench->turns.total);
    turns_end(bench);
}

/* To the placement before; where that cannot be, what was refused says why. */
static void turn_begin(struct mgb_workbench *bench)
{
    struct mgb_queued *change = calloc(1, sizeof *change);
    int segment = bench->segment;
    if (change) {
        change->kind = MGB_WISH_SET;
        mgb_bench_difference(change, &bench->asked, &bench->previous.asked);
        mgb_bench_place(bench, change);
    } else {
        mgb_bench_complain(bench, "turns: memory is exhausted");
    }
    free(change);
    if (bench->segment == segment) {
        mgb_bench_turns_stop(bench);
        mgb_bench_pause(bench);
        return;
    }
    bench->turns.done++;
    snprintf(bench->draft->doing, sizeof bench->draft->doing, "turn %d of %d", bench->turns.done,
             bench->turns.total);
}

static bool turn_is_over(const struct mgb_workbench *bench)
{
    int64_t took_ns = session_clock_ns() - bench->segment_at_ns;
    int64_t enough = took_ns < TURN_LONG_NS ? TURN_STEPS : TURN_LEAST_STEPS;
    return bench->stepped && bench->figures.steps >= enough && took_ns >= TURN_NS;
}

void mgb_bench_turns(struct mgb_workbench *bench, const char *text)
{
    char *end;
    long count = *text ? strtol(text, &end, 10) : TURNS_DEFAULT;
    mgb_bench_turns_stop(bench);
    if (*text && (*end || count < 1 || count > TURNS_MOST)) {
        mgb_bench_complain(bench, "turns: how often either placement is to run, from 1 to 100");
        return;
    }
    if (!bench->session || !bench->previous.number) {
        mgb_bench_complain(bench, "turns: this run has no earlier placement to take turns with: "
                                  "change something first");
        return;
    }
    mgb_bench_say(bench, MGB_LINE_NOTE, "turns: %ld of either placement", count);
    mgb_bench_run(bench);
    bench->draft->message[0] = '\0';
    bench->turns.total = 2 * (int)count;
    turn_begin(bench);
}

void mgb_bench_turns_go(struct mgb_workbench *bench)
{
    if (!bench->turns.total || (bench->state == MGB_BENCH_RUNNING && !turn_is_over(bench)))
        return;
    if (bench->state != MGB_BENCH_RUNNING) {
        mgb_bench_turns_stop(bench);
    } else if (bench->turns.done < bench->turns.total) {
        turn_begin(bench);
    } else {
        mgb_bench_say(bench, MGB_LINE_NOTE, "turns: %d of either placement are done",
                      bench->turns.total / 2);
        turns_end(bench);
        mgb_bench_pause(bench);
    }
}
