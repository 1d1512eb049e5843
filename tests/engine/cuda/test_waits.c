/* The waits that planner, executor and backend put into a step are needed, and the net catches their loss: with all of them
 * ThreadSanitizer is silent; without one it reports a race, or what is computed changes, or the step fails, or a step that
 * fails changes weights. They are left out one by one, over models and placements (a few; with MGB_LONG=1 all); the table
 * says for every place in the backend's sources that makes a stream wait what became of it. Without the sanitizer only the
 * first half is shown. Two columns are of losses that a step may not notice:
 *
 * Spare: at the end of a sum by copies its first queue waits for the others to have read it. A step whose plan lays nothing
 * else there in time can do without; the backend's promise cannot, and scenario "reducer", which does overwrite it, shows
 * that each of those waits is needed.
 *
 * By class: a plan has a wait once for all towers of a class, though it may be the bytes of one of them that need it: copies
 * of gradients to where they are summed wait for those of the loss's gradient of all towers, whose place they may take. That
 * the plan's wait is needed is for test_plan_waits to say; here nine of ten must be noticed all the same. */
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#if defined(__SANITIZE_THREAD__)
#define WATCHED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WATCHED 1
#endif
#endif
#ifndef WATCHED
#define WATCHED 0
#endif

#define MOST_WAITS 4096
#define MOST_SITES 32
#define RACE 66 /* exit status */
#define SEEDS 4 /* of delays, where ThreadSanitizer alone sees nothing */

struct scenario {
    bool brief; /* in the short form too */
    const char *model, *options, *physical;
};

static const struct scenario scenarios[] = {
    {true, "0", "gpus=2 global_batch=10 strategy=gradients", ""},
    {true, "0", "gpus=2 global_batch=10 strategy=allreduce", ""},
    {true, "0", "gpus=2 global_batch=10 strategy=outputs", ""},
    {true, "reducer", "f32", "0 0 1"},
    {false, "reducer", "f16", "0 1 0"},
    {true, "0", "gpus=3 global_batch=10 strategy=allreduce logical=true", "0 0 1"},
    {false, "0",
     "gpus=3 global_batch=10 strategy=allreduce logical=true bucket_mib=0.0001 wire_type=f16",
     "0 1 0"},
    {true, "0", "gpus=2 global_batch=10 strategy=gradients graph=true", ""},
    {false, "0", "gpus=3 global_batch=10 strategy=outputs loss_at=/cpu:0 graph=true", ""},
    {false, "0", "gpus=3 global_batch=10 strategy=gradients stale=true", ""},
    {false, "0", "gpus=2 global_batch=10 strategy=allreduce stale=true wire_type=bf16", ""},
    {false, "0", "gpus=3 global_batch=10 strategy=outputs staged=true cpu_relocation=true", ""},
    {false, "0", "gpus=3 global_batch=10 strategy=gradients bucket_mib=0.0001 wire_type=f16", ""},
    {false, "0", "gpus=3 global_batch=10 strategy=gradients sum_at=spread weights_at=spread", ""},
    {false, "0", "gpus=2 global_batch=10 strategy=gradients sum_at=/gpu:0 update_at=/cpu:0", ""},
    {false, "0", "gpus=2 global_batch=10 strategy=independent", ""},
    {false, "1", "gpus=2 global_batch=10 strategy=gradients bn=sync", ""},
    {false, "1", "gpus=3 global_batch=10 strategy=gradients bn=sync update_at=/cpu:0", ""},
    {false, "1", "gpus=2 global_batch=10 strategy=outputs bn=sync", ""},
    {false, "1", "gpus=3 global_batch=10 strategy=allreduce bucket_mib=0.0001", ""},
    {false, "2", "gpus=2 global_batch=10 strategy=gradients", ""},
    {false, "2", "gpus=2 global_batch=10 strategy=outputs loss_at=/gpu:0 join_at=/gpu:1", ""},
    {false, "2", "gpus=3 global_batch=10 strategy=gradients sum_at=/cpu:0", ""},
    {false, "3", "gpus=2 global_batch=10 strategy=gradients sum_at=/gpu:1 update_at=/gpu:0", ""},
    {false, "3", "gpus=2 global_batch=10 strategy=allreduce overlap=false", ""},
    {false, "3", "gpus=4 global_batch=10 strategy=allreduce logical=true", "0 1 0 1"},
};
#define SCENARIOS ((int)(sizeof scenarios / sizeof scenarios[0]))

