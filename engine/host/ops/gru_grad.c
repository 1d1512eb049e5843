/* The gradient of gru. With the reset gate after the product, the recurrent kernel and its bias see another gradient of the
 * candidate than kernel and bias do: r times it. */
#include "engine/base/parallel.h"
#include "engine/host/ops/gru.h"
#include "engine/host/simd.h"
#include <string.h>

struct gru_back {
    const struct mgb_recurrent_plan *plan;
    const struct mgb_recurrent_operands *o;
    int64_t position, before; /* before: -1: the initial state */
    const float *dy, *zeros;
    int64_t dy_stride;
    float *dgates, *dstate, *dcandidate, *resets; /* of all positions */
    float *step, *dh, *reset;                     /* of one */
};

/* dh becomes what reaches the state before past the gates; ds is what goes back through the recurrent kernel. */
MGB_SIMD static void row_after(float *dg, float *ds, float *dh, const float *g, const float *q,
                               const float *before, int64_t n)
{
    MGB_EACH
    for (int64_t j = 0; j < n; j++) {
        float z = g[j], r = g[n + j], candidate = g[2 * n + j], d = dh[j];
        float dc = d * (1.0f - z) * (1.0f - candidate * candidate);
        float dz = d * (before[j] - candidate) * (z * (1.0f - z));
        float dr = dc * q[j] * (r * (1.0f - r));
        dg[j] = dz;
        dg[n + j] = dr;
        dg[2 * n + j] = dc;
        ds[j] = dz;
        ds[n + j] = dr;
        ds[2 * n + j] = dc * r;
        dh[j] = d * z;
    }
}

/* The candidate and z; r needs the product with the recurrent kernel. */
MGB_SIMD static void row_candidate(float *dg, float *dc, float *dh, float *reset, const float *g,
                                   const float *before, int64_t n)
{
    MGB_EACH
    for (int64_t j = 0; j < n; j++) {
        float z = g[j], candidate = g[2 * n + j], d = dh[j];
        float c = d * (1.0f - z) * (1.0f - candidate * candidate);
        dg[j] = d * (before[j] - candidate) * (z * (1.0f - z));
        dg[2 * n + j] = c;
        dc[j] = c;
        reset[j] = g[n + j] * before[j];
        dh[j] = d * z;
    }
}

MGB_SIMD static void row_reset(float *dg, float *ds, float *dh, const float *dreset, const float *g,
                               const float *before, int64_t n)
{
    MGB_EACH
    for (int64_t j = 0; j < n; j++) {
        float r = g[n + j], dr = dreset[j] * before[j] * (r * (1.0f - r));
        dg[n + j] = dr;
        ds[j] = dg[j];
        ds[n + j] = dr;
        dh[j] = dh[j] + dreset[j] * r;
    }
}

static const float *before_find(const struct gru_back *work, int64_t row)
{
    const struct mgb_recurrent_operands *o = work->o;
    int64_t n = work->plan->units;
    if (work->before >= 0)
        return o->h + row * o->h_stride + work->before * n;
    return o->h0 ? o->h0 + row * n : work->zeros;
}

static void rows_after(void *context, long long begin, long long end)
{
    const struct gru_back *work = context;
    const struct mgb_recurrent_plan *plan = work->plan;
    int64_t n = plan->units;
    size_t bytes = sizeof(float) * (size_t)plan->width;
    for (long long row = begin; row < end; row++) {
        int64_t at = row * plan->steps + work->position;
        float *dg = work->dgates + at * plan->width, *ds = work->dstate + at * plan->width;
        if (work->dy)
            mgb_recurrent_row_add(work->dh + row * n, work->dy + row * work->dy_stride, n);
        if (!work->o->live || work->o->live[at]) {
            row_after(dg, ds, work->dh + row * n, work->o->gates + at * plan->width,
                      work->o->second + at * n, before_find(work, row), n);
        } else {
            memset(dg, 0, bytes);
            memset(ds, 0, bytes);
        }
        memcpy(work->step + row * plan->width, ds, bytes);
    }
}

static void rows_candidate(void *context, long long begin, long long end)
{
    const struct gru_back *work = context;
    const struct mgb_recurrent_plan *plan = work->plan;
    int64_t n = plan->units;
    for (long long row = begin; row < end; row++) {
        int64_t at = row * plan->steps + work->position;
        float *dg = work->dgates + at * plan->width, *dc = work->dcandidate + at * n;
        if (work->dy)
            mgb_recurrent_row_add(work->dh + row * n, work->dy + row * work->dy_stride, n);
        if (!work->o->live || work->o->live[at]) {
            row_candidate(dg, dc, work->dh + row * n, work->resets + at * n,
                          work->o->gates + at * plan->width, before_find(work, row), n);
        } else {
            memset(dg, 0, sizeof(float) * (size_t)plan->width);
            memset(dc, 0, sizeof(float) * (size_t)n);
            memset(work->resets + at * n, 0, sizeof(float) * (size_t)n);
        }
        memcpy(work->step + row * n, dc, sizeof(float) * (size_t)n);
    }
}

