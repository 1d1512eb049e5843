/* Traced steps from the file to a document: which there are, tracks and waits, slices that add up to the step, valid JSON
 * at every end. What is in a document is asked of SQLite's JSON functions.
 * (reference/ecosystem.md, row 33 of section 2.) */
#include "tests/support/check.h"

#include "db/draw.h"
#include "db/store.h"
#include "db/trace_json.h"
#include "tests/support/database.h"
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct mgb_store *store;
static struct mgb_reader *reader;
static int64_t run, segment;

enum { WALL = 10000000 };

static const struct {
    const char *device, *queue, *kind;
} tracks[] = {{"/gpu:0", "/gpu:0", "compute"},   {"/gpu:1", "/gpu:1", "compute"},
              {"/cpu:0", "/cpu:0", "reduce"},    {"/cpu:0", "/gpu:1", "copy"},
              {"/gpu:1", "/cpu:0", "copy"},      {"/gpu:0", "collective", "allreduce"},
              {"/gpu:10", "/gpu:10", "compute"}, {"/gpu:1", "/gpu:10", "copy"}};
enum { TRACKS = sizeof tracks / sizeof *tracks };

static void task_put(int64_t step, int64_t number, int track, enum mgb_phase phase, int64_t start,
                     int64_t duration, const char *waits)
{
    struct mgb_record record = {.kind = MGB_RECORD_TASK,
                                .task = {.segment = segment,
                                         .step = step,
                                         .device = tracks[track].device,
                                         .queue = tracks[track].queue,
                                         .kind = tracks[track].kind,
                                         .name = "conv \"1\"\n\xff",
                                         .phase = phase,
                                         .start_ns = start,
                                         .duration_ns = duration,
                                         .bytes = track == 3 ? 4096 : 0,
                                         .task = number,
                                         .waits_for = waits}};
    assert_ok(mgb_store_put_steps(store, &record, 1));
}

/* A schedule on all tracks, whose clocks are off by a little: tasks of a track may overlap, or stick out of the step. */
static void step_draw(int64_t step, uint64_t seed)
{
    int64_t at[TRACKS] = {0};
    for (int i = 0; i < 60; i++) {
        int track = (int)mgb_draw_below(mgb_draw_at(seed, 1, (uint64_t)i), TRACKS);
        int64_t gap = (int64_t)mgb_draw_below(mgb_draw_at(seed, 2, (uint64_t)i), 300000) - 60000;
        int64_t duration = (int64_t)mgb_draw_below(mgb_draw_at(seed, 3, (uint64_t)i), 1500000);
        char waits[64] = "[]";
        if (i > 3)
            snprintf(waits, sizeof waits, "[%d,%d]", i - 3, i / 2);
        task_put(step, i, track, i < 30 ? MGB_PHASE_FORWARD : MGB_PHASE_SUM, at[track] + gap,
                 duration, waits);
        at[track] += gap + duration;
    }
}

static int trace_setup(void **state)
{
    if (database_setup(state) != 0)
        return -1;
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_store_begin_run(&run, store, database_run()));
    struct mgb_record_segment record = database_segment(run);
    assert_ok(mgb_store_begin_segment(&segment, store, &record));
    for (int64_t i = 0; i < 6; i++) {
        struct mgb_record step = database_step(segment, i);
        step.step.warmup = i < 2;
        assert_ok(mgb_store_put_steps(store, &step, 1));
    }
    return 0;
}

static int trace_teardown(void **state)
{
    mgb_reader_close(reader);
    reader = NULL;
    mgb_store_close(store);
    return database_teardown(state);
}

static void look(void **state)
{
    assert_ok(mgb_reader_open(&reader, *state));
}

static bool stop_after(void *context)
{
    int *left = context;
    return (*left)-- <= 0;
}

