/* Arenas: limits that are real, alignment, and memory that can be taken away. */
#include "tests/support/check.h"

#include "tests/support/rig.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct mgb_backend *const host = &mgb_host_backend;

static void the_limit_counts_what_a_device_gave(void **state)
{
    (void)state;
    struct rig rig = rig_open(host, 1 << 20);
    void *first = rig_arena(&rig, 2, 700000), *second;
    assert_status(host->arena_make(rig.context, &second, 2, 400000), MGB_OOM);
    assert_message("/gpu:1");
    struct mgb_oom oom = mgb_oom_get();
    assert_string_equal(oom.device, "/gpu:1");
    assert_int_equal(oom.needed, 400000);
    assert_int_equal(oom.available, (1 << 20) - 700000);
    second = rig_arena(&rig, 1, 400000);       /* another device has its own limit, */
    void *third = rig_arena(&rig, 0, 4 << 20); /* /cpu:0 none */
    host->arena_free(rig.context, 2, first, 700000);
    host->arena_free(rig.context, 1, second, 400000);
    host->arena_free(rig.context, 0, third, 4 << 20);
    first = rig_arena(&rig, 2, 1 << 20);
    host->arena_free(rig.context, 2, first, 1 << 20);
    rig_close(&rig);
}

static void more_than_the_machine_has_is_out_of_memory(void **state)
{
    (void)state;
    struct rig rig = rig_open(host, 0);
    void *base;
    assert_status(host->arena_make(rig.context, &base, 1, (int64_t)1 << 62), MGB_OOM);
    assert_true(mgb_oom_get().needed == (int64_t)1 << 62);
    rig_close(&rig);
}

static void arenas_begin_on_pages(void **state)
{
    (void)state;
    struct rig rig = rig_open(host, 0);
    for (int64_t bytes = 0; bytes < 10000; bytes += 3333) {
        char *base = rig_arena(&rig, 1, bytes);
        assert_int_equal((uintptr_t)base % 4096, 0);
        memset(base, 1, (size_t)bytes);
        host->arena_free(rig.context, 1, base, bytes);
    }
    rig_close(&rig);
}

#ifndef __SANITIZE_THREAD__
/* Reads a protected arena from a queue, in a child that must die of it. */
static void a_protected_arena_cannot_be_read(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        struct rig rig = rig_open(host, 0);
        char *a = rig_arena(&rig, 1, 5000), *b = rig_arena(&rig, 2, 5000);
        struct mgb_queue *queue = rig_compute(&rig, 1, 1);
        if (host->protect(rig.context, b, 5000, false) != MGB_OK ||
            host->copy(queue, a, b, 5000) != MGB_OK)
            _exit(2);
        (void)host->drain(rig.context, 0);
        _exit(3);
    }
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true((WIFSIGNALED(result) && WTERMSIG(result) == SIGSEGV) ||
                (WIFEXITED(result) && WEXITSTATUS(result) == 1)); /* 1: a sanitizer reports it */
}
#endif

static void an_arena_can_be_made_accessible_again(void **state)
{
    (void)state;
    struct rig rig = rig_open(host, 0);
    char *base = rig_arena(&rig, 1, 5000);
    base[4999] = 7;
    assert_ok(host->protect(rig.context, base, 5000, false));
    assert_ok(host->protect(rig.context, base, 5000, true));
    assert_int_equal(base[4999], 7);
    host->arena_free(rig.context, 1, base, 5000);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_counts_what_a_device_gave),
        cmocka_unit_test(more_than_the_machine_has_is_out_of_memory),
        cmocka_unit_test(arenas_begin_on_pages),
#ifndef __SANITIZE_THREAD__
        cmocka_unit_test(a_protected_arena_cannot_be_read),
#endif
        cmocka_unit_test(an_arena_can_be_made_accessible_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
