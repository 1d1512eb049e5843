/* How big and how fast the results database is: bytes a step, what the recorder sustains, how long commits hold up the
 * step thread, and what a file of ten thousand runs answers. Prints a row a figure as run.sh does: title, figure, goal,
 * whether it is met.
 *     bench_database [RUNS [STEPS [FOLDER]]]
 * MGB_BENCH_KEEP=1: the big file stays; writing is not measured then. RUNS: of the big file (10000), 100 steps each; STEPS: of
 * each measurement of writing (100000), and of each of the big file's two long runs. Sizes are for ten million steps, taken
 * from the bytes a step. A delay is that of all pushes of one step; "bare" is the same loop that only copies, so that what
 * other programs do to it can be told from what the recorder does. (reference/ecosystem.md, row 55 of section 2.) */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "db/load.h"
#include "db/query.h"
#include "db/recorder.h"
#include "tests/bench/bench_rows.h"

enum { DEVICES = 8, PACED_STEPS = 20000 };

static int64_t clock_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void check(enum mgb_status status, const char *what)
{
    if (status == MGB_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, mgb_message_get());
    exit(1);
}

/* `goal`: "<100" or ">=20000"; NULL: none. */
static void figure_tell(const char *title, double figure, const char *goal)
{
    const char *met = "";
    if (goal)
        met = (goal[0] == '<' ? figure < atof(goal + 1) : figure >= atof(goal + 2)) ? "yes" : "no";
    printf("%-46s %9.4g  %-18s %-8s %-8s\n", title, figure, "", goal ? goal : "-", met);
    fflush(stdout);
}

static void file_remove(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm", ".lock"};
    char name[512];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
}

static double file_bytes(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (double)info.st_size : 0;
}

/* ---- writing ---- */

static void segment_begin(int64_t *run, int64_t *segment, struct mgb_recorder *recorder)
{
    check(mgb_recorder_begin_run(run, recorder, bench_run()), "begin_run");
    struct mgb_record_segment begin = bench_segment(*run, DEVICES);
    check(mgb_recorder_begin_segment(segment, recorder, &begin), "begin_segment");
}

/* Pushes as fast as they are taken; the file is as a closed program leaves it. */
static void throughput_measure(const char *path, int devices, int64_t steps)
{
    int64_t run, segment;
    struct mgb_recorder *recorder;
    struct mgb_record records[1 + DEVICES];
    file_remove(path);
    check(mgb_recorder_open(&recorder, path, NULL), "open");
    mgb_recorder_close(recorder);
    double empty = file_bytes(path);
    check(mgb_recorder_open(&recorder, path, NULL), "open");
    segment_begin(&run, &segment, recorder);
    int64_t begin = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
            own = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int64_t i = 0; i < steps; i++) {
        size_t count = bench_step(records, segment, i, devices);
        for (size_t k = 0; k < count; k++)
            mgb_recorder_push(recorder, &records[k]);
    }
    check(mgb_recorder_flush(recorder), "flush");
    double wall_s = (double)(clock_ns(CLOCK_MONOTONIC) - begin) / 1e9;
    own = clock_ns(CLOCK_THREAD_CPUTIME_ID) - own;
    double cpu_s = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu - own) / 1e9;
    begin = clock_ns(CLOCK_MONOTONIC);
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OK};
    check(mgb_recorder_finish_segment(NULL, recorder, segment, &end), "finish_segment");
    double figures_s = (double)(clock_ns(CLOCK_MONOTONIC) - begin) / 1e9;
    check(mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL), "finish_run");
    mgb_recorder_close(recorder);
    bool one = devices == 1;
    double bytes = (file_bytes(path) - empty) / (double)steps;
    figure_tell(one ? "recorder, 1 device, steps/s" : "recorder, 8 devices, steps/s",
                (double)steps / wall_s, one ? NULL : ">=20000");
    figure_tell("the same a second of its processor time", (double)steps / cpu_s, NULL);
    figure_tell("figures of that segment, ms", figures_s * 1e3, NULL);
    figure_tell(one ? "10 million steps of 1 device, GB" : "10 million steps of 8 devices, GB",
                bytes / 100, one ? "<2" : "<10");
    file_remove(path);
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* One step's pushes, `pace_us` between steps; recorder NULL: only copies. */
static void delay_measure(struct mgb_recorder *recorder, int64_t segment, int64_t first,
                          int pace_us)
{
    static struct mgb_record kept[256 * (1 + DEVICES)];
    static struct mgb_record *volatile ring = kept;
    int64_t *delays = malloc(PACED_STEPS * sizeof *delays);
    struct mgb_record records[1 + DEVICES];
    if (!delays)
        exit(1);
    for (int64_t i = 0; i < PACED_STEPS; i++) {
        size_t count = bench_step(records, segment, first + i, DEVICES);
        int64_t begin = clock_ns(CLOCK_MONOTONIC);
        for (size_t k = 0; k < count; k++) {
            if (recorder)
                mgb_recorder_push(recorder, &records[k]);
            else
                ring[(size_t)i % 256 * (1 + DEVICES) + k] = records[k];
        }
        delays[i] = clock_ns(CLOCK_MONOTONIC) - begin;
        nanosleep(&(struct timespec){.tv_nsec = pace_us * 1000L}, NULL);
    }
    qsort(delays, PACED_STEPS, sizeof *delays, by_size);
    static const char *const names[] = {"median", "p99", "p99.9", "max"};
    size_t places[] = {PACED_STEPS / 2, PACED_STEPS * 99 / 100, PACED_STEPS / 1000 * 999,
                       PACED_STEPS - 1};
    for (int i = 0; i < 4; i++) {
        char title[64];
        snprintf(title, sizeof title, "delay of a step %s, %s, us",
                 recorder ? "by recording" : "bare", names[i]);
        figure_tell(title, (double)delays[places[i]] / 1e3, recorder && i == 2 ? "<1000" : NULL);
    }
    free(delays);
}