/* A row that does not count has gates 0: nothing comes of it. */
static void rows_reset(void *context, long long begin, long long end)
{
    const struct gru_back *work = context;
    const struct mgb_recurrent_plan *plan = work->plan;
    int64_t n = plan->units;
    for (long long row = begin; row < end; row++) {
        int64_t at = row * plan->steps + work->position;
        row_reset(work->dgates + at * plan->width, work->step + row * 2 * n, work->dh + row * n,
                  work->reset + row * n, work->o->gates + at * plan->width, before_find(work, row),
                  n);
    }
}

static enum mgb_status products_make(struct mgb_kernel *kernel, const struct mgb_recurrent_plan *p)
{
    bool after = kernel->use.a.recurrent.reset_after;
    struct mgb_dnnl_packed_shape shape = {.m = p->rows,
                                          .k = after ? p->width : 2 * p->units,
                                          .n = p->units,
                                          .b_stride = p->width,
                                          .transposed = true};
    MGB_TRY(mgb_recurrent_product(kernel, MGB_PRODUCT_STATE, &shape));
    shape.k = p->units;
    if (!after)
        MGB_TRY(mgb_recurrent_product(kernel, MGB_PRODUCT_OWN, &shape));
    shape.m = p->rows * p->steps;
    shape.k = p->width;
    shape.n = p->in;
    if (kernel->use.out[0].wanted)
        MGB_TRY(mgb_recurrent_product(kernel, MGB_PRODUCT_INPUT, &shape));
    return MGB_OK;
}

static enum mgb_status weights_make(struct mgb_kernel *kernel, const struct mgb_recurrent_plan *p)
{
    const struct mgb_host_tensor *out = kernel->use.out;
    bool after = kernel->use.a.recurrent.reset_after, bias = out[3].wanted;
    int64_t most = p->in > p->units ? p->in : p->units;
    if (out[1].wanted || bias)
        MGB_TRY(mgb_recurrent_weights(kernel, MGB_PRODUCT_INPUT, p->in, p->width, bias));
    if (out[2].wanted || (bias && after))
        MGB_TRY(
            mgb_recurrent_weights(kernel, MGB_PRODUCT_STATE, p->units, p->width, bias && after));
    if (out[2].wanted && !after)
        MGB_TRY(mgb_recurrent_weights(kernel, MGB_PRODUCT_OWN, p->units, p->units, false));
    mgb_recurrent_area(kernel, MGB_AREA_SPARE, bias ? most * p->width : 1);
    return MGB_OK;
}

static enum mgb_status gru_grad_make(struct mgb_kernel *kernel)
{
    struct mgb_recurrent_plan *p;
    MGB_TRY(mgb_recurrent_plan_make(&p, kernel, 3));
    int64_t positions = p->rows * p->steps;
    mgb_recurrent_area(kernel, MGB_AREA_GATES, positions * p->width);
    mgb_recurrent_area(kernel, MGB_AREA_BACK, p->rows * p->units);
    mgb_recurrent_area(kernel, MGB_AREA_PREVIOUS, positions * p->units);
    if (kernel->use.a.recurrent.reset_after) {
        mgb_recurrent_area(kernel, MGB_GRU_STATE_GATES, positions * p->width);
    } else {
        mgb_recurrent_area(kernel, MGB_GRU_RESET, p->rows * p->units);
        mgb_recurrent_area(kernel, MGB_GRU_CANDIDATE, positions * p->units);
        mgb_recurrent_area(kernel, MGB_GRU_RESETS, positions * p->units);
        mgb_recurrent_area(kernel, MGB_GRU_PART, p->units * p->units);
    }
    MGB_TRY(products_make(kernel, p));
    return weights_make(kernel, p);
}

static struct gru_back backward_begin(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                                      const struct mgb_recurrent_operands *o)
{
    const struct mgb_recurrent_plan *plan = kernel->state;
    float *zeros = mgb_recurrent_at(kernel, launch, MGB_AREA_ZEROS);
    struct gru_back work = {.plan = plan, .o = o, .zeros = zeros};
    work.dgates = mgb_recurrent_at(kernel, launch, MGB_AREA_GATES);
    work.step = mgb_recurrent_at(kernel, launch, MGB_AREA_STEP);
    work.dh = mgb_recurrent_at(kernel, launch, MGB_AREA_H);
    if (kernel->use.a.recurrent.reset_after) {
        work.dstate = mgb_recurrent_at(kernel, launch, MGB_GRU_STATE_GATES);
    } else {
        work.reset = mgb_recurrent_at(kernel, launch, MGB_GRU_RESET);
        work.dcandidate = mgb_recurrent_at(kernel, launch, MGB_GRU_CANDIDATE);
        work.resets = mgb_recurrent_at(kernel, launch, MGB_GRU_RESETS);
    }
    mgb_recurrent_begin(zeros, NULL, plan->width);
    mgb_recurrent_begin(work.dh, NULL, plan->rows * plan->units);
    return work;
}

