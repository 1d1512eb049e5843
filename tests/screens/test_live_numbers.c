/* After twenty toggles every number on the screen is that of the file: read from the screen, and by SQL. What the file gets
 * only when a segment ends (intervals, measured memory) is held against what the screen said before. */
#include "tests/screens/live.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Keys, and what the line of the option then says. */
static const struct {
    const char *keys, *line;
} toggles[] = {
    {"r", "weights at +cpu:0"},
    {"m", "towers meet +gpu:0"},
    {"s", "strategy +gradients"},
    {"b", "batch/GPU +4 "},
    {"G", "GPUs -/[+] +4 "},
    {"p", "peer access +on "},
    {"r", "weights at +gpu:0"},
    {"B", "batch/GPU +8 "},
    {"m", "towers meet +cpu:0"},
    {"g", "GPUs -/[+] +2 "},
    {"s", "strategy +allreduce"},
    {"s", "strategy +independe"},
    {"s", "strategy +outputs"},
    {"p", "peer access +off"},
    {"r", "weights at +cpu:0"},
    {"o:staged", "weights at +cpu:0"},
    {"o:move clone", "weights at +cpu:0"},
    {"o:update_at cpu:0 gpu:0", "update gpu:0"},
    {"b", "batch/GPU +4 "},
    {"r", "weights at +gpu:0"},
};
enum { TOGGLES = sizeof toggles / sizeof *toggles };

static void toggle(struct terminal *t, int number)
{
    const char *keys = toggles[number].keys;
    if (strncmp(keys, "o:", 2) == 0) {
        terminal_press(t, "o");
        terminal_await(t, "OPTIONS");
        terminal_type(t, keys + 2);
        terminal_await_match(t, "> (staged|relocation|update_at) +[a-z:0-9]+ -> ");
        terminal_press(t, "Enter");
    } else {
        terminal_press(t, keys);
    }
    live_await_segment(t, number + 2);
    terminal_await_match(t, toggles[number].line);
    terminal_await_gone(t, "pending");
}

/* Segment `number` of the only run; what is left out of its figures as `warm` says. */
#define TIMED                                                                                      \
    "(SELECT wall_ns, examples, row_number() OVER (ORDER BY step) - 1 AS place FROM step JOIN "    \
    "segment g ON g.id = segment_id WHERE g.id = %d)"

static int segment_id(struct program *p, int number)
{
    return (int)database_number(p, "SELECT id FROM segment ORDER BY id LIMIT 1 OFFSET %d",
                                number - 1);
}

static double median_ms(struct program *p, int id, int warm)
{
    double count = database_number(p, "SELECT count(*) FROM " TIMED " WHERE place >= %d", id, warm);
    int n = (int)count;
    return (double)(int64_t)database_number(
               p,
               "SELECT avg(wall_ns) FROM (SELECT wall_ns FROM " TIMED
               " WHERE place >= %d ORDER BY wall_ns LIMIT %d OFFSET %d)",
               id, warm, 2 - n % 2, (n - 1) / 2) /
           1e6;
}

static double rate(struct program *p, int id, int warm)
{
    return database_number(p, "SELECT global_batch FROM segment WHERE id = %d", id) * 1e3 /
           median_ms(p, id, warm);
}

static double p95_ms(struct program *p, int id, int warm)
{
    double n = database_number(p, "SELECT count(*) FROM " TIMED " WHERE place >= %d", id, warm);
    return database_number(p,
                           "SELECT wall_ns / 1e6 FROM " TIMED
                           " WHERE place >= %d ORDER BY wall_ns LIMIT 1 OFFSET %d",
                           id, warm, (int)((95 * n + 99) / 100) - 1);
}

static double link_mb(struct program *p, int id)
{
    return database_number(p, "SELECT sum(bytes_per_step) / 1e6 FROM traffic WHERE segment_id = %d",
                           id);
}

/* The first word after it in each of two columns: the segment before, and the one in force. */
static void check_pair(struct terminal *t, const char *label, const char *before, const char *now)
{
    live_check_word(t, label, 0, before);
    live_check_word(t, label, 1, now);
}

static const char *mib(double bytes)
{
    static char texts[4][24];
    static int next;
    char *out = texts[next++ % 4];
    snprintf(out, sizeof texts[0], "%.2f", bytes / 1048576);
    return out;
}

