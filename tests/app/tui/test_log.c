/* The log: lines of many threads, in order, the newest kept, all of them in the file. */
#include "app/tui/log.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct tui_log *log_make(const char *path)
{
    struct tui_log *log;
    assert_int_equal(tui_log_open(&log, path, NULL, NULL), MGB_OK);
    return log;
}

static void expect_line(struct tui_log *log, int64_t number, enum mgb_line_kind kind,
                        const char *text)
{
    struct tui_log_line line;
    int64_t first = number;
    assert_int_equal(tui_log_read(log, &line, 1, &first), 1);
    assert_int_equal(first, number);
    assert_int_equal(line.kind, kind);
    assert_string_equal(line.text, text);
    free(line.text);
}

static void text_of_several_lines_makes_several(void **state)
{
    (void)state;
    struct tui_log *log = log_make(NULL);
    tui_log_add(log, MGB_LINE_FAULT, "one\n\nthree\n");
    tui_log_add(log, MGB_LINE_NOTE, "");
    assert_int_equal(tui_log_count(log), 4);
    expect_line(log, 0, MGB_LINE_FAULT, "one");
    expect_line(log, 1, MGB_LINE_FAULT, "");
    expect_line(log, 2, MGB_LINE_FAULT, "three");
    expect_line(log, 3, MGB_LINE_NOTE, "");
    tui_log_close(log);
}

static void long_line_is_cut_between_characters(void **state)
{
    (void)state;
    struct tui_log *log = log_make(NULL);
    char text[3 * 3000 + 1], *at = text, *joined = calloc(1, sizeof text);
    for (int i = 0; i < 3000; i++)
        at = stpcpy(at, "\xe2\x82\xac");
    tui_log_add(log, MGB_LINE_NOTE, text);
    struct tui_log_line lines[8];
    int64_t first = 0;
    int got = tui_log_read(log, lines, 8, &first);
    assert_int_equal(got, 3);
    for (int i = 0; i < got; i++) {
        assert_int_equal(strlen(lines[i].text) % 3, 0);
        strcat(joined, lines[i].text);
        free(lines[i].text);
    }
    assert_string_equal(joined, text);
    free(joined);
    tui_log_close(log);
}

static void reading_from_lines_that_are_gone_begins_at_the_oldest(void **state)
{
    (void)state;
    struct tui_log *log = log_make(NULL);
    char text[40];
    for (int i = 0; i < TUI_LOG_LINES + 10; i++) {
        snprintf(text, sizeof text, "line %d", i);
        tui_log_add(log, MGB_LINE_NOTE, text);
    }
    struct tui_log_line line;
    int64_t first = 3;
    assert_int_equal(tui_log_read(log, &line, 1, &first), 1);
    assert_int_equal(first, 10);
    assert_string_equal(line.text, "line 10");
    free(line.text);
    first = TUI_LOG_LINES + 10;
    assert_int_equal(tui_log_read(log, &line, 1, &first), 0);
    tui_log_close(log);
}

static void newest_warning_is_found_among_notes_and_not_when_it_is_old(void **state)
{
    (void)state;
    struct tui_log *log = log_make(NULL);
    char text[40];
    assert_false(tui_log_newest(log, text, sizeof text, 0, NULL));
    tui_log_add(log, MGB_LINE_WARNING, "careful");
    tui_log_add(log, MGB_LINE_NOTE, "a note");
    assert_true(tui_log_newest(log, text, sizeof text, 0, NULL));
    assert_string_equal(text, "careful");
    assert_false(tui_log_newest(log, text, sizeof text, INT64_MAX, NULL));
    tui_log_close(log);
}

enum { WRITERS = 4, LINES_EACH = 500 };
static _Atomic int changes;

static void change_count(void *context)
{
    (void)context;
    atomic_fetch_add(&changes, 1);
}

static void *lines_write(void *context)
{
    char text[40];
    for (int i = 0; i < LINES_EACH; i++) {
        snprintf(text, sizeof text, "%d from one", i);
        tui_log_add(context, MGB_LINE_OUTPUT, text);
    }
    return NULL;
}

static void *lines_read(void *context)
{
    struct tui_log_line lines[16];
    for (int64_t at = 0; at < WRITERS * LINES_EACH;) {
        int got = tui_log_read(context, lines, 16, &at);
        for (int i = 0; i < got; i++)
            free(lines[i].text);
        at += got;
    }
    return NULL;
}

static int file_lines(const char *path)
{
    int count = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (int c; (c = getc(file)) != EOF;)
        count += c == '\n';
    fclose(file);
    return count;
}