static void delays_measure(const char *path)
{
    int64_t run, segment;
    struct mgb_recorder *recorder;
    struct mgb_recorder_state state;
    file_remove(path);
    check(mgb_recorder_open(&recorder, path, NULL), "open");
    segment_begin(&run, &segment, recorder);
    delay_measure(NULL, segment, 0, 200);
    delay_measure(recorder, segment, 0, 200);
    check(mgb_recorder_flush(recorder), "flush");
    mgb_recorder_get_state(&state, recorder);
    figure_tell("pushes of it that waited for the ring", (double)state.waits, NULL);
    check(mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL), "finish_run");
    mgb_recorder_close(recorder);
    file_remove(path);
}

/* ---- asking ---- */

static enum mgb_status row_count(void *context, const struct mgb_value *values, int count)
{
    (void)values, (void)count;
    ++*(int64_t *)context;
    return MGB_OK;
}

static void ask(const char *path, const char *name, const char *text, const char *goal)
{
    double best_ms = 1e30;
    int64_t rows = 0;
    for (int i = 0; i < 5; i++) {
        struct mgb_reader *reader;
        struct mgb_query_sink sink = {.context = &rows, .row = row_count};
        rows = 0;
        int64_t begin = clock_ns(CLOCK_MONOTONIC);
        check(mgb_reader_open(&reader, path), "open");
        check(mgb_query_run(reader, text, NULL, 0, &sink), name);
        mgb_reader_close(reader);
        double ms = (double)(clock_ns(CLOCK_MONOTONIC) - begin) / 1e6;
        best_ms = ms < best_ms ? ms : best_ms;
    }
    char title[64];
    snprintf(title, sizeof title, "%s: %" PRId64 " rows, ms", name, rows);
    figure_tell(title, best_ms, goal);
}

static void run_store(struct mgb_store *store, int steps)
{
    int64_t run, segment;
    static struct mgb_record records[100 * (1 + DEVICES)];
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OK};
    check(mgb_store_begin_run(&run, store, bench_run()), "begin_run");
    struct mgb_record_segment begin = bench_segment(run, 2);
    check(mgb_store_begin_segment(&segment, store, &begin), "begin_segment");
    size_t count = 0;
    for (int i = 0; i < steps; i++)
        count += bench_step(records + count, segment, i, 2);
    check(mgb_store_put_steps(store, records, count), "put_steps");
    check(mgb_store_put_memory_totals(store, segment, bench_totals(), 3), "put_memory_totals");
    check(mgb_store_finish_segment(NULL, store, segment, &end), "finish_segment");
    check(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL), "finish_run");
}

