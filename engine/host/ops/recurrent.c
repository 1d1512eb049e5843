/* See recurrent.h. */
#include "engine/host/ops/recurrent.h"

#include "engine/base/memory.h"
#include "engine/base/parallel.h"
#include "engine/host/simd.h"
#include <string.h>

void mgb_recurrent_area(struct mgb_kernel *kernel, int area, int64_t elements)
{
    struct mgb_recurrent_plan *plan = kernel->state;
    plan->area[area] = mgb_host_take_workspace(kernel, (int64_t)sizeof(float) * elements);
}

enum mgb_status mgb_recurrent_plan_make(struct mgb_recurrent_plan **out, struct mgb_kernel *kernel,
                                        int gates)
{
    const struct mgb_recurrent_attributes *a = &kernel->use.a.recurrent;
    struct mgb_recurrent_plan *plan = mgb_alloc(sizeof *plan);
    if (!plan)
        return mgb_fail(MGB_NO_MEMORY, "no memory to prepare an operator");
    kernel->state = *out = plan;
    plan->rows = kernel->use.rows;
    plan->steps = a->steps;
    plan->in = a->in;
    plan->units = a->units;
    plan->width = gates * a->units;
    mgb_plain_plan(kernel);
    mgb_recurrent_area(kernel, MGB_AREA_LIVE, (plan->rows * plan->steps + 3) / 4);
    mgb_recurrent_area(kernel, MGB_AREA_ZEROS, plan->width);
    mgb_recurrent_area(kernel, MGB_AREA_STEP, plan->rows * plan->width);
    mgb_recurrent_area(kernel, MGB_AREA_H, plan->rows * plan->units);
    return MGB_OK;
}

void mgb_recurrent_plan_done(struct mgb_kernel *kernel)
{
    struct mgb_recurrent_plan *plan = kernel->state;
    if (!plan)
        return;
    for (int i = 0; i < MGB_RECURRENT_PRODUCTS; i++) {
        mgb_dnnl_packed_free(plan->product[i]);
        mgb_dnnl_free(plan->weights[i]);
    }
    mgb_release(plan);
}

enum mgb_status mgb_recurrent_product(struct mgb_kernel *kernel, int product,
                                      const struct mgb_dnnl_packed_shape *shape)
{
    struct mgb_recurrent_plan *plan = kernel->state;
    int64_t bytes;
    MGB_TRY(mgb_dnnl_packed_make(&plan->product[product], &bytes, shape));
    plan->product_at[product] = mgb_host_take_workspace(kernel, bytes);
    return MGB_OK;
}

enum mgb_status mgb_recurrent_weights(struct mgb_kernel *kernel, int product, int64_t in,
                                      int64_t out, bool bias)
{
    struct mgb_recurrent_plan *plan = kernel->state;
    struct mgb_dnnl_needs needs;
    const struct mgb_dnnl_dense dense = {.pass = MGB_DNNL_WEIGHTS,
                                         .rows = plan->rows * plan->steps,
                                         .in = in,
                                         .out = out,
                                         .bias = bias};
    MGB_TRY(mgb_dnnl_dense_make(&plan->weights[product], &needs, &dense));
    plan->weights_at[product] = mgb_host_take_workspace(kernel, needs.scratch_bytes);
    return MGB_OK;
}

void *mgb_recurrent_at(const struct mgb_kernel *kernel, const struct mgb_launch *launch, int area)
{
    const struct mgb_recurrent_plan *plan = kernel->state;
    return (char *)launch->workspace + plan->area[area];
}

/* One byte a position; NULL without a mask. */
static const uint8_t *live_find(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                                int input)
{
    const struct mgb_host_tensor *mask = &kernel->use.in[input];
    uint8_t *live = mgb_recurrent_at(kernel, launch, MGB_AREA_LIVE);
    const int32_t *whole = launch->inputs[input];
    const float *real = launch->inputs[input];
    for (int64_t i = 0; i < mask->count; i++)
        live[i] = mask->type == MGB_I32 ? whole[i] != 0 : real[i] != 0;
    return live;
}

static const float *input_get(struct mgb_kernel *kernel, const struct mgb_launch *launch, int input)
{
    return mgb_flat_input(kernel, launch, input);
}

struct mgb_recurrent_operands mgb_recurrent_forward_operands(struct mgb_kernel *kernel,
                                                             const struct mgb_launch *launch)
{
    const struct mgb_recurrent_attributes *a = &kernel->use.a.recurrent;
    struct mgb_recurrent_operands o = {.x = input_get(kernel, launch, 0),
                                       .kernel = input_get(kernel, launch, 1),
                                       .recurrent = input_get(kernel, launch, 2)};
    int next = 3;
    if (a->bias)
        o.bias = input_get(kernel, launch, next++);
    if (a->mask)
        o.live = live_find(kernel, launch, next++);
    if (a->state) {
        o.h0 = input_get(kernel, launch, next++);
        if (next < kernel->use.input_count)
            o.c0 = input_get(kernel, launch, next);
    }
    return o;
}

