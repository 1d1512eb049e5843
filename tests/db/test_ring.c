/* The ring: order, fullness, places that are kept until stored, several writers. */
#include "tests/support/check.h"

#include "db/ring.h"
#include <pthread.h>
#include <sched.h>

static struct mgb_record record_of(int64_t step)
{
    return (struct mgb_record){.kind = MGB_RECORD_STEP, .step = {.segment = 1, .step = step}};
}

static void records_come_out_in_order_across_the_end(void **state)
{
    (void)state;
    struct mgb_ring ring;
    const struct mgb_record *records;
    uint64_t position;
    int64_t expected = 0;
    assert_ok(mgb_ring_init(&ring, 5)); /* 8 */
    for (int64_t i = 0; i < 30; i++) {
        struct mgb_record record = record_of(i);
        assert_true(mgb_ring_push(&position, &ring, &record));
        assert_int_equal(position, i);
        if (i % 5 != 4)
            continue;
        for (size_t count; (count = mgb_ring_peek(&records, &ring, UINT64_MAX)) > 0;) {
            for (size_t j = 0; j < count; j++)
                assert_int_equal(records[j].step.step, expected++);
            mgb_ring_release(&ring, count);
        }
    }
    assert_int_equal(expected, 30);
    mgb_ring_done(&ring);
}

static void a_full_ring_refuses_until_records_are_released(void **state)
{
    (void)state;
    struct mgb_ring ring;
    const struct mgb_record *records;
    uint64_t position;
    struct mgb_record record = record_of(0);
    assert_ok(mgb_ring_init(&ring, 4));
    for (int i = 0; i < 4; i++)
        assert_true(mgb_ring_push(&position, &ring, &record));
    assert_false(mgb_ring_push(&position, &ring, &record));
    assert_int_equal(mgb_ring_peek(&records, &ring, UINT64_MAX), 4);
    assert_false(mgb_ring_push(&position, &ring, &record)); /* read, but not stored yet */
    mgb_ring_release(&ring, 1);
    assert_true(mgb_ring_push(&position, &ring, &record));
    assert_false(mgb_ring_push(&position, &ring, &record));
    mgb_ring_done(&ring);
}

static void reading_stops_where_it_is_told(void **state)
{
    (void)state;
    struct mgb_ring ring;
    const struct mgb_record *records;
    uint64_t position;
    struct mgb_record record = record_of(0);
    assert_ok(mgb_ring_init(&ring, 8));
    for (int i = 0; i < 6; i++)
        assert_true(mgb_ring_push(&position, &ring, &record));
    assert_int_equal(mgb_ring_peek(&records, &ring, 2), 2);
    mgb_ring_release(&ring, 2);
    assert_int_equal(mgb_ring_peek(&records, &ring, 2), 0);
    mgb_ring_done(&ring);
}

enum { WRITERS = 3, EACH = 20000 };

struct writer {
    struct mgb_ring *ring;
    int64_t id;
};

static void *writer_main(void *context)
{
    struct writer *writer = context;
    uint64_t position;
    for (int64_t i = 0; i < EACH; i++) {
        struct mgb_record record = record_of(i);
        record.step.segment = writer->id;
        while (!mgb_ring_push(&position, writer->ring, &record))
            sched_yield();
    }
    return NULL;
}

static void several_writers_lose_nothing_and_keep_their_order(void **state)
{
    (void)state;
    struct mgb_ring ring;
    struct writer writers[WRITERS];
    pthread_t threads[WRITERS];
    int64_t next[WRITERS] = {0}, seen = 0;
    const struct mgb_record *records;
    assert_ok(mgb_ring_init(&ring, 64));
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){&ring, i};
        assert_int_equal(pthread_create(&threads[i], NULL, writer_main, &writers[i]), 0);
    }
    while (seen < WRITERS * EACH) {
        size_t count = mgb_ring_peek(&records, &ring, UINT64_MAX);
        for (size_t j = 0; j < count; j++)
            assert_int_equal(records[j].step.step, next[records[j].step.segment]++);
        mgb_ring_release(&ring, count);
        seen += (int64_t)count;
        if (count == 0)
            sched_yield();
    }
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(next[i], EACH);
    }
    mgb_ring_done(&ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_out_in_order_across_the_end),
        cmocka_unit_test(a_full_ring_refuses_until_records_are_released),
        cmocka_unit_test(reading_stops_where_it_is_told),
        cmocka_unit_test(several_writers_lose_nothing_and_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
