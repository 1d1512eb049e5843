/* Commands beside the screen: what they print comes back, they get nothing of the screen's, and closing ends them. */
#include "app/tui/jobs.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    char folder[64], program[96];
    struct tui_jobs *jobs;
    pthread_mutex_t lock;
    pthread_cond_t told;
    int ended, code;
    char line[200], text[4096], tail[100];
    size_t length;
};

static void job_ended(void *context, const char *line, const char *text, int code)
{
    struct fixture *f = context;
    pthread_mutex_lock(&f->lock);
    snprintf(f->line, sizeof f->line, "%s", line);
    snprintf(f->text, sizeof f->text, "%s", text);
    f->length = strlen(text);
    snprintf(f->tail, sizeof f->tail, "%s", text + (f->length < 90 ? 0 : f->length - 90));
    f->code = code;
    f->ended++;
    pthread_cond_broadcast(&f->told);
    pthread_mutex_unlock(&f->lock);
}

/* A program that is this shell script. */
static void begin(struct fixture *f, const char *script)
{
    *f = (struct fixture){.folder = "/tmp/mgb-jobs-XXXXXX"};
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->program, sizeof f->program, "%s/mgbench", f->folder);
    FILE *file = fopen(f->program, "we");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(f->program, 0755), 0);
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->told, NULL);
    struct tui_jobs_options options = {
        .program = f->program, .database = "r.db", .columns = 91, .ended = job_ended, .context = f};
    assert_int_equal(tui_jobs_open(&f->jobs, &options), MGB_OK);
}

static void end(struct fixture *f)
{
    tui_jobs_close(f->jobs);
    unlink(f->program);
    rmdir(f->folder);
}

static enum mgb_status start(struct fixture *f, const char *one, const char *two)
{
    char *words[] = {(char *)one, (char *)two};
    return tui_jobs_start(f->jobs, words, two ? 2 : one ? 1 : 0, "the line");
}

static void await(struct fixture *f, int count)
{
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 60;
    pthread_mutex_lock(&f->lock);
    while (f->ended < count && pthread_cond_timedwait(&f->told, &f->lock, &limit) == 0)
        ;
    int ended = f->ended;
    pthread_mutex_unlock(&f->lock);
    assert_int_equal(ended, count);
}

static void what_a_command_prints_comes_back(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, "echo wrong >&2; echo \"$# <$1> <$2> <$3> <$4>\"; exit 3");
    assert_int_equal(start(&f, "show", "two words"), MGB_OK);
    await(&f, 1);
    assert_string_equal(f.line, "the line");
    assert_string_equal(f.text, "4 <--db> <r.db> <show> <two words>\nwrong\n");
    assert_int_equal(f.code, 3);
    assert_int_equal(tui_jobs_running(f.jobs), 0);
    tui_jobs_set_columns(f.jobs, 132);
    end(&f);
}

static void a_command_has_no_keyboard_no_colour_and_no_file_of_the_screen(void **state)
{
    (void)state;
    struct fixture f;
    setenv("MGBENCH_COLUMNS", "7", 1);
    begin(&f, "cat; echo $MGBENCH_COLUMNS $NO_COLOR; ls /proc/self/fd | wc -l; "
              "cut -d' ' -f5 /proc/$$/stat | grep -cx $$; trap | wc -l");
    int leaked = dup(STDOUT_FILENO); /* without FD_CLOEXEC, as libraries do */
    tui_jobs_set_columns(f.jobs, 132);
    assert_int_equal(start(&f, NULL, NULL), MGB_OK);
    await(&f, 1);
    close(leaked);
    /* 0, 1, 2 and that of the folder which ls reads */
    assert_string_equal(f.text, "132 1\n4\n1\n0\n");
    end(&f);
}

static void a_command_that_dies_or_is_none_is_told(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, "kill -9 $$");
    assert_int_equal(start(&f, NULL, NULL), MGB_OK);
    await(&f, 1);
    assert_int_equal(f.code, -1);
    unlink(f.program);
    assert_int_equal(start(&f, NULL, NULL), MGB_IO);
    assert_non_null(strstr(mgb_message_get(), "No such file"));
    assert_int_equal(tui_jobs_running(f.jobs), 0);
    end(&f);
    struct tui_jobs_options options = {.program = NULL, .ended = job_ended};
    assert_int_equal(tui_jobs_open(&f.jobs, &options), MGB_OK);
    assert_int_equal(start(&f, NULL, NULL), MGB_MISSING);
    tui_jobs_close(f.jobs);
    tui_jobs_close(NULL);
}

static void eight_run_at_once_and_a_ninth_is_refused(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, "cd \"${0%/*}\"; while [ ! -e go ]; do sleep 0.01; done; echo done");
    for (int i = 0; i < 8; i++)
        assert_int_equal(start(&f, NULL, NULL), MGB_OK);
    assert_int_equal(start(&f, NULL, NULL), MGB_BUSY);
    assert_int_equal(tui_jobs_running(f.jobs), 8);
    char go[128];
    snprintf(go, sizeof go, "%s/go", f.folder);
    FILE *file = fopen(go, "we");
    assert_non_null(file);
    fclose(file);
    await(&f, 8);
    assert_string_equal(f.text, "done\n");
    assert_int_equal(start(&f, NULL, NULL), MGB_OK);
    await(&f, 9);
    unlink(go);
    end(&f);
}