static void every_line_of_every_thread_is_counted_and_in_the_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/mgb_log_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a/b.log", folder);
    struct tui_log *log;
    pthread_t threads[WRITERS + 1];
    atomic_store(&changes, 0);
    assert_int_equal(tui_log_open(&log, path, change_count, NULL), MGB_OK);
    for (int i = 0; i <= WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i ? lines_write : lines_read, log), 0);
    for (int i = 0; i <= WRITERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(tui_log_count(log), WRITERS * LINES_EACH);
    assert_int_equal(atomic_load(&changes), WRITERS * LINES_EACH);
    tui_log_close(log);
    assert_int_equal(file_lines(path), WRITERS * LINES_EACH);
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    rmdir(folder);
}

static void controls_are_escaped_in_the_file(void **state)
{
    (void)state;
    char path[] = "/tmp/mgb_log_XXXXXX", line[200] = "";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    struct tui_log *log = log_make(path);
    tui_log_add(log, MGB_LINE_OUTPUT, "\x1b[2J red");
    tui_log_close(log);
    assert_true(read(fd, line, sizeof line - 1) > 0);
    assert_non_null(strstr(line, "Z output  \\x1b[2J red\n"));
    close(fd);
    unlink(path);
}

static void file_that_cannot_be_written_is_told_in_the_log(void **state)
{
    (void)state;
    struct tui_log *log = log_make("/dev/null/no/such.log");
    char text[200];
    assert_true(tui_log_newest(log, text, sizeof text, 0, NULL));
    assert_non_null(strstr(text, "/dev/null/no/such.log"));
    tui_log_close(log);
    log = log_make("/dev/full");
    tui_log_add(log, MGB_LINE_NOTE, "one");
    assert_true(tui_log_settle(log, 60000));
    tui_log_add(log, MGB_LINE_NOTE, "two");
    assert_true(tui_log_settle(log, 60000));
    assert_int_equal(tui_log_count(log), 3); /* told once */
    assert_true(tui_log_newest(log, text, sizeof text, 0, NULL));
    tui_log_close(log);
}

/* Where a disk takes a write of the log, until it is let go on. */
static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;

ssize_t write(int file, const void *bytes, size_t size)
{
    bool slow = file > STDERR_FILENO;
    if (slow)
        pthread_mutex_lock(&disk);
    ssize_t wrote = syscall(SYS_write, file, bytes, size);
    if (slow)
        pthread_mutex_unlock(&disk);
    return wrote;
}

static void nobody_waits_for_a_slow_disk_and_nothing_is_lost_on_it(void **state)
{
    (void)state;
    char path[] = "/tmp/mgb_log_XXXXXX";
    close(mkstemp(path));
    struct tui_log *log = log_make(path);
    pthread_mutex_lock(&disk);
    for (int i = 0; i < LINES_EACH; i++)
        tui_log_add(log, MGB_LINE_NOTE, "while it is slow");
    assert_int_equal(tui_log_count(log), LINES_EACH);
    assert_false(tui_log_settle(log, 1));
    tui_log_rescue(); /* gives up */
    assert_int_equal(file_lines(path), 0);
    pthread_mutex_unlock(&disk);
    tui_log_close(log);
    assert_int_equal(file_lines(path), LINES_EACH);
    unlink(path);
    tui_log_rescue(); /* none is open */
}

static void large_file_is_put_aside_at_the_start(void **state)
{
    (void)state;
    char path[] = "/tmp/mgb_log_XXXXXX", old[40];
    struct stat facts;
    int fd = mkstemp(path);
    assert_int_equal(ftruncate(fd, 5 << 20), 0);
    close(fd);
    tui_log_close(log_make(path));
    snprintf(old, sizeof old, "%s.1", path);
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(facts.st_size, 0);
    assert_int_equal(stat(old, &facts), 0);
    assert_int_equal(facts.st_size, 5 << 20);
    unlink(path);
    unlink(old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_several_lines_makes_several),
        cmocka_unit_test(long_line_is_cut_between_characters),
        cmocka_unit_test(reading_from_lines_that_are_gone_begins_at_the_oldest),
        cmocka_unit_test(newest_warning_is_found_among_notes_and_not_when_it_is_old),
        cmocka_unit_test(every_line_of_every_thread_is_counted_and_in_the_file),
        cmocka_unit_test(controls_are_escaped_in_the_file),
        cmocka_unit_test(file_that_cannot_be_written_is_told_in_the_log),
        cmocka_unit_test(nobody_waits_for_a_slow_disk_and_nothing_is_lost_on_it),
        cmocka_unit_test(large_file_is_put_aside_at_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