static int number_after(struct terminal *t, const char *label, int word)
{
    return atoi(live_word(t, label, word));
}

static double total(struct program *p, int id, const char *column, const char *kind)
{
    return database_number(
        p, "SELECT max(%s) FROM memory_total WHERE segment_id = %d AND device LIKE '/%s:%%'",
        column, id, kind);
}

static void check_head(struct program *p, struct terminal *t)
{
    char head[80];
    snprintf(head, sizeof head, "run %.0f seg %.0f", database_number(p, "SELECT max(id) FROM run"),
             database_number(p, "SELECT count(*) FROM segment"));
    terminal_await(t, head);
    live_check_word(t, "PAUSED", 0, database_text(p, "SELECT count(*) FROM step"));
    assert_int_equal(database_number(p, "SELECT count(*) FROM segment"), TOGGLES + 1);
}

/* What the placement's lines say is what the segment was stored with. */
static void check_placement(struct program *p, struct terminal *t, int id)
{
    static const struct {
        const char *label, *column;
    } lines[] = {{"weights at", "substr(weights_at, 2)"},
                 {"towers meet", "substr(join_at, 2)"},
                 {"strategy", "strategy"},
                 {"GPUs -/+", "gpus"},
                 {"batch/GPU", "batch_per_gpu"},
                 {"   global", "global_batch"},
                 {"peer access",
                  "CASE peer_access WHEN 'true' THEN 'on' WHEN 'false' THEN 'off' ELSE 'auto' END"},
                 {"sum", "substr(sum_at, 2) || ','"},
                 {", update", "substr(update_at, 2) || ','"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        live_check_word(
            t, lines[i].label, 0,
            database_text(p, "SELECT %s FROM segment WHERE id = %d", lines[i].column, id));
}

/* Seen at 80x24. Of a segment that runs the file has rows, and no figures yet. */
static void check_bench(struct program *p, struct terminal *t, int before, int now, int warm)
{
    int was = (int)database_number(p, "SELECT warmup_steps FROM segment_stat WHERE segment_id = %d",
                                   before);
    check_pair(t, "step ms", number_text(median_ms(p, before, was)),
               number_text(median_ms(p, now, warm)));
    check_pair(t, "examples/s", number_text(rate(p, before, was)), number_text(rate(p, now, warm)));
    check_pair(t, "link MB/step", number_text(link_mb(p, before)), number_text(link_mb(p, now)));
    check_pair(t, "gpu:0 MiB", mib(total(p, before, "peak_bytes", "gpu")),
               mib(total(p, now, "planned_bytes", "gpu")));
    check_pair(t, "cpu:0 MiB", mib(total(p, before, "peak_bytes", "cpu")),
               mib(total(p, now, "planned_bytes", "cpu")));
    live_check_word(t, "vars", 0,
                    database_text(p,
                                  "SELECT count(DISTINCT name) || ',' FROM variable WHERE "
                                  "segment_id = %d AND role = 'master'",
                                  now));
    char loss[40];
    snprintf(loss, sizeof loss, "%.4f",
             database_number(p, "SELECT loss FROM step ORDER BY step DESC LIMIT 1"));
    live_check_word(t, "| loss", 0, loss);
    live_check_word(
        t, "| duplicates", 0,
        database_text(p,
                      "SELECT count(*) || CASE count(*) WHEN 0 THEN '' ELSE '!' END FROM "
                      "duplicate WHERE segment_id = %d",
                      now));
}

/* On a larger screen there are more lines of the same. */
static void check_more(struct program *p, struct terminal *t, int before, int now, int warm)
{
    char was[40], is[40];
    snprintf(was, sizeof was, "%s",
             database_text(p,
                           "SELECT timed_steps || '+' || warmup_steps FROM segment_stat WHERE "
                           "segment_id = %d",
                           before));
    double steps = database_number(p, "SELECT count(*) FROM step WHERE segment_id = %d", now);
    snprintf(is, sizeof is, "%.0f+%d", steps - warm, warm);
    check_pair(t, "timed+warm", was, is);
    int left_out = (int)database_number(
        p, "SELECT warmup_steps FROM segment_stat WHERE segment_id = %d", before);
    check_pair(t, "95th pct ms", number_text(p95_ms(p, before, left_out)),
               number_text(p95_ms(p, now, warm)));
    check_pair(
        t, "last loss",
        number_text(database_number(
            p, "SELECT loss FROM step WHERE segment_id = %d ORDER BY step DESC LIMIT 1", before)),
        number_text(database_number(p, "SELECT loss FROM step ORDER BY step DESC LIMIT 1")));
    live_check_word(t, "outliers", 0,
                    database_text(p,
                                  "SELECT outliers_mild + outliers_far FROM segment_stat WHERE "
                                  "segment_id = %d",
                                  before));
}

static void check_devices(struct program *p, struct terminal *t, int id)
{
    terminal_press(t, "2");
    terminal_await(t, "DEVICES");
    live_rest(t);
    static const char *const devices[] = {"cpu:0", "gpu:0", "gpu:1"};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        char label[40];
        const char *planned = bytes_text(database_number(
            p, "SELECT planned_bytes FROM memory_total WHERE segment_id = %d AND device = '/%s'",
            id, devices[i]));
        snprintf(label, sizeof label, "%s  CPU device", devices[i]);
        char text[80];
        snprintf(text, sizeof text, "%s %s", live_word(t, label, 1), live_word(t, label, 2));
        assert_string_equal(text, planned);
    }
    static const char *const links[][2] = {{"cpu:0", "gpu:1"}, {"gpu:1", "cpu:0"}};
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        char label[40], text[80];
        const char *bytes = bytes_text(database_number(
            p,
            "SELECT bytes_per_step FROM traffic WHERE segment_id = %d AND from_device = '/%s' AND "
            "to_device = '/%s'",
            id, links[i][0], links[i][1]));
        snprintf(label, sizeof label, "%s -> %s", links[i][0], links[i][1]);
        snprintf(text, sizeof text, "%s %s", live_word(t, label, 0), live_word(t, label, 1));
        assert_string_equal(text, bytes);
    }
}

