/* The screens in README.md are what mgbench-tui shows: the session of which it tells is played, and each picture compared
 * with the screen but for figures and what figures decide. After a change that is meant, MGB_WRITE_GOLDEN=1 takes the
 * pictures anew; that is better done while nothing else runs. */
#include "tests/screens/likeness.h"
#include "tests/screens/visit.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LEAST_STEPS = 150, PICTURE_STEPS = 1200, QUIET_MS = 700, MOST_LOOKS = 60 };

static const struct likeness_mask bench_masks[] = {
    {"^(── STEP ms).*$", "\\1"}, /* how many steps, and whether they are steady */
    {"^(── PHASES).*$", "\\1"},  /* of how many steps, and whether some are outliers */
    {"^ *[-0-9.]+│.*$", "chart"},
    {"^( [cg]pu:[0-9]+ ).*$", "\\1phases"},
    {"^( bound by: ).*$", "\\1"},
    {"│2/1 .*$", "│2/1 verdict"},
    {"^(o  more.*│).*$", "\\1"}, /* why, or against one GPU */
    {"[^ │]+\\*│", "#│"},        /* if pressed, measured */
    {NULL, NULL}};
static const struct likeness_mask devices_masks[] = {
    {"^(── DEVICES [0-9]+ of [0-9]+ ).*$", "\\1"}, /* what watching costs, after 2 s of steps */
    {"(CPU device),.*$", "\\1"},
    {"^( [cg]pu:[0-9]+ -> [cg]pu:[0-9]+ +[0-9.]+ [KMG]?i?B +[0-9.]+%) .*$", "\\1"}, /* measured? */
    {"^( [cg]pu:[0-9]+ .*P) [0-9.]+", "\\1     "},
    {NULL, NULL}};
static const struct likeness_mask plan_masks[] = {
    {"^(.[cg]pu:[0-9]+(>[cg]pu:[0-9]+)?) .*%$", "\\1"}, /* which task was when */
    {"^( critical) .*$", "\\1"},
    {"^( bound by) .*$", "\\1"},
    {"^( path ms:) .*$", "\\1"},
    {NULL, NULL}};
static const struct likeness_mask no_masks[] = {{NULL, NULL}};

static char *readme; /* owned; as it is, and as it is to be */
static char path[4200];
static char differences[20000];

static void readme_read(void)
{
    const char *source = getenv("MGB_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/README.md", source ? source : ".");
    FILE *file = fopen(path, "r");
    size_t size = 0;
    assert_non_null(file);
    assert_true(getdelim(&readme, &size, '\0', file) > 0);
    fclose(file);
}

/* The text between the fences behind "<!-- screen NAME -->". */
static char *picture_find(const char *name, size_t *length)
{
    static const char fence[] = "```text\n";
    char mark[80];
    snprintf(mark, sizeof mark, "<!-- screen %s -->\n", name);
    char *at = strstr(readme, mark);
    at = at ? strstr(at, fence) : NULL;
    if (!at)
        fail_msg("%s has no picture of '%s'", path, name);
    at += strlen(fence);
    char *end = strstr(at, "```");
    assert_non_null(end);
    *length = (size_t)(end - at);
    return at;
}

/* The screen with its foot, several empty lines as one. */
static char *screen_copy(struct terminal *t)
{
    char *copy = strdup(terminal_text(t)), *end = copy;
    assert_non_null(copy);
    for (const char *c = copy; *c; c++)
        if (*c != '\n' || end - copy < 2 || end[-1] != '\n' || end[-2] != '\n')
            *end++ = *c;
    while (end > copy && end[-1] == '\n')
        end--;
    *end = '\0';
    char *line;
    assert_true(asprintf(&line, "%s\n", copy) > 0);
    free(copy);
    return line;
}

static void picture_write(const char *name, const char *text)
{
    size_t length;
    char *at = picture_find(name, &length), *out;
    assert_true(asprintf(&out, "%.*s%s%s", (int)(at - readme), readme, text, at + length) > 0);
    free(readme);
    readme = out;
}

