/* Sums, norms, clipping and updates on a GPU give the bits of the CPU, and work of /cpu:0 keeps its place in the stream. */
#include "tests/engine/cuda/machine.h"

#include "tests/fake_cuda/fake_cuda.h"
#include "tests/support/check.h"
#include <string.h>

#define COUNT 9000 /* more than two chunks of a norm */
#define SOURCES 19 /* more than one launch */

static struct mgb_topology topology;
static void *context;
static const struct mgb_backend *cuda;
static struct mgb_queue *gpu, *cpu;
static char *base[2]; /* /cpu:0 and /gpu:0 */
static float values[SOURCES][COUNT];

#define ARENA (4 << 20)

static int machine_begin(void **state)
{
    (void)state;
    struct mgb_backend_options options = {0};
    struct mgb_queue_request on_cpu = {.use = MGB_USE_COMPUTE, .threads = 1};
    struct mgb_queue_request on_gpu = {.use = MGB_USE_COMPUTE, .device = 1};
    machine_set("1", NULL);
    cuda = machine_cuda();
    assert_ok(cuda->probe(&topology));
    assert_ok(cuda->open(&context, &topology, &options));
    for (int i = 0; i < 2; i++)
        assert_ok(cuda->arena_make(context, (void **)&base[i], i, ARENA));
    assert_ok(cuda->queue_make(context, &cpu, &on_cpu));
    assert_ok(cuda->queue_make(context, &gpu, &on_gpu));
    unsigned x = 1;
    for (int k = 0; k < SOURCES; k++)
        for (int i = 0; i < COUNT; i++) {
            x = x * 1664525u + 1013904223u;
            values[k][i] = (float)(x >> 8) / 8388608.0f - 1.0f;
        }
    return 0;
}

static int machine_end(void **state)
{
    (void)state;
    cuda->queue_free(cpu);
    cuda->queue_free(gpu);
    for (int i = 0; i < 2; i++)
        cuda->arena_free(context, i, base[i], ARENA);
    cuda->close(context);
    mgb_topology_done(&topology);
    return fake_cuda_live();
}

static float *gpu_values(int k)
{
    float *at = (float *)(base[1] + (size_t)k * COUNT * sizeof(float));
    assert_ok(cuda->write(context, 1, at, values[k % SOURCES], sizeof values[0]));
    return at;
}

static float *gpu_room(int k)
{
    return (float *)(base[1] + (size_t)k * COUNT * sizeof(float));
}

static void sum_of_many_sources_has_the_bits_of_the_cpu(void **state)
{
    (void)state;
    static float wanted[COUNT], got[COUNT];
    const float *near[SOURCES], *far[SOURCES];
    for (int k = 0; k < SOURCES; k++) {
        near[k] = values[k];
        far[k] = gpu_values(k);
    }
    mgb_host_cpu_kernels.reduce(wanted, near, SOURCES, COUNT);
    assert_ok(cuda->reduce(gpu, gpu_room(0), far, SOURCES, COUNT)); /* into the first source */
    assert_ok(cuda->drain(context, 0));
    assert_ok(cuda->read(context, 1, got, gpu_room(0), sizeof got));
    assert_memory_equal(got, wanted, sizeof got);
}

static void norm_and_clip_have_the_bits_of_the_cpu(void **state)
{
    (void)state;
    const float *near[2] = {values[0], values[1]}, *far[2] = {gpu_values(0), gpu_values(1)};
    int64_t counts[2] = {COUNT, 5000}, ones[1] = {2};
    float wanted[2], got[2], wanted_clip, got_clip;
    float *norms = gpu_room(3), *clip = gpu_room(4);
    const float *of_cpu[1] = {wanted}, *of_gpu[1] = {norms};
    mgb_host_cpu_kernels.norm(wanted, near, counts, 2);
    mgb_host_cpu_kernels.clip(&wanted_clip, of_cpu, ones, 1, (struct mgb_clip){.norm = 2.5f});
    assert_ok(cuda->norm(gpu, norms, far, counts, 2));
    assert_ok(cuda->clip(gpu, clip, of_gpu, ones, 1, (struct mgb_clip){.norm = 2.5f}));
    assert_ok(cuda->drain(context, 0));
    assert_ok(cuda->read(context, 1, got, norms, sizeof got));
    assert_ok(cuda->read(context, 1, &got_clip, clip, sizeof got_clip));
    assert_memory_equal(got, wanted, sizeof got);
    assert_memory_equal(&got_clip, &wanted_clip, sizeof got_clip);
    assert_true(got_clip < 1.0f);
}

