/* What lstm and gru share on CPU devices: their products of matrices, room in the workspace, and where states lie.
 *
 * Products with the kernel are taken for all positions at once, those with the recurrent kernel a position at a time; both
 * through weights packed once a run. Gates of a row lie side by side: [rows][positions][gates x units]. */
#ifndef MGB_HOST_OPS_RECURRENT_H
#define MGB_HOST_OPS_RECURRENT_H

#include "engine/host/dnnl_packed.h"
#include "engine/host/dnnl_shim.h"
#include "engine/host/ops/ops.h"

enum { MGB_RECURRENT_PRODUCTS = 3, MGB_RECURRENT_AREAS = 14 };
/* Products that both have; a third one is the operator's. */
enum { MGB_PRODUCT_INPUT, MGB_PRODUCT_STATE, MGB_PRODUCT_OWN };
/* Areas of the workspace that both have; the operator's own begin at MGB_AREA_OWN. */
enum {
    MGB_AREA_LIVE,  /* a byte a position: does it count */
    MGB_AREA_ZEROS, /* numbers in place of an operand that is not there: gates x units */
    MGB_AREA_GATES, /* of all positions, or their gradients */
    MGB_AREA_STEP, /* of one position: a product with the recurrent kernel, or what one is made of */
    MGB_AREA_H,    /* the state of all rows, or its gradient */
    MGB_AREA_BACK,     /* gradient of the state before */
    MGB_AREA_PREVIOUS, /* gradients: the state before every position */
    MGB_AREA_SPARE,    /* a weight gradient that is made along and not wanted */
    MGB_AREA_OWN,
};

struct mgb_recurrent_plan {
    int64_t rows, steps, in, units, width; /* width: of all gates */
    struct mgb_dnnl_packed *product[MGB_RECURRENT_PRODUCTS];
    struct mgb_dnnl *weights[MGB_RECURRENT_PRODUCTS]; /* weight gradients */
    int64_t product_at[MGB_RECURRENT_PRODUCTS], weights_at[MGB_RECURRENT_PRODUCTS];
    int64_t area[MGB_RECURRENT_AREAS];
};

/* Operands of a launch, NULL where there is none. */
struct mgb_recurrent_operands {
    const float *dy, *x, *kernel, *recurrent, *bias, *h0, *c0;
    const float *gates, *second, *h; /* kept for the gradient */
    int64_t h_stride;                /* from one row of h to the next */
    const uint8_t *live;             /* NULL: all positions count */
};

enum mgb_status mgb_recurrent_plan_make(struct mgb_recurrent_plan **out, struct mgb_kernel *kernel,
                                        int gates);
void mgb_recurrent_plan_done(struct mgb_kernel *kernel);
void mgb_recurrent_area(struct mgb_kernel *kernel, int area, int64_t elements);
/* c [m, n] = a [m, k] b; b begins in a weight whose rows (as it lies) are `stride` apart. */
enum mgb_status mgb_recurrent_product(struct mgb_kernel *kernel, int product,
                                      const struct mgb_dnnl_packed_shape *shape);
/* The gradient [in, out] of a weight from all rows and positions. */
enum mgb_status mgb_recurrent_weights(struct mgb_kernel *kernel, int product, int64_t in,
                                      int64_t out, bool bias);

/* --- a launch --- */
void *mgb_recurrent_at(const struct mgb_kernel *kernel, const struct mgb_launch *launch, int area);
struct mgb_recurrent_operands mgb_recurrent_forward_operands(struct mgb_kernel *kernel,
                                                             const struct mgb_launch *launch);
struct mgb_recurrent_operands mgb_recurrent_gradient_operands(struct mgb_kernel *kernel,
                                                              const struct mgb_launch *launch,
                                                              bool cell, bool second);
enum mgb_status mgb_recurrent_pack(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                                   int product, const float *b);
enum mgb_status mgb_recurrent_multiply(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                                       int product, const float *a, float *c);
/* `weights`, `bias` NULL: not wanted. */
enum mgb_status mgb_recurrent_weights_run(struct mgb_kernel *kernel,
                                          const struct mgb_launch *launch, int product,
                                          const float *x, const float *dy, float *weights,
                                          float *bias);
/* The state before every position, one after another; h0 or zeros before the first. */
void mgb_recurrent_previous(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                            const struct mgb_recurrent_operands *o);

/* Position number `step` in the order of computation. */
static inline int64_t mgb_recurrent_position(const struct mgb_kernel *kernel, int64_t step)
{
    const struct mgb_recurrent_attributes *a = &kernel->use.a.recurrent;
    return a->reverse ? a->steps - 1 - step : step;
}
static inline int64_t mgb_recurrent_grain(const struct mgb_recurrent_plan *plan)
{
    return plan->units >= 1024 ? 1 : 1024 / plan->units; /* rows worth a thread */
}
/* dy of a position; NULL: only the last one has it. Rows are `*stride` apart. */
const float *mgb_recurrent_dy(const struct mgb_kernel *kernel,
                              const struct mgb_recurrent_operands *o, int64_t step,
                              int64_t *stride);
/* to += from, one row. */
void mgb_recurrent_row_add(float *to, const float *from, int64_t count);
/* Rows of states: from h0 (NULL: zeros). */
void mgb_recurrent_begin(float *to, const float *from, int64_t count);

#endif
