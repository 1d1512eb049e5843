/* The supervisor against workers that exit, die, ask to be started again, are signalled and are orphaned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "app/supervisor/supervisor.h"
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* What processes of a test leave for it to look at. */
static struct shared {
    int starts, deaths_told, signals;
    pid_t worker, told_pid;
    int told_signal;
    char points[8][MGB_SUPERVISED_POINT];
} * shared;

static int shared_make(void **state)
{
    (void)state;
    if (!shared)
        shared =
            mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(shared, 0, sizeof *shared);
    return shared == MAP_FAILED;
}

static void died_note(void *context, pid_t worker, int number)
{
    (void)context;
    shared->deaths_told++;
    shared->told_pid = worker;
    shared->told_signal = number;
}

static struct mgb_supervisor_settings settings = {.program = "test", .died = died_note};

/* Runs the supervisor in a process of its own, with messages into `out` (may be NULL). */
static int supervise(mgb_worker_function *worker, void *context, char *out, size_t size)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        dup2(ends[1], STDERR_FILENO);
        close(ends[1]);
        _exit(mgb_supervise(&settings, worker, context));
    }
    close(ends[1]);
    size_t length = 0;
    char byte;
    while (read(ends[0], &byte, 1) == 1)
        if (out && length + 1 < size)
            out[length++] = byte;
    if (out)
        out[length] = 0;
    close(ends[0]);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void die(int number)
{
    signal(number, SIG_DFL);
    kill(getpid(), number);
    _exit(99);
}

static int worker_exits(struct mgb_supervised *link, void *context)
{
    shared->worker = getpid();
    shared->starts++;
    return link->restarts == 0 ? *(int *)context : 99;
}

static void the_exit_code_of_the_worker_is_passed_on(void **state)
{
    (void)state;
    for (int code = 0; code < 5; code++)
        assert_int_equal(supervise(worker_exits, &code, NULL, 0), code);
    assert_int_equal(shared->starts, 5);
    assert_int_equal(shared->deaths_told, 0);
}

static void without_a_supervisor_the_worker_is_this_process(void **state)
{
    (void)state;
    int code = 3;
    struct mgb_supervisor_settings off = {.off = true};
    assert_int_equal(mgb_supervise(&off, worker_exits, &code), 3);
    assert_int_equal(shared->worker, getpid());
}

static int worker_dies(struct mgb_supervised *link, void *context)
{
    (void)link;
    (void)context;
    shared->worker = getpid();
    shared->starts++;
    die(SIGKILL);
    return 0;
}

static void a_death_is_told_and_not_started_again_unasked(void **state)
{
    (void)state;
    char text[512];
    assert_int_equal(supervise(worker_dies, NULL, text, sizeof text), 1);
    assert_int_equal(shared->starts, 1);
    assert_int_equal(shared->deaths_told, 1);
    assert_int_equal(shared->told_signal, SIGKILL);
    assert_int_equal(shared->told_pid, shared->worker);
    assert_string_equal(text,
                        "test: the program died: Killed (signal 9); what was recorded is kept\n");
}

/* Something that it uses ends the process behind its back. */
static int worker_exits_within(struct mgb_supervised *link, void *context)
{
    shared->worker = getpid();
    shared->starts++;
    if (link->restarts < *(int *)context)
        mgb_supervised_restartable(link, "the library");
    if (link->restarts < *(int *)context || *(int *)context == 0)
        exit(0);
    return 3;
}

static void an_exit_that_is_not_the_workers_is_a_death(void **state)
{
    (void)state;
    char text[512];
    int never = 0;
    assert_int_equal(supervise(worker_exits_within, &never, text, sizeof text), 1);
    assert_int_equal(shared->starts, 1);
    assert_int_equal(shared->deaths_told, 1);
    assert_int_equal(shared->told_signal, 0);
    assert_int_equal(shared->told_pid, shared->worker);
    assert_string_equal(text, "test: the program died: something in it ended it with code 0; what "
                              "was recorded is kept\n");
}

static void after_such_an_exit_it_is_started_again_where_it_asked_for_that(void **state)
{
    (void)state;
    int once = 1;
    assert_int_equal(supervise(worker_exits_within, &once, NULL, 0), 3);
    assert_int_equal(shared->starts, 2);
    assert_int_equal(shared->deaths_told, 1);
}

static int worker_leaves_at_once(struct mgb_supervised *link, void *context)
{
    (void)link;
    shared->worker = getpid();
    _exit(*(int *)context);
}

/* Its run is left, and to be marked. */
static void a_worker_that_leaves_at_once_is_not_a_death_and_told(void **state)
{
    (void)state;
    char text[512];
    int code = 130;
    assert_int_equal(supervise(worker_leaves_at_once, &code, text, sizeof text), 130);
    assert_string_equal(text, "");
    assert_int_equal(shared->deaths_told, 1);
}

static int worker_forks(struct mgb_supervised *link, void *context)
{
    (void)link;
    (void)context;
    pid_t child = fork();
    if (child == 0)
        exit(5);
    waitpid(child, NULL, 0);
    shared->starts++;
    return 4;
}

