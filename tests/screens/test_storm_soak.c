/* Many steps with toggles in between: memory of the process stays as it is once it has warmed up, no descriptor is left
 * open, and the file grows with the steps. */
#include "tests/screens/storm.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

enum { MEASURES = 8, TOGGLE_MS = 125 };

struct measure {
    double steps, rss_kib, fds, file;
};

static double rss_of(pid_t pid)
{
    char path[64], line[200];
    long kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) && sscanf(line, "VmRSS: %ld", &kib) != 1)
        ;
    fclose(file);
    return (double)kib;
}

static double fds_of(pid_t pid)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* With what still lies beside it in the log of SQLite. */
static double file_of(struct storm *storm)
{
    return database_number(storm->program, "PRAGMA page_count") *
           database_number(storm->program, "PRAGMA page_size");
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* Eight toggles a second until so many steps are done. All of them are taken back: the last is what the first was. */
static void steps_await(struct storm *storm, int64_t steps)
{
    static const char keys[] = {'r', 'm', 's', 'p', 'm', 'r', 'G', 'g'};
    static int next;
    int64_t due = now_ms(), end = due;
    while (storm->steps < steps) {
        int64_t before = storm->steps;
        storm_look(storm, 20);
        if (now_ms() >= due) {
            terminal_type(storm->terminal, (char[]){keys[next++ % (int)sizeof keys], '\0'});
            due = now_ms() + TOGGLE_MS;
        }
        if (storm->steps > before)
            end = now_ms() + TERMINAL_SECONDS * 1000;
        if (now_ms() > end && end > due)
            fail_msg("no step in %d s", TERMINAL_SECONDS);
    }
}

static struct measure measure(struct storm *storm)
{
    pid_t worker = terminal_worker(storm->terminal);
    struct measure m = {(double)storm->steps, rss_of(worker), fds_of(worker), file_of(storm)};
    print_message("%9.0f steps  %7.0f KiB  %3.0f descriptors  %6.1f MiB in the file\n", m.steps,
                  m.rss_kib, m.fds, m.file / 1048576);
    return m;
}

static double most_of(const struct measure *at, int from, int to, size_t offset)
{
    double most = 0;
    for (int i = from; i < to; i++) {
        double value = *(const double *)((const char *)&at[i] + offset);
        most = value > most ? value : most;
    }
    return most;
}

/* Sanitizers keep what was freed for a while, and look for leaks by themselves. */
static bool memory_counts(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    return true;
#endif
}

/* The second half against the second quarter: the first is for warming up. */
static void memory_and_descriptors_stay(const struct measure *at)
{
    double before = most_of(at, MEASURES / 4, MEASURES / 2, offsetof(struct measure, rss_kib));
    double after = most_of(at, MEASURES / 2, MEASURES, offsetof(struct measure, rss_kib));
    if (memory_counts() && after > before * 1.1 + 4096)
        fail_msg("memory grew from %.0f KiB to %.0f KiB", before, after);
    before = most_of(at, 0, MEASURES / 2, offsetof(struct measure, fds));
    after = most_of(at, MEASURES / 2, MEASURES, offsetof(struct measure, fds));
    if (after > before + 2)
        fail_msg("descriptors grew from %.0f to %.0f", before, after);
}

static void file_grows_with_steps(const struct measure *at)
{
    const struct measure *first = &at[1], *middle = &at[MEASURES / 2], *last = &at[MEASURES - 1];
    double early = (middle->file - first->file) / (middle->steps - first->steps);
    double late = (last->file - middle->file) / (last->steps - middle->steps);
    print_message("%.0f and then %.0f bytes a step\n", early, late);
    assert_true(late < 2 * early + 64);
}

static void many_steps_and_toggles(void **state)
{
    struct storm *storm = *state;
    struct measure at[MEASURES];
    int steps = storm_count(8000, 1000000);
    storm_start(storm, 24, 80);
    storm_run(storm);
    for (int i = 0; i < MEASURES; i++) {
        steps_await(storm, (int64_t)steps * (i + 1) / MEASURES);
        at[i] = measure(storm);
    }
    storm_quit(storm);
    print_message("%s segments\n", database_text(storm->program, "SELECT count(*) FROM segment"));
    file_grows_with_steps(at);
    memory_and_descriptors_stay(at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(many_steps_and_toggles, storm_begin, storm_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
