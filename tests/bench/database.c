/* How big and how fast the results database is: bytes a step, what the recorder sustains, how long commits hold up the
 * step thread, and what a file of ten thousand runs answers. Prints a line a figure, each with its goal.
 *     bench_database [RUNS [STEPS [FOLDER]]]
 * RUNS: of the big file (10000); STEPS: of each measurement of writing (100000). Sizes are for ten million steps, taken
 * from the bytes a step. A delay is that of all pushes of one step; "bare" is the same loop that only copies, so that what
 * other programs do to it can be told from what the recorder does. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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
    double bytes = file_bytes(path) / (double)steps;
    printf("write   devices=%d steps=%" PRId64
           " steps_per_s=%.0f steps_per_cpu_s=%.0f figures_ms=%.0f goal=%s\n",
           devices, steps, (double)steps / wall_s, (double)steps / cpu_s, figures_s * 1e3,
           devices == DEVICES ? ">=20000" : "-");
    printf("size    devices=%d bytes_per_step=%.0f gb_per_10m_steps=%.2f goal=<%d\n", devices,
           bytes, bytes / 100, devices == 1 ? 2 : 10);
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
    printf("delay   %s pace_us=%d steps=%d p50_us=%.2f p99_us=%.2f p999_us=%.2f max_us=%.1f "
           "goal=p999<1000\n",
           recorder ? "recorder" : "bare    ", pace_us, PACED_STEPS,
           (double)delays[PACED_STEPS / 2] / 1e3, (double)delays[PACED_STEPS * 99 / 100] / 1e3,
           (double)delays[PACED_STEPS / 1000 * 999] / 1e3, (double)delays[PACED_STEPS - 1] / 1e3);
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
    delay_measure(recorder, segment, PACED_STEPS, 1000);
    check(mgb_recorder_flush(recorder), "flush");
    mgb_recorder_get_state(&state, recorder);
    printf("delay   pushes that waited: %" PRIu64 ", lost: %" PRIu64 "\n", state.waits, state.lost);
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

static void ask(const char *path, const char *name, const char *text, int goal_ms)
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
    printf("ask     %-28s rows=%" PRId64 " best_of_5_ms=%.1f goal=<%d\n", name, rows, best_ms,
           goal_ms);
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

static void long_run_store(const char *path, int64_t steps)
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
    printf("write   runs=%d of 100 steps, 2 devices: ms_per_run=%.2f file_mb=%.0f\n", runs,
           (double)(clock_ns(CLOCK_MONOTONIC) - begin) / 1e6 / runs, file_bytes(path) / 1e6);
    for (int i = 0; i < 2; i++)
        long_run_store(path, steps);
    ask(path, "runs, newest 50",
        "SELECT * FROM run_summary ORDER BY run_id DESC, segment_id DESC LIMIT 50", 100);
    ask(path, "runs, all", "SELECT * FROM run_summary ORDER BY run_id", 1000);
    ask(path, "runs, columns of the list",
        "SELECT run_id, started, model, backend, strategy, gpus, step_ms_median, examples_per_s, "
        "outcome FROM run_summary ORDER BY run_id",
        1000);
    ask(path, "scaling", "SELECT * FROM scaling", 1000);
    ask(path, "placement", "SELECT * FROM placement", 1000);
    ask(path, "compare, steps of two segments",
        "SELECT step, wall_ns FROM step WHERE warmup = 0 AND segment_id IN "
        "(SELECT id FROM segment ORDER BY id DESC LIMIT 2) ORDER BY segment_id, step",
        1000);
    ask(path, "phases of one segment",
        "SELECT * FROM phase_share WHERE segment_id = (SELECT max(id) FROM segment)", 1000);
    file_remove(path);
}

int main(int argc, char **argv)
{
    int runs = argc > 1 ? atoi(argv[1]) : 10000;
    int64_t steps = argc > 2 ? strtoll(argv[2], NULL, 10) : 100000;
    char path[256];
    snprintf(path, sizeof path, "%s/mgb-bench-%ld.db", argc > 3 ? argv[3] : "/tmp", (long)getpid());
    delays_measure(path);
    throughput_measure(path, 1, steps);
    throughput_measure(path, DEVICES, steps);
    many_runs(path, runs, steps);
    return 0;
}