static void much_output_is_cut_and_zeros_are_shown(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, "head -c 10000000 /dev/zero; echo end >&2");
    assert_int_equal(start(&f, NULL, NULL), MGB_OK);
    await(&f, 1);
    assert_true(f.length > 1000000 && f.length < 1200000);
    assert_memory_equal(f.text, "????", 4);
    assert_non_null(strstr(f.tail, "the rest is left out"));
    assert_non_null(strstr(f.tail, "\nend\n"));
    end(&f);
}

/* Whoever keeps the pipes open in the background is not waited for. */
static void a_child_left_behind_does_not_hold_the_job(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, "sleep 300 & echo $!");
    assert_int_equal(start(&f, NULL, NULL), MGB_OK);
    await(&f, 1);
    assert_int_equal(kill(atoi(f.text), SIGKILL), 0);
    end(&f);
}

/* The first word names a file that the command makes once it runs. */
static void closing_ends_what_runs(const char *script)
{
    struct fixture f;
    char mark[128];
    begin(&f, script);
    snprintf(mark, sizeof mark, "%s/mark", f.folder);
    assert_int_equal(start(&f, mark, NULL), MGB_OK);
    int pid = 0;
    for (FILE *file; pid == 0;) {
        if ((file = fopen(mark, "re"))) {
            if (fscanf(file, "%d", &pid) != 1)
                pid = 0;
            fclose(file);
        }
    }
    unlink(mark);
    end(&f);
    assert_int_equal(f.ended, 0);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(errno, ESRCH);
}

static void closing_asks_a_command_to_end(void **state)
{
    (void)state;
    closing_ends_what_runs("echo $$ >\"$3\"; exec sleep 300");
}

static void closing_kills_a_command_that_does_not_end(void **state)
{
    (void)state;
    closing_ends_what_runs("trap '' TERM; echo $$ >\"$3\"; while :; do sleep 0.05; done");
}

/* Until the command has come there; two signals at once would be one. */
static void mark_await(const char *mark)
{
    while (access(mark, F_OK) != 0)
        usleep(1000);
    unlink(mark);
}

/* Ctrl-C: asked twice, and killed by the third. */
static void a_command_is_asked_to_stop_and_killed_when_it_does_not(void **state)
{
    struct fixture f;
    char line[40] = "", mark[128];
    (void)state;
    begin(&f, "trap 'echo asked; asked=$((asked+1)); echo >\"${0%/*}/mark\"; "
              "[ $asked = 2 ] && [ $3 = answers ] && exit 130' INT; "
              "echo >\"${0%/*}/mark\"; while :; do sleep 0.01; done");
    snprintf(mark, sizeof mark, "%s/mark", f.folder);
    assert_int_equal(tui_jobs_stop(f.jobs, line, sizeof line), 0);
    for (int kills = 0; kills < 2; kills++) {
        assert_int_equal(start(&f, kills ? "deaf" : "answers", NULL), MGB_OK);
        mark_await(mark);
        assert_int_equal(tui_jobs_stopping(f.jobs, line, sizeof line), 0);
        for (int i = 0; i < 2 + kills; i++) {
            assert_int_equal(tui_jobs_stop(f.jobs, line, sizeof line), 1);
            assert_string_equal(line, "the line");
            if (i < 2)
                mark_await(mark);
        }
        await(&f, kills + 1);
        assert_int_equal(f.code, TUI_JOB_INTERRUPTED);
        assert_string_equal(f.text, "asked\nasked\n");
    }
    end(&f);
}

static void a_command_that_prints_on_and_on_keeps_nobody(void **state)
{
    struct fixture f;
    (void)state;
    begin(&f, "if [ \"$3\" = on ]; then exec yes; fi; echo other");
    assert_int_equal(start(&f, "on", NULL), MGB_OK);
    assert_int_equal(start(&f, "one", NULL), MGB_OK);
    await(&f, 1);
    assert_string_equal(f.text, "other\n");
    end(&f);
}

static void a_command_is_seen_to_end_where_ends_are_told_to_nobody(void **state)
{
    struct fixture f;
    (void)state;
    signal(SIGCHLD, SIG_IGN);
    begin(&f, "echo said");
    assert_int_equal(start(&f, "one", NULL), MGB_OK);
    await(&f, 1);
    assert_string_equal(f.text, "said\n");
    end(&f);
    signal(SIGCHLD, SIG_DFL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_command_prints_comes_back),
        cmocka_unit_test(a_command_has_no_keyboard_no_colour_and_no_file_of_the_screen),
        cmocka_unit_test(a_command_that_dies_or_is_none_is_told),
        cmocka_unit_test(eight_run_at_once_and_a_ninth_is_refused),
        cmocka_unit_test(much_output_is_cut_and_zeros_are_shown),
        cmocka_unit_test(a_child_left_behind_does_not_hold_the_job),
        cmocka_unit_test(closing_asks_a_command_to_end),
        cmocka_unit_test(closing_kills_a_command_that_does_not_end),
        cmocka_unit_test(a_command_is_asked_to_stop_and_killed_when_it_does_not),
        cmocka_unit_test(a_command_that_prints_on_and_on_keeps_nobody),
        cmocka_unit_test(a_command_is_seen_to_end_where_ends_are_told_to_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