static void the_exit_of_a_child_of_the_worker_is_none_of_it(void **state)
{
    (void)state;
    assert_int_equal(supervise(worker_forks, NULL, NULL, 0), 4);
    assert_int_equal(shared->deaths_told, 0);
}

static int worker_sweeps(struct mgb_supervised *link, void *context)
{
    (void)context;
    int start = shared->starts++;
    strcpy(shared->points[start], link->point);
    char point[32];
    snprintf(point, sizeof point, "point %d", start);
    mgb_supervised_restartable(link, "point of before");
    mgb_supervised_restartable(link, point);
    if (start < 4)
        die(SIGABRT);
    return link->restarts;
}

static void a_sweep_is_started_again_at_each_new_point(void **state)
{
    (void)state;
    assert_int_equal(supervise(worker_sweeps, NULL, NULL, 0), 4);
    assert_int_equal(shared->starts, 5);
    assert_int_equal(shared->deaths_told, 4);
    assert_string_equal(shared->points[0], "");
    assert_string_equal(shared->points[4], "point 3");
}

static int worker_faulty(struct mgb_supervised *link, void *context)
{
    (void)context;
    const char *planted = getenv("MGBENCH_FAULT");
    int start = shared->starts++;
    snprintf(shared->points[start], sizeof shared->points[start], "%s", planted ? planted : "none");
    char point[32];
    snprintf(point, sizeof point, "point %d", start);
    mgb_supervised_restartable(link, point);
    if (start < 3)
        die(SIGABRT);
    return 0;
}

static void a_planted_fault_befalls_one_worker(void **state)
{
    (void)state;
    setenv("MGBENCH_FAULT", "first,too;second", 1);
    assert_int_equal(supervise(worker_faulty, NULL, NULL, 0), 0);
    unsetenv("MGBENCH_FAULT");
    assert_int_equal(shared->starts, 4);
    assert_string_equal(shared->points[0], "first,too;second");
    assert_string_equal(shared->points[1], "second");
    assert_string_equal(shared->points[2], "none");
    assert_string_equal(shared->points[3], "none");
}

static int worker_stuck(struct mgb_supervised *link, void *context)
{
    (void)context;
    shared->starts++;
    mgb_supervised_restartable(link, "point 7 of 9");
    die(SIGABRT);
    return 0;
}

static void three_deaths_at_one_point_end_it(void **state)
{
    (void)state;
    char text[1024];
    assert_int_equal(supervise(worker_stuck, NULL, text, sizeof text), 1);
    assert_int_equal(shared->starts, 3);
    assert_non_null(strstr(text, "test: giving up after 3 deaths at point 7 of 9\n"));
}

static int worker_dies_early(struct mgb_supervised *link, void *context)
{
    (void)context;
    shared->starts++;
    if (link->restarts == 0)
        mgb_supervised_restartable(link, "point 7 of 9");
    die(SIGABRT);
    return 0;
}

static void one_that_dies_before_it_tells_where_counts_as_well(void **state)
{
    (void)state;
    char text[1024];
    assert_int_equal(supervise(worker_dies_early, NULL, text, sizeof text), 1);
    assert_int_equal(shared->starts, 3);
    assert_non_null(strstr(text, "test: giving up after 3 deaths at point 7 of 9\n"));
}

static void points_that_are_not_for_people_have_a_name(void **state)
{
    (void)state;
    char text[1024];
    settings.point = "the bench";
    assert_int_equal(supervise(worker_stuck, NULL, text, sizeof text), 1);
    settings.point = NULL;
    assert_int_equal(shared->starts, 3);
    assert_non_null(strstr(text, "test: starting again; it was at the bench\n"));
    assert_non_null(strstr(text, "test: giving up after 3 deaths at the bench\n"));
    assert_null(strstr(text, "point 7 of 9"));
}

static int worker_unplaced(struct mgb_supervised *link, void *context)
{
    (void)context;
    shared->starts++;
    mgb_supervised_restartable(link, "");
    die(SIGABRT);
    return 0;
}

static void where_there_was_no_point_yet_none_is_named(void **state)
{
    (void)state;
    char text[1024];
    settings.point = "its last good placement";
    assert_int_equal(supervise(worker_unplaced, NULL, text, sizeof text), 1);
    settings.point = NULL;
    assert_non_null(strstr(text, "test: starting again; it was at its start\n"));
    assert_non_null(strstr(text, "test: giving up after 3 deaths at its start\n"));
    assert_null(strstr(text, "placement"));
}

static int worker_finishes_sweep(struct mgb_supervised *link, void *context)
{
    (void)context;
    shared->starts++;
    mgb_supervised_restartable(link, "point 1");
    mgb_supervised_restartable(link, NULL);
    die(SIGABRT);
    return 0;
}

static void work_that_is_no_longer_restartable_is_not_started_again(void **state)
{
    (void)state;
    assert_int_equal(supervise(worker_finishes_sweep, NULL, NULL, 0), 1);
    assert_int_equal(shared->starts, 1);
}

