/* What the terminal program costs: how soon it shows its first screen and a list of many runs, processor time of its threads
 * while nothing runs, while it is paused and while steps of about 5 ms run, how soon a key is answered, and what steps lose
 * by being watched. Prints a row a figure as run.sh does: title, figure, interval, goal, whether it is met.
 *     bench_screen [FILE [SECONDS [PAIRS]]]     in the build folder, or MGB_BUILD_DIR
 * On a busy machine, as root: setsid sh -c 'echo -19 >/proc/self/autogroup; exec tests/bench_screen'.
 * FILE: a database of many runs, as MGB_BENCH_KEEP=1 bench_database leaves it ("-": none); SECONDS: of each measurement of
 * processor time (10); PAIRS: of runs with and without a screen (5). Times are of the clock, so a busy machine counts in
 * them; shares of a core are processor time. Keys pass through a worker of the kernel on their way to a pseudo-terminal, which
 * waits for its turn as others do. (reference/ecosystem.md, row 26 of section 2, rows 3 and 4 of 6.3.)
 * Two cores of an EPYC, under chrt -r 1 beside a load of 18: start to READY 25 ms, with 10,000 runs and 10 million steps 25 ms,
 * 43 ms to their list; ready and paused 0.006 % of a core; steps of 5 ms: 0.8 % in the first seconds, then 0.34 %, with the
 * recorder 1.3 and 0.86 %; a key 1 ms (median); of the time 0.54 % lie between steps, of mgbench run 0.18 %. */
#include "tests/bench/threads.h"
#include "tests/screens/database.h"
#include "tests/screens/live.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { STARTS = 9, KEYS = 300, MOST = 512, SETTLING_S = 7 };

static struct program program;
static int batch = 64;
static double seconds = 10;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* `goal`: "<100"; NULL: none. */
static void figure_tell(const char *title, double figure, const char *interval, const char *goal)
{
    printf("%-46s %9.4g  %-18s %-8s %-8s\n", title, figure, interval, goal ? goal : "-",
           !goal                     ? ""
           : figure < atof(goal + 1) ? "yes"
                                     : "no");
    fflush(stdout);
}

/* Median and what lies around it; sorts. */
static void figures_tell(const char *title, double *figures, int count, const char *goal)
{
    char interval[40];
    qsort(figures, (size_t)count, sizeof *figures, by_size);
    snprintf(interval, sizeof interval, "%.4g to %.4g", figures[0], figures[count - 1]);
    figure_tell(title, figures[count / 2], interval, goal);
}

static void load_tell(void)
{
    double load[3] = {0};
    if (getloadavg(load, 3) > 0)
        printf("load %.2f %.2f %.2f, %ld processors\n", load[0], load[1], load[2],
               sysconf(_SC_NPROCESSORS_ONLN));
}

