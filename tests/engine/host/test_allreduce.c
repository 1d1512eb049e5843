/* All-reduce in the process: the bits of a reduce in tower order, whoever comes when. */
#include "tests/support/check.h"

#include "engine/base/random.h"
#include "tests/support/rig.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct mgb_backend *const host = &mgb_host_backend;

#define MOST 12
#define COUNT 6007
#define ROUNDS 4

struct towers {
    struct rig rig;
    int count;
    struct mgb_queue *queues[MOST];
    float *buffers[ROUNDS][MOST]; /* several collectives in flight, each its own buffers */
    float wanted[ROUNDS][COUNT];
};

static void towers_open(struct towers *t, int count)
{
    t->rig = rig_open(host, 0);
    t->count = count;
    for (int k = 0; k < count; k++) {
        t->queues[k] = rig_compute(&t->rig, k + 1, 1);
        for (int r = 0; r < ROUNDS; r++)
            t->buffers[r][k] = rig_arena(&t->rig, k + 1, 4 * COUNT);
    }
}

static void towers_fill(struct towers *t)
{
    for (int r = 0; r < ROUNDS; r++)
        for (int64_t i = 0; i < COUNT; i++) {
            float sum = 0;
            for (int k = 0; k < t->count; k++) {
                uint32_t bits = mgb_random_at((uint64_t)r, (uint64_t)i, (uint64_t)k).v[0];
                float value = mgb_random_unit(bits) - 0.5f;
                t->buffers[r][k][i] = value;
                sum = k == 0 ? value : sum + value;
            }
            t->wanted[r][i] = sum;
        }
}

static void towers_close(struct towers *t)
{
    for (int k = 0; k < t->count; k++) {
        host->queue_free(t->queues[k]);
        for (int r = 0; r < ROUNDS; r++)
            host->arena_free(t->rig.context, k + 1, t->buffers[r][k], 4 * COUNT);
    }
    rig_close(&t->rig);
}

/* Work of random length before each meeting, so that towers come in any order. */
static void delays_push(struct towers *t, float *spoil, unsigned *seed)
{
    for (int k = 0; k < t->count; k++)
        for (unsigned n = (unsigned)rand_r(seed) % 3; n > 0; n--)
            assert_ok(host->fill(t->queues[k], spoil + 4096 * k, 4 * 4096));
}

static void the_sum_has_the_bits_of_a_reduce_in_tower_order(void **state)
{
    (void)state;
    static const int counts[] = {1, 2, 3, 4, 12};
    static struct towers t;
    unsigned seed = 5;
    for (int c = 0; c < 5; c++) {
        towers_open(&t, counts[c]);
        float *spoil = calloc(MOST, 4 * 4096);
        for (int repeat = 0; repeat < 5; repeat++) {
            towers_fill(&t);
            for (int r = 0; r < ROUNDS; r++) {
                delays_push(&t, spoil, &seed);
                assert_ok(host->allreduce(t.queues, t.buffers[r], t.count, COUNT - r,
                                          MGB_ALLREDUCE_RING));
            }
            assert_ok(host->drain(t.rig.context, 60000000000));
            for (int r = 0; r < ROUNDS; r++)
                for (int k = 0; k < t.count; k++)
                    assert_memory_equal(t.buffers[r][k], t.wanted[r],
                                        sizeof(float) * (size_t)(COUNT - r));
        }
        free(spoil);
        towers_close(&t);
    }
}

/* Tower k takes the sums of 2k + 2 and 2k + 1: the same bits on all whoever comes when, and the ring's sum to 1e-6. */
static void a_tree_adds_in_its_own_order_and_agrees_with_the_ring(void **state)
{
    (void)state;
    static const int counts[] = {2, 3, 5, 8, 12};
    struct towers t;
    uint32_t seed = 7;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        towers_open(&t, counts[c]);
        float *spoil = calloc(MOST, 4 * 4096), *tree = calloc(MOST * COUNT, sizeof *tree);
        towers_fill(&t);
        for (int k = t.count - 1; k >= 0; k--)
            for (int64_t i = 0; i < COUNT; i++) {
                float sum = t.buffers[0][k][i];
                for (int child = 2 * k + 2; child > 2 * k; child--)
                    sum = child < t.count ? sum + tree[child * COUNT + i] : sum;
                tree[k * COUNT + i] = sum;
            }
        delays_push(&t, spoil, &seed);
        assert_ok(host->allreduce(t.queues, t.buffers[0], t.count, COUNT, MGB_ALLREDUCE_TREE));
        assert_ok(host->drain(t.rig.context, 60000000000));
        for (int k = 0; k < t.count; k++)
            assert_memory_equal(t.buffers[0][k], tree, sizeof(float) * COUNT);
        for (int64_t i = 0; i < COUNT; i++)
            assert_true(fabsf(tree[i] - t.wanted[0][i]) <= 1e-6f * (float)t.count);
        free(spoil);
        free(tree);
        towers_close(&t);
    }
}

