/* Damaged files: whatever the bytes are, opening, asking, checking and writing end with a status and a message, or work.
 * Deterministic: MGB_FUZZ_SEED=N tries that one damage alone. Ends by number or by time, whichever comes first; MGB_LONG=1:
 * ten times both. */
#include "tests/support/check.h"

#include "db/critical.h"
#include "db/load.h"
#include "db/merge.h"
#include "db/query.h"
#include "db/select.h"
#include "db/store.h"
#include "db/trace.h"
#include "db/trace_json.h"
#include "tests/support/database.h"
#include "tests/support/faulty_vfs.h"
#include "tests/support/mutate.h"
#include "tests/support/draws.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* A minute over CI's four suites together: two without sanitizers, and one with each. */
#if defined(__SANITIZE_ADDRESS__)
enum { SECONDS = 41 };
#elif defined(__SANITIZE_THREAD__)
enum { SECONDS = 3 };
#else
enum { SECONDS = 8 };
#endif
enum { CASES = 3000, ROOM = 1 << 20, HANG_SECONDS = 60 };

static char present[160];

/* Dies of it, with the number by which the case is had again. */
static void hang_tell(int number)
{
    (void)number;
    if (write(STDERR_FILENO, present, strlen(present)) > 0)
        abort();
    abort();
}

/* Of a traced step: computing, copies between, each waiting for the one before. */
static struct mgb_record task_of(int64_t segment, int number)
{
    static const char *const waits[] = {"[]", "[0]", "[1]", "[0,2]", "[3]", "[4,1]"};
    bool copy = number % 2;
    return (struct mgb_record){.kind = MGB_RECORD_TASK,
                               .task = {.segment = segment,
                                        .step = 3,
                                        .device = copy ? "/cpu:0" : "/gpu:0",
                                        .queue = copy ? "/gpu:0->/cpu:0" : "/gpu:0 compute",
                                        .kind = copy ? "copy" : "compute",
                                        .name = "tower1/conv1/forward",
                                        .phase = copy ? MGB_PHASE_JOIN : MGB_PHASE_FORWARD,
                                        .start_ns = number * 1000,
                                        .duration_ns = 1000,
                                        .bytes = copy ? 64 : 0,
                                        .task = number,
                                        .waits_for = waits[number]}};
}

/* Seconds of this process's own work: others may keep it waiting as long as they like. */
static void hang_watch(int seconds)
{
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {.tv_sec = seconds}}, NULL);
}

static void sound_file_make(const char *path)
{
    struct mgb_store *store;
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OK};
    static const struct mgb_record_memory_total totals[] = {
        {.device = "/gpu:0", .planned_bytes = {1, true}, .peak_bytes = {1, true}}};
    assert_ok(mgb_store_open(&store, path, NULL));
    for (int i = 0; i < 4; i++) {
        int64_t run, segment;
        struct mgb_record steps[40], tasks[6];
        assert_ok(mgb_store_begin_run(&run, store, database_run()));
        struct mgb_record_segment record = database_segment(run);
        assert_ok(mgb_store_begin_segment(&segment, store, &record));
        for (int k = 0; k < 40; k += 2) {
            steps[k] = database_step(segment, k / 2);
            steps[k + 1] = (struct mgb_record){
                .kind = MGB_RECORD_STEP_DEVICE,
                .step_device = {.segment = segment, .step = k / 2, .device = "/gpu:0"}};
        }
        assert_ok(mgb_store_put_steps(store, steps, 40));
        for (int k = 0; k < 6; k++)
            tasks[k] = task_of(segment, k);
        assert_ok(mgb_store_put_steps(store, tasks, 6));
        assert_ok(mgb_store_put_memory_totals(store, segment, totals, 1));
        assert_ok(mgb_store_put_note(store, run, "a note"));
        assert_ok(mgb_store_finish_segment(NULL, store, segment, &end));
        assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL));
    }
    mgb_store_close(store);
}

static size_t file_read(unsigned char *data, const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(data, 1, ROOM, file);
    fclose(file);
    return size;
}

static void file_write(const char *path, const unsigned char *data, size_t size)
{
    static const char *const endings[] = {"-wal", "-shm", "-journal"};
    char name[128];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

/* A failure says what, and is one that a file may cause. */
static enum mgb_status judged(enum mgb_status status)
{
    if (status == MGB_OK)
        return status;
    assert_string_not_equal(mgb_message_get(), "");
    assert_true(status == MGB_CORRUPT || status == MGB_UNSUPPORTED || status == MGB_MISSING ||
                status == MGB_IO || status == MGB_INVALID || status == MGB_STATE ||
                status == MGB_NO_MEMORY || status == MGB_BUSY);
    return status;
}

static enum mgb_status row_touch(void *context, const struct mgb_value *values, int count)
{
    uint64_t *sum = context;
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < values[i].size; k += 64)
            *sum += (unsigned char)values[i].text[k];
    return MGB_OK;
}

/* As comparing does. */
static void sides_load(struct mgb_reader *reader)
{
    struct mgb_selection selection;
    struct mgb_loaded_side side;
    int64_t segments[] = {1, 2};
    if (judged(mgb_select(&selection, reader, "1,last~1,3.1")) == MGB_OK)
        mgb_selection_done(&selection);
    if (judged(mgb_side_load(&side, reader, segments, 2)) == MGB_OK)
        mgb_side_done(&side);
    if (judged(mgb_side_load_per_example(&side, reader, segments, 2)) == MGB_OK)
        mgb_side_done(&side);
}

