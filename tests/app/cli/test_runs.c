/* mgbench runs, show, tag, note and baseline, on a small results file.
 * (reference/ecosystem.md, rows 54 and 56 of section 2.) */
#include "app/cli/commands.h"
#include "tests/app/cli/answer.h"
#include "tests/support/database.h"
#include "tests/support/results.h"

#include <ctype.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/store.h"

/* Words of line `number` (from 0) of the output, one blank between. */
static char *line_words(char out[512], const char *text, int number)
{
    for (; number > 0 && text; number--)
        text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL;
    size_t used = 0;
    for (bool blank = false; text && *text && *text != '\n' && used + 2 < 512; text++) {
        if (used && blank && !isspace((unsigned char)*text))
            out[used++] = ' ';
        blank = isspace((unsigned char)*text) != 0;
        if (!blank)
            out[used++] = *text;
    }
    out[used] = 0;
    return out;
}

static void is_listed(const char *path, const char *line, const char *const *rows, int count)
{
    char words[512], wanted[600];
    struct answer got = answer_get(path, line);
    assert_int_equal(got.code, 0);
    for (int i = 0; i < count; i++) {
        line_words(words, got.out, i + 1);
        char *when = strchr(words, ' '); /* the second word says when, which is now */
        assert_non_null(when);
        char *rest = strchr(when + 1, ' ');
        snprintf(wanted, sizeof wanted, "%.*s%s", (int)(when - words), words, rest ? rest : "");
        assert_string_equal(wanted, rows[i]);
    }
    answer_done(&got);
}

static void runs_are_listed_newest_first_with_what_is_odd_about_them(void **state)
{
    static const char *const rows[] = {
        "21 mlp host 2x32 gpu0>cpu0 110 581.8 0.5503 ok -",
        "20 mlp host 1x32 gpu0>cpu0 100 320 1.001 ok, unsteady -",
        "19 mlp host 1x64 gpu0>cpu0 - - - oom -",
        "18 mlp host 1x32 gpu0>cpu0 100 320 1.001 ok, log gaps -",
        "17 mlp host 2x32 gpu0>cpu0 110 581.8 0.5503 ok, duplicates -",
        "16 mlp cuda 1x32 gpu0>cpu0 100 320 - ok -",
        "15 mlp host 1x32 gpu0>cpu0 137.1 233.5 1.371 ok after"};
    is_listed(*state, "runs", rows, 7);
    SAYS(*state, 0, "runs",
         "time an example over that of baseline before (run 1: 99.95 ms a step)");
}

static void lists_can_be_narrowed(void **state)
{
    struct answer got;
    is_listed(*state, "runs --tag paper",
              (const char *const[]){"2 mlp host 1x64 gpu0>cpu0 179.9 355.7 0.9 ok paper",
                                    "1 mlp host 1x32 gpu0>cpu0 99.95 320.2 1 ok paper"},
              2);
    is_listed(*state, "runs --outcome oom",
              (const char *const[]){"19 mlp host 1x64 gpu0>cpu0 - - - oom -"}, 1);
    is_listed(*state, "runs --last 1 --all-segments",
              (const char *const[]){"21.2 mlp host 2x32 gpu0>cpu0 110 581.8 0.5503 ok -"}, 1);
    got = answer_get(*state, "runs --sweep placement --csv");
    int lines = 0;
    for (const char *at = got.out; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, 13);
    answer_done(&got);
    SAYS(*state, 0, "runs --model other", "no run is like that");
    SAYS(*state, 4, "runs --tag other", "there is no tag 'other'; there are after, paper");
    SAYS(*state, 4, "runs --baseline other", "there is no baseline 'other'; there is before");
    SAYS(*state, 2, "runs --outcome good", "--outcome: running, ok, oom");
    SAYS(*state, 2, "runs --last 0", "a count from 1 or 'all' expected, got '0'");
}