/* Added in f32 in tower order and rounded once. */
static void numbers_of_16_bits_are_added_in_f32(void **state)
{
    (void)state;
    struct towers t;
    towers_open(&t, 5);
    for (int type = MGB_WIRE_F16; type <= MGB_WIRE_BF16; type++) {
        static uint16_t wanted[COUNT];
        static float sum[COUNT], part[COUNT];
        void *buffers[5];
        towers_fill(&t);
        for (int k = 0; k < t.count; k++) {
            buffers[k] = t.buffers[1][k];
            mgb_host_cpu_kernels.cast(buffers[k], t.buffers[0][k], COUNT, (enum mgb_wire_type)type,
                                      MGB_CAST_NARROW);
            mgb_host_cpu_kernels.cast(part, buffers[k], COUNT, (enum mgb_wire_type)type,
                                      MGB_CAST_WIDEN);
            for (int i = 0; i < COUNT; i++)
                sum[i] = k == 0 ? part[i] : sum[i] + part[i];
        }
        mgb_host_cpu_kernels.cast(wanted, sum, COUNT, (enum mgb_wire_type)type, MGB_CAST_NARROW);
        assert_ok(host->allreduce_wire(t.queues, buffers, t.count, COUNT, MGB_ALLREDUCE_RING,
                                       (enum mgb_wire_type)type));
        assert_ok(host->drain(t.rig.context, 60000000000));
        for (int k = 0; k < t.count; k++)
            assert_memory_equal(buffers[k], wanted, sizeof wanted);
    }
    towers_close(&t);
}

/* More meetings in a step than there are places for: the submitter waits, and the next step has room. */
static void more_collectives_than_places_are_all_done(void **state)
{
    (void)state;
    struct rig rig = rig_open(host, 0);
    struct mgb_queue *queues[3];
    float *buffers[3];
    for (int k = 0; k < 3; k++) {
        queues[k] = rig_compute(&rig, k + 1, 1);
        buffers[k] = rig_arena(&rig, k + 1, 4);
    }
    for (int step = 0; step < 2; step++) {
        for (int k = 0; k < 3; k++)
            *buffers[k] = 0;
        for (int i = 0; i < 100; i++)
            assert_ok(host->allreduce(queues, buffers, 3, 1, MGB_ALLREDUCE_AUTO));
        assert_ok(host->drain(rig.context, 60000000000));
    }
    for (int k = 0; k < 3; k++)
        *buffers[k] = 1;
    for (int i = 0; i < 10; i++)
        assert_ok(host->allreduce(queues, buffers, 3, 1, MGB_ALLREDUCE_AUTO));
    assert_ok(host->drain(rig.context, 60000000000));
    for (int k = 0; k < 3; k++) {
        assert_true(*buffers[k] == 59049); /* 3^10 */
        host->queue_free(queues[k]);
        host->arena_free(rig.context, k + 1, buffers[k], 4);
    }
    rig_close(&rig);
}

/* Meetings of different groups that share queues: all come in the order of submission. */
static void overlapping_groups_do_not_lock_up(void **state)
{
    (void)state;
    struct rig rig = rig_open(host, 0);
    struct mgb_queue *queues[4], *backwards[4];
    float *buffers[4];
    for (int k = 0; k < 4; k++) {
        queues[k] = backwards[3 - k] = rig_compute(&rig, k + 1, 1);
        buffers[k] = rig_arena(&rig, k + 1, 4);
        *buffers[k] = 1;
    }
    float *turned[4] = {buffers[3], buffers[2], buffers[1], buffers[0]};
    for (int i = 0; i < 8; i++) {
        assert_ok(host->allreduce(queues, buffers, 2, 1, MGB_ALLREDUCE_AUTO));
        assert_ok(host->allreduce(queues + 2, buffers + 2, 2, 1, MGB_ALLREDUCE_AUTO));
        assert_ok(host->allreduce(backwards, turned, 4, 1, MGB_ALLREDUCE_AUTO));
    }
    assert_ok(host->drain(rig.context, 60000000000));
    for (int k = 0; k < 4; k++) {
        assert_true(*buffers[k] == 16777216); /* 8^8 */
        host->queue_free(queues[k]);
        host->arena_free(rig.context, k + 1, buffers[k], 4);
    }
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sum_has_the_bits_of_a_reduce_in_tower_order),
        cmocka_unit_test(a_tree_adds_in_its_own_order_and_agrees_with_the_ring),
        cmocka_unit_test(numbers_of_16_bits_are_added_in_f32),
        cmocka_unit_test(more_collectives_than_places_are_all_done),
        cmocka_unit_test(overlapping_groups_do_not_lock_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