struct mgb_recurrent_operands mgb_recurrent_gradient_operands(struct mgb_kernel *kernel,
                                                              const struct mgb_launch *launch,
                                                              bool cell, bool second)
{
    const struct mgb_recurrent_attributes *a = &kernel->use.a.recurrent;
    struct mgb_recurrent_operands o = {.dy = input_get(kernel, launch, 0),
                                       .x = input_get(kernel, launch, 1),
                                       .kernel = input_get(kernel, launch, 2),
                                       .recurrent = input_get(kernel, launch, 3)};
    int next = 4;
    if (a->mask)
        o.live = live_find(kernel, launch, next++);
    if (a->state)
        o.h0 = input_get(kernel, launch, next++);
    if (a->state && cell)
        o.c0 = input_get(kernel, launch, next++);
    o.gates = input_get(kernel, launch, next++);
    if (second)
        o.second = input_get(kernel, launch, next++);
    o.h = input_get(kernel, launch, next);
    o.h_stride = (a->steps + (a->cell ? 1 : 0)) * a->units;
    return o;
}

static char *place(const struct mgb_launch *launch, int64_t at)
{
    return (char *)launch->workspace + at;
}

enum mgb_status mgb_recurrent_pack(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                                   int product, const float *b)
{
    struct mgb_recurrent_plan *plan = kernel->state;
    return mgb_dnnl_packed_pack(plan->product[product], b,
                                place(launch, plan->product_at[product]));
}

enum mgb_status mgb_recurrent_multiply(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                                       int product, const float *a, float *c)
{
    struct mgb_recurrent_plan *plan = kernel->state;
    return mgb_dnnl_packed_run(plan->product[product], a, c,
                               place(launch, plan->product_at[product]));
}

enum mgb_status mgb_recurrent_weights_run(struct mgb_kernel *kernel,
                                          const struct mgb_launch *launch, int product,
                                          const float *x, const float *dy, float *weights,
                                          float *bias)
{
    struct mgb_recurrent_plan *plan = kernel->state;
    const struct mgb_dnnl_operands operands = {
        .x = (void *)x,
        .y = (void *)dy,
        .weights = weights ? weights : mgb_recurrent_at(kernel, launch, MGB_AREA_SPARE),
        .bias = bias,
        .scratch = place(launch, plan->weights_at[product])};
    return mgb_dnnl_run(plan->weights[product], &operands);
}

struct previous_work {
    const struct mgb_recurrent_plan *plan;
    const struct mgb_recurrent_operands *o;
    float *to;
    bool reverse;
};

static void previous_range(void *context, long long begin, long long end)
{
    const struct previous_work *work = context;
    int64_t units = work->plan->units, steps = work->plan->steps;
    for (long long row = begin; row < end; row++) {
        const float *h = work->o->h + row * work->o->h_stride;
        float *to = work->to + row * steps * units;
        int64_t first = work->reverse ? steps - 1 : 0;
        mgb_recurrent_begin(to + first * units, work->o->h0 ? work->o->h0 + row * units : NULL,
                            units);
        memcpy(work->reverse ? to : to + units, work->reverse ? h + units : h,
               sizeof(float) * (size_t)(units * (steps - 1)));
    }
}

void mgb_recurrent_previous(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                            const struct mgb_recurrent_operands *o)
{
    struct previous_work work = {.plan = kernel->state,
                                 .o = o,
                                 .to = mgb_recurrent_at(kernel, launch, MGB_AREA_PREVIOUS),
                                 .reverse = kernel->use.a.recurrent.reverse};
    mgb_parallel_for(work.plan->rows, mgb_recurrent_grain(work.plan), previous_range, &work);
}

const float *mgb_recurrent_dy(const struct mgb_kernel *kernel,
                              const struct mgb_recurrent_operands *o, int64_t step, int64_t *stride)
{
    const struct mgb_recurrent_attributes *a = &kernel->use.a.recurrent;
    *stride = a->sequences ? (a->steps + (a->cell ? 1 : 0)) * a->units : a->units;
    if (a->sequences)
        return o->dy + mgb_recurrent_position(kernel, step) * a->units;
    return step == a->steps - 1 ? o->dy : NULL;
}

MGB_SIMD void mgb_recurrent_row_add(float *to, const float *from, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        to[i] += from[i];
}

void mgb_recurrent_begin(float *to, const float *from, int64_t count)
{
    if (from)
        memcpy(to, from, sizeof(float) * (size_t)count);
    else
        memset(to, 0, sizeof(float) * (size_t)count);
}