static void programs_get_every_figure_in_full(void **state)
{
    SAYS(*state, 0, "runs --last 1 --json", "\"run\":21,", "\"segment\":2,", "\"step_ms\":110,",
         "\"examples_per_s\":581.8181818181819", "\"simulated\":false", "\"steady\":true",
         "\"baseline\":\"before\"", "\"baseline_ms\":99.95", "\"tags\":null");
}

static void a_run_whose_process_is_gone_shows_as_crashed(void **state)
{
    pid_t child = fork();
    if (child == 0) {
        struct mgb_store *store;
        int64_t run;
        if (mgb_store_open(&store, *state, NULL) != MGB_OK ||
            mgb_store_begin_run(&run, store, database_run()) != MGB_OK)
            _exit(1);
        _exit(0); /* without a word */
    }
    int code;
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
    is_listed(*state, "runs --outcome crashed",
              (const char *const[]){"22 tiny host - - - - - crashed -"}, 1);
    SAYS(*state, 0, "show 22", "outcome                 crashed");
    lacks(*state, "runs --outcome running --csv", "22,");
}

static void show_tells_a_run_whole(void **state)
{
    SAYS(*state, 0, "show 21", "21.1", "21.2", "step_ms_median          110", "command  ",
         "mgbench -e placement.lua", "times_median            10",
         "the first step of a run pays for allocation", "OMP_NUM_THREADS         2",
         "placement: as asked");
    SAYS(*state, 0, "show 17", "beside other runs",
         "baseline                0.5503 of the time an example of baseline ");
    SAYS(*state, 0, "show 3",
         "exchange                14.9 ms, 13.5 % of the step, beside independent towers (run 12: "
         "95.05 ");
    SAYS(*state, 0, "show 17", "dense_1/kernel", "the builder made it once a tower");
    SAYS(*state, 0, "show 19", "oom_needed_MiB          2", "outcome                 oom");
    SAYS(*state, 0, "show 5", "sweep:placement/0, repetition 1");
    SAYS(*state, 0, "show 20", "steady                  no");
    SAYS(*state, 0, "show 18", "incomplete: recording stopped before the run ended");
    SAYS(*state, 0, "show 1.1 --json", "{\"section\":\"run\",\"run\":1,",
         "\"baselines\":\"before\"", "{\"section\":\"figures\",\"segment\":\"1.1\"");
    SAYS(*state, 0, "show 1 --csv", "section,row,name,value", "figures,1,step_ms_median,99.95");
    SAYS(*state, 4, "show 99", "there is no such run; there are 21 runs");
    SAYS(*state, 0, "show tag:paper", "the first of 2 runs");
}

static void tags_and_notes_are_put_and_tags_taken_off(void **state)
{
    SAYS(*state, 0, "tag 3,4 good fine", "run 3: tagged good, fine", "run 4: tagged good, fine");
    SAYS(*state, 0, "show tag:good --quiet", "tags                    fine, good");
    SAYS(*state, 0, "tag tag:good good --remove", "run 4: no longer good");
    SAYS(*state, 4, "tag 3 good --remove", "run 3 has no tag 'good'");
    SAYS(*state, 2, "tag 3 a,b", "a name without commas");
    SAYS(*state, 0, "note last 'after the update'", "run 21: noted");
    SAYS(*state, 0, "show last", "after the update");
    SAYS(*state, 2, "note last ' '", "the text is empty");
    SAYS(*state, 2, "note last", "usage: mgbench note RUN TEXT");
}