static void trace_step_read(struct mgb_trace_json *json, struct mgb_reader *reader,
                            struct mgb_trace_listed at)
{
    int count;
    struct mgb_trace_step step;
    struct mgb_critical_part *parts = NULL;
    if (judged(mgb_trace_load(&step, reader, 2, at)) != MGB_OK)
        return;
    (void)judged(mgb_trace_critical(&parts, &count, &step));
    (void)judged(mgb_trace_json_step(json, reader, 2, &step));
    free(parts);
    mgb_trace_step_done(&step);
}

/* As drawing a timeline does. */
static void trace_read(struct mgb_reader *reader)
{
    struct mgb_trace_list list;
    struct mgb_trace_json json = {.out = fopen("/dev/null", "w"), .program = "test"};
    assert_non_null(json.out);
    if (judged(mgb_trace_list(&list, reader, 2)) == MGB_OK) {
        if (judged(mgb_trace_json_begin(&json, reader, 2)) == MGB_OK)
            for (size_t i = 0; i < list.count && i < 4; i++)
                trace_step_read(&json, reader, list.steps[i]);
        (void)judged(mgb_trace_json_end(&json));
        mgb_trace_list_done(&list);
    }
    fclose(json.out);
}

/* Everything that can be brought over goes into a file that stays sound. */
static void file_merge(const char *path)
{
    char target[128];
    struct mgb_store *store;
    struct mgb_merge_counts counts = {0};
    struct mgb_merge_options options = {0};
    snprintf(target, sizeof target, "%s.copy", path);
    assert_ok(mgb_store_open(&store, target, NULL));
    (void)judged(mgb_merge(&counts, store, path, &options));
    mgb_store_close(store);
}

static bool file_ask(const char *path)
{
    static const char *const questions[] = {"SELECT * FROM run_summary ORDER BY run_id DESC",
                                            "SELECT * FROM scaling",
                                            "SELECT * FROM placement",
                                            "SELECT * FROM phase_share",
                                            "SELECT * FROM step_stats",
                                            "SELECT * FROM step_phase",
                                            "SELECT * FROM run",
                                            "SELECT * FROM segment",
                                            "SELECT * FROM memory_total",
                                            "SELECT * FROM note",
                                            "PRAGMA quick_check"};
    uint64_t sum = 0;
    enum mgb_outcome outcome;
    struct mgb_reader *reader;
    struct mgb_query_sink sink = {.context = &sum, .row = row_touch};
    if (judged(mgb_reader_open(&reader, path)) != MGB_OK)
        return false;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        (void)judged(mgb_query_run(reader, questions[i], NULL, 0, &sink));
    for (int64_t run = 1; run <= 4; run++)
        (void)judged(mgb_db_run_state(&outcome, reader, run));
    sides_load(reader);
    trace_read(reader);
    mgb_reader_close(reader);
    return true;
}

static void target_check(const char *path)
{
    static const char *const endings[] = {".copy", ".copy-wal", ".copy-shm", ".copy.lock"};
    char name[128];
    struct mgb_store *store;
    snprintf(name, sizeof name, "%s.copy", path);
    assert_ok(mgb_store_open(&store, name, NULL));
    assert_ok(mgb_store_check(store, true));
    mgb_store_close(store);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
}

static bool file_use(const char *path)
{
    int64_t run, segment;
    struct mgb_store *store;
    struct mgb_store_options options = {.busy_wait_ms = 100, .lock_wait_ms = 100};
    if (judged(mgb_store_open(&store, path, &options)) != MGB_OK)
        return false;
    (void)judged(mgb_store_check(store, true));
    if (judged(mgb_store_begin_run(&run, store, database_run())) == MGB_OK) {
        struct mgb_record_segment record = database_segment(run);
        struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OK};
        struct mgb_record step;
        if (judged(mgb_store_begin_segment(&segment, store, &record)) == MGB_OK) {
            step = database_step(segment, 0);
            (void)judged(mgb_store_put_steps(store, &step, 1));
            (void)judged(mgb_store_finish_segment(NULL, store, segment, &end));
        }
        (void)judged(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL));
    }
    (void)judged(mgb_store_delete_run(store, 1));
    mgb_store_close(store);
    return true;
}

static void damaged_files_end_in_a_status(void **state)
{
    static unsigned char sound[ROOM], damaged[ROOM];
    const char *only = getenv("MGB_FUZZ_SEED"), *path = *state;
    int asked = 0, used = 0;
    unsigned more = draw_long() ? 10 : 1;
    uint64_t seed = only ? strtoull(only, NULL, 10) : 1,
             end = only ? seed + 1 : (uint64_t)CASES * more + 1;
    sound_file_make(path);
    size_t sound_size = file_read(sound, path);
    assert_true(sound_size > 100000 && sound_size < ROOM);
    signal(SIGPROF, hang_tell);
    time_t until = time(NULL) + SECONDS * more;
    uint64_t first = seed;
    for (; seed < end && time(NULL) < until; seed++) {
        size_t size = sound_size;
        snprintf(present, sizeof present, "hangs with MGB_FUZZ_SEED=%llu\n",
                 (unsigned long long)seed);
        hang_watch(HANG_SECONDS);
        memcpy(damaged, sound, sizeof damaged);
        mutate_file(damaged, &size, ROOM, seed);
        file_write(path, damaged, size);
        asked += file_ask(path);
        file_merge(path);
        used += file_use(path);
    }
    hang_watch(0);
    print_message("%d damages: %d could be read, %d written\n", (int)(seed - first), asked, used);
    file_write(path, sound, sound_size);
    target_check(path);
    assert_true(file_ask(path) && file_use(path));
    if (!only)
        assert_true(asked > 0 && used > 0 && used < (int)(seed - first));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(damaged_files_end_in_a_status, database_setup,
                                        database_teardown),
    };
    faulty_install(); /* for its syncs, which take no time */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