static void check_variables(struct program *p, struct terminal *t, int id)
{
    char text[80];
    terminal_press(t, "3");
    terminal_await(t, "VARIABLES");
    live_rest(t);
    snprintf(text, sizeof text, "%.0f stored, %s",
             database_number(p, "SELECT count(*) FROM variable WHERE segment_id = %d", id),
             bytes_text(
                 database_number(p, "SELECT sum(bytes) FROM variable WHERE segment_id = %d", id)));
    terminal_await(t, text);
    for (int i = 0; i < 3; i++) {
        char name[80], row[300];
        snprintf(name, sizeof name, "%s",
                 database_text(p,
                               "SELECT DISTINCT name FROM variable WHERE segment_id = %d ORDER BY "
                               "name LIMIT 1 OFFSET %d",
                               id, i));
        double bytes = database_number(
            p, "SELECT bytes FROM variable WHERE segment_id = %d AND name = '%s' LIMIT 1", id,
            name);
        snprintf(row, sizeof row, "%s +%s +%s +%s +%s", name,
                 database_text(p, "SELECT shape FROM variable WHERE name = '%s'", name),
                 bytes_text(bytes), "[cg]pu:[0-9]", "[a-z]+");
        if (!terminal_matches(t, row))
            fail_msg("no '%s' in\n%s", row, terminal_text(t));
    }
}

static void check_runs(struct program *p, struct terminal *t)
{
    terminal_press(t, "5");
    terminal_await_match(t, "1[.]13 +mlp"); /* below those that are looked at: they are all there */
    live_rest(t);
    for (int number = TOGGLES + 1; number > TOGGLES - 8; number--) {
        char label[40];
        int id = segment_id(p, number);
        snprintf(label, sizeof label, " 1.%d mlp", number);
        live_check_word(t, label, 0, "host");
        live_check_word(
            t, label, 1,
            database_text(p, "SELECT gpus || 'x' || batch_per_gpu FROM segment WHERE id = %d", id));
        int skipped = strcmp(live_word(t, label, 2), "grad") == 0;
        live_check_word(
            t, label, 3 + skipped,
            number_text(database_number(
                p, "SELECT step_ms_median FROM run_summary WHERE segment_id = %d", id)));
        live_check_word(
            t, label, 4 + skipped,
            number_text(database_number(
                p,
                "SELECT global_batch * 1e3 / step_ms_median FROM run_summary WHERE segment_id = %d",
                id)));
    }
}