static enum mgb_status step_backward(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                                     struct gru_back *work)
{
    const struct mgb_recurrent_plan *plan = kernel->state;
    int64_t grain = mgb_recurrent_grain(plan);
    float *back = mgb_recurrent_at(kernel, launch, MGB_AREA_BACK);
    if (kernel->use.a.recurrent.reset_after) {
        mgb_parallel_for(plan->rows, grain, rows_after, work);
    } else {
        mgb_parallel_for(plan->rows, grain, rows_candidate, work);
        MGB_TRY(mgb_recurrent_multiply(kernel, launch, MGB_PRODUCT_OWN, work->step, work->reset));
        mgb_parallel_for(plan->rows, grain, rows_reset, work);
    }
    if (work->before < 0 && !kernel->use.out[4].wanted)
        return MGB_OK;
    MGB_TRY(mgb_recurrent_multiply(kernel, launch, MGB_PRODUCT_STATE, work->step, back));
    mgb_recurrent_row_add(work->dh, back, plan->rows * plan->units);
    return MGB_OK;
}

/* Columns of the candidate, which saw r h and not h. */
static enum mgb_status candidate_weights(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                                         const struct gru_back *work)
{
    int64_t n = work->plan->units, width = work->plan->width;
    float *part = mgb_recurrent_at(kernel, launch, MGB_GRU_PART), *to = launch->outputs[2];
    MGB_TRY(mgb_recurrent_weights_run(kernel, launch, MGB_PRODUCT_OWN, work->resets,
                                      work->dcandidate, part, NULL));
    for (int64_t i = 0; i < n; i++)
        memcpy(to + i * width + 2 * n, part + i * n, sizeof(float) * (size_t)n);
    return MGB_OK;
}

static enum mgb_status weights_run(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                                   const struct gru_back *work)
{
    const struct mgb_host_tensor *out = kernel->use.out;
    bool after = kernel->use.a.recurrent.reset_after;
    float *bias = out[3].wanted ? launch->outputs[3] : NULL;
    if (out[1].wanted || bias)
        MGB_TRY(mgb_recurrent_weights_run(kernel, launch, MGB_PRODUCT_INPUT, work->o->x,
                                          work->dgates, out[1].wanted ? launch->outputs[1] : NULL,
                                          bias));
    if (!out[2].wanted && !(bias && after))
        return MGB_OK;
    mgb_recurrent_previous(kernel, launch, work->o);
    MGB_TRY(mgb_recurrent_weights_run(
        kernel, launch, MGB_PRODUCT_STATE, mgb_recurrent_at(kernel, launch, MGB_AREA_PREVIOUS),
        after ? work->dstate : work->dgates, out[2].wanted ? launch->outputs[2] : NULL,
        bias && after ? bias + work->plan->width : NULL));
    return after || !out[2].wanted ? MGB_OK : candidate_weights(kernel, launch, work);
}

static enum mgb_status gru_grad_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    const struct mgb_recurrent_plan *plan = kernel->state;
    bool after = kernel->use.a.recurrent.reset_after;
    struct mgb_recurrent_operands o = mgb_recurrent_gradient_operands(kernel, launch, false, after);
    struct gru_back work = backward_begin(kernel, launch, &o);
    MGB_TRY(mgb_recurrent_pack(kernel, launch, MGB_PRODUCT_STATE, o.recurrent));
    if (!after)
        MGB_TRY(mgb_recurrent_pack(kernel, launch, MGB_PRODUCT_OWN, o.recurrent + 2 * plan->units));
    for (int64_t step = plan->steps - 1; step >= 0; step--) {
        work.position = mgb_recurrent_position(kernel, step);
        work.before = step > 0 ? mgb_recurrent_position(kernel, step - 1) : -1;
        work.dy = mgb_recurrent_dy(kernel, &o, step, &work.dy_stride);
        MGB_TRY(step_backward(kernel, launch, &work));
    }
    if (kernel->use.out[4].wanted)
        memcpy(launch->outputs[4], work.dh, sizeof(float) * (size_t)(plan->rows * plan->units));
    if (kernel->use.out[0].wanted) {
        MGB_TRY(mgb_recurrent_pack(kernel, launch, MGB_PRODUCT_INPUT, o.kernel));
        MGB_TRY(mgb_recurrent_multiply(kernel, launch, MGB_PRODUCT_INPUT, work.dgates,
                                       launch->outputs[0]));
    }
    return weights_run(kernel, launch, &work);
}

const struct mgb_host_op mgb_host_gru_grad = {
    .make = gru_grad_make, .run = gru_grad_run, .done = mgb_recurrent_plan_done};
