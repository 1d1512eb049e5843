/* lstm, a position at a time, and its gradient. Gates are kept after their activations. A position that does not count
 * carries h and c through; its gates are kept as 0. */
#include "engine/base/parallel.h"
#include "engine/host/ops/recurrent.h"
#include "engine/host/simd.h"
#include "engine/host/vmath.h"
#include <string.h>

enum { AREA_C = MGB_AREA_OWN };

struct lstm_work {
    const struct mgb_recurrent_plan *plan;
    const uint8_t *live;
    int64_t position, y_stride;
    float *gates, *step, *h, *c; /* of all positions; of this one */
    const float *bias;
    float *y, *kept_c, *kept_h; /* at this position of the first row; NULL: not wanted */
};

/* g: what the input contributes to the gates, then the gates; r: what the state does. */
MGB_SIMD static void row_forward(float *g, const float *r, const float *b, float *h, float *c,
                                 int64_t n)
{
    MGB_EACH
    for (int64_t j = 0; j < n; j++) {
        float in = mgb_sigmoid(g[j] + r[j] + b[j]);
        float forget = mgb_sigmoid(g[n + j] + r[n + j] + b[n + j]);
        float candidate = mgb_tanh(g[2 * n + j] + r[2 * n + j] + b[2 * n + j]);
        float out = mgb_sigmoid(g[3 * n + j] + r[3 * n + j] + b[3 * n + j]);
        float cell = forget * c[j] + in * candidate;
        g[j] = in;
        g[n + j] = forget;
        g[2 * n + j] = candidate;
        g[3 * n + j] = out;
        c[j] = cell;
        h[j] = out * mgb_tanh(cell);
    }
}

static void rows_forward(void *context, long long begin, long long end)
{
    const struct lstm_work *work = context;
    const struct mgb_recurrent_plan *plan = work->plan;
    int64_t n = plan->units;
    size_t bytes = sizeof(float) * (size_t)n;
    for (long long row = begin; row < end; row++) {
        int64_t at = row * plan->steps + work->position;
        float *h = work->h + row * n, *c = work->c + row * n, *g = work->gates + at * plan->width;
        if (!work->live || work->live[at])
            row_forward(g, work->step + row * plan->width, work->bias, h, c, n);
        else
            memset(g, 0, 4 * bytes);
        if (work->y)
            memcpy(work->y + row * work->y_stride, h, bytes);
        if (work->kept_c)
            memcpy(work->kept_c + at * n, c, bytes);
        if (work->kept_h)
            memcpy(work->kept_h + at * n, h, bytes);
    }
}

static enum mgb_status lstm_make(struct mgb_kernel *kernel)
{
    struct mgb_recurrent_plan *p;
    MGB_TRY(mgb_recurrent_plan_make(&p, kernel, 4));
    if (!kernel->use.out[1].wanted)
        mgb_recurrent_area(kernel, MGB_AREA_GATES, p->rows * p->steps * p->width);
    mgb_recurrent_area(kernel, AREA_C, p->rows * p->units);
    MGB_TRY(mgb_recurrent_product(
        kernel, MGB_PRODUCT_INPUT,
        &(struct mgb_dnnl_packed_shape){
            .m = p->rows * p->steps, .k = p->in, .n = p->width, .b_stride = p->width}));
    return mgb_recurrent_product(
        kernel, MGB_PRODUCT_STATE,
        &(struct mgb_dnnl_packed_shape){
            .m = p->rows, .k = p->units, .n = p->width, .b_stride = p->width});
}

static struct lstm_work forward_begin(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                                      const struct mgb_recurrent_operands *o)
{
    const struct mgb_recurrent_plan *plan = kernel->state;
    const struct mgb_recurrent_attributes *a = &kernel->use.a.recurrent;
    float *zeros = mgb_recurrent_at(kernel, launch, MGB_AREA_ZEROS);
    struct lstm_work work = {.plan = plan, .live = o->live, .bias = o->bias ? o->bias : zeros};
    work.gates = kernel->use.out[1].wanted ? launch->outputs[1]
                                           : mgb_recurrent_at(kernel, launch, MGB_AREA_GATES);
    work.step = mgb_recurrent_at(kernel, launch, MGB_AREA_STEP);
    work.h = mgb_recurrent_at(kernel, launch, MGB_AREA_H);
    work.c = mgb_recurrent_at(kernel, launch, AREA_C);
    work.kept_c = kernel->use.out[2].wanted ? launch->outputs[2] : NULL;
    work.kept_h = kernel->use.out[3].wanted ? launch->outputs[3] : NULL;
    work.y_stride = a->sequences ? (a->steps + (a->cell ? 1 : 0)) * a->units : a->units;
    mgb_recurrent_begin(zeros, NULL, plan->width);
    mgb_recurrent_begin(work.step, NULL, plan->rows * plan->width);
    mgb_recurrent_begin(work.h, o->h0, plan->rows * plan->units);
    mgb_recurrent_begin(work.c, o->c0, plan->rows * plan->units);
    return work;
}

