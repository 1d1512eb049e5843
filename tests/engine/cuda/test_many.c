/* Work on many tensors at once: few launches, and the bits of the CPU whatever the tensors' sizes and places. */
#include "tests/engine/cuda/machine.h"

#include "tests/fake_cuda/fake_cuda.h"
#include "tests/support/check.h"
#include "tests/support/rig.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TENSORS 205
#define PLACES (3 << 17)

/* Weights, gradients and two slots, of which tensors are parts. */
struct area {
    float array[4][PLACES], norms[TENSORS], clip;
};

static struct rig rig;
static struct mgb_queue *gpu;
static struct area *far;
static struct area near, got;
static int64_t counts[TENSORS], offset[TENSORS];

/* Sizes around those of pieces, none and one among them; every third tensor begins where no sixteen bytes do. */
static void tensors_make(void)
{
    static const int64_t sizes[] = {0, 1, 3, 4, 17, 256, 2047, 2048, 2049, 4096, 4100, 64, 8193, 0};
    int64_t at = 0;
    for (int k = 0; k < TENSORS; k++) {
        counts[k] = sizes[k % 14];
        at = (at + 15) / 16 * 16 + (k % 3 == 0 ? k % 4 : 0);
        offset[k] = at;
        at += counts[k];
    }
    assert_true(at <= PLACES);
}

static void area_fill(void)
{
    unsigned x = 1;
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < PLACES; i++) {
            x = x * 1664525u + 1013904223u;
            near.array[k][i] =
                (float)(x >> 8) / (k < 2 ? 8388608.0f : 16777216.0f) - (k < 2 ? 1 : 0);
        }
    near.clip = 0.75f;
    assert_ok(rig.backend->write(rig.context, 1, far, &near, sizeof near));
}

static int machine_begin(void **state)
{
    (void)state;
    machine_set("1", NULL);
    rig = rig_open(machine_cuda(), 0);
    gpu = rig_compute(&rig, 1, 1);
    far = rig_arena(&rig, 1, sizeof *far);
    tensors_make();
    return 0;
}

static int machine_end(void **state)
{
    (void)state;
    rig.backend->queue_free(gpu);
    rig.backend->arena_free(rig.context, 1, far, sizeof *far);
    rig_close(&rig);
    return fake_cuda_live();
}

static void area_read(void)
{
    assert_ok(rig.backend->drain(rig.context, 0));
    assert_ok(rig.backend->read(rig.context, 1, &got, far, sizeof got));
}

static void items_make(struct mgb_update_item *items, struct area *area, int slots)
{
    for (int k = 0; k < TENSORS; k++)
        items[k] =
            (struct mgb_update_item){.weight = area->array[0] + offset[k],
                                     .gradient = area->array[1] + offset[k],
                                     .slots = {slots > 0 ? area->array[2] + offset[k] : NULL,
                                               slots > 1 ? area->array[3] + offset[k] : NULL},
                                     .count = counts[k]};
}

/* Places between tensors stay as they are, too. */
static void update_check(const struct mgb_optimizer *optimizer, const float *momentum, bool clips)
{
    static struct mgb_update_item here[TENSORS], there[TENSORS];
    struct mgb_step_values values = {.lr = optimizer->lr, .updates = 4};
    int slots = momentum ? 0 : mgb_optimizer_slots(optimizer);
    area_fill();
    items_make(here, &near, slots);
    items_make(there, far, slots);
    struct mgb_update update = {.optimizer = optimizer,
                                .items = here,
                                .item_count = TENSORS,
                                .clip = clips ? &near.clip : NULL,
                                .momentum = momentum,
                                .values = &values};
    mgb_host_cpu_kernels.update(&update);
    update.items = there;
    update.clip = clips ? &far->clip : NULL;
    long before = fake_cuda_calls("cudaLaunchKernel");
    assert_ok(rig.backend->update(gpu, &update));
    assert_int_equal(fake_cuda_calls("cudaLaunchKernel") - before, 3);
    area_read();
    assert_memory_equal(got.array, near.array, sizeof got.array);
}