static void baselines_are_set_moved_listed_and_removed(void **state)
{
    SAYS(*state, 0, "baseline set other 21.1", "baseline other: run 21");
    SAYS(*state, 0, "baseline --csv", "name,run,segment,repetitions,model",
         "before,1,1,1,mlp,host,1,32,99.95", "other,21,1,1,mlp,host,2,32,110");
    SAYS(*state, 0, "baseline set other 5", "baseline other: run 5");
    SAYS(*state, 0, "baseline rm other", "removed");
    SAYS(*state, 4, "baseline rm other", "there is no baseline 'other'");
    SAYS(*state, 0, "baseline set side tag:after", "baseline side: runs 13, 14, 15: repetitions");
    SAYS(*state, 0, "compare 1,5,9 baseline:side",
         "B (baseline:side): runs 13, 14, 15:", "B 137 ms [", "  slower");
    SAYS(*state, 0, "show 15", "baselines  ", "side");
    SAYS(*state, 0, "baseline set side sweep:placement/0", "runs 1, 5, 9: repetitions");
    SAYS(*state, 0, "compare baseline:side 1,5,9", "runs 1, 5, 9", "same within 1 %");
    SAYS(*state, 2, "baseline set x sweep:placement", "write sweep:placement/POINT");
    SAYS(*state, 2, "baseline sett x 1", "did you mean 'set'");
    SAYS(*state, 2, "baseline set x", "usage: mgbench baseline set NAME RUN");
}

static void whoever_runs_on_the_file_is_named_to_those_who_would_write(void **state)
{
    struct mgb_store *store;
    int64_t run;
    char process[32];
    int ready[2], done[2];
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(done), 0);
    pid_t child = fork();
    if (child == 0) {
        char byte = 0;
        close(done[1]);
        int failed = mgb_store_open(&store, *state, NULL) != MGB_OK ||
                     mgb_store_begin_run(&run, store, database_run()) != MGB_OK;
        if (write(ready[1], &byte, 1) == 1)
            failed += read(done[0], &byte, 1) != 0;
        _exit(failed);
    }
    char byte;
    close(done[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    snprintf(process, sizeof process, "%d", (int)child);
    SAYS(*state, 1, "tag 1 late", process);
    SAYS(*state, 0, "runs --last 1", "running");
    close(done[1]);
    int code;
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
    close(ready[0]);
    close(ready[1]);
}

static void files_that_are_not_there_are_told(void **state)
{
    (void)state;
    SAYS("/nowhere/r.db", 4, "runs", "/nowhere/r.db is not there");
    SAYS("/nowhere/r.db", 4, "tag 1 x", "/nowhere/r.db is not there");
}

static void examples_in_the_help_work(void **state)
{
    const struct mgb_command *const commands[] = {
        &mgb_command_baseline, &mgb_command_runs, &mgb_command_show, &mgb_command_compare,
        &mgb_command_scaling,  &mgb_command_tag,  &mgb_command_note};
    SAYS(*state, 0, "tag 1,5,9 before", "tagged");
    for (size_t c = 0; c < sizeof commands / sizeof *commands; c++)
        for (const struct mgb_example *e = commands[c]->examples; e->command; e++) {
            struct answer got = answer_get(*state, e->command + sizeof "mgbench");
            if (got.code != MGB_EXIT_OK && got.code != MGB_EXIT_SLOWER)
                fail_msg("%s: exit code %d: %s", e->command, got.code, got.err);
            answer_done(&got);
        }
}

int main(void)
{
#define WRITES(test) cmocka_unit_test_setup_teardown(test, results_setup, database_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_listed_newest_first_with_what_is_odd_about_them),
        cmocka_unit_test(lists_can_be_narrowed),
        cmocka_unit_test(programs_get_every_figure_in_full),
        WRITES(a_run_whose_process_is_gone_shows_as_crashed),
        cmocka_unit_test(show_tells_a_run_whole),
        WRITES(tags_and_notes_are_put_and_tags_taken_off),
        WRITES(baselines_are_set_moved_listed_and_removed),
        WRITES(whoever_runs_on_the_file_is_named_to_those_who_would_write),
        cmocka_unit_test(files_that_are_not_there_are_told),
        WRITES(examples_in_the_help_work),
    };
    return cmocka_run_group_tests(tests, results_setup, database_teardown);
}