/* Processor time of all that has ended and was waited for, ms. */
static double children_ms(void)
{
    struct rusage use;
    getrusage(RUSAGE_CHILDREN, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e3 +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e3;
}

/* A group of processes that was put before others (/proc/PID/autogroup) stays it for the programs that it starts, which are
 * groups of their own. */
static void group_follow(pid_t pid)
{
    char path[64], number[16] = "0";
    FILE *mine = fopen("/proc/self/autogroup", "re");
    if (!mine || fscanf(mine, "%*s nice %15s", number) != 1)
        strcpy(number, "0");
    if (mine)
        fclose(mine);
    snprintf(path, sizeof path, "/proc/%d/autogroup", (int)pid);
    FILE *other = strcmp(number, "0") != 0 ? fopen(path, "we") : NULL;
    if (other) {
        fputs(number, other);
        fclose(other);
    }
}

/* The small model on one device of one thread; `extra` and the word after it are added. */
static struct terminal *screen_start(const char *database, const char *extra, const char *word)
{
    char text[16];
    snprintf(text, sizeof text, "%d", batch);
    const char *environment[] = {database, NULL};
    struct terminal_options options = {.environment = database ? environment : NULL};
    struct terminal *t = program_start(&program, &options, "mlp", "--backend", "host", "--gpus",
                                       "1", "--threads", "1", "--batch", text, extra, word, NULL);
    group_follow(terminal_pid(t));
    return t;
}

/* ---- starting ---- */

/* A screen is there when its line of screens and its state are. */
static void starts_measure(const char *title, const char *database, const char *place,
                           const char *awaited, const char *goal)
{
    double wall[STARTS], cpu[STARTS];
    for (int i = 0; i < STARTS; i++) {
        double before = children_ms();
        int64_t begin = now_ns();
        struct terminal *t = screen_start(database, "--screen", place);
        terminal_await_match(t, awaited);
        wall[i] = (double)(now_ns() - begin) / 1e6;
        live_quit(t);
        cpu[i] = children_ms() - before;
    }
    figures_tell(title, wall, STARTS, goal);
    figures_tell("  its processor time, end included, ms", cpu, STARTS, NULL);
}

static void lists_measure(const char *database)
{
    double wall[STARTS];
    struct terminal *t = screen_start(database, NULL, NULL);
    terminal_await(t, "READY");
    for (int i = 0; i < STARTS; i++) {
        terminal_press(t, "7");
        terminal_await(t, "[7]Log");
        int64_t begin = now_ns();
        terminal_press(t, "5");
        terminal_await_match(t, "[0-9]/[0-9]{4,}");
        wall[i] = (double)(now_ns() - begin) / 1e6;
    }
    live_quit(t);
    figures_tell("many runs: 5 to their list, ms", wall, STARTS, "<100");
}

/* ---- processor time ---- */

/* Lets the program write for so long. */
static void screen_watch(struct terminal *t, double for_s)
{
    int64_t end = now_ns() + (int64_t)(for_s * 1e9);
    while (now_ns() < end)
        (void)terminal_look(t, 20);
}

static double share_tell(const char *what, const char *name, const struct threads *before,
                         const struct threads *after, int64_t wall_ns, const char *goal)
{
    char title[80];
    double share = threads_share(before, after, name, wall_ns);
    snprintf(title, sizeof title, "%s: %s, %% of a core", what, name);
    figure_tell(title, share, "", goal);
    return share;
}

static bool is_ours(const char *name)
{
    static const char *const names[] = {"screen", "workbench", "judge",   "archive",
                                        "jobs",   "chatter",   "recorder"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* `goal`: of all but the engine, `recorder_goal`: the recorder included. */
static void shares_measure(const char *what, struct terminal *t, double settling_s,
                           const char *goal, const char *recorder_goal)
{
    struct threads before, after;
    char title[80];
    double sum = 0, recorder = 0;
    screen_watch(t, settling_s);
    size_t bytes = terminal_state(t).bytes;
    threads_read(&before, terminal_worker(t));
    int64_t begin = now_ns();
    screen_watch(t, seconds);
    int64_t wall_ns = now_ns() - begin;
    threads_read(&after, terminal_worker(t));
    for (int i = 0; i < after.count; i++) {
        const char *name = after.at[i].name;
        double share = share_tell(what, name, &before, &after, wall_ns, NULL);
        sum += is_ours(name) && strcmp(name, "recorder") != 0 ? share : 0;
        recorder += strcmp(name, "recorder") == 0 ? share : 0;
    }
    snprintf(title, sizeof title, "%s: all but engine and recorder, %%", what);
    figure_tell(title, sum, "", goal);
    if (recorder_goal) {
        snprintf(title, sizeof title, "%s: recorder included, %%", what);
        figure_tell(title, sum + recorder, "", recorder_goal);
    }
    snprintf(title, sizeof title, "%s: bytes drawn a second", what);
    figure_tell(title, (double)(terminal_state(t).bytes - bytes) / ((double)wall_ns / 1e9), "",
                NULL);
}

/* ---- keys ---- */

static void keys_measure(const char *what, struct terminal *t)
{
    double ms[KEYS];
    char title[80];
    for (int i = 0; i < KEYS; i++) {
        screen_watch(t, 0.005 + 0.06 * (double)(i * 37 % 100) / 100);
        int64_t begin = now_ns();
        terminal_press(t, i % 2 ? "1" : "7");
        terminal_await(t, i % 2 ? "[1]Bench" : "[7]Log");
        ms[i] = (double)(now_ns() - begin) / 1e6;
    }
    qsort(ms, KEYS, sizeof *ms, by_size);
    snprintf(title, sizeof title, "%s: key to screen, median, ms", what);
    figure_tell(title, ms[KEYS / 2], "", NULL);
    snprintf(title, sizeof title, "%s: key to screen, p99, ms", what);
    figure_tell(title, ms[KEYS * 99 / 100], "", "<50");
}

/* ---- what watching costs the steps ---- */

struct pace {
    double loop_ms, step_ms, steps; /* from step to step, in a step; of the newest run */
};

/* Steps of the first `skip_s` are left out: the screen looks more often then. */
static struct pace pace_read(double skip_s)
{
    char from[240];
    struct pace pace;
    snprintf(from, sizeof from,
             "FROM step WHERE warmup = 0 AND segment_id = (SELECT max(id) FROM segment) AND "
             "start_ns > (SELECT min(start_ns) + %.0f FROM step WHERE segment_id = (SELECT max(id) "
             "FROM segment))",
             skip_s * 1e9);
    pace.steps = database_number(&program, "SELECT count(*) %s", from);
    pace.loop_ms = database_number(
        &program, "SELECT (max(start_ns) - min(start_ns)) / 1e6 / (count(*) - 1) %s", from);
    pace.step_ms = database_number(&program, "SELECT avg(wall_ns) / 1e6 %s", from);
    return pace;
}

static struct pace plain_run(int64_t steps)
{
    char words[200];
    snprintf(words, sizeof words,
             "run mlp --backend host --gpus 1 --threads 1 --batch %d --steps %lld >/dev/null 2>&1",
             batch, (long long)steps);
    if (program_run(&program, words) != 0) {
        fprintf(stderr, "bench_screen: mgbench %s failed\n", words);
        exit(1);
    }
    return pace_read(0);
}

static struct pace watched_run(void)
{
    struct terminal *t = screen_start(NULL, NULL, NULL);
    terminal_await(t, "READY");
    live_run(t);
    screen_watch(t, SETTLING_S + seconds);
    live_pause(t);
    live_quit(t);
    return pace_read(SETTLING_S);
}

/* The least disturbed step of the newest run, ms. */
static double step_least(void)
{
    return database_number(&program, "SELECT min(wall_ns) / 1e6 FROM step WHERE warmup = 0 AND "
                                     "segment_id = (SELECT max(id) FROM segment)");
}

static void batch_find(void)
{
    for (int i = 0; i < 3; i++) {
        (void)plain_run(100);
        double ms = step_least();
        double next = batch * 5 / (ms > 0.01 ? ms : 0.01);
        batch = next < 1 ? 1 : next > 4096 ? 4096 : (int)next;
    }
}

/* Ratio of time from step to step, which whatever lies between them makes longer, and what of it lies between. */
static void cost_measure(int pairs)
{
    double loop[MOST], between[MOST], plain_between[MOST];
    for (int i = 0; i < pairs; i++) {
        struct pace watched = watched_run();
        struct pace plain = plain_run((int64_t)watched.steps);
        loop[i] = watched.loop_ms / plain.loop_ms;
        between[i] = 100 * (watched.loop_ms - watched.step_ms) / watched.loop_ms;
        plain_between[i] = 100 * (plain.loop_ms - plain.step_ms) / plain.loop_ms;
    }
    figures_tell("watched / mgbench run, step to step", loop, pairs, NULL);
    figures_tell("watched: between steps, % of the time", between, pairs, NULL);
    figures_tell("mgbench run: between steps, % of the time", plain_between, pairs, NULL);
}

static void running_measure(void)
{
    struct terminal *t = screen_start(NULL, NULL, NULL);
    terminal_await(t, "READY");
    shares_measure("ready", t, 2, "<1", NULL);
    live_run(t);
    shares_measure("first seconds", t, 0, "<2", "<3");
    shares_measure("running", t, SETTLING_S, "<2", "<3");
    keys_measure("running", t);
    live_pause(t);
    shares_measure("paused", t, 2, "<1", NULL);
    live_quit(t);
}

int main(int argc, char **argv)
{
    char database[300], *folder;
    bool many = argc > 1 && strcmp(argv[1], "-") != 0;
    int pairs = argc > 3 ? atoi(argv[3]) : 5;
    seconds = argc > 2 ? atof(argv[2]) : 10;
    setvbuf(stdout, NULL, _IOLBF, 0);
    folder = realpath(getenv("MGB_BUILD_DIR") ? getenv("MGB_BUILD_DIR") : ".", NULL);
    setenv("MGB_BUILD_DIR", folder ? folder : "/", 1); /* programs start elsewhere */
    free(folder);
    load_tell();
    program_make(&program);
    starts_measure("empty database: start to READY, ms", NULL, "bench", "READY", "<100");
    if (many) {
        snprintf(database, sizeof database, "MGBENCH_DB=%s", argv[1]);
        starts_measure("many runs: start to READY, ms", database, "bench", "READY", "<100");
        starts_measure("many runs: start to their list, ms", database, "runs", "[0-9]/[0-9]{4,}",
                       "<100");
        lists_measure(database);
    }
    batch_find();
    figure_tell("batch that makes a step of about 5 ms", batch, "", NULL);
    figure_tell("  a step of it, mean, ms", plain_run(200).step_ms, "", NULL);
    figure_tell("  a step of it, least, ms", step_least(), "", NULL);
    running_measure();
    if (pairs > 0)
        cost_measure(pairs < MOST ? pairs : MOST);
    load_tell();
    program_free(&program);
    return 0;
}