static enum mgb_status lstm_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    const struct mgb_recurrent_plan *plan = kernel->state;
    const struct mgb_recurrent_attributes *a = &kernel->use.a.recurrent;
    struct mgb_recurrent_operands o = mgb_recurrent_forward_operands(kernel, launch);
    struct lstm_work work = forward_begin(kernel, launch, &o);
    float *y = launch->outputs[0];
    MGB_TRY(mgb_recurrent_pack(kernel, launch, MGB_PRODUCT_INPUT, o.kernel));
    MGB_TRY(mgb_recurrent_pack(kernel, launch, MGB_PRODUCT_STATE, o.recurrent));
    MGB_TRY(mgb_recurrent_multiply(kernel, launch, MGB_PRODUCT_INPUT, o.x, work.gates));
    for (int64_t step = 0; step < plan->steps; step++) {
        work.position = mgb_recurrent_position(kernel, step);
        work.y =
            a->sequences ? y + work.position * plan->units : (step == plan->steps - 1 ? y : NULL);
        if (step > 0 || o.h0)
            MGB_TRY(mgb_recurrent_multiply(kernel, launch, MGB_PRODUCT_STATE, work.h, work.step));
        mgb_parallel_for(plan->rows, mgb_recurrent_grain(plan), rows_forward, &work);
    }
    for (int64_t row = 0; a->cell && row < plan->rows; row++)
        memcpy(y + row * work.y_stride + plan->steps * plan->units, work.c + row * plan->units,
               sizeof(float) * (size_t)plan->units);
    return MGB_OK;
}

struct lstm_back {
    const struct mgb_recurrent_plan *plan;
    const struct mgb_recurrent_operands *o;
    int64_t position, before; /* before: -1: the initial state */
    const float *dy, *zeros;
    int64_t dy_stride;
    float *dgates, *step, *dh, *dc;
};

/* dh becomes what reaches the state before by other ways than the gates: nothing. */
MGB_SIMD static void row_backward(float *dg, float *dh, float *dc, const float *g, const float *c,
                                  const float *before, int64_t n)
{
    MGB_EACH
    for (int64_t j = 0; j < n; j++) {
        float in = g[j], forget = g[n + j], candidate = g[2 * n + j], out = g[3 * n + j];
        float t = mgb_tanh(c[j]), d = dh[j];
        float cell = dc[j] + d * out * (1.0f - t * t);
        dg[j] = cell * candidate * (in * (1.0f - in));
        dg[n + j] = cell * before[j] * (forget * (1.0f - forget));
        dg[2 * n + j] = cell * in * (1.0f - candidate * candidate);
        dg[3 * n + j] = d * t * (out * (1.0f - out));
        dc[j] = cell * forget;
        dh[j] = 0;
    }
}

static void rows_backward(void *context, long long begin, long long end)
{
    const struct lstm_back *work = context;
    const struct mgb_recurrent_plan *plan = work->plan;
    const struct mgb_recurrent_operands *o = work->o;
    int64_t n = plan->units;
    size_t bytes = sizeof(float) * (size_t)plan->width;
    for (long long row = begin; row < end; row++) {
        int64_t at = row * plan->steps + work->position;
        float *dg = work->dgates + at * plan->width, *dh = work->dh + row * n;
        const float *before = work->before >= 0 ? o->second + (row * plan->steps + work->before) * n
                                                : (o->c0 ? o->c0 + row * n : work->zeros);
        if (work->dy)
            mgb_recurrent_row_add(dh, work->dy + row * work->dy_stride, n);
        if (!o->live || o->live[at])
            row_backward(dg, dh, work->dc + row * n, o->gates + at * plan->width,
                         o->second + at * n, before, n);
        else
            memset(dg, 0, bytes);
        memcpy(work->step + row * plan->width, dg, bytes);
    }
}

static enum mgb_status lstm_grad_make(struct mgb_kernel *kernel)
{
    const struct mgb_host_tensor *out = kernel->use.out;
    struct mgb_recurrent_plan *p;
    MGB_TRY(mgb_recurrent_plan_make(&p, kernel, 4));
    mgb_recurrent_area(kernel, MGB_AREA_GATES, p->rows * p->steps * p->width);
    mgb_recurrent_area(kernel, MGB_AREA_BACK, p->rows * p->units);
    mgb_recurrent_area(kernel, MGB_AREA_PREVIOUS, p->rows * p->steps * p->units);
    mgb_recurrent_area(kernel, AREA_C, p->rows * p->units);
    MGB_TRY(mgb_recurrent_product(
        kernel, MGB_PRODUCT_STATE,
        &(struct mgb_dnnl_packed_shape){
            .m = p->rows, .k = p->width, .n = p->units, .b_stride = p->width, .transposed = true}));
    if (out[0].wanted)
        MGB_TRY(mgb_recurrent_product(kernel, MGB_PRODUCT_INPUT,
                                      &(struct mgb_dnnl_packed_shape){.m = p->rows * p->steps,
                                                                      .k = p->width,
                                                                      .n = p->in,
                                                                      .b_stride = p->width,
                                                                      .transposed = true}));
    if (out[1].wanted || out[3].wanted)
        MGB_TRY(mgb_recurrent_weights(kernel, MGB_PRODUCT_INPUT, p->in, p->width, out[3].wanted));
    if (out[2].wanted)
        MGB_TRY(mgb_recurrent_weights(kernel, MGB_PRODUCT_STATE, p->units, p->width, false));
    if (out[3].wanted && !out[1].wanted)
        mgb_recurrent_area(kernel, MGB_AREA_SPARE, p->in * p->width);
    return MGB_OK;
}

