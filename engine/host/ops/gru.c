/* gru, a position at a time. Gates z, r and the candidate are kept after their activations, and, when the reset gate comes
 * after the product, what it multiplies. A position that does not count carries h through; what it keeps is 0. */
#include "engine/host/ops/gru.h"

#include "engine/base/parallel.h"
#include "engine/host/simd.h"
#include "engine/host/vmath.h"
#include <string.h>

struct gru_work {
    const struct mgb_recurrent_plan *plan;
    const uint8_t *live;
    int64_t position, y_stride;
    float *gates, *step, *h, *reset; /* of all positions; of this one; reset: r h */
    const float *bias, *second_bias;
    float *y, *kept_second, *kept_h; /* y: at this position of the first row; NULL: not wanted */
};

/* q: what the reset gate multiplies, kept. */
MGB_SIMD static void row_after(float *g, float *q, const float *s, const float *b, const float *b2,
                               float *h, int64_t n)
{
    MGB_EACH
    for (int64_t j = 0; j < n; j++) {
        float z = mgb_sigmoid(g[j] + b[j] + (s[j] + b2[j]));
        float r = mgb_sigmoid(g[n + j] + b[n + j] + (s[n + j] + b2[n + j]));
        float inner = s[2 * n + j] + b2[2 * n + j];
        float candidate = mgb_tanh(g[2 * n + j] + b[2 * n + j] + r * inner);
        g[j] = z;
        g[n + j] = r;
        g[2 * n + j] = candidate;
        q[j] = inner;
        h[j] = z * h[j] + (1.0f - z) * candidate;
    }
}

MGB_SIMD static void row_gates(float *g, float *reset, const float *s, const float *b,
                               const float *h, int64_t n)
{
    MGB_EACH
    for (int64_t j = 0; j < n; j++) {
        float r = mgb_sigmoid(g[n + j] + b[n + j] + s[n + j]);
        g[j] = mgb_sigmoid(g[j] + b[j] + s[j]);
        g[n + j] = r;
        reset[j] = r * h[j];
    }
}

MGB_SIMD static void row_candidate(float *g, const float *s, const float *b, float *h, int64_t n)
{
    MGB_EACH
    for (int64_t j = 0; j < n; j++) {
        float candidate = mgb_tanh(g[2 * n + j] + b[2 * n + j] + s[j]), z = g[j];
        g[2 * n + j] = candidate;
        h[j] = z * h[j] + (1.0f - z) * candidate;
    }
}

/* What comes out of a row at a position. */
static void row_end(const struct gru_work *work, int64_t row, int64_t at)
{
    int64_t n = work->plan->units;
    size_t bytes = sizeof(float) * (size_t)n;
    const float *h = work->h + row * n;
    if (work->y)
        memcpy(work->y + row * work->y_stride, h, bytes);
    if (work->kept_h)
        memcpy(work->kept_h + at * n, h, bytes);
}

static void rows_after(void *context, long long begin, long long end)
{
    const struct gru_work *work = context;
    const struct mgb_recurrent_plan *plan = work->plan;
    int64_t n = plan->units;
    for (long long row = begin; row < end; row++) {
        int64_t at = row * plan->steps + work->position;
        float *g = work->gates + at * plan->width, *s = work->step + row * plan->width;
        float *q = work->kept_second ? work->kept_second + at * n : s;
        if (!work->live || work->live[at]) {
            row_after(g, q, s, work->bias, work->second_bias, work->h + row * n, n);
        } else {
            memset(g, 0, sizeof(float) * (size_t)plan->width);
            memset(q, 0, sizeof(float) * (size_t)n);
        }
        row_end(work, row, at);
    }
}

static void rows_gates(void *context, long long begin, long long end)
{
    const struct gru_work *work = context;
    const struct mgb_recurrent_plan *plan = work->plan;
    int64_t n = plan->units;
    for (long long row = begin; row < end; row++) {
        int64_t at = row * plan->steps + work->position;
        row_gates(work->gates + at * plan->width, work->reset + row * n, work->step + row * 2 * n,
                  work->bias, work->h + row * n, n);
    }
}

static void rows_candidate(void *context, long long begin, long long end)
{
    const struct gru_work *work = context;
    const struct mgb_recurrent_plan *plan = work->plan;
    int64_t n = plan->units;
    for (long long row = begin; row < end; row++) {
        int64_t at = row * plan->steps + work->position;
        float *g = work->gates + at * plan->width;
        if (!work->live || work->live[at])
            row_candidate(g, work->step + row * n, work->bias, work->h + row * n, n);
        else
            memset(g, 0, sizeof(float) * (size_t)plan->width);
        row_end(work, row, at);
    }
}

