/* Order between queues and walls between arenas, tested by breaking the comfort of equal speeds and open memory. */
#include "tests/support/check.h"
#include "tests/support/counting_backend.h"
#include "tests/support/draws.h"
#include "tests/support/training.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct mgb_run *counting_open_run(const struct mgb_graph *graph, bool guarded)
{
    struct training training = {.graph = graph,
                                .options = "gpus=2 global_batch=7 strategy=gradients",
                                .optimizer = training_sgd(0.1f, 0.9f),
                                .guarded = guarded,
                                .play_on = &counting_backend};
    return training_open(&training);
}

/* In a child: the step of a guarded or plain run in which every launch reads other devices' arenas. Its wait status. */
static int peeking_child(bool guarded)
{
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        struct mgb_graph *graph = draw_model(0);
        struct mgb_run *run = counting_open_run(graph, guarded);
        counting_peek(true);
        training_step(run, 1, NULL);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* First, while the process has no other threads. */
static void a_read_of_another_devices_arena_ends_a_guarded_run(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    skip(); /* they take the signal */
#endif
    int plain = peeking_child(false), guarded = peeking_child(true);
    assert_true(WIFEXITED(plain) && WEXITSTATUS(plain) == 0);
    assert_true(WIFSIGNALED(guarded) && WTERMSIG(guarded) == SIGSEGV);
}

static void a_guarded_run_closes_arenas_and_opens_them_again(void **state)
{
    (void)state;
    struct mgb_graph *graph = draw_model(0);
    struct mgb_run *run = counting_open_run(graph, true);
    counting_reset();
    training_step(run, 2, NULL);
    assert_true(counting_closed() > 10);
    (void)training_digest(run);
    mgb_run_close(run);
    mgb_graph_free(graph);
}

static void steps_take(const struct mgb_graph *graph, const char *fault, const char *options,
                       double losses[3], uint64_t *digest)
{
    struct training training = {
        .graph = graph, .options = options, .optimizer = training_sgd(0.1f, 0.9f)};
    setenv("MGBENCH_FAULT", fault, 1);
    struct mgb_run *run = training_open(&training);
    unsetenv("MGBENCH_FAULT");
    training_step(run, 3, losses);
    *digest = training_digest(run);
    mgb_run_close(run);
}

/* Whoever does not wait for a slow device reads what is not there yet. */
static void a_slow_device_changes_no_value(void **state)
{
    (void)state;
    static const char *const options[] = {
        "gpus=3 global_batch=10 weights_at=/cpu:0",
        "gpus=3 global_batch=10 cpu_merge=true",
        "gpus=3 global_batch=10 weights_at=/gpu:2 join_at=/gpu:1 loss_at=/cpu:0 sum_at=/gpu:0",
        "gpus=3 global_batch=10 strategy=gradients bucket_mib=0.0001",
        "gpus=3 global_batch=10 strategy=allreduce bucket_mib=0.0001",
    };
    struct mgb_graph *graph = draw_model(0);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        double wanted[3], got[3];
        uint64_t digest, here;
        steps_take(graph, "", options[i], wanted, &digest);
        for (int device = -1; device < 3; device++) {
            char fault[64] = "slow:/cpu:0:us=2000";
            if (device >= 0)
                snprintf(fault, sizeof fault, "slow:/gpu:%d:us=2000", device);
            steps_take(graph, fault, options[i], got, &here);
            if (memcmp(got, wanted, sizeof got) != 0 || here != digest)
                fail_msg("%s with %s: loss %.17g, not %.17g", options[i], fault, got[2], wanted[2]);
        }
    }
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_of_another_devices_arena_ends_a_guarded_run),
        cmocka_unit_test(a_guarded_run_closes_arenas_and_opens_them_again),
        cmocka_unit_test(a_slow_device_changes_no_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
