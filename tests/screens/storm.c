/* See storm.h. */
#include "tests/screens/storm.h"

#include "tests/screens/emulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static bool is_wide(void)
{
    const char *value = getenv("MGB_LONG");
    return value && strcmp(value, "1") == 0;
}

int storm_count(int few, int wide)
{
    return is_wide() ? wide : few;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

int storm_begin(void **state)
{
    static struct program program;
    static struct storm storm;
    const char *given = getenv("MGB_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : is_wide() ? (uint64_t)time(NULL) : 1;
    program_make(&program);
    memset(&storm, 0, sizeof storm);
    storm.program = &program;
    storm.state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    snprintf(storm.pressed, sizeof storm.pressed, "%s/pressed", program.folder);
    print_message("MGB_SEED=%llu\n", (unsigned long long)seed);
    *state = &storm;
    return 0;
}

int storm_end(void **state)
{
    struct storm *storm = *state;
    program_free(storm->program);
    return 0;
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
uint32_t storm_draw(struct storm *storm, uint32_t below)
{
    uint64_t z = storm->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(((z ^ z >> 31) >> 32) * below >> 32);
}

struct terminal *storm_start(struct storm *storm, int rows, int columns)
{
    char pressed[160];
    snprintf(pressed, sizeof pressed, "MGBENCH_PRESSED=%s", storm->pressed);
    const char *const environment[] = {pressed, NULL};
    struct terminal_options options = {
        .rows = rows, .columns = columns, .environment = environment};
    storm->terminal = program_start(storm->program, &options, "mlp", "--backend", "host", "--gpus",
                                    "2", "--batch", "8", "--threads", "1", "--option", "hidden=16",
                                    "--option", "height=8", "--option", "width=8", NULL);
    storm->run = storm->steps = 0;
    storm->begun++;
    terminal_await(storm->terminal, "READY");
    return storm->terminal;
}

/* "... run 3 seg 2 ... RUNNING 214": false: no such thing is there, or it is cut. */
static bool head_read(struct terminal *t, long long *run, long long *steps)
{
    const char *line = terminal_line(t, 0), *at = strstr(line, "  run "), *state;
    if (!at || sscanf(at, " run %lld seg %*d", run) != 1)
        return false;
    state = strstr(at, "RUNNING ");
    if (!state)
        state = strstr(at, "PAUSED ");
    return state && sscanf(state, "%*s %lld", steps) == 1;
}

/* A line that is being drawn may show the run of one picture and the steps of another, for as long as more of it comes: what
 * the next one goes on from was no such mixture. */
void storm_look(struct storm *storm, int ms)
{
    long long run, steps;
    bool whole = !terminal_look(storm->terminal, ms);
    if (!head_read(storm->terminal, &run, &steps))
        return;
    bool goes_on = steps > storm->steps || (whole && steps == storm->steps);
    if (run == storm->run && goes_on && run > 0 && run < STORM_RUNS &&
        storm->steps > storm->shown[run])
        storm->shown[run] = storm->steps;
    storm->run = run;
    storm->steps = steps;
}

/* Two pictures of the run were read, with more steps in the second: storm_check has something to look for. */
static bool is_told(const struct storm *storm)
{
    return storm->run > 0 && storm->run < STORM_RUNS && storm->shown[storm->run] > 0;
}

void storm_run(struct storm *storm)
{
    terminal_press(storm->terminal, "Space");
    for (int64_t end = now_ms() + TERMINAL_SECONDS * 1000; now_ms() < end;) {
        storm_look(storm, 20);
        if (terminal_matches(storm->terminal, "RUNNING +[1-9]") && is_told(storm))
            return;
    }
    terminal_fail(storm->terminal, "no steps came, and more after them");
}

bool storm_revive(struct storm *storm)
{
    if (!terminal_has_ended(storm->terminal))
        return false;
    int code = terminal_await_exit(storm->terminal);
    if (code != 0)
        terminal_fail(storm->terminal, "it ended by itself with %d", code);
    terminal_check_restored(storm->terminal);
    storm_start(storm, 24, 80);
    return true;
}

void storm_pass(struct storm *storm, int ms)
{
    for (int64_t end = now_ms() + ms; now_ms() < end;)
        storm_look(storm, 20);
}

/* Looks for a while whether it is there. */
static bool comes(struct storm *storm, const char *text, int ms)
{
    for (int64_t end = now_ms() + ms; now_ms() < end && !terminal_has(storm->terminal, text);)
        storm_look(storm, 20);
    return terminal_has(storm->terminal, text);
}

/* An escape and what follows before a late program reads it are another key, and what a command gives may come late and stand
 * in front: all are given again, further apart. */
void storm_calm(struct storm *storm)
{
    terminal_resize(storm->terminal, 24, 80);
    for (int i = 1; i <= 20; i++) {
        for (int k = 0; k < 3; k++) {
            terminal_press(storm->terminal, "Esc");
            storm_pass(storm, 60 * i);
        }
        terminal_press(storm->terminal, "7");
        if (!comes(storm, "[7]Log", 200 * i))
            continue;
        terminal_press(storm->terminal, "1");
        if (comes(storm, "[1]Bench", 200 * i))
            return;
    }
    terminal_await(storm->terminal, "[1]Bench");
}

static bool has_ended_or_asks(struct terminal *t, void *context)
{
    (void)context;
    return terminal_has_ended(t) || terminal_has(t, "quit? y/N");
}

void storm_quit(struct storm *storm)
{
    struct terminal *t = storm->terminal;
    terminal_press(t, "q");
    terminal_await_that(t, has_ended_or_asks, NULL, "the end, or a question about it");
    if (!terminal_has_ended(t))
        terminal_press(t, "y");
    int code = terminal_await_exit(t);
    if (code != 0)
        terminal_fail(t, "it ended with %d", code);
    terminal_check_restored(t);
    storm_check(storm);
}

static void check_zero(struct storm *storm, const char *what, const char *sql)
{
    double count = database_number(storm->program, "%s", sql);
    if (count != 0)
        fail_msg("%g %s", count, what);
}

void storm_check(struct storm *storm)
{
    assert_string_equal(database_text(storm->program, "PRAGMA integrity_check"), "ok");
    assert_string_equal(database_text(storm->program, "PRAGMA foreign_key_check"), "");
    check_zero(storm, "runs are still open", "SELECT count(*) FROM run WHERE outcome = 'running'");
    check_zero(storm, "segments are still open",
               "SELECT count(*) FROM segment WHERE outcome = 'running'");
    check_zero(storm, "runs were not recorded whole",
               "SELECT count(*) FROM run WHERE NOT log_complete AND outcome <> 'crashed'");
    check_zero(storm, "runs have holes",
               "SELECT count(*) FROM (SELECT count(*) AS steps, min(step) AS low, max(step) AS "
               "high FROM step JOIN segment ON segment.id = segment_id GROUP BY run_id) WHERE low "
               "<> 0 OR high <> steps - 1");
    int told = 0;
    for (int64_t run = 1; run < STORM_RUNS; run++) {
        if (storm->shown[run] == 0)
            continue;
        told++;
        double steps = database_number(storm->program,
                                       "SELECT count(*) FROM step JOIN segment ON segment.id = "
                                       "segment_id WHERE run_id = %lld",
                                       (long long)run);
        if (steps < (double)storm->shown[run])
            fail_msg("run %lld has %g steps, and %lld were shown", (long long)run, steps,
                     (long long)storm->shown[run]);
    }
    assert_int_not_equal(told, 0);
}

int storm_fired(struct storm *storm, const char *action)
{
    FILE *file = fopen(storm->pressed, "r");
    char name[64];
    int count, sum = 0;
    while (file && fscanf(file, "%63s %d", name, &count) == 2)
        sum += strcmp(name, action) == 0 ? count : 0;
    if (file)
        fclose(file);
    return sum;
}