static struct lstm_back backward_begin(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                                       const struct mgb_recurrent_operands *o)
{
    const struct mgb_recurrent_plan *plan = kernel->state;
    const struct mgb_recurrent_attributes *a = &kernel->use.a.recurrent;
    float *zeros = mgb_recurrent_at(kernel, launch, MGB_AREA_ZEROS);
    struct lstm_back work = {.plan = plan, .o = o, .zeros = zeros};
    work.dgates = mgb_recurrent_at(kernel, launch, MGB_AREA_GATES);
    work.step = mgb_recurrent_at(kernel, launch, MGB_AREA_STEP);
    work.dh = mgb_recurrent_at(kernel, launch, MGB_AREA_H);
    work.dc = mgb_recurrent_at(kernel, launch, AREA_C);
    mgb_recurrent_begin(zeros, NULL, plan->width);
    mgb_recurrent_begin(work.dh, NULL, plan->rows * plan->units);
    mgb_recurrent_begin(work.dc, NULL, plan->rows * plan->units);
    for (int64_t row = 0; a->cell && row < plan->rows; row++)
        memcpy(work.dc + row * plan->units,
               o->dy + (row * (plan->steps + 1) + plan->steps) * plan->units,
               sizeof(float) * (size_t)plan->units);
    return work;
}

static enum mgb_status steps_backward(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                                      struct lstm_back *work)
{
    const struct mgb_recurrent_plan *plan = kernel->state;
    float *back = mgb_recurrent_at(kernel, launch, MGB_AREA_BACK);
    MGB_TRY(mgb_recurrent_pack(kernel, launch, MGB_PRODUCT_STATE, work->o->recurrent));
    for (int64_t step = plan->steps - 1; step >= 0; step--) {
        work->position = mgb_recurrent_position(kernel, step);
        work->before = step > 0 ? mgb_recurrent_position(kernel, step - 1) : -1;
        work->dy = mgb_recurrent_dy(kernel, work->o, step, &work->dy_stride);
        mgb_parallel_for(plan->rows, mgb_recurrent_grain(plan), rows_backward, work);
        if (step == 0 && !kernel->use.out[4].wanted)
            break;
        MGB_TRY(mgb_recurrent_multiply(kernel, launch, MGB_PRODUCT_STATE, work->step, back));
        mgb_recurrent_row_add(work->dh, back, plan->rows * plan->units);
    }
    return MGB_OK;
}

static enum mgb_status lstm_grad_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    const struct mgb_recurrent_plan *plan = kernel->state;
    const struct mgb_host_tensor *out = kernel->use.out;
    struct mgb_recurrent_operands o = mgb_recurrent_gradient_operands(kernel, launch, true, true);
    struct lstm_back work = backward_begin(kernel, launch, &o);
    size_t bytes = sizeof(float) * (size_t)(plan->rows * plan->units);
    MGB_TRY(steps_backward(kernel, launch, &work));
    if (out[4].wanted)
        memcpy(launch->outputs[4], work.dh, bytes);
    if (out[5].wanted)
        memcpy(launch->outputs[5], work.dc, bytes);
    if (out[0].wanted) {
        MGB_TRY(mgb_recurrent_pack(kernel, launch, MGB_PRODUCT_INPUT, o.kernel));
        MGB_TRY(mgb_recurrent_multiply(kernel, launch, MGB_PRODUCT_INPUT, work.dgates,
                                       launch->outputs[0]));
    }
    if (out[1].wanted || out[3].wanted)
        MGB_TRY(mgb_recurrent_weights_run(kernel, launch, MGB_PRODUCT_INPUT, o.x, work.dgates,
                                          out[1].wanted ? launch->outputs[1] : NULL,
                                          out[3].wanted ? launch->outputs[3] : NULL));
    if (!out[2].wanted)
        return MGB_OK;
    mgb_recurrent_previous(kernel, launch, &o);
    return mgb_recurrent_weights_run(kernel, launch, MGB_PRODUCT_STATE,
                                     mgb_recurrent_at(kernel, launch, MGB_AREA_PREVIOUS),
                                     work.dgates, launch->outputs[2], NULL);
}

const struct mgb_host_op mgb_host_lstm = {
    .make = lstm_make, .run = lstm_run, .done = mgb_recurrent_plan_done};
const struct mgb_host_op mgb_host_lstm_grad = {
    .make = lstm_grad_make, .run = lstm_grad_run, .done = mgb_recurrent_plan_done};