struct site {
    char name[48];
    int waits, tried, race, failed, numbers, spare, by_class;
};
static struct site sites[MOST_SITES];
static int site_count;

struct outcome {
    int status, waits, first, last,
        wait_site[MOST_WAITS]; /* of those from first to last one is left out */
    char numbers[256];
};

static int site_find(const char *name)
{
    int i = 0;
    while (i < site_count && strcmp(sites[i].name, name) != 0)
        i++;
    assert_true(i < MOST_SITES);
    if (i == site_count)
        snprintf(sites[site_count++].name, sizeof sites[0].name, "%s", name);
    return i;
}

static void line_read(struct outcome *out, const char *line)
{
    char name[48];
    int number, times;
    if (sscanf(line, "site %47s %d", name, &times) == 2)
        (void)site_find(name);
    else if (sscanf(line, "wait %d %47s", &number, name) == 2 && number <= MOST_WAITS)
        out->wait_site[(out->waits = number) - 1] = site_find(name);
    else if (sscanf(line, "first %d", &number) == 1)
        out->first = number;
    else if (sscanf(line, "last %d", &number) == 1)
        out->last = number;
    else if (strncmp(line, "numbers ", 8) == 0)
        snprintf(out->numbers, sizeof out->numbers, "%s", line + 8);
}