static void update_has_the_bits_of_the_cpu(const struct mgb_optimizer *optimizer)
{
    static float weight[COUNT], slots[2][COUNT], got[COUNT];
    struct mgb_step_values now = {.lr = optimizer->lr, .updates = 4};
    float *rooms[4];
    for (int k = 0; k < 4; k++)
        rooms[k] = gpu_values(k);
    memcpy(weight, values[0], sizeof weight);
    for (int k = 0; k < 2; k++) { /* slots hold squares in most optimizers */
        for (int i = 0; i < COUNT; i++)
            slots[k][i] = values[k + 2][i] * values[k + 2][i];
        assert_ok(cuda->write(context, 1, rooms[k + 2], slots[k], sizeof slots[k]));
    }
    int used = mgb_optimizer_slots(optimizer);
    struct mgb_update_item near = {
        weight, values[1], {used > 0 ? slots[0] : NULL, used > 1 ? slots[1] : NULL}, COUNT};
    struct mgb_update_item far = {
        rooms[0], rooms[1], {used > 0 ? rooms[2] : NULL, used > 1 ? rooms[3] : NULL}, COUNT};
    struct mgb_update on_cpu = {
        .optimizer = optimizer, .items = &near, .item_count = 1, .values = &now};
    struct mgb_update on_gpu = {
        .optimizer = optimizer, .items = &far, .item_count = 1, .values = &now};
    mgb_host_cpu_kernels.update(&on_cpu);
    assert_ok(cuda->update(gpu, &on_gpu));
    assert_ok(cuda->drain(context, 0));
    assert_ok(cuda->read(context, 1, got, rooms[0], sizeof got));
    assert_memory_equal(got, weight, sizeof got);
    for (int k = 0; k < used; k++) {
        assert_ok(cuda->read(context, 1, got, rooms[k + 2], sizeof got));
        assert_memory_equal(got, slots[k], sizeof got);
    }
}

static void updates_have_the_bits_of_the_cpu(void **state)
{
    (void)state;
    static const enum mgb_optimizer_kind kinds[] = {MGB_SGD, MGB_RMSPROP, MGB_ADAGRAD, MGB_ADADELTA,
                                                    MGB_ADAM};
    for (int i = 0; i < 5; i++) {
        struct mgb_optimizer optimizer = mgb_optimizer_default(kinds[i]);
        update_has_the_bits_of_the_cpu(&optimizer);
    }
    struct mgb_optimizer sgd = mgb_optimizer_default(MGB_SGD);
    sgd.momentum = 0.9f;
    update_has_the_bits_of_the_cpu(&sgd);
    sgd.nesterov = true;
    update_has_the_bits_of_the_cpu(&sgd);
}

static void casts_have_the_bits_of_the_cpu(void **state)
{
    (void)state;
    static float wanted[COUNT], got[COUNT];
    static uint16_t wanted_half[COUNT], got_half[COUNT];
    for (int t = 0; t < 2; t++) {
        enum mgb_wire_type type = t ? MGB_WIRE_BF16 : MGB_WIRE_F16;
        float *x = gpu_values(0), *half = gpu_room(1), *wide = gpu_room(2);
        mgb_host_cpu_kernels.cast(wanted_half, values[0], COUNT, type, MGB_CAST_NARROW);
        mgb_host_cpu_kernels.cast(wanted, wanted_half, COUNT, type, MGB_CAST_WIDEN);
        assert_ok(cuda->cast(gpu, half, x, COUNT, type, MGB_CAST_NARROW));
        assert_ok(cuda->cast(gpu, wide, half, COUNT, type, MGB_CAST_WIDEN));
        assert_ok(cuda->cast(gpu, x, x, COUNT, type, MGB_CAST_ROUND));
        assert_ok(cuda->drain(context, 0));
        assert_ok(cuda->read(context, 1, got_half, half, sizeof got_half));
        assert_memory_equal(got_half, wanted_half, sizeof got_half);
        assert_ok(cuda->read(context, 1, got, wide, sizeof got));
        assert_memory_equal(got, wanted, sizeof got);
        assert_ok(cuda->read(context, 1, got, x, sizeof got));
        assert_memory_equal(got, wanted, sizeof got);
        memcpy(base[0], values[0], sizeof values[0]);
        assert_ok(cuda->cast(cpu, base[0], base[0], COUNT, type, MGB_CAST_ROUND));
        assert_ok(cuda->drain(context, 0));
        assert_memory_equal(base[0], wanted, sizeof wanted);
    }
}

/* fill, sum, copy and sum again on /cpu:0, enqueued at once. */
static void work_of_the_cpu_runs_in_stream_order(void **state)
{
    (void)state;
    float *a = (float *)base[0], *b = a + COUNT, *c = b + COUNT;
    const float *first[2] = {a, b}, *second[2] = {c, a};
    memcpy(a, values[0], sizeof values[0]);
    memset(b, 0x7f, sizeof values[0]);
    assert_ok(cuda->fill(cpu, b, sizeof values[0]));
    assert_ok(cuda->reduce(cpu, b, first, 2, COUNT));
    assert_ok(cuda->copy(cpu, c, b, sizeof values[0]));
    assert_ok(cuda->reduce(cpu, b, second, 2, COUNT));
    assert_ok(cuda->drain(context, 0));
    for (int i = 0; i < COUNT; i++)
        assert_true(b[i] == values[0][i] + values[0][i]);
}

static void wait_for_what_was_never_recorded_waits_for_nothing(void **state)
{
    (void)state;
    struct mgb_event *event;
    assert_ok(cuda->event_make(context, &event, 1));
    assert_ok(cuda->wait(gpu, event));
    assert_ok(cuda->drain(context, 0));
    cuda->event_free(event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sum_of_many_sources_has_the_bits_of_the_cpu),
        cmocka_unit_test(norm_and_clip_have_the_bits_of_the_cpu),
        cmocka_unit_test(casts_have_the_bits_of_the_cpu),
        cmocka_unit_test(updates_have_the_bits_of_the_cpu),
        cmocka_unit_test(work_of_the_cpu_runs_in_stream_order),
        cmocka_unit_test(wait_for_what_was_never_recorded_waits_for_nothing),
    };
    return cmocka_run_group_tests(tests, machine_begin, machine_end);
}