static int64_t long_run_store(const char *path, int64_t steps)
{
    int64_t run, segment;
    struct mgb_recorder *recorder;
    struct mgb_record records[1 + DEVICES];
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OK};
    check(mgb_recorder_open(&recorder, path, NULL), "open");
    segment_begin(&run, &segment, recorder);
    for (int64_t i = 0; i < steps; i++) {
        size_t count = bench_step(records, segment, i, 1);
        for (size_t k = 0; k < count; k++)
            mgb_recorder_push(recorder, &records[k]);
    }
    check(mgb_recorder_finish_segment(NULL, recorder, segment, &end), "finish_segment");
    check(mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL), "finish_run");
    mgb_recorder_close(recorder);
    return segment;
}

/* Loading and judging two segments, as `mgbench compare A B` does. */
static void compare_measure(const char *path, int64_t segment)
{
    struct mgb_reader *reader;
    struct mgb_loaded_side a, b;
    struct mgb_comparison comparison;
    struct mgb_compare_options options = {.floor = 0.01};
    int64_t others = segment - 1, begin = clock_ns(CLOCK_MONOTONIC);
    check(mgb_reader_open(&reader, path), "open");
    check(mgb_side_load(&a, reader, &others, 1), "load");
    check(mgb_side_load(&b, reader, &segment, 1), "load");
    check(mgb_compare(&comparison, &a.side, &b.side, &options), "compare");
    mgb_side_done(&a);
    mgb_side_done(&b);
    mgb_reader_close(reader);
    figure_tell("compare, two long segments, ms", (double)(clock_ns(CLOCK_MONOTONIC) - begin) / 1e6,
                "<1000");
}

static void many_runs(const char *path, int runs, int64_t steps)
{
    struct mgb_store *store;
    file_remove(path);
    int64_t begin = clock_ns(CLOCK_MONOTONIC);
    check(mgb_store_open(&store, path, NULL), "open");
    for (int i = 0; i < runs; i++)
        run_store(store, 100);
    mgb_store_close(store);
    figure_tell("a run of 100 steps, 2 devices, stored in ms",
                (double)(clock_ns(CLOCK_MONOTONIC) - begin) / 1e6 / runs, NULL);
    figure_tell("the file of all of them, MB", file_bytes(path) / 1e6, NULL);
    long_run_store(path, steps);
    int64_t last = long_run_store(path, steps);
    ask(path, "runs, newest 50",
        "SELECT * FROM run_summary ORDER BY run_id DESC, segment_id DESC LIMIT 50", "<100");
    ask(path, "runs, all", "SELECT * FROM run_summary ORDER BY run_id", NULL);
    ask(path, "runs, columns of the list",
        "SELECT run_id, started, model, backend, strategy, gpus, step_ms_median, examples_per_s, "
        "outcome FROM run_summary ORDER BY run_id",
        "<100");
    ask(path, "scaling", "SELECT * FROM scaling", NULL);
    ask(path, "placement", "SELECT * FROM placement", NULL);
    compare_measure(path, last);
    ask(path, "compare, steps of two segments",
        "SELECT step, wall_ns FROM step WHERE warmup = 0 AND segment_id IN "
        "(SELECT id FROM segment ORDER BY id DESC LIMIT 2) ORDER BY segment_id, step",
        "<1000");
    char query[96]; /* a number: what a subquery finds is not carried into the view */
    snprintf(query, sizeof query, "SELECT * FROM phase_share WHERE segment_id = %" PRId64, last);
    ask(path, "phases of one segment", query, "<1000");
    if (getenv("MGB_BENCH_KEEP"))
        printf("kept: %s\n", path);
    else
        file_remove(path);
}

int main(int argc, char **argv)
{
    int runs = argc > 1 ? atoi(argv[1]) : 10000;
    int64_t steps = argc > 2 ? strtoll(argv[2], NULL, 10) : 100000;
    char path[256];
    snprintf(path, sizeof path, "%s/mgb-bench-%ld.db", argc > 3 ? argv[3] : "/tmp", (long)getpid());
    if (!getenv("MGB_BENCH_KEEP")) {
        delays_measure(path);
        throughput_measure(path, 1, steps);
        throughput_measure(path, DEVICES, steps);
    }
    many_runs(path, runs, steps);
    return 0;
}