static void updates_of_many_tensors_take_three_launches_and_have_the_bits_of_the_cpu(void **state)
{
    (void)state;
    for (int kind = MGB_SGD; kind <= MGB_ADAM; kind++) {
        struct mgb_optimizer optimizer = mgb_optimizer_default((enum mgb_optimizer_kind)kind);
        update_check(&optimizer, NULL, kind % 2 == 0);
    }
    struct mgb_optimizer sgd = mgb_optimizer_default(MGB_SGD);
    sgd.momentum = 0.9f;
    update_check(&sgd, NULL, true);
    sgd.nesterov = true;
    update_check(&sgd, NULL, false);
}

static void statistics_move_as_on_the_cpu(void **state)
{
    (void)state;
    struct mgb_optimizer adam = mgb_optimizer_default(MGB_ADAM);
    const float momentum = 0.99f;
    update_check(&adam, &momentum, false);
}

static void an_update_of_nothing_launches_nothing(void **state)
{
    (void)state;
    struct mgb_optimizer sgd = mgb_optimizer_default(MGB_SGD);
    struct mgb_step_values values = {.lr = 1};
    struct mgb_update_item empty[2] = {{.weight = far->array[0], .gradient = far->array[1]},
                                       {.weight = far->array[0], .gradient = far->array[1]}};
    struct mgb_update update = {
        .optimizer = &sgd, .items = empty, .item_count = 2, .values = &values};
    long before = fake_cuda_calls("cudaLaunchKernel");
    assert_ok(rig.backend->update(gpu, &update));
    update.item_count = 0;
    assert_ok(rig.backend->update(gpu, &update));
    assert_int_equal(fake_cuda_calls("cudaLaunchKernel"), before);
}

static void norms_of_many_tensors_have_the_bits_of_the_cpu(void **state)
{
    (void)state;
    const float *here[TENSORS], *there[TENSORS];
    area_fill();
    for (int k = 0; k < TENSORS; k++) {
        here[k] = near.array[1] + offset[k];
        there[k] = far->array[1] + offset[k];
    }
    mgb_host_cpu_kernels.norm(near.norms, here, counts, TENSORS);
    long before = fake_cuda_calls("cudaLaunchKernel");
    assert_ok(rig.backend->norm(gpu, far->norms, there, counts, TENSORS));
    assert_int_equal(fake_cuda_calls("cudaLaunchKernel") - before, 4);
    area_read();
    assert_memory_equal(got.norms, near.norms, sizeof got.norms);
}

/* More pieces than a queue keeps sums of: a tensor goes on in the next launch. */
static void a_norm_goes_on_where_its_launch_ended(void **state)
{
    (void)state;
    enum { PIECES = PLACES / 4096 };
    const float *there[TENSORS], *here[1] = {near.array[0]};
    int64_t all[TENSORS], one[1] = {4 * PLACES};
    float wanted;
    area_fill();
    for (int k = 0; k < TENSORS; k++) {
        there[k] = far->array[0];
        all[k] = 4 * PLACES;
    }
    int sources = 16384 / (4 * PIECES) + 2;
    mgb_host_cpu_kernels.norm(&wanted, here, one, 1);
    assert_ok(rig.backend->norm(gpu, far->norms, there, all, sources));
    area_read();
    for (int k = 0; k < sources; k++)
        assert_memory_equal(&got.norms[k], &wanted, sizeof wanted);
}

