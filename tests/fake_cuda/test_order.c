/* The point of the fake runtime: a correct two-device program is right and silent, and each dropped wait is reported by
 * ThreadSanitizer in every run. Without the sanitizer only the first half can be shown: a race may go well. */
#include "tests/fake_cuda/support.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#if defined(__SANITIZE_THREAD__)
#define WATCHED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WATCHED 1
#endif
#endif

/* Runs a program (GRAPH_PROGRAM for faults of graphs), keeps the beginning of what it prints in `text`; its exit status. */
static int program_run(const char *fault, const char *settings, char *text, size_t bytes)
{
    char command[512];
    const char *program = strncmp(fault, "graph", 5) == 0 ? GRAPH_PROGRAM : PROGRAM;
    if (strcmp(fault, "graph") == 0)
        fault = "none";
    snprintf(command, sizeof command, "%s %s %s 2>&1", settings, program, fault);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t used = fread(text, 1, bytes - 1, pipe);
    text[used] = 0;
    while (fgetc(pipe) != EOF)
        continue;
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void silent_and_right(const char *which, const char *settings)
{
    char text[4096];
    int status = program_run(which, settings, text, sizeof text);
    /* AddressSanitizer prints this about fibers however well it is told of them, now and then twice. */
    char *rest = text;
    while (strstr(rest, "ASan doesn't fully support makecontext"))
        rest = strchr(rest, '\n') + 1;
    assert_string_equal(rest, "");
    assert_int_equal(status, 0);
}

static void correct_program_is_silent_and_right(void **state)
{
    (void)state;
    silent_and_right("none", "");
}

static void correct_program_stays_right_under_delays(void **state)
{
    (void)state;
    silent_and_right("none", "FAKE_CUDA_DELAY_US=300 FAKE_CUDA_SEED=5 FAKE_CUDA_ORDER=random");
}

static void graph_launched_thrice_is_silent_and_right(void **state)
{
    (void)state;
    silent_and_right("graph", "");
    silent_and_right("graph", "FAKE_CUDA_DELAY_US=300 FAKE_CUDA_SEED=3");
}

static void unknown_fault_is_refused(void **state)
{
    (void)state;
    char text[256];
    assert_int_equal(program_run("nonsense", "", text, sizeof text), 64);
}

#ifdef WATCHED
static void dropped_wait_is_reported(void **state)
{
    char text[4096];
    int status =
        program_run(*state, "TSAN_OPTIONS=exitcode=66:atexit_sleep_ms=0", text, sizeof text);
    if (!strstr(text, "WARNING: ThreadSanitizer: data race"))
        fail_msg("'%s' dropped, exit status %d, no report: %s", (const char *)*state, status, text);
    assert_int_equal(status, 66);
}
#define dropped(which)                                                                             \
    {                                                                                              \
        "dropped_wait_is_reported: " which, dropped_wait_is_reported, NULL, NULL, (char *)which    \
    }
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(correct_program_is_silent_and_right),
        cmocka_unit_test(correct_program_stays_right_under_delays),
        cmocka_unit_test(graph_launched_thrice_is_silent_and_right),
        cmocka_unit_test(unknown_fault_is_refused),
#ifdef WATCHED
        dropped("gradient"),
        dropped("reduce"),
        dropped("host"),
        dropped("other-device"),
        dropped("record-early"),
        dropped("wrong-stream"),
        dropped("reuse"),
        dropped("host-func"),
        dropped("two-funcs"),
        dropped("broadcast"),
        dropped("graph-early"),
        dropped("graph-branches"),
        dropped("graph-host"),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