/* The document of the segment's traced steps; stops before the track with number `most`. */
static char *document_make(int most, enum mgb_status *status)
{
    char *text = NULL;
    size_t size;
    struct mgb_trace_list list;
    struct mgb_trace_json writer = {.out = open_memstream(&text, &size),
                                    .program = "a test",
                                    .stop = stop_after,
                                    .context = &most};
    assert_non_null(writer.out);
    assert_ok(mgb_trace_list(&list, reader, segment));
    *status = mgb_trace_json_begin(&writer, reader, segment);
    for (size_t i = 0; i < list.count && *status == MGB_OK; i++) {
        struct mgb_trace_step step;
        assert_ok(mgb_trace_load(&step, reader, segment, list.steps[i]));
        *status = mgb_trace_json_step(&writer, reader, segment, &step);
        mgb_trace_step_done(&step);
    }
    assert_ok(mgb_trace_json_end(&writer));
    fclose(writer.out);
    mgb_trace_list_done(&list);
    return text;
}

/* The events of a document as table e of a database in memory. */
static sqlite3 *events_open(const char *document)
{
    static const char text[] = "CREATE TABLE e AS SELECT value ->> 'ph' AS ph, value ->> 'name' AS "
                               "name, value ->> 'pid' AS pid, value ->> "
                               "'tid' AS tid, CAST(round((value ->> 'ts') * 1000) AS INTEGER) AS "
                               "b, CAST(round(coalesce(value ->> 'dur', 0) "
                               "* 1000) AS INTEGER) AS d, value ->> 'cat' AS cat, value ->> 'id' "
                               "AS id, value -> 'args' AS args "
                               "FROM json_each(?1, '$.traceEvents')";
    sqlite3 *db;
    sqlite3_stmt *make;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &make, NULL), SQLITE_OK);
    sqlite3_bind_text(make, 1, document, -1, SQLITE_STATIC);
    if (sqlite3_step(make) != SQLITE_DONE)
        fail_msg("no JSON (%s): %s", sqlite3_errmsg(db), document);
    sqlite3_finalize(make);
    return db;
}

static int64_t ask(sqlite3 *db, const char *text)
{
    sqlite3_stmt *question;
    if (sqlite3_prepare_v2(db, text, -1, &question, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sqlite3_errmsg(db), text);
    assert_int_equal(sqlite3_step(question), SQLITE_ROW);
    int64_t answer = sqlite3_column_int64(question, 0);
    sqlite3_finalize(question);
    return answer;
}

static int64_t document_int(const char *document, const char *path)
{
    sqlite3 *db;
    sqlite3_stmt *question;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT json_extract(?1, ?2)", -1, &question, NULL),
                     SQLITE_OK);
    sqlite3_bind_text(question, 1, document, -1, SQLITE_STATIC);
    sqlite3_bind_text(question, 2, path, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(question), SQLITE_ROW);
    int64_t answer = sqlite3_column_int64(question, 0);
    sqlite3_finalize(question);
    sqlite3_close(db);
    return answer;
}

static void steps_are_listed_from_the_first_timed_one(void **state)
{
    struct mgb_trace_list list;
    step_draw(4, 1);
    step_draw(1, 2);
    task_put(0, 0, 0, MGB_PHASE_FORWARD, 0, 5, "[]");
    look(state);
    assert_ok(mgb_trace_list(&list, reader, segment));
    assert_int_equal(list.count, 3);
    assert_int_equal(list.timed_steps, 4);
    assert_int_equal(list.steps[0].step, 0);
    assert_int_equal(list.steps[0].timed, -2);
    assert_int_equal(list.steps[1].timed, -1);
    assert_int_equal(list.steps[2].timed, 2);
    mgb_trace_list_done(&list);
    assert_ok(mgb_trace_list(&list, reader, segment + 1));
    assert_int_equal(list.count, 0);
    mgb_trace_list_done(&list);
    struct mgb_trace_step step;
    assert_int_equal(mgb_trace_load(&step, reader, segment, (struct mgb_trace_listed){.step = 3}),
                     MGB_MISSING);
}

