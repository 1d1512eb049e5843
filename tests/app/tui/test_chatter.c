/* Output of libraries while the screen is up. Each test works in a child process, whose descriptors are its own. */
#include "app/tui/chatter.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs `work` in a child with 1 and 2 going to files, and hands over what came out. Exit code 0 is expected. */
static void child_run(void (*work)(struct tui_log *log), char *out, char *err, size_t size)
{
    FILE *files[2] = {tmpfile(), tmpfile()};
    char *texts[2] = {out, err};
    assert_true(files[0] && files[1]);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct tui_log *log;
        dup2(fileno(files[0]), 1);
        dup2(fileno(files[1]), 2);
        if (tui_log_open(&log, NULL, NULL, NULL) != MGB_OK)
            _exit(2);
        work(log);
        tui_log_close(log);
        fflush(NULL);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    for (int i = 0; i < 2; i++) {
        ssize_t got = pread(fileno(files[i]), texts[i], size - 1, 0);
        texts[i][got > 0 ? got : 0] = '\0';
        fclose(files[i]);
    }
}

static void demand(bool good, const char *what)
{
    if (good)
        return;
    tui_chatter_rescue();
    dprintf(2, "%s\n", what);
    _exit(1);
}

static void demand_line(struct tui_log *log, int64_t number, const char *text)
{
    struct tui_log_line line = {0};
    demand(tui_log_read(log, &line, 1, &number) == 1 && strcmp(line.text, text) == 0, text);
    free(line.text);
}

static void print_both_ways(struct tui_log *log)
{
    struct tui_chatter *chatter;
    int terminal = -1;
    demand(tui_chatter_begin(&chatter, log, &terminal) == MGB_OK, mgb_message_get());
    dprintf(terminal, "for the screen\n");
    printf("by printf\n");
    dprintf(2, "by write\r\nno end");
    tui_chatter_end(chatter);
    demand(tui_log_count(log) == 3, "three lines");
    demand_line(log, 0, "by printf");
    demand_line(log, 1, "by write");
    demand_line(log, 2, "no end");
    printf("afterwards\n");
}

static void what_is_printed_goes_to_the_log_and_is_told_at_the_end(void **state)
{
    (void)state;
    char out[500], err[500];
    child_run(print_both_ways, out, err, sizeof out);
    assert_string_equal(out, "for the screen\nafterwards\n");
    assert_string_equal(err, "by printf\nby write\nno end\n");
}

static void print_very_much(struct tui_log *log)
{
    struct tui_chatter *chatter;
    int terminal;
    char *line = malloc(10001);
    demand(tui_chatter_begin(&chatter, log, &terminal) == MGB_OK, mgb_message_get());
    demand(line != NULL, "memory");
    memset(line, 'x', 10000);
    line[10000] = '\n';
    demand(write(1, line, 10001) == 10001, "the long line");
    free(line);
    for (int i = 0; i < 50000; i++)
        dprintf(1, "line %d\n", i);
    tui_chatter_end(chatter);
    demand(tui_log_count(log) == 50003, "all lines");
}

static void flood_is_caught_and_its_newest_lines_are_told(void **state)
{
    (void)state;
    char *out = malloc(100000), *err = malloc(100000);
    child_run(print_very_much, out, err, 100000);
    assert_string_equal(out, "");
    assert_ptr_equal(strstr(err, "(49803 lines before these)\nline 49800\n"), err);
    assert_non_null(strstr(err, "line 49999\n"));
    free(out);
    free(err);
}

static void print_controls(struct tui_log *log)
{
    struct tui_chatter *chatter;
    int terminal;
    demand(tui_chatter_begin(&chatter, log, &terminal) == MGB_OK, mgb_message_get());
    demand(write(2, "\x1b[2J\0x\n", 7) == 7, "controls");
    tui_chatter_end(chatter);
}

static void controls_are_told_escaped(void **state)
{
    (void)state;
    char out[500], err[500];
    child_run(print_controls, out, err, sizeof out);
    assert_string_equal(err, "\\x1b[2J x\n");
}

static void leave_a_child_behind(struct tui_log *log)
{
    struct tui_chatter *chatter;
    int terminal, ready[2];
    char byte;
    demand(tui_chatter_begin(&chatter, log, &terminal) == MGB_OK, mgb_message_get());
    demand(pipe(ready) == 0, "pipe");
    pid_t child = fork();
    if (child == 0) {
        close(ready[1]);
        _exit(read(ready[0], &byte, 1) < 0);
    }
    close(ready[0]);
    tui_chatter_end(chatter); /* although the child holds the pipe open */
    close(ready[1]);
    waitpid(child, NULL, 0);
}

static void child_that_lives_on_keeps_nobody(void **state)
{
    (void)state;
    char out[500], err[500];
    child_run(leave_a_child_behind, out, err, sizeof out);
    assert_string_equal(err, "");
}

static void rescue_in_the_middle(struct tui_log *log)
{
    struct tui_chatter *chatter;
    int terminal;
    demand(tui_chatter_begin(&chatter, log, &terminal) == MGB_OK, mgb_message_get());
    tui_chatter_rescue();
    dprintf(1, "out\n");
    dprintf(2, "err\n");
    tui_chatter_end(chatter);
}

static void rescue_gives_the_descriptors_back(void **state)
{
    (void)state;
    char out[500], err[500];
    child_run(rescue_in_the_middle, out, err, sizeof out);
    assert_string_equal(out, "out\n");
    assert_string_equal(err, "err\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_printed_goes_to_the_log_and_is_told_at_the_end),
        cmocka_unit_test(flood_is_caught_and_its_newest_lines_are_told),
        cmocka_unit_test(controls_are_told_escaped),
        cmocka_unit_test(child_that_lives_on_keeps_nobody),
        cmocka_unit_test(rescue_gives_the_descriptors_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