static void picture_take(struct terminal *t, const char *name, const struct likeness_mask *masks)
{
    for (int i = 0; i < MOST_LOOKS && terminal_look(t, QUIET_MS); i++)
        ; /* what was asked for along the way comes in */
    char *text = screen_copy(t);
    size_t length;
    if (getenv("MGB_WRITE_GOLDEN")) {
        picture_write(name, text);
    } else {
        char *at = picture_find(name, &length), *picture = strndup(at, length);
        const char *differs = likeness_differs(text, picture, masks);
        size_t used = strlen(differences);
        if (differs)
            snprintf(differences + used, sizeof differences - used, "%s: %s", name, differs);
        free(picture);
    }
    free(text);
}

static int steps_of(struct terminal *t)
{
    const char *line = terminal_line(t, 0), *last = strrchr(line, ' ');
    return last ? atoi(last) : 0;
}

static bool has_steps(struct terminal *t, void *context)
{
    return steps_of(t) >= *(int *)context;
}

/* Runs for a while, presses `key` and pauses. */
static void steps_run(struct terminal *t, const char *key)
{
    int wanted = steps_of(t) + (getenv("MGB_WRITE_GOLDEN") ? PICTURE_STEPS : LEAST_STEPS);
    terminal_press(t, "Space");
    terminal_await_that(t, has_steps, &wanted, "more steps");
    terminal_press(t, key);
    wanted = steps_of(t) + LEAST_STEPS / 3;
    terminal_await_that(t, has_steps, &wanted, "steps after the key");
    live_pause(t);
}

static void screens_take(struct terminal *t)
{
    static const struct {
        int place;
        const char *name;
        const struct likeness_mask *masks;
    } others[] = {{1, "devices", devices_masks},
                  {2, "variables", no_masks},
                  {3, "plan", plan_masks},
                  {4, "runs", no_masks},
                  {5, "sweep", no_masks}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        visit_go(t, &visit_places[others[i].place]);
        picture_take(t, others[i].name, others[i].masks);
    }
}

/* A session with a results file of its own. */
static void session_play(void)
{
    struct program program, *p = &program;
    static const char *const environment[] = {"MGBENCH_CPU_DEVICES", NULL};
    static const char *const words[] = {"mgbench-tui", "mlp", "--backend", "host",
                                        "--gpus",      "2",   NULL};
    struct terminal_options options = {.environment = environment};
    program_make(p);
    struct terminal *t = program_start_words(p, &options, words);
    terminal_await(t, "READY");
    steps_run(t, "t");
    picture_take(t, "before", bench_masks);
    terminal_press(t, "r");
    terminal_await_match(t, "weights at +cpu:0");
    steps_run(t, "t"); /* a timeline of a step that is no first one */
    terminal_await_match(t, "^r .*\\*│");
    terminal_press(t, "v");
    terminal_await(t, "v verify OK");
    terminal_await_match(t, "│2/1 +[0-9.]+ ");
    picture_take(t, "after", bench_masks);
    screens_take(t);
    terminal_press(t, "1");
    live_quit(t);
    program_free(p);
}

/* What a busy machine makes of one session in many is no fault of the README: it differs if it does three times. */
static void the_pictures_are_what_the_program_shows(void **state)
{
    (void)state;
    readme_read();
    for (int i = 0; i == 0 || (i < 3 && *differences); i++) {
        *differences = '\0';
        session_play();
    }
    if (*differences)
        fail_msg("README.md does not show what the program shows (MGB_WRITE_GOLDEN=1 takes the "
                 "pictures anew):\n%s",
                 differences);
    if (!getenv("MGB_WRITE_GOLDEN"))
        return;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(readme, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8"); /* for the masks */
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_pictures_are_what_the_program_shows)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(readme);
    return failed;
}
