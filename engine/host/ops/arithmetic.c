/* Sum, difference, product and quotient of two operands that fit each other as in numpy. Operands of one shape run over
 * whatever layout they have; else they are plain, and axes on which both lie alike are taken as one. */
#include "engine/host/ops/ops.h"

#include "engine/base/memory.h"
#include "engine/base/parallel.h"
#include "engine/host/ops/spread.h"
#include "engine/host/simd.h"

#define GRAIN 16384 /* elements */

struct arithmetic_work {
    enum mgb_op_kind kind;
    float *y;
    const float *a, *b;
    struct mgb_spread spread;
};

/* y[i] = a[i * sa] op b[i * sb], where sa and sb are 0 or 1 and not both 0 unless count is 1. */
#define PASSES(op)                                                                                 \
    if (sa == 0) {                                                                                 \
        float left = a[0];                                                                         \
        MGB_EACH                                                                                   \
        for (int64_t i = 0; i < count; i++)                                                        \
            y[i] = left op b[i];                                                                   \
    } else if (sb == 0) {                                                                          \
        float right = b[0];                                                                        \
        MGB_EACH                                                                                   \
        for (int64_t i = 0; i < count; i++)                                                        \
            y[i] = a[i] op right;                                                                  \
    } else {                                                                                       \
        MGB_EACH                                                                                   \
        for (int64_t i = 0; i < count; i++)                                                        \
            y[i] = a[i] op b[i];                                                                   \
    }

MGB_SIMD static void stretch_add(float *y, const float *a, int64_t sa, const float *b, int64_t sb,
                                 int64_t count){PASSES(+)}

MGB_SIMD static void stretch_sub(float *y, const float *a, int64_t sa, const float *b, int64_t sb,
                                 int64_t count){PASSES(-)}

MGB_SIMD static void stretch_mul(float *y, const float *a, int64_t sa, const float *b, int64_t sb,
                                 int64_t count){PASSES(*)}

MGB_SIMD static void stretch_div(float *y, const float *a, int64_t sa, const float *b, int64_t sb,
                                 int64_t count)
{
    PASSES(/)
}

typedef void stretch_function(float *y, const float *a, int64_t sa, const float *b, int64_t sb,
                              int64_t count);

static stretch_function *function_of(enum mgb_op_kind kind)
{
    return kind == MGB_OP_SUB   ? stretch_sub
           : kind == MGB_OP_MUL ? stretch_mul
           : kind == MGB_OP_DIV ? stretch_div
                                : stretch_add;
}

static void flat_range(void *context, long long begin, long long end)
{
    struct arithmetic_work *work = context;
    function_of(work->kind)(work->y + begin, work->a + begin, 1, work->b + begin, 1, end - begin);
}

/* A range of elements of y: stretches along the last axis, the first and the last perhaps in part. */
static void spread_range(void *context, long long begin, long long end)
{
    struct arithmetic_work *work = context;
    const struct mgb_spread *spread = &work->spread;
    stretch_function *f = function_of(work->kind);
    int last = spread->axes - 1;
    int64_t inner = spread->dim[last], sa = spread->stride[0][last], sb = spread->stride[1][last];
    for (int64_t at = begin; at < end;) {
        int64_t offset[2], place = at % inner, count = inner - place;
        count = count < end - at ? count : end - at;
        mgb_spread_find(spread, at / inner, offset);
        f(work->y + at, work->a + offset[0] + place * sa, sa, work->b + offset[1] + place * sb, sb,
          count);
        at += count;
    }
}

static bool operands_alike(const struct mgb_kernel *kernel)
{
    bool alike = true;
    for (int i = 0; i < 2; i++)
        alike = alike && kernel->use.in[i].batched &&
                kernel->use.in[i].count == kernel->use.out[0].count;
    return alike;
}

static enum mgb_status arithmetic_make(struct mgb_kernel *kernel)
{
    bool alike = operands_alike(kernel);
    if (alike)
        mgb_flat_plan(kernel, kernel->use.kind != MGB_OP_DIV, 0);
    else
        mgb_plain_plan(kernel);
    if (!alike && kernel->use.in[0].batched && kernel->use.in[0].count == kernel->use.out[0].count)
        kernel->facts.in_place = mgb_flat_direct(kernel, 0) ? 0 : -1;
    return MGB_OK;
}

static enum mgb_status arithmetic_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct arithmetic_work work = {.kind = kernel->use.kind, .y = launch->outputs[0]};
    work.a = mgb_flat_input(kernel, launch, 0);
    work.b = mgb_flat_input(kernel, launch, 1);
    if (operands_alike(kernel)) {
        mgb_parallel_for(mgb_flat_count(kernel), GRAIN, flat_range, &work);
        return MGB_OK;
    }
    const struct mgb_host_tensor *const operands[2] = {&kernel->use.in[0], &kernel->use.in[1]};
    work.spread = mgb_spread_make(&kernel->use.out[0], kernel->use.rows, operands, 2);
    mgb_parallel_for(kernel->use.out[0].count, GRAIN, spread_range, &work);
    return MGB_OK;
}

const struct mgb_host_op mgb_host_arithmetic = {.make = arithmetic_make, .run = arithmetic_run};
