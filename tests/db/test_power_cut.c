/* The power fails at any write: the file opens, is sound, and is as it was after some commit; a run that was finished, and
 * all that was stored before any sync of the log, is there. A process that only dies loses nothing that was acknowledged.
 * MGB_LONG=1: every write; else 150 at random. */
#include "tests/support/check.h"

#include "db/draw.h"
#include "db/store_private.h"
#include "tests/support/database.h"
#include "tests/support/power_cut.h"
#include "tests/support/draws.h"
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __SANITIZE_THREAD__
enum { CUTS = 20 }; /* there is but one thread */
#else
enum { CUTS = 150 };
#endif
enum { RUNS = 3, BATCHES = 8, BATCH_STEPS = 5, MAX_COMMITS = 256 };

/* What the file answers after a commit. */
static const char contents[] =
    "SELECT (SELECT count(*) FROM run) || ' ' || (SELECT count(*) FROM segment) || ' ' || "
    "(SELECT count(*) FROM step) || ' ' || (SELECT count(*) FROM step_device) || ' ' || "
    "(SELECT count(*) FROM segment_stat) || ' ' || "
    "(SELECT count(*) FROM run WHERE outcome = 'ok') || ' ' || (SELECT count(*) FROM note)";

struct commit {
    char contents[64];
    size_t events; /* in the log when it was acknowledged */
    bool finished; /* a run with it */
};

struct story {
    struct commit commits[MAX_COMMITS];
    int count;
};

/* Writes down what the store just acknowledged. */
static void acknowledge(struct story *story, struct mgb_store *store, bool finished)
{
    assert_true(story->count < MAX_COMMITS);
    struct commit *commit = &story->commits[story->count++];
    assert_ok(mgb_sql_text(commit->contents, sizeof commit->contents, &store->sql, contents));
    (void)faulty_log(&commit->events);
    commit->finished = finished;
}

static void batch_put(struct mgb_store *store, int64_t segment, int batch)
{
    struct mgb_record records[3 * BATCH_STEPS];
    for (int i = 0; i < BATCH_STEPS; i++) {
        int64_t step = batch * BATCH_STEPS + i;
        records[3 * i] = database_step(segment, step);
        for (int k = 1; k < 3; k++)
            records[3 * i + k] = (struct mgb_record){
                .kind = MGB_RECORD_STEP_DEVICE,
                .step_device = {
                    .segment = segment, .step = step, .device = k == 1 ? "/gpu:0" : "/gpu:1"}};
    }
    assert_ok(mgb_store_put_steps(store, records, 3 * BATCH_STEPS));
}

/* A run of some batches, the log moved into the file in between, notes that take several pages. */
static void run_store(struct story *story, struct mgb_store *store, int number)
{
    static char note[9000];
    int64_t run, segment;
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OK};
    memset(note, 'x', sizeof note - 1);
    assert_ok(mgb_store_begin_run(&run, store, database_run()));
    acknowledge(story, store, false);
    struct mgb_record_segment record = database_segment(run);
    assert_ok(mgb_store_begin_segment(&segment, store, &record));
    acknowledge(story, store, false);
    for (int i = 0; i < BATCHES; i++) {
        batch_put(store, segment, i);
        acknowledge(story, store, false);
        if (store->wal && i % 3 == number % 3)
            mgb_store_checkpoint(store);
        assert_ok(mgb_store_put_note(store, run, note));
        acknowledge(story, store, false);
    }
    assert_ok(mgb_store_finish_segment(NULL, store, segment, &end));
    acknowledge(story, store, false);
    assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL));
    acknowledge(story, store, true);
}

static void story_tell(struct story *story, const char *path,
                       const struct mgb_store_options *options)
{
    struct mgb_store *store;
    story->count = 0;
    faulty_log_begin(path);
    for (int i = 0; i < RUNS; i++) {
        assert_ok(mgb_store_open(&store, path, options));
        store->sync_every_ms = 0; /* as if runs took long */
        if (i == 0)
            acknowledge(story, store, false);
        run_store(story, store, i);
        if (i == 1)
            run_store(story, store, RUNS);
        mgb_store_close(store);
    }
}

/* The last commit that has to be there. */
static int commit_promised(const struct story *story, const struct faulty_event *events,
                           size_t count, enum power_cut_mode mode, bool wal)
{
    size_t synced = 0;
    int promised = -1;
    for (size_t i = 0; i < count; i++)
        if (events[i].kind == FAULTY_EVENT_SYNC && events[i].file == 1)
            synced = i;
    for (int i = 0; i < story->count && story->commits[i].events <= count; i++)
        if (mode == POWER_CUT_NOTHING_LOST || !wal || story->commits[i].finished ||
            story->commits[i].events <= synced)
            promised = i;
    return promised;
}

static void cut_check(const struct story *story, const char *path, int promised, size_t events)
{
    char found[64];
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, path, NULL));
    assert_ok(mgb_store_check(store, true));
    assert_ok(mgb_sql_text(found, sizeof found, &store->sql, contents));
    mgb_store_close(store);
    if (promised < 0)
        return; /* before the file was made, or while it was */
    for (int i = promised; i < story->count; i++)
        if (strcmp(found, story->commits[i].contents) == 0)
            return;
    fail_msg("after %zu writes the file holds %s, which is not what commit %d (%s) or a later one "
             "left",
             events, found, promised, story->commits[promised].contents);
}

static void cut_try(const struct story *story, const char *path, size_t count,
                    enum power_cut_mode mode, bool wal)
{
    size_t logged;
    const struct faulty_event *events = faulty_log(&logged);
    power_cut_make(path, events, count, mode, count);
    cut_check(story, path, commit_promised(story, events, count, mode, wal), count);
}

static void file_remove(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal", ".lock"};
    char file[128];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(file, sizeof file, "%s%s", path, endings[i]);
        unlink(file);
    }
}

static void cuts_try(const char *path, const struct mgb_store_options *options)
{
    static struct story story;
    char copy[128];
    size_t count;
    bool wal = !options;
    snprintf(copy, sizeof copy, "%s.cut", path);
    story_tell(&story, path, options);
    (void)faulty_log(&count);
    print_message("%d commits, %d writes\n", story.count, (int)count);
    assert_true(count > 300);
    if (draw_long()) {
        for (size_t at = 0; at <= count; at++)
            for (int mode = 0; mode < POWER_CUT_MODES; mode++)
                cut_try(&story, copy, at, (enum power_cut_mode)mode, wal);
    } else {
        for (uint64_t i = 0; i < CUTS; i++)
            cut_try(&story, copy,
                    mgb_draw_below(mgb_draw_at(MGB_DRAW_SEED, wal, i), (uint32_t)count + 1),
                    (enum power_cut_mode)(i % POWER_CUT_MODES), wal);
    }
    faulty_log_begin(NULL);
    file_remove(copy);
}

static void a_power_cut_leaves_what_was_committed_before(void **state)
{
    cuts_try(*state, NULL);
}

static void with_the_old_journal_no_commit_is_lost(void **state)
{
    cuts_try(*state, &(struct mgb_store_options){.as_network = true});
}

#define DB_TEST(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DB_TEST(a_power_cut_leaves_what_was_committed_before),
        DB_TEST(with_the_old_journal_no_commit_is_lost),
    };
    faulty_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