/* A hang is a failure of the run. */
static void program_run(struct outcome *out, const struct scenario *s, int left_out, int seed,
                        const char *spoiled)
{
    char command[640], line[256];
    snprintf(command, sizeof command,
             "TSAN_OPTIONS=exitcode=%d:atexit_sleep_ms=0:halt_on_error=1 FAKE_CUDA_DELAY_US=%d "
             "FAKE_CUDA_SEED=%d %s timeout 60 %s %d %s '%s' %s 2>/dev/null",
             RACE, seed ? 500 : 0, seed, spoiled, PROGRAM, left_out, s->model, s->options,
             s->physical);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    out->waits = 0;
    out->first = 1;
    out->last = MOST_WAITS;
    out->numbers[0] = '\0';
    while (fgets(line, sizeof line, pipe))
        line_read(out, line);
    int status = pclose(pipe);
    out->last = out->last < out->waits ? out->last : out->waits;
    out->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define ROWS 4 /* 0, 3, 6 and 9 of a batch: one of each tower's at least */

static void failure_run(struct outcome *out, const struct scenario *s, int k, int row, int gpu)
{
    char settings[64];
    snprintf(settings, sizeof settings, "WAITS_SPOILED_ROW=%d FAKE_CUDA_SLOW=%d:2000", 3 * row,
             gpu);
    program_run(out, s, k, 0, settings);
}

struct failures { /* what comes of them with all waits */
    bool known;
    char numbers[ROWS][sizeof((struct outcome *)0)->numbers];
};

static void failures_get(struct failures *out, const struct scenario *s)
{
    static struct outcome got;
    for (int row = 0; row < ROWS && !out->known; row++) {
        failure_run(&got, s, 0, row, -1);
        assert_int_equal(got.status, 0);
        assert_non_null(strstr(got.numbers, " 0000000000000000\n")); /* no weight changed */
        memcpy(out->numbers[row], got.numbers, sizeof got.numbers);
    }
    out->known = true;
}

/* Without wait `k`, with a wrong label in one tower's rows and that tower's GPU far behind: do others change their weights all
 * the same? */
static bool failure_is_caught(const struct scenario *s, struct failures *whole, struct site *site,
                              int k)
{
    static struct outcome got;
    if (strcmp(s->model, "reducer") == 0)
        return false;
    failures_get(whole, s);
    for (int row = 0; row < ROWS; row++)
        for (int gpu = 0; gpu < 4; gpu++) {
            failure_run(&got, s, k, row, gpu);
            if (got.status != 0 || strcmp(got.numbers, whole->numbers[row]) != 0) {
                site->failed++;
                return true;
            }
        }
    return false;
}

/* What becomes of the step without wait `k`; false: nothing. */
static bool loss_is_caught(const struct scenario *s, const struct outcome *whole,
                           struct failures *failed, int k)
{
    static struct outcome got;
    struct site *site = &sites[whole->wait_site[k - 1]];
    site->tried++;
    for (int seed = 0; seed <= (draw_long() ? SEEDS : 1); seed++) {
        program_run(&got, s, k, seed, "");
        if (got.status != 0) {
            site->race += got.status == RACE;
            site->failed += got.status != RACE;
            return true;
        }
        if (strcmp(got.numbers, whole->numbers) != 0) {
            site->numbers++;
            return true;
        }
    }
    return failure_is_caught(s, failed, site, k);
}

static bool is_in(const struct site *site, const char *file)
{
    return strncmp(site->name, file, strlen(file)) == 0;
}

/* May the step do without? */
static bool is_excused(const struct scenario *s, struct site *site)
{
    bool spare = is_in(site, "collective.c") && strcmp(s->model, "reducer") != 0;
    bool by_class = is_in(site, "clock.c") && !s->brief;
    site->spare += spare;
    site->by_class += by_class;
    return spare || by_class;
}

static int scenario_play(const struct scenario *s)
{
    static struct outcome whole, again;
    struct failures failed = {.known = false};
    int missed = 0;
    program_run(&whole, s, 0, 0, "");
    if (whole.status != 0)
        fail_msg("%s: with all waits: exit status %d", s->options, whole.status);
    program_run(&again, s, 0, 1, "");
    assert_int_equal(again.status, 0);
    assert_string_equal(whole.numbers, again.numbers);
    bool all = draw_long() || strcmp(s->model, "reducer") == 0;
    for (int i = whole.first - 1; i < whole.last; i++)
        sites[whole.wait_site[i]].waits++;
    for (int k = whole.first; WATCHED && k <= whole.last; k += all ? 1 : 3)
        if (!loss_is_caught(s, &whole, &failed, k)) {
            bool excused = is_excused(s, &sites[whole.wait_site[k - 1]]);
            print_message(
                "model %s, %s: wait %d of %d, at %s, left out, and nothing is reported%s\n",
                s->model, s->options, k, whole.waits, sites[whole.wait_site[k - 1]].name,
                excused ? "; excused" : "");
            missed += !excused;
        }
    return missed;
}

static void the_loss_of_a_wait_is_caught(void **state)
{
    (void)state;
    int missed = 0;
    for (int i = 0; i < SCENARIOS; i++)
        if (scenarios[i].brief || draw_long())
            missed += scenario_play(&scenarios[i]);
    print_message("%-20s %7s %9s %6s %8s %7s %6s %9s\n", "place", "waits", "left out", "race",
                  "numbers", "failed", "spare", "by class");
    for (int i = 0; i < site_count; i++) {
        const struct site *s = &sites[i];
        print_message("%-20s %7d %9d %6d %8d %7d %6d %9d\n", s->name, s->waits, s->tried, s->race,
                      s->numbers, s->failed, s->spare, s->by_class);
    }
    assert_int_equal(missed, 0);
    assert_true(site_count >= 3);
    for (int i = 0; i < site_count; i++)
        if (sites[i].waits == 0)
            fail_msg("no scenario comes to the wait at %s", sites[i].name);
        else if (WATCHED && draw_long() && sites[i].tried == 0)
            fail_msg("no wait at %s was left out", sites[i].name);
        else if (sites[i].tried > 0 && sites[i].spare == sites[i].tried)
            fail_msg("no loss of a wait at %s is noticed", sites[i].name);
        else if (10 * sites[i].by_class > sites[i].tried)
            fail_msg("%d of %d waits at %s are not noticed", sites[i].by_class, sites[i].tried,
                     sites[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_loss_of_a_wait_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
