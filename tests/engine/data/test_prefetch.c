/* The prefetcher: a slot holds what was asked for, whatever was asked before; failures cross the thread. */
#include "tests/support/check.h"

#include "engine/base/random.h"
#include <mgb/data.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define MOST_ROWS 16

struct counting {
    atomic_int fills;
    atomic_int failures; /* so many fills fail first */
    bool saw_open_signal;
};

/* Row r of epoch e in input i holds 1000000 e + 1000 r + i. */
static enum mgb_status counting_fill(void *context, uint64_t seed, int64_t epoch, int64_t first,
                                     int64_t rows, int index, void *out)
{
    struct counting *counting = context;
    (void)seed;
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (!sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGTERM))
        counting->saw_open_signal = true;
    atomic_fetch_add(&counting->fills, 1);
    if (atomic_load(&counting->failures) > 0) {
        atomic_fetch_sub(&counting->failures, 1);
        return mgb_fail(MGB_IO, "row %lld cannot be read", (long long)first);
    }
    usleep((unsigned)(mgb_random_at(1, (uint64_t)first, (uint64_t)epoch).v[0] % 200));
    for (int64_t i = 0; i < rows; i++)
        ((int64_t *)out)[i] = epoch * 1000000 + (first + i) * 1000 + index;
    return MGB_OK;
}

struct fixture {
    struct counting counting;
    struct mgb_source source;
    struct mgb_prefetch *prefetch;
    int64_t memory[2][2][MOST_ROWS];
};

static void fixture_make(struct fixture *f, bool fixed)
{
    memset(f, 0, sizeof *f);
    f->source = (struct mgb_source){.context = &f->counting, .fixed = fixed, .fill = counting_fill};
    void *slots[4] = {f->memory[0][0], f->memory[0][1], f->memory[1][0], f->memory[1][1]};
    assert_ok(mgb_prefetch_make(&f->prefetch, &f->source, 1, 2, slots));
}

static void slot_check(const struct fixture *f, int slot, struct mgb_batch_request request)
{
    for (int index = 0; index < 2; index++)
        for (int64_t i = 0; i < request.rows; i++)
            assert_int_equal(f->memory[slot][index][i],
                             request.epoch * 1000000 + (request.first + i) * 1000 + index);
}

static void a_slot_holds_what_was_asked_while_the_other_is_filled(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false);
    mgb_prefetch_begin(f.prefetch, 0, (struct mgb_batch_request){0, 0, 8});
    for (int step = 0; step < 200; step++) {
        struct mgb_batch_request now = {step / 10, step * 8, 8};
        struct mgb_batch_request next = {(step + 1) / 10, (step + 1) * 8, 8};
        assert_ok(mgb_prefetch_wait(f.prefetch, step % 2, now));
        mgb_prefetch_begin(f.prefetch, (step + 1) % 2, next);
        slot_check(&f, step % 2, now);
    }
    mgb_prefetch_free(f.prefetch);
    assert_false(f.counting.saw_open_signal);
}

static void a_changed_request_replaces_the_one_read_ahead(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false);
    for (int step = 0; step < 100; step++) {
        struct mgb_random4 r = mgb_random_at(5, (uint64_t)step, 0);
        struct mgb_batch_request guess = {0, step * 4, 4}, wanted = {1, step * 3, 3 + step % 5};
        int slot = step % 2;
        mgb_prefetch_begin(f.prefetch, slot, guess);
        if (r.v[0] & 1)
            usleep(r.v[1] % 200);
        if (r.v[0] & 2)
            mgb_prefetch_begin(f.prefetch, slot, (struct mgb_batch_request){7, 7, 7});
        assert_ok(mgb_prefetch_wait(f.prefetch, slot, wanted));
        slot_check(&f, slot, wanted);
    }
    mgb_prefetch_free(f.prefetch);
}

static void a_failure_reaches_the_waiter_and_asking_again_reads_again(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, false);
    struct mgb_batch_request request = {0, 40, 8};
    atomic_store(&f.counting.failures, 2);
    mgb_prefetch_begin(f.prefetch, 1, request);
    assert_status(mgb_prefetch_wait(f.prefetch, 1, request), MGB_IO);
    assert_message("row 40 cannot be read");
    assert_status(mgb_prefetch_wait(f.prefetch, 1, request), MGB_IO);
    assert_ok(mgb_prefetch_wait(f.prefetch, 1, request));
    slot_check(&f, 1, request);
    mgb_prefetch_free(f.prefetch);
}

static void a_fixed_source_is_read_once_a_slot(void **state)
{
    (void)state;
    struct fixture f;
    fixture_make(&f, true);
    for (int step = 0; step < 20; step++) {
        struct mgb_batch_request request = {step / 4, 0, 8};
        assert_ok(mgb_prefetch_wait(f.prefetch, step % 2, request));
        mgb_prefetch_begin(f.prefetch, (step + 1) % 2, request);
    }
    mgb_prefetch_free(f.prefetch);
    assert_int_equal(atomic_load(&f.counting.fills), 4); /* two slots of two inputs */
}

static void it_can_be_freed_while_it_reads(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct fixture f;
        fixture_make(&f, false);
        mgb_prefetch_begin(f.prefetch, 0, (struct mgb_batch_request){0, i, 8});
        mgb_prefetch_begin(f.prefetch, 1, (struct mgb_batch_request){0, i + 8, 8});
        mgb_prefetch_free(f.prefetch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slot_holds_what_was_asked_while_the_other_is_filled),
        cmocka_unit_test(a_changed_request_replaces_the_one_read_ahead),
        cmocka_unit_test(a_failure_reaches_the_waiter_and_asking_again_reads_again),
        cmocka_unit_test(a_fixed_source_is_read_once_a_slot),
        cmocka_unit_test(it_can_be_freed_while_it_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