static enum mgb_status gru_make(struct mgb_kernel *kernel)
{
    bool after = kernel->use.a.recurrent.reset_after;
    struct mgb_recurrent_plan *p;
    MGB_TRY(mgb_recurrent_plan_make(&p, kernel, 3));
    if (!kernel->use.out[1].wanted)
        mgb_recurrent_area(kernel, MGB_AREA_GATES, p->rows * p->steps * p->width);
    mgb_recurrent_area(kernel, MGB_GRU_RESET, p->rows * p->units);
    MGB_TRY(mgb_recurrent_product(
        kernel, MGB_PRODUCT_INPUT,
        &(struct mgb_dnnl_packed_shape){
            .m = p->rows * p->steps, .k = p->in, .n = p->width, .b_stride = p->width}));
    MGB_TRY(
        mgb_recurrent_product(kernel, MGB_PRODUCT_STATE,
                              &(struct mgb_dnnl_packed_shape){.m = p->rows,
                                                              .k = p->units,
                                                              .n = after ? p->width : 2 * p->units,
                                                              .b_stride = p->width}));
    if (after)
        return MGB_OK;
    return mgb_recurrent_product(
        kernel, MGB_PRODUCT_OWN,
        &(struct mgb_dnnl_packed_shape){
            .m = p->rows, .k = p->units, .n = p->units, .b_stride = p->width});
}

static struct gru_work forward_begin(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                                     const struct mgb_recurrent_operands *o)
{
    const struct mgb_recurrent_plan *plan = kernel->state;
    const struct mgb_recurrent_attributes *a = &kernel->use.a.recurrent;
    float *zeros = mgb_recurrent_at(kernel, launch, MGB_AREA_ZEROS);
    struct gru_work work = {.plan = plan, .live = o->live, .bias = zeros, .second_bias = zeros};
    if (o->bias)
        work.bias = o->bias;
    if (o->bias && a->reset_after)
        work.second_bias = o->bias + plan->width;
    work.gates = kernel->use.out[1].wanted ? launch->outputs[1]
                                           : mgb_recurrent_at(kernel, launch, MGB_AREA_GATES);
    work.step = mgb_recurrent_at(kernel, launch, MGB_AREA_STEP);
    work.h = mgb_recurrent_at(kernel, launch, MGB_AREA_H);
    work.reset = mgb_recurrent_at(kernel, launch, MGB_GRU_RESET);
    work.kept_second = kernel->use.out[2].wanted ? launch->outputs[2] : NULL;
    work.kept_h = kernel->use.out[3].wanted ? launch->outputs[3] : NULL;
    work.y_stride = a->sequences ? a->steps * a->units : a->units;
    mgb_recurrent_begin(zeros, NULL, plan->width);
    mgb_recurrent_begin(work.step, NULL, plan->rows * plan->width);
    mgb_recurrent_begin(work.h, o->h0, plan->rows * plan->units);
    return work;
}

static enum mgb_status step_forward(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                                    struct gru_work *work)
{
    const struct mgb_recurrent_plan *plan = kernel->state;
    int64_t grain = mgb_recurrent_grain(plan);
    MGB_TRY(mgb_recurrent_multiply(kernel, launch, MGB_PRODUCT_STATE, work->h, work->step));
    if (kernel->use.a.recurrent.reset_after) {
        mgb_parallel_for(plan->rows, grain, rows_after, work);
        return MGB_OK;
    }
    mgb_parallel_for(plan->rows, grain, rows_gates, work);
    MGB_TRY(mgb_recurrent_multiply(kernel, launch, MGB_PRODUCT_OWN, work->reset, work->step));
    mgb_parallel_for(plan->rows, grain, rows_candidate, work);
    return MGB_OK;
}

static enum mgb_status gru_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    const struct mgb_recurrent_plan *plan = kernel->state;
    const struct mgb_recurrent_attributes *a = &kernel->use.a.recurrent;
    struct mgb_recurrent_operands o = mgb_recurrent_forward_operands(kernel, launch);
    struct gru_work work = forward_begin(kernel, launch, &o);
    float *y = launch->outputs[0];
    MGB_TRY(mgb_recurrent_pack(kernel, launch, MGB_PRODUCT_INPUT, o.kernel));
    MGB_TRY(mgb_recurrent_pack(kernel, launch, MGB_PRODUCT_STATE, o.recurrent));
    if (!a->reset_after)
        MGB_TRY(mgb_recurrent_pack(kernel, launch, MGB_PRODUCT_OWN, o.recurrent + 2 * plan->units));
    MGB_TRY(mgb_recurrent_multiply(kernel, launch, MGB_PRODUCT_INPUT, o.x, work.gates));
    for (int64_t step = 0; step < plan->steps; step++) {
        work.position = mgb_recurrent_position(kernel, step);
        work.y =
            a->sequences ? y + work.position * plan->units : (step == plan->steps - 1 ? y : NULL);
        MGB_TRY(step_forward(kernel, launch, &work));
    }
    return MGB_OK;
}

const struct mgb_host_op mgb_host_gru = {
    .make = gru_make, .run = gru_run, .done = mgb_recurrent_plan_done};
