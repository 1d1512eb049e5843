/* Statuses and their messages. */
#include "tests/support/check.h"

#include <pthread.h>
#include <string.h>

static void a_failure_returns_its_status_and_leaves_its_message(void **state)
{
    (void)state;
    assert_int_equal(mgb_fail(MGB_INVALID, "kernel %dx%d does not fit", 7, 7), MGB_INVALID);
    assert_string_equal(mgb_message_get(), "kernel 7x7 does not fit");
}

static void a_caller_puts_its_context_in_front(void **state)
{
    (void)state;
    mgb_fail(MGB_IO, "cannot read 'a.gz'");
    assert_int_equal(mgb_fail_in(MGB_IO, "data set '%s'", "mnist"), MGB_IO);
    assert_string_equal(mgb_message_get(), "data set 'mnist': cannot read 'a.gz'");
}

static void a_message_may_be_made_from_the_last_one(void **state)
{
    (void)state;
    mgb_fail(MGB_IO, "inner");
    mgb_fail(MGB_STATE, "outer <%s>", mgb_message_get());
    assert_string_equal(mgb_message_get(), "outer <inner>");
}

static void a_message_too_long_is_cut_and_terminated(void **state)
{
    (void)state;
    static char text[10000];
    memset(text, 'x', sizeof text - 1);
    mgb_fail(MGB_IO, "%s", text);
    mgb_fail_in(MGB_IO, "%s", text);
    size_t length = strlen(mgb_message_get());
    assert_in_range(length, 1000, 9998);
    assert_int_equal(mgb_message_get()[length - 1], 'x');
}

static void *message_from_another_thread(void *seen)
{
    strcpy(seen, mgb_message_get());
    mgb_fail(MGB_IO, "theirs");
    return NULL;
}

static void messages_do_not_cross_threads(void **state)
{
    (void)state;
    char seen[64] = "unset";
    pthread_t thread;
    mgb_fail(MGB_IO, "mine");
    assert_int_equal(pthread_create(&thread, NULL, message_from_another_thread, seen), 0);
    pthread_join(thread, NULL);
    assert_string_equal(seen, "");
    assert_string_equal(mgb_message_get(), "mine");
}

static void out_of_memory_keeps_its_figures(void **state)
{
    (void)state;
    assert_int_equal(mgb_fail_oom("/gpu:1", 3 << 20, 1 << 20, "activations"), MGB_OOM);
    assert_string_equal(mgb_oom_get().device, "/gpu:1");
    assert_int_equal(mgb_oom_get().needed, 3 << 20);
    assert_int_equal(mgb_oom_get().available, 1 << 20);
    assert_message("activations: out of memory on /gpu:1: 3.0 MiB needed, 1.0 MiB available");
}

static void every_status_has_its_own_name(void **state)
{
    (void)state;
    for (int a = MGB_OK; a <= MGB_STATE; a++) {
        assert_string_not_equal(mgb_status_name((enum mgb_status)a), "unknown");
        for (int b = MGB_OK; b < a; b++)
            assert_string_not_equal(mgb_status_name((enum mgb_status)a),
                                    mgb_status_name((enum mgb_status)b));
    }
    assert_string_equal(mgb_status_name(MGB_OOM), "oom");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_returns_its_status_and_leaves_its_message),
        cmocka_unit_test(a_caller_puts_its_context_in_front),
        cmocka_unit_test(a_message_may_be_made_from_the_last_one),
        cmocka_unit_test(a_message_too_long_is_cut_and_terminated),
        cmocka_unit_test(messages_do_not_cross_threads),
        cmocka_unit_test(out_of_memory_keeps_its_figures),
        cmocka_unit_test(every_status_has_its_own_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