static void signal_count(int number)
{
    (void)number;
    shared->signals++;
}

static void nap(int ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

static int worker_waits(struct mgb_supervised *link, void *context)
{
    (void)link;
    (void)context;
    signal(SIGINT, signal_count);
    signal(SIGTERM, signal_count);
    shared->worker = getpid();
    for (int i = 0; i < 500 && shared->signals == 0; i++)
        nap(10);
    return shared->signals > 0 ? 130 : 1;
}

static pid_t supervisor_start(mgb_worker_function *worker)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(mgb_supervise(&settings, worker, NULL));
    for (int i = 0; i < 500 && shared->worker == 0; i++)
        nap(10);
    assert_int_not_equal(shared->worker, 0);
    return pid;
}

static void a_signal_to_the_supervisor_reaches_the_worker_once(void **state)
{
    (void)state;
    const int numbers[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; i++) {
        memset(shared, 0, sizeof *shared);
        pid_t pid = supervisor_start(worker_waits);
        int status;
        kill(pid, numbers[i]);
        waitpid(pid, &status, 0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 130);
        assert_int_equal(shared->signals, 1);
    }
}

static void a_worker_does_not_outlive_its_supervisor(void **state)
{
    (void)state;
    pid_t pid = supervisor_start(worker_waits);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    for (int i = 0; i < 500 && shared->signals == 0; i++)
        nap(10);
    assert_int_equal(shared->signals, 1);
}

static int worker_wrecks_terminal(struct mgb_supervised *link, void *context)
{
    bool *rescues = context;
    struct termios mode;
    tcgetattr(STDIN_FILENO, &mode);
    cfmakeraw(&mode);
    tcsetattr(STDIN_FILENO, TCSANOW, &mode);
    mgb_supervised_screen(link, true);
    if (*rescues)
        mgb_supervised_screen(link, false);
    die(SIGKILL);
    return 0;
}

static void terminal_wreck(char *text, size_t size, bool rescues)
{
    int master, slave;
    struct termios before, after;
    assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
    tcgetattr(slave, &before);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(slave, STDIN_FILENO);
        dup2(slave, STDOUT_FILENO);
        freopen("/dev/null", "w", stderr);
        _exit(mgb_supervise(&settings, worker_wrecks_terminal, &rescues));
    }
    waitpid(pid, NULL, 0);
    tcgetattr(slave, &after);
    assert_int_equal(after.c_lflag, before.c_lflag);
    assert_int_equal(after.c_oflag, before.c_oflag);
    memset(text, 0, size);
    fcntl(master, F_SETFL, O_NONBLOCK);
    if (read(master, text, size - 1) < 0)
        text[0] = '\0';
    close(master);
    close(slave);
}

static void the_terminal_is_as_before_after_a_death(void **state)
{
    (void)state;
    char text[256];
    terminal_wreck(text, sizeof text, false);
    assert_non_null(strstr(text, "\033[?1049l"));
}

/* Given back twice, what the worker said meanwhile would be drawn over. */
static void what_the_worker_gave_back_is_not_given_back_again(void **state)
{
    (void)state;
    char text[256];
    terminal_wreck(text, sizeof text, true);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_exit_code_of_the_worker_is_passed_on, shared_make),
        cmocka_unit_test_setup(without_a_supervisor_the_worker_is_this_process, shared_make),
        cmocka_unit_test_setup(a_death_is_told_and_not_started_again_unasked, shared_make),
        cmocka_unit_test_setup(an_exit_that_is_not_the_workers_is_a_death, shared_make),
        cmocka_unit_test_setup(after_such_an_exit_it_is_started_again_where_it_asked_for_that,
                               shared_make),
        cmocka_unit_test_setup(a_worker_that_leaves_at_once_is_not_a_death_and_told, shared_make),
        cmocka_unit_test_setup(the_exit_of_a_child_of_the_worker_is_none_of_it, shared_make),
        cmocka_unit_test_setup(a_sweep_is_started_again_at_each_new_point, shared_make),
        cmocka_unit_test_setup(a_planted_fault_befalls_one_worker, shared_make),
        cmocka_unit_test_setup(three_deaths_at_one_point_end_it, shared_make),
        cmocka_unit_test_setup(one_that_dies_before_it_tells_where_counts_as_well, shared_make),
        cmocka_unit_test_setup(points_that_are_not_for_people_have_a_name, shared_make),
        cmocka_unit_test_setup(where_there_was_no_point_yet_none_is_named, shared_make),
        cmocka_unit_test_setup(work_that_is_no_longer_restartable_is_not_started_again,
                               shared_make),
        cmocka_unit_test_setup(a_signal_to_the_supervisor_reaches_the_worker_once, shared_make),
        cmocka_unit_test_setup(a_worker_does_not_outlive_its_supervisor, shared_make),
        cmocka_unit_test_setup(the_terminal_is_as_before_after_a_death, shared_make),
        cmocka_unit_test_setup(what_the_worker_gave_back_is_not_given_back_again, shared_make),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
