/* What the recorder costs the step thread: wall and CPU time of pushing a million records while the recorder's thread
 * stores them. Prints ns a record; exit code 1 if any was lost.
 *     bench_recorder [RECORDS [FILE]]
 * Records come in bursts of 18 (a step, 16 devices, a metric) with a pause, as steps do; the pause is not counted. The
 * highest burst is printed too: that is what one step would have felt. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "db/recorder.h"

enum { BURST = 18 };

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

static void run_begin(int64_t *run, int64_t *segment, struct mgb_recorder *recorder)
{
    static const struct mgb_record_machine machine = {.key = "bench", .name = "bench"};
    static const struct mgb_record_model model = {.name = "bench", .graph_digest = "0"};
    struct mgb_record_run record = {.machine = &machine, .model = &model, .backend = "host"};
    check(mgb_recorder_begin_run(run, recorder, &record), "begin_run");
    struct mgb_record_segment begin = {
        .run = *run, .effective = {.strategy = "outputs", .gpus = MGB_KNOWN_INT(16)}};
    check(mgb_recorder_begin_segment(segment, recorder, &begin), "begin_segment");
}

/* One step's records: the step and 16 devices, and a metric. */
static void burst_make(struct mgb_record *out, int64_t segment, int64_t step)
{
    static const char *const devices[] = {
        "/gpu:0", "/gpu:1", "/gpu:2",  "/gpu:3",  "/gpu:4",  "/gpu:5",  "/gpu:6",  "/gpu:7",
        "/gpu:8", "/gpu:9", "/gpu:10", "/gpu:11", "/gpu:12", "/gpu:13", "/gpu:14", "/gpu:15"};
    out[0] = (struct mgb_record){.kind = MGB_RECORD_STEP,
                                 .step = {.segment = segment,
                                          .step = step,
                                          .start_ns = step * 1000000,
                                          .wall_ns = 900000,
                                          .examples = 512,
                                          .loss = 0.5,
                                          .has_loss = true}};
    for (int i = 0; i < 16; i++)
        out[1 + i] = (struct mgb_record){
            .kind = MGB_RECORD_STEP_DEVICE,
            .step_device = {.segment = segment, .step = step, .device = devices[i]}};
    out[17] = (struct mgb_record){
        .kind = MGB_RECORD_METRIC,
        .metric = {.segment = segment, .step = step, .split = "train", .name = "accuracy"}};
}

int main(int argc, char **argv)
{
    int64_t wanted = argc > 1 ? strtoll(argv[1], NULL, 10) : 1000000;
    char path[] = "/tmp/mgb-bench-XXXXXX";
    const char *file = argc > 2 ? argv[2] : path;
    int fd = argc > 2 ? -1 : mkstemp(path);
    int64_t run, segment, wall_ns = 0, cpu_ns = 0, worst_ns = 0, pushed = 0;
    struct mgb_recorder *recorder;
    struct mgb_recorder_state state;
    check(mgb_recorder_open(&recorder, file, NULL), "open");
    run_begin(&run, &segment, recorder);
    for (int64_t step = 0; pushed < wanted; step++) {
        struct mgb_record records[BURST];
        burst_make(records, segment, step);
        int64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), begin = clock_ns(CLOCK_MONOTONIC);
        for (int i = 0; i < BURST; i++)
            mgb_recorder_push(recorder, &records[i]);
        int64_t took_ns = clock_ns(CLOCK_MONOTONIC) - begin;
        cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
        wall_ns += took_ns;
        worst_ns = took_ns > worst_ns ? took_ns : worst_ns;
        pushed += BURST;
        /* Up to 5000 steps a second on 16 devices; without a pause the disk would be measured, not the ring. */
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    check(mgb_recorder_flush(recorder), "flush");
    mgb_recorder_get_state(&state, recorder);
    check(mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL), "finish_run");
    mgb_recorder_close(recorder);
    printf("records %" PRId64 "  wall %.1f ns a record  cpu %.1f ns a record  worst step %.1f us  "
           "waits %" PRIu64 "  lost %" PRIu64 "\n",
           pushed, (double)wall_ns / (double)pushed, (double)cpu_ns / (double)pushed,
           (double)worst_ns / 1e3, state.waits, state.lost);
    if (fd >= 0) {
        static const char *const endings[] = {"", ".lock"};
        for (int i = 0; i < 2; i++) {
            char name[64];
            snprintf(name, sizeof name, "%s%s", path, endings[i]);
            unlink(name);
        }
        close(fd);
    }
    return state.lost != 0 || state.stored != (uint64_t)pushed;
}
