/* Products in TF32, bf16 and f16: operands rounded as stated and nothing else, in every operator that multiplies, at every place
 * the same bits. */
#include "tests/engine/cuda/machine.h"

#include "engine/base/half.h"
#include "engine/base/random.h"
#include "engine/cuda/product.h"
#include "engine/cuda/queue.h"
#include "tests/support/check.h"
#include "tests/support/conformance.h"
#include "tests/support/draws.h"
#include "tests/support/model.h"
#include "tests/support/training.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAIN_NS 60000000000
#define ROOM 2048 /* numbers of an operand */

static const char *const names[] = {"f32", "tf32", "bf16", "f16"};

static float rounded(float value, enum mgb_precision precision)
{
    uint32_t bits = mgb_bits_of_f32(value);
    switch (precision) {
    case MGB_PRECISION_F32:
        break;
    case MGB_PRECISION_TF32: /* ten bits of mantissa */
        return mgb_f32_of_bits((bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu);
    case MGB_PRECISION_BF16:
        return mgb_f32_of_bf16(mgb_bf16_of_f32(value));
    case MGB_PRECISION_F16:
        return mgb_f32_of_f16(mgb_f16_of_f32(value));
    }
    return value;
}

struct area { /* on the GPU */
    float a[ROOM], b[ROOM], c[ROOM];
    char narrow[4 * ROOM * 8];
};

static int draw(int number, int stream, int below)
{
    uint32_t bits = mgb_random_at(7, (uint64_t)stream, (uint64_t)number).v[0];
    return (int)mgb_random_below(bits, (uint32_t)below);
}

static void numbers_fill(float *to, int stream)
{
    for (int i = 0; i < ROOM; i++)
        to[i] = 2.0f * mgb_random_unit(mgb_random_at(8, (uint64_t)i, (uint64_t)stream).v[0]) - 1.0f;
}

/* Rows and columns of an operand as stored, perhaps with gaps; from an odd address now and then. */
static struct mgb_cuda_matrix matrix_draw(int number, int stream, int64_t rows, int64_t columns)
{
    struct mgb_cuda_matrix matrix = {.transposed = draw(number, stream, 2)};
    int64_t lines = matrix.transposed ? columns : rows, width = matrix.transposed ? rows : columns;
    matrix.ld = width + draw(number, stream + 1, 3);
    matrix.stride = draw(number, stream + 2, 4) ? lines * matrix.ld + 1 : 0;
    return matrix;
}

static double element(const struct mgb_cuda_matrix *m, const float *data, int64_t k, int64_t row,
                      int64_t column, enum mgb_precision precision)
{
    int64_t at = m->transposed ? column * m->ld + row : row * m->ld + column;
    return (double)rounded(data[k * m->stride + at], precision);
}

static void product_check(const struct mgb_cuda_product *p, const float *a, const float *b,
                          const float *before, const float *c, enum mgb_precision precision)
{
    for (int64_t k = 0; k < p->batch; k++)
        for (int64_t i = 0; i < p->m; i++)
            for (int64_t j = 0; j < p->n; j++) {
                int64_t at = k * p->stride_c + i * p->ldc + j;
                double sum = (double)p->beta * (double)before[at];
                for (int64_t l = 0; l < p->k; l++)
                    sum += (double)p->alpha * element(&p->a, a, k, i, l, precision) *
                           element(&p->b, b, k, l, j, precision);
                if (!(fabs(sum - (double)c[at]) <= 1e-5)) /* a cast amiss is 1e-4 at least */
                    fail_msg("%s: %.9g is %.9g", names[precision], sum, (double)c[at]);
            }
}

static void product_try(const struct rig *rig, struct area *area, struct mgb_queue *queue,
                        int number, enum mgb_precision precision)
{
    static struct area before, after;
    struct mgb_cuda_product p = {.m = 1 + draw(number, 0, 9),
                                 .n = 1 + draw(number, 1, 9),
                                 .k = 1 + draw(number, 2, 17),
                                 .batch = 1 + draw(number, 3, 3),
                                 .alpha = 0.5f,
                                 .beta = (float)draw(number, 4, 2)};
    int odd = draw(number, 5, 2);
    p.a = matrix_draw(number, 6, p.m, p.k);
    p.b = matrix_draw(number, 9, p.k, p.n);
    p.b_stays = draw(number, 12, 2);
    p.ldc = p.n + 1;
    p.stride_c = p.m * p.ldc;
    p.a.data = area->a + odd;
    p.b.data = area->b;
    p.c = area->c;
    numbers_fill(before.a, 3 * number);
    numbers_fill(before.b, 3 * number + 1);
    numbers_fill(before.c, 3 * number + 2);
    assert_ok(rig->backend->write(rig->context, 1, area, &before, offsetof(struct area, narrow)));
    queue->arithmetic = (struct mgb_cuda_arithmetic){
        .precision = precision, .narrow = area->narrow, .bytes = sizeof area->narrow};
    assert_ok(mgb_cuda_begin(queue, "a product"));
    assert_ok(mgb_cuda_multiply(queue, &p));
    assert_ok(rig->backend->copy(queue, area->c, area->c, 0));
    assert_ok(rig->backend->drain(rig->context, DRAIN_NS));
    assert_ok(rig->backend->read(rig->context, 1, &after, area, offsetof(struct area, narrow)));
    product_check(&p, before.a + odd, before.b, before.c, after.c, precision);
}

static void operands_are_rounded_to_nearest_and_sums_are_f32(void **state)
{
    (void)state;
    machine_set("1", NULL);
    struct rig rig = rig_open(machine_cuda(), 0);
    struct area *area = rig_arena(&rig, 1, sizeof *area);
    struct mgb_queue *queue = rig_compute(&rig, 1, 1);
    for (int number = 0; number < draw_count(15, 400); number++)
        for (int precision = 0; precision < 4; precision++)
            product_try(&rig, area, queue, number, (enum mgb_precision)precision);
    rig.backend->queue_free(queue);
    rig.backend->arena_free(rig.context, 1, area, sizeof *area);
    rig_close(&rig);
    machine_check_empty();
}

static void an_operand_that_stays_is_narrowed_once_until_another_comes(void **state)
{
    (void)state;
    static struct area host;
    machine_set("1", NULL);
    struct rig rig = rig_open(machine_cuda(), 0);
    struct area *area = rig_arena(&rig, 1, sizeof *area);
    struct mgb_queue *queue = rig_compute(&rig, 1, 1);
    struct mgb_cuda_product p = {.a = {.data = area->a, .ld = 8},
                                 .b = {.data = area->b, .ld = 8},
                                 .ldc = 8,
                                 .m = 8,
                                 .n = 8,
                                 .k = 8,
                                 .batch = 1,
                                 .alpha = 1,
                                 .b_stays = true};
    numbers_fill(host.a, 1);
    numbers_fill(host.b, 2);
    assert_ok(rig.backend->write(rig.context, 1, area, &host, offsetof(struct area, narrow)));
    queue->arithmetic = (struct mgb_cuda_arithmetic){
        .precision = MGB_PRECISION_F16, .narrow = area->narrow, .bytes = sizeof area->narrow};
    assert_ok(mgb_cuda_begin(queue, "products"));
    for (int i = 0; i < 6; i++) { /* b, b, another, b, b of another operator, b */
        p.b.data = area->b + (i == 2 ? 64 : 0);
        p.b_stays = i != 4;
        p.c = area->c + 64 * i;
        assert_ok(mgb_cuda_multiply(queue, &p));
    }
    assert_ok(rig.backend->drain(rig.context, DRAIN_NS));
    assert_ok(rig.backend->read(rig.context, 1, &host, area, offsetof(struct area, narrow)));
    for (int i = 0; i < 6; i++)
        product_check(&p, host.a, host.b + (i == 2 ? 64 : 0), host.c, host.c + 64 * i,
                      MGB_PRECISION_F16);
    queue->arithmetic.bytes = 64;
    assert_status(mgb_cuda_multiply(queue, &p), MGB_STATE);
    assert_message("its workspace has 64");
    rig.backend->queue_free(queue);
    rig.backend->arena_free(rig.context, 1, area, sizeof *area);
    rig_close(&rig);
    machine_check_empty();
}

static void room_for_cublas_is_as_large_as_the_operands_in_f32_between_two_bounds(void **state)
{
    (void)state;
    for (int number = 0; number < 200; number++) {
        int64_t narrow = (int64_t)draw(number, 0, 1 << 26) >> draw(number, 1, 20);
        const char *capability = draw(number, 2, 2) ? "9.0" : "8.6";
        int64_t most = (int64_t)(*capability == '9' ? 32 : 4) << 20;
        int64_t room = mgb_cuda_blas_room(capability, narrow), bytes = room - 192; /* to align */
        assert_int_equal(room % 64, 0);
        assert_in_range(bytes, 16 << 10, most);
        assert_true(bytes == most || bytes >= 2 * narrow);
        assert_true(bytes == 16 << 10 || bytes < 2 * narrow + 256);
    }
    assert_int_equal(mgb_cuda_blas_room("10.0", INT64_MAX / 4), (32 << 20) + 192);
}

static void a_queue_takes_no_memory_for_products(void **state)
{
    (void)state;
    size_t before, after, total;
    machine_set("1", NULL);
    struct rig rig = rig_open(machine_cuda(), 0);
    struct mgb_queue *first = rig_compute(&rig, 1, 1);
    assert_int_equal(cudaMemGetInfo(&before, &total), cudaSuccess);
    struct mgb_queue *queue = rig_compute(&rig, 1, 1);
    assert_int_equal(cudaMemGetInfo(&after, &total), cudaSuccess);
    assert_in_range(before - after, 0, MGB_CUDA_SCRATCH * sizeof(double));
    rig.backend->queue_free(queue);
    rig.backend->queue_free(first);
    rig_close(&rig);
    machine_check_empty();
}

static const struct {
    enum mgb_op_kind kind;
    const char *name;
} multiplying[] = {
    {MGB_OP_DENSE, "dense"},
    {MGB_OP_DENSE_GRAD_X, "dense_grad_x"},
    {MGB_OP_DENSE_GRAD_W, "dense_grad_w"},
    {MGB_OP_CONV2D, "conv2d"},
    {MGB_OP_CONV2D_GRAD_X, "conv2d_grad_x"},
    {MGB_OP_CONV2D_GRAD_W, "conv2d_grad_w"},
    {MGB_OP_MATMUL, "matmul"},
    {MGB_OP_ATTENTION, "attention"},
    {MGB_OP_ATTENTION_GRAD, "attention_grad"},
    {MGB_OP_LSTM, "lstm"},
    {MGB_OP_LSTM_GRAD, "lstm_grad"},
    {MGB_OP_GRU, "gru"},
    {MGB_OP_GRU_GRAD, "gru_grad"},
};
#define MULTIPLYING (sizeof multiplying / sizeof multiplying[0])

static void values_compare(const struct reference *reference, const char *model,
                           const struct rig_values *exact, const struct rig_values *values,
                           enum mgb_precision precision, bool moved[MULTIPLYING])
{
    static const double most[] = {0, 0.02, 0.1,
                                  0.02}; /* tens of roundings, gradients that nearly cancel */
    const struct mgb_graph *graph = reference->graph;
    bool part = conformance_parts(reference, exact, values);
    for (int n = 0; n < graph->node_count; n++) {
        const struct mgb_node *node = &graph->nodes[n];
        double apart = conformance_distance(reference, node, values, exact);
        double limit = part && node->section != MGB_SECTION_FORWARD ? 0.5 : most[precision];
        if (node->kind != MGB_OP_MAX_POOL2D && !(apart <= limit))
            fail_msg("%s in %s: %s '%s' is off by %.3g", model, names[precision],
                     mgb_op_name(node->kind), node->name, apart);
        for (size_t i = 0; i < MULTIPLYING; i++)
            moved[i] = moved[i] || (multiplying[i].kind == node->kind && apart > 1e-6);
    }
}

static void model_compare(const struct rig *rig, const struct conformance_model *model,
                          bool moved[4][MULTIPLYING])
{
    struct mgb_graph *graph = model->make();
    struct reference reference = reference_make(graph, 3);
    struct rig_values exact = {0};
    struct rig_play play = {.device = 1, .threads = 1, .plain = true};
    reference_fill(&reference, 42);
    assert_ok(rig_run(&exact, rig, &reference, &play));
    for (int precision = 1; precision < 4; precision++) {
        struct rig_values values = {0};
        play.precision = (enum mgb_precision)precision;
        assert_ok(rig_run(&values, rig, &reference, &play));
        values_compare(&reference, model->name, &exact, &values, play.precision, moved[precision]);
        rig_values_free(&values);
    }
    rig_values_free(&exact);
    reference_free(&reference);
    mgb_graph_free(graph);
}

static bool is_wanted(const char *model)
{
    static const char *const wanted[] = {"conv_groups", "attention", "matrices", "lstm", "gru"};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (strcmp(wanted[i], model) == 0)
            return true;
    return false;
}

static void every_operator_that_multiplies_does_so_in_each_precision(void **state)
{
    (void)state;
    machine_set("1", NULL);
    struct rig rig = rig_open(machine_cuda(), 0);
    bool moved[4][MULTIPLYING] = {{false}};
    for (int i = 0; i < conformance_model_count; i++)
        if (is_wanted(conformance_models[i].name))
            model_compare(&rig, &conformance_models[i], moved);
    for (int precision = 1; precision < 4; precision++)
        for (size_t i = 0; i < MULTIPLYING; i++)
            if (!moved[precision][i])
                fail_msg("%s in %s has the bits of f32", multiplying[i].name, names[precision]);
    rig_close(&rig);
    machine_check_empty();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_are_rounded_to_nearest_and_sums_are_f32),
        cmocka_unit_test(an_operand_that_stays_is_narrowed_once_until_another_comes),
        cmocka_unit_test(room_for_cublas_is_as_large_as_the_operands_in_f32_between_two_bounds),
        cmocka_unit_test(a_queue_takes_no_memory_for_products),
        cmocka_unit_test(every_operator_that_multiplies_does_so_in_each_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