/* What was on the screen when it was paused, and is in the file after the end. */
struct seen {
    char step[24], rate[24], steps[24], gpu[24], cpu[24], outliers[24], p95[24], interval[24];
};

static void see(struct seen *seen, struct terminal *t)
{
    strcpy(seen->step, live_word(t, "step ms", 1));
    strcpy(seen->rate, live_word(t, "examples/s", 1));
    strcpy(seen->steps, live_word(t, "timed+warm", 1));
    strcpy(seen->gpu, live_word(t, "gpu:0 MiB", 1));
    strcpy(seen->cpu, live_word(t, "cpu:0 MiB", 1));
    strcpy(seen->outliers, live_word(t, "outliers", 1));
    strcpy(seen->p95, live_word(t, "95th pct ms", 1));
    strcpy(seen->interval, live_word(t, "95% int.", 1));
}

/* "1.69..2.01", and "+-0.2%" where both ends would read the same. */
static void interval_text(char *out, size_t size, double low, double high)
{
    char a[24], b[24];
    int digits = high < 9.995 ? 2 : high < 99.95 ? 1 : 0;
    snprintf(a, sizeof a, "%.*f", digits, low);
    snprintf(b, sizeof b, "%.*f", digits, high);
    if (isnan(low))
        snprintf(out, size, "-");
    else if (strcmp(a, b) == 0)
        snprintf(out, size, "+-%.2g%%", 100 * (high - low) / (high + low));
    else
        snprintf(out, size, "%s..%s", a, b);
}

static void check_after(struct program *p, const struct seen *seen, int id)
{
    char interval[60];
#define STAT(column)                                                                               \
    database_number(p, "SELECT " column " FROM segment_stat WHERE segment_id = %d", id)
    interval_text(interval, sizeof interval, STAT("ci95_low_ns") / 1e6, STAT("ci95_high_ns") / 1e6);
    assert_string_equal(seen->steps, database_text(p,
                                                   "SELECT timed_steps || '+' || warmup_steps FROM "
                                                   "segment_stat WHERE segment_id = %d",
                                                   id));
    assert_string_equal(seen->step, number_text(STAT("median_ns") / 1e6));
    assert_string_equal(seen->rate, number_text(STAT("examples * 1e9 / timed_steps / median_ns")));
    assert_string_equal(seen->p95, number_text(STAT("p95_ns") / 1e6));
    assert_string_equal(seen->interval, interval);
    assert_string_equal(seen->outliers,
                        database_text(p,
                                      "SELECT outliers_mild + outliers_far FROM segment_stat WHERE "
                                      "segment_id = %d",
                                      id));
    assert_string_equal(seen->gpu, mib(total(p, id, "peak_bytes", "gpu")));
    assert_string_equal(seen->cpu, mib(total(p, id, "peak_bytes", "cpu")));
#undef STAT
}

static void after_twenty_toggles_every_number_equals_sql(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    struct seen seen;
    live_run(t);
    live_await_segment(t, 1);
    for (int i = 0; i < TOGGLES; i++)
        toggle(t, i);
    live_pause(t);
    int warm = number_after(t, " timed,", 0);
    int now = segment_id(p, TOGGLES + 1), before = segment_id(p, TOGGLES);
    check_head(p, t);
    check_placement(p, t, now);
    check_bench(p, t, before, now, warm);
    terminal_resize(t, 50, 160);
    terminal_await(t, "timed+warm");
    live_rest(t);
    check_bench(p, t, before, now, warm);
    check_more(p, t, before, now, warm);
    see(&seen, t);
    terminal_resize(t, 24, 80);
    terminal_await_gone(t, "timed+warm");
    check_devices(p, t, now);
    check_variables(p, t, now);
    check_runs(p, t);
    live_quit(t);
    check_after(p, &seen, now);
    assert_string_equal(database_text(p, "SELECT group_concat(DISTINCT outcome) FROM segment"),
                        "ok");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(after_twenty_toggles_every_number_equals_sql, live_begin,
                                        live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