static void a_step_comes_back_with_its_tracks_in_order_and_its_waits(void **state)
{
    struct mgb_trace_step step;
    for (int i = 0; i < TRACKS; i++)
        task_put(3, 100 - i, i, MGB_PHASE_FORWARD, i, 1, i == 0 ? "[99,98,7]" : "[]");
    look(state);
    assert_ok(mgb_trace_load(&step, reader, segment, (struct mgb_trace_listed){.step = 3}));
    static const struct {
        enum mgb_track_kind kind;
        const char *device, *to;
    } wanted[] = {{MGB_TRACK_COMPUTE, "/cpu:0", NULL},  {MGB_TRACK_LINK, "/cpu:0", "/gpu:1"},
                  {MGB_TRACK_COMPUTE, "/gpu:0", NULL},  {MGB_TRACK_COLLECTIVE, "/gpu:0", NULL},
                  {MGB_TRACK_COMPUTE, "/gpu:1", NULL},  {MGB_TRACK_LINK, "/gpu:1", "/cpu:0"},
                  {MGB_TRACK_COMPUTE, "/gpu:10", NULL}, {MGB_TRACK_LINK, "/gpu:10", "/gpu:1"}};
    assert_int_equal(step.track_count, TRACKS);
    for (int i = 0; i < TRACKS; i++) {
        assert_int_equal(step.tracks[i].kind, wanted[i].kind);
        assert_string_equal(step.tracks[i].device, wanted[i].device);
        assert_true(!wanted[i].to == !step.tracks[i].to);
        if (wanted[i].to)
            assert_string_equal(step.tracks[i].to, wanted[i].to);
    }
    const struct mgb_trace_task *last = &step.tasks[TRACKS - 1];
    assert_int_equal(last->number, 100);
    assert_string_equal(step.tracks[last->track].device, "/gpu:0");
    assert_int_equal(last->wait_count, 3);
    assert_int_equal(step.waits[last->wait_begin], TRACKS - 2);
    assert_int_equal(step.waits[last->wait_begin + 1], TRACKS - 3);
    assert_int_equal(step.waits[last->wait_begin + 2], -1); /* there is no task 7 */
    assert_true(step.waits_known);
    assert_int_equal(step.wall_ns, WALL);
    mgb_trace_step_done(&step);
}

static void tasks_of_an_older_version_have_no_waits_and_still_a_path(void **state)
{
    struct mgb_trace_step step;
    struct mgb_critical_part *parts;
    int count;
    for (int i = 0; i < 4; i++)
        task_put(2, i, i % 2, MGB_PHASE_FORWARD, i * 1000, 900, NULL);
    look(state);
    assert_ok(mgb_trace_load(&step, reader, segment, (struct mgb_trace_listed){.step = 2}));
    assert_int_equal(step.task_count, 4);
    assert_false(step.waits_known);
    assert_int_equal(step.tasks[3].number, 3);
    assert_ok(mgb_trace_critical(&parts, &count, &step));
    assert_int_equal(parts[count - 1].end_ns, WALL);
    free(parts);
    mgb_trace_step_done(&step);
}

static void waits_that_are_none_are_not_known(void **state)
{
    static const char *const texts[] = {"[1,x]", "{}", "3", "[99999999999999999999,-4,1", "[[0]]"};
    for (int i = 0; i < 5; i++)
        task_put(2, i, i, MGB_PHASE_FORWARD, i * (INT64_MAX / 8), INT64_MAX, texts[i]);
    look(state);
    struct mgb_trace_step step;
    enum mgb_status status;
    assert_ok(mgb_trace_load(&step, reader, segment, (struct mgb_trace_listed){.step = 2}));
    assert_false(step.waits_known);
    for (int i = 0; i < step.wait_count; i++)
        assert_true(step.waits[i] >= -1 && step.waits[i] < step.task_count);
    mgb_trace_step_done(&step);
    char *document = document_make(1000, &status);
    assert_ok(status);
    sqlite3_close(events_open(document));
    free(document);
}

