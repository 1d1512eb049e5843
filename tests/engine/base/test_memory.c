/* The counted heap, the pool and the vector. */
#include "tests/support/check.h"

#include "engine/base/memory.h"
#include "engine/base/vector.h"
#include <limits.h>
#include <string.h>

static void memory_is_zeroed_and_counted(void **state)
{
    (void)state;
    long long before = mgb_alloc_count();
    unsigned char *block = mgb_alloc(1000);
    assert_non_null(block);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(block[i], 0);
    block = mgb_realloc(block, 2000);
    assert_non_null(block);
    assert_int_equal(mgb_alloc_count() - before, 2);
    mgb_release(block);
    mgb_release(NULL);
}

static void only_the_nth_allocation_fails(void **state)
{
    (void)state;
    mgb_alloc_fail_at(2);
    void *first = mgb_alloc(8);
    assert_non_null(first);
    assert_null(mgb_realloc(first, 16));
    void *third = mgb_alloc(8);
    assert_non_null(third);
    mgb_release(third);
    mgb_release(first);
}

static void no_allocation_fails_once_switched_off(void **state)
{
    (void)state;
    mgb_alloc_fail_at(1);
    mgb_alloc_fail_at(0);
    char *copy = mgb_copy_string("kept");
    assert_non_null(copy);
    assert_string_equal(copy, "kept");
    mgb_release(copy);
}

static void a_pool_hands_out_aligned_zeroed_disjoint_blocks(void **state)
{
    (void)state;
    struct mgb_pool pool;
    mgb_pool_init(&pool);
    unsigned char *blocks[300];
    for (int i = 0; i < 300; i++) {
        blocks[i] = mgb_pool_alloc(&pool, (size_t)i * 7 + 1);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        for (int j = 0; j < i * 7 + 1; j++)
            assert_int_equal(blocks[i][j], 0);
        memset(blocks[i], i % 251 + 1, (size_t)i * 7 + 1);
    }
    for (int i = 0; i < 300; i++)
        for (int j = 0; j < i * 7 + 1; j++)
            assert_int_equal(blocks[i][j], i % 251 + 1);
    assert_string_equal(mgb_pool_copy(&pool, "tower"), "tower");
    mgb_pool_done(&pool);
    assert_null(pool.block);
}

static void a_pool_takes_requests_larger_than_its_blocks(void **state)
{
    (void)state;
    struct mgb_pool pool;
    mgb_pool_init(&pool);
    char *small = mgb_pool_alloc(&pool, 8);
    char *large = mgb_pool_alloc(&pool, 5 << 20);
    assert_non_null(small);
    assert_non_null(large);
    large[(5 << 20) - 1] = 1;
    assert_null(mgb_pool_alloc(&pool, SIZE_MAX));
    mgb_pool_done(&pool);
}

static void a_pool_survives_a_failed_allocation(void **state)
{
    (void)state;
    struct mgb_pool pool;
    mgb_pool_init(&pool);
    mgb_alloc_fail_at(1);
    assert_null(mgb_pool_alloc(&pool, 8));
    assert_non_null(mgb_pool_alloc(&pool, 8));
    mgb_pool_done(&pool);
}

static void a_vector_grows_and_keeps_its_elements(void **state)
{
    (void)state;
    mgb_vector(long long) squares = {0};
    for (int i = 0; i < 1000; i++)
        assert_true(mgb_vector_push(&squares, (long long)i * i));
    assert_int_equal(squares.count, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(squares.at[i], i * i);
    mgb_vector_done(&squares);
    assert_null(squares.at);
    assert_int_equal(squares.count, 0);
}

static void a_vector_that_cannot_grow_keeps_what_it_has(void **state)
{
    (void)state;
    mgb_vector(int) v = {0};
    assert_true(mgb_vector_push(&v, 1));
    while (v.count < v.capacity)
        assert_true(mgb_vector_push(&v, 2));
    mgb_alloc_fail_at(1);
    assert_false(mgb_vector_push(&v, 3));
    assert_int_equal(v.count, v.capacity);
    assert_int_equal(v.at[0], 1);
    assert_false(mgb_vector_reserve(&v, INT_MAX));
    mgb_vector_done(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_counted),
        cmocka_unit_test(only_the_nth_allocation_fails),
        cmocka_unit_test(no_allocation_fails_once_switched_off),
        cmocka_unit_test(a_pool_hands_out_aligned_zeroed_disjoint_blocks),
        cmocka_unit_test(a_pool_takes_requests_larger_than_its_blocks),
        cmocka_unit_test(a_pool_survives_a_failed_allocation),
        cmocka_unit_test(a_vector_grows_and_keeps_its_elements),
        cmocka_unit_test(a_vector_that_cannot_grow_keeps_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
