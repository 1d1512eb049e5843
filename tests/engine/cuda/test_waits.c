/* Every wait that planner, executor and backend put into a step is needed, and the net catches its loss: without it
 * ThreadSanitizer reports a race, with all of them it is silent. Without the sanitizer only the second half is shown. */
#include "tests/support/check.h"
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

/* The program's exit status; how many waits it counted goes to `waits`, 0 when it did not get so far. */
static int program_run(int left_out, const char *options, int *waits)
{
    char command[512], line[512];
    snprintf(command, sizeof command,
             "TSAN_OPTIONS=exitcode=66:atexit_sleep_ms=0:halt_on_error=1 %s %d '%s' 2>/dev/null",
             PROGRAM, left_out, options);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    *waits = 0;
    while (fgets(line, sizeof line, pipe))
        (void)sscanf(line, "waits %d", waits);
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void waits_are_enough_and_needed(const char *options)
{
    int waits, ignored;
    assert_int_equal(program_run(0, options, &waits), 0);
    assert_true(waits >= 8);
#ifdef WATCHED
    for (int k = 1; k <= waits; k++)
        if (program_run(k, options, &ignored) != 66)
            fail_msg("%s: wait %d of %d left out, and nothing is reported", options, k, waits);
#else
    (void)ignored;
#endif
}

static void under_gradients(void **state)
{
    (void)state;
    waits_are_enough_and_needed("gpus=2 global_batch=10 strategy=gradients");
}

static void under_allreduce(void **state)
{
    (void)state;
    waits_are_enough_and_needed("gpus=2 global_batch=10 strategy=allreduce");
}

static void under_outputs(void **state)
{
    (void)state;
    waits_are_enough_and_needed("gpus=2 global_batch=10 strategy=outputs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(under_gradients),
        cmocka_unit_test(under_allreduce),
        cmocka_unit_test(under_outputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