static void a_simulated_run_says_so(void **state)
{
    struct mgb_record_run simulated = *database_run();
    enum mgb_status status;
    int64_t other;
    simulated.backend = "sim";
    simulated.simulated = true;
    assert_ok(mgb_store_begin_run(&other, store, &simulated));
    struct mgb_record_segment record = database_segment(other);
    assert_ok(mgb_store_begin_segment(&segment, store, &record));
    struct mgb_record row = database_step(segment, 0);
    row.step.has_loss = false;
    assert_ok(mgb_store_put_steps(store, &row, 1));
    step_draw(0, 3);
    look(state);
    char *document = document_make(1000, &status);
    assert_int_equal(document_int(document, "$.otherData.simulated"), 1);
    sqlite3 *db = events_open(document);
    assert_int_equal(ask(db, "SELECT count(*) FROM e WHERE name = 'process_labels' AND "
                             "json_extract(args, '$.labels') = 'sim: simulated'"),
                     4);
    assert_int_equal(ask(db, "SELECT count(*) FROM e WHERE ph = 'i' AND name = 'step 0 ends' AND "
                             "json_type(args, '$.loss') = 'null'"),
                     1);
    sqlite3_close(db);
    free(document);
}

static void slices_nest_and_add_up_to_the_step(void **state)
{
    enum mgb_status status;
    for (int64_t i = 2; i < 6; i++)
        step_draw(i, 40 + (uint64_t)i);
    look(state);
    char *document = document_make(1000, &status);
    assert_ok(status);
    sqlite3 *db = events_open(document);
    assert_int_equal(ask(db, "SELECT count(*) FROM e WHERE ph = 'X' AND cat = 'step'"), 4 * TRACKS);
    assert_int_equal(
        ask(db, "SELECT count(*) FROM e WHERE ph = 'X' AND args ->> 'task' IS NOT NULL"), 4 * 60);
    /* compute queues: tasks and waits are the step, with no time twice */
    assert_int_equal(
        ask(db,
            "SELECT count(*) FROM (SELECT sum(CASE WHEN cat = 'step' THEN d ELSE 0 END) AS wall, "
            "sum(CASE WHEN cat NOT IN ('step', 'phase') THEN d ELSE 0 END) AS leaves FROM e "
            "WHERE ph = 'X' AND tid IN (SELECT tid FROM e WHERE name = 'thread_name' "
            "AND args ->> 'name' = 'compute') GROUP BY tid HAVING wall = leaves AND wall = "
            "40000000)"),
        4);
    assert_int_equal(
        ask(db,
            "SELECT count(*) FROM e AS x JOIN e AS y ON x.tid = y.tid AND x.rowid < y.rowid "
            "WHERE x.ph = 'X' AND y.ph = 'X' AND x.cat NOT IN ('step', 'phase') AND y.cat NOT IN "
            "('step', 'phase') AND x.d > 0 AND y.d > 0 AND x.b < y.b + y.d AND y.b < x.b + x.d"),
        0);
    /* each task within one phase of its own, each phase and wait within one step */
    assert_int_equal(
        ask(db,
            "SELECT count(*) FROM e AS t WHERE t.ph = 'X' AND t.args ->> 'task' IS NOT NULL AND "
            "NOT "
            "EXISTS (SELECT 1 FROM e AS p WHERE p.cat = 'phase' AND p.tid = t.tid AND p.name = "
            "t.args ->> 'phase' AND p.b <= t.b AND t.b + t.d <= p.b + p.d AND p.rowid < t.rowid)"),
        0);
    assert_int_equal(ask(db, "SELECT count(*) FROM e AS t WHERE t.cat IN ('phase', 'wait') AND NOT "
                             "EXISTS (SELECT 1 FROM "
                             "e AS s WHERE s.cat = 'step' AND s.tid = t.tid AND s.b <= t.b AND t.b "
                             "+ t.d <= s.b + s.d "
                             "AND s.rowid < t.rowid)"),
                     0);
    assert_int_equal(ask(db, "SELECT sum(args ->> 'critical_ns') <= 40000000 FROM e"), 1);
    sqlite3_close(db);
    free(document);
}

