/* parallel_for: what it covers, how many threads do it, and the clock and log beside it. */
#include "tests/support/check.h"

#include "engine/base/clock.h"
#include "engine/base/log.h"
#include "engine/base/parallel.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define COUNT 1003

struct cover {
    atomic_int visits[COUNT];
    atomic_int off_grain;
    long long grain;
};

static void cover_range(void *context, long long begin, long long end)
{
    struct cover *cover = context;
    if (begin % cover->grain != 0)
        atomic_fetch_add(&cover->off_grain, 1);
    for (long long i = begin; i < end; i++)
        atomic_fetch_add(&cover->visits[i], 1);
}

static void every_index_is_visited_once_for_any_team_and_grain(void **state)
{
    (void)state;
    static const long long grains[] = {1, 7, 64, 1003, 5000};
    for (int threads = 1; threads <= 5; threads++) {
        mgb_parallel_set_threads(threads);
        for (int g = 0; g < 5; g++) {
            static struct cover cover;
            memset(&cover, 0, sizeof cover);
            cover.grain = grains[g];
            mgb_parallel_for(COUNT, grains[g], cover_range, &cover);
            assert_int_equal(cover.off_grain, 0);
            for (int i = 0; i < COUNT; i++)
                assert_int_equal(cover.visits[i], 1);
        }
    }
}

static void empty_ranges_call_nothing(void **state)
{
    (void)state;
    struct cover cover = {.grain = 1};
    mgb_parallel_for(0, 1, cover_range, &cover);
    mgb_parallel_for(-3, 1, cover_range, &cover);
    assert_int_equal(cover.visits[0], 0);
}

struct chunk_sums {
    const float *values;
    float sums[COUNT];
};

static void chunk_sum(void *context, long long begin, long long end)
{
    struct chunk_sums *chunks = context;
    for (long long chunk = begin; chunk < end; chunk++) {
        chunks->sums[chunk] = 0;
        for (int i = 0; i < 16; i++)
            chunks->sums[chunk] += chunks->values[chunk * 16 + i];
    }
}

static void sums_in_chunks_do_not_depend_on_the_team(void **state)
{
    (void)state;
    static float values[COUNT * 16];
    static struct chunk_sums one, many;
    for (int i = 0; i < COUNT * 16; i++)
        values[i] = 1.0f / (float)(i + 1);
    one.values = many.values = values;
    mgb_parallel_set_threads(1);
    mgb_parallel_for(COUNT, 1, chunk_sum, &one);
    for (int threads = 2; threads <= 4; threads++) {
        mgb_parallel_set_threads(threads);
        mgb_parallel_for(COUNT, 1, chunk_sum, &many);
        assert_memory_equal(one.sums, many.sums, sizeof one.sums);
    }
}

struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    int here, wanted;
};

static void meeting_wait(void *context, long long begin, long long end)
{
    (void)begin;
    (void)end;
    struct meeting *meeting = context;
    pthread_mutex_lock(&meeting->lock);
    meeting->here++;
    pthread_cond_broadcast(&meeting->all_here);
    while (meeting->here < meeting->wanted)
        pthread_cond_wait(&meeting->all_here, &meeting->lock);
    pthread_mutex_unlock(&meeting->lock);
}

/* Hangs, and so fails by its time limit, when the runtime linked in does not really run a team. */
static void a_team_of_three_is_three_threads_at_once(void **state)
{
    (void)state;
    struct meeting meeting = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 3};
    mgb_parallel_set_threads(3);
    mgb_parallel_for(3, 1, meeting_wait, &meeting);
    assert_int_equal(meeting.here, 3);
}

struct calls {
    atomic_int count;
};

static void call_count(void *context, long long begin, long long end)
{
    (void)begin;
    (void)end;
    atomic_fetch_add(&((struct calls *)context)->count, 1);
}

static void *team_of_one(void *context)
{
    mgb_parallel_set_threads(1);
    mgb_parallel_for(100, 1, call_count, context);
    return NULL;
}

static void the_team_belongs_to_the_calling_thread(void **state)
{
    (void)state;
    struct calls here = {0}, there = {0};
    pthread_t thread;
    mgb_parallel_set_threads(4);
    assert_int_equal(pthread_create(&thread, NULL, team_of_one, &there), 0);
    pthread_join(thread, NULL);
    mgb_parallel_for(100, 1, call_count, &here);
    assert_int_equal(there.count, 1);
    assert_int_equal(here.count, 4);
}

static void the_clock_goes_forward_in_nanoseconds(void **state)
{
    (void)state;
    int64_t before = mgb_clock_ns(), after = mgb_clock_ns();
    assert_true(before > 0 && after >= before);
    assert_true(mgb_wall_clock_ms() > 1600000000000LL);
}

static void line_keep(void *context, enum mgb_log_level level, const char *line)
{
    if (level == MGB_LOG_WARNING)
        strcpy(context, line);
}

static void remarks_go_to_the_sink_and_without_one_nowhere(void **state)
{
    (void)state;
    char line[64] = "";
    mgb_log_set_sink(line_keep, line);
    mgb_log(MGB_LOG_WARNING, "%d threads on %d cores", 4, 2);
    mgb_log_set_sink(NULL, NULL);
    mgb_log(MGB_LOG_WARNING, "lost");
    assert_string_equal(line, "4 threads on 2 cores");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_is_visited_once_for_any_team_and_grain),
        cmocka_unit_test(empty_ranges_call_nothing),
        cmocka_unit_test(sums_in_chunks_do_not_depend_on_the_team),
        cmocka_unit_test(a_team_of_three_is_three_threads_at_once),
        cmocka_unit_test(the_team_belongs_to_the_calling_thread),
        cmocka_unit_test(the_clock_goes_forward_in_nanoseconds),
        cmocka_unit_test(remarks_go_to_the_sink_and_without_one_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
