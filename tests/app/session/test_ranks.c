/* Ranks of numbers that come one by one are those of the sorted numbers. */
#include "app/session/ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 20000 };

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The n-th number of a kind of series. */
typedef int64_t series(uint64_t *state, int n);

static int64_t any(uint64_t *state, int n)
{
    (void)n;
    return (int64_t)next(state);
}

static int64_t few_values(uint64_t *state, int n)
{
    (void)n;
    return (int64_t)(next(state) % 5);
}

static int64_t rising(uint64_t *state, int n)
{
    (void)state;
    return n;
}

static int64_t falling(uint64_t *state, int n)
{
    (void)state;
    return -n;
}

static int64_t one_value(uint64_t *state, int n)
{
    (void)state;
    (void)n;
    return 7;
}

static void all_ranks_check(const struct session_ranks *ranks, const int64_t *values, int count)
{
    static int64_t sorted[MOST];
    for (int i = 0; i < count; i++)
        sorted[i] = values[i];
    qsort(sorted, (size_t)count, sizeof *sorted, by_size);
    assert_int_equal(ranks->count, count);
    for (int i = 0; i < count; i++)
        if (mgb_session_ranks_get(ranks, (size_t)i) != sorted[i])
            fail_msg("of %d numbers, rank %d is not that of the sorted ones", count, i);
}

static void ranks_are_those_of_the_sorted_numbers(void **unused)
{
    static series *const kinds[] = {any, few_values, rising, falling, one_value};
    static int64_t values[MOST];
    (void)unused;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct session_ranks ranks = {0};
        uint64_t state = 88172645463325252u;
        for (int i = 0; i < MOST; i++) {
            values[i] = kinds[k](&state, i);
            assert_true(mgb_session_ranks_add(&ranks, values[i]));
            if (i < 3 || i == 511 || i == 512 || i == 513 || i == MOST - 1)
                all_ranks_check(&ranks, values, i + 1);
        }
        mgb_session_ranks_clear(&ranks);
    }
}

static void none_are_left_after_clearing(void **unused)
{
    struct session_ranks ranks = {0};
    (void)unused;
    assert_true(mgb_session_ranks_add(&ranks, 3));
    mgb_session_ranks_clear(&ranks);
    assert_int_equal(ranks.count, 0);
    assert_true(mgb_session_ranks_add(&ranks, -4));
    assert_int_equal(mgb_session_ranks_get(&ranks, 0), -4);
    mgb_session_ranks_clear(&ranks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_those_of_the_sorted_numbers),
        cmocka_unit_test(none_are_left_after_clearing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