static void flows_lead_from_copies_to_another_device(void **state)
{
    enum mgb_status status;
    step_draw(2, 7);
    look(state);
    char *document = document_make(1000, &status);
    sqlite3 *db = events_open(document);
    int64_t copies = ask(db, "SELECT count(*) FROM e WHERE ph = 'X' AND cat = 'copy'");
    assert_true(copies > 0);
    assert_int_equal(ask(db,
                         "SELECT count(*) FROM e AS s JOIN e AS f ON f.ph = 'f' AND f.id = s.id "
                         "WHERE s.ph = 's' AND f.pid <> s.pid AND f.b >= s.b"),
                     copies);
    assert_int_equal(ask(db, "SELECT count(*) FROM e WHERE ph IN ('s', 'f')"), 2 * copies);
    assert_int_equal(
        ask(db,
            "SELECT count(*) FROM e WHERE ph = 's' AND NOT EXISTS (SELECT 1 FROM e AS c WHERE "
            "c.cat = 'copy' AND c.ph = 'X' AND c.tid = e.tid AND c.b <= e.b AND e.b <= c.b + c.d)"),
        0);
    sqlite3_close(db);
    free(document);
}

static void counters_tell_what_is_held_and_instants_where_a_step_ends(void **state)
{
    static const struct mgb_record_task_memory held[] = {
        {"/gpu:0", MGB_MEMORY_WEIGHTS, 0, 1000},
        {"/gpu:0", MGB_MEMORY_ACTIVATIONS, 500, 70},
        {"/gpu:0", MGB_MEMORY_ACTIVATIONS, 900, 0},
        {"/gpu:3", MGB_MEMORY_INPUT, 0, 5}};
    enum mgb_status status;
    step_draw(2, 7);
    assert_ok(mgb_store_put_task_memory(store, segment, 2, held, 4));
    look(state);
    char *document = document_make(1000, &status);
    sqlite3 *db = events_open(document);
    assert_int_equal(ask(db, "SELECT count(*) FROM e WHERE ph = 'C'"), 4);
    assert_int_equal(
        ask(db,
            "SELECT args ->> 'weights' FROM e WHERE ph = 'C' AND args ->> 'activations' = 70 AND "
            "b = 20000500"),
        1000);
    assert_int_equal(ask(db, "SELECT count(*) FROM e WHERE ph = 'M' AND name = 'process_name' AND "
                             "args ->> 'name' = '/gpu:3'"),
                     1);
    assert_int_equal(ask(db, "SELECT count(*) FROM e WHERE ph = 'i' AND b = 30000000 AND "
                             "abs((args ->> 'loss') - 1.0 / 3) < 1e-12"),
                     1);
    assert_int_equal(document_int(document, "$.otherData.run_id"), run);
    assert_int_equal(document_int(document, "$.otherData.simulated"), 0);
    assert_int_equal(document_int(document, "$.otherData.placement.global_batch"), 64);
    sqlite3_close(db);
    free(document);
}

static void a_document_is_valid_wherever_it_is_stopped(void **state)
{
    step_draw(2, 7);
    step_draw(3, 8);
    look(state);
    int stopped = 0;
    for (int most = 0; most <= 2 * TRACKS; most++) {
        enum mgb_status status;
        char *document = document_make(most, &status);
        assert_true(status == MGB_OK || status == MGB_INTERRUPTED);
        stopped += status == MGB_INTERRUPTED;
        sqlite3_close(events_open(document));
        free(document);
    }
    assert_int_equal(stopped, 2 * TRACKS);
}

int main(void)
{
#define TRACE_TEST(test) cmocka_unit_test_setup_teardown(test, trace_setup, trace_teardown)
    const struct CMUnitTest tests[] = {
        TRACE_TEST(steps_are_listed_from_the_first_timed_one),
        TRACE_TEST(a_step_comes_back_with_its_tracks_in_order_and_its_waits),
        TRACE_TEST(tasks_of_an_older_version_have_no_waits_and_still_a_path),
        TRACE_TEST(waits_that_are_none_are_not_known),
        TRACE_TEST(a_simulated_run_says_so),
        TRACE_TEST(slices_nest_and_add_up_to_the_step),
        TRACE_TEST(flows_lead_from_copies_to_another_device),
        TRACE_TEST(counters_tell_what_is_held_and_instants_where_a_step_ends),
        TRACE_TEST(a_document_is_valid_wherever_it_is_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