/* As many sources as take two launches; their sum is carried over. */
static void clipping_by_many_sources_has_the_bits_of_the_cpu(void **state)
{
    (void)state;
    enum { SOURCES = 300 };
    const float *here[SOURCES], *there[SOURCES];
    int64_t sizes[SOURCES];
    area_fill();
    for (int k = 0; k < SOURCES; k++) {
        here[k] = near.array[2] + 7 * k;
        there[k] = far->array[2] + 7 * k;
        sizes[k] = k == 5 ? 700 : k % 9;
    }
    static const struct mgb_clip limits[] = {{11.5f, 0}, {11.5f, 4}, {INFINITY, 1024}};
    for (int i = 0; i < 3; i++) {
        float wanted;
        mgb_host_cpu_kernels.clip(&wanted, here, sizes, SOURCES, limits[i]);
        assert_true(wanted > 0 && wanted < 1);
        long before = fake_cuda_calls("cudaLaunchKernel");
        assert_ok(rig.backend->clip(gpu, &far->clip, there, sizes, SOURCES, limits[i]));
        assert_int_equal(fake_cuda_calls("cudaLaunchKernel") - before, 2);
        area_read();
        assert_memory_equal(&got.clip, &wanted, sizeof wanted);
    }
}

/* A scale goes out of the factor, whether there is something to clip or not; without one, a sum may be what it likes. */
static void a_sum_that_is_not_finite_makes_a_scaled_update_stand_still(void **state)
{
    (void)state;
    static const float sums[] = {4, INFINITY, NAN};
    static const struct mgb_clip scaled = {1, 8}, unscaled = {1, 0};
    float weights[] = {1, 2}, gradients[] = {3, INFINITY};
    int64_t one = 1;
    for (int i = 0; i < 3; i++) {
        const float *here = &sums[i], *there = far->norms;
        float wanted;
        mgb_host_cpu_kernels.clip(&wanted, &here, &one, 1, scaled);
        assert_true(wanted == (i == 0 ? 0.125f : -1));
        assert_ok(rig.backend->write(rig.context, 1, far->norms, &sums[i], sizeof sums[i]));
        assert_ok(rig.backend->clip(gpu, &far->clip, &there, &one, 1, scaled));
        area_read();
        assert_memory_equal(&got.clip, &wanted, sizeof wanted);
        mgb_host_cpu_kernels.clip(&wanted, &here, &one, 1, unscaled);
        assert_true(wanted >= 0);
    }
    struct mgb_optimizer optimizer = {.kind = MGB_SGD};
    struct mgb_step_values values = {.lr = 1};
    float skip = -1;
    struct mgb_update_item item = {.weight = weights, .gradient = gradients, .count = 2};
    struct mgb_update update = {
        .optimizer = &optimizer, .items = &item, .item_count = 1, .clip = &skip, .values = &values};
    mgb_host_cpu_kernels.update(&update);
    assert_true(weights[0] == 1 && weights[1] == 2);
    assert_ok(rig.backend->write(rig.context, 1, far->array[0], weights, sizeof weights));
    assert_ok(rig.backend->write(rig.context, 1, far->array[1], gradients, sizeof gradients));
    assert_ok(rig.backend->write(rig.context, 1, &far->clip, &skip, sizeof skip));
    item.weight = far->array[0];
    item.gradient = far->array[1];
    update.clip = &far->clip;
    assert_ok(rig.backend->update(gpu, &update));
    area_read();
    assert_memory_equal(got.array[0], weights, sizeof weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_of_many_tensors_take_three_launches_and_have_the_bits_of_the_cpu),
        cmocka_unit_test(statistics_move_as_on_the_cpu),
        cmocka_unit_test(an_update_of_nothing_launches_nothing),
        cmocka_unit_test(norms_of_many_tensors_have_the_bits_of_the_cpu),
        cmocka_unit_test(a_norm_goes_on_where_its_launch_ended),
        cmocka_unit_test(clipping_by_many_sources_has_the_bits_of_the_cpu),
        cmocka_unit_test(a_sum_that_is_not_finite_makes_a_scaled_update_stand_still),
    };
    return cmocka_run_group_tests(tests, machine_begin, machine_end);
}
