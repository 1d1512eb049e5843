/* oneDNN for the other dnnl_ files. What 2.x and 3.x say in different words is declared here once and written twice, in
 * dnnl/v2.c and dnnl/v3.c, of which CMake takes the one for the library it found. Everything else of <dnnl.h> that is used
 * is alike in both. Operands are f32; calls return oneDNN's own status unless they say otherwise. */
#ifndef MGB_HOST_DNNL_API_H
#define MGB_HOST_DNNL_API_H

#include "engine/host/dnnl_shim.h"

#include <dnnl.h>
#include <mgb/status.h>
#include <stdbool.h>
#include <stdint.h>

/* The shape of an operand and how it lies in memory: the library's memory descriptor. */
struct mgb_dnnl_md;

dnnl_status_t mgb_dnnl_md_make(struct mgb_dnnl_md **out, int rank, const dnnl_dims_t dims,
                               dnnl_format_tag_t tag);
dnnl_status_t mgb_dnnl_md_make_strides(struct mgb_dnnl_md **out, int rank, const dnnl_dims_t dims,
                                       const dnnl_dims_t strides);
void mgb_dnnl_md_free(struct mgb_dnnl_md *md); /* NULL is fine */
bool mgb_dnnl_md_equal(const struct mgb_dnnl_md *a, const struct mgb_dnnl_md *b);
int64_t mgb_dnnl_md_bytes(const struct mgb_dnnl_md *md); /* rounded up to whole cache lines */
/* What a primitive chose; it belongs to `desc`. */
const struct mgb_dnnl_md *mgb_dnnl_md_of(dnnl_primitive_desc_t desc, dnnl_query_t what);
/* A handle without memory behind it yet. */
dnnl_status_t mgb_dnnl_memory_make(dnnl_memory_t *out, const struct mgb_dnnl_md *md,
                                   dnnl_engine_t engine);

struct mgb_dnnl_window { /* height and width; dilation 0: none */
    dnnl_dims_t stride, dilation, before, after;
};

struct mgb_dnnl_op {
    enum mgb_dnnl_pass pass;
    const struct mgb_dnnl_md *x, *weights, *bias, *y; /* bias: NULL for none */
    const struct mgb_dnnl_window *window;             /* NULL: a dense layer, no convolution */
};

/* `forward`: the descriptor of the same layer's forward pass, for the other passes. */
dnnl_status_t mgb_dnnl_op_describe(dnnl_primitive_desc_t *out, const struct mgb_dnnl_op *op,
                                   dnnl_engine_t engine, dnnl_primitive_attr_t attributes,
                                   dnnl_primitive_desc_t forward);
dnnl_status_t mgb_dnnl_matmul_describe(dnnl_primitive_desc_t *out, const struct mgb_dnnl_md *a,
                                       const struct mgb_dnnl_md *b, const struct mgb_dnnl_md *c,
                                       dnnl_engine_t engine, dnnl_primitive_attr_t attributes);
dnnl_status_t mgb_dnnl_reorder_describe(dnnl_primitive_desc_t *out, const struct mgb_dnnl_md *from,
                                        const struct mgb_dnnl_md *to, dnnl_engine_t engine,
                                        dnnl_primitive_attr_t attributes);
dnnl_status_t mgb_dnnl_eltwise_append(dnnl_post_ops_t ops, dnnl_alg_kind_t kind, float alpha,
                                      float beta);

/* dnnl_api.c: what both versions say alike. */
enum mgb_status
mgb_dnnl_engine_get(dnnl_engine_t *out); /* one for the process, opened by the first call */
/* With a scratchpad that the caller gives. */
enum mgb_status mgb_dnnl_attributes_make(dnnl_primitive_attr_t *out);
enum mgb_status mgb_dnnl_fail(dnnl_status_t status, const char *what); /* "oneDNN cannot <what>" */

#define MGB_DNNL_TRY(expr, what)                                                                   \
    do {                                                                                           \
        dnnl_status_t mgb_dnnl_try_status_ = (expr);                                               \
        if (mgb_dnnl_try_status_ != dnnl_success)                                                  \
            return mgb_dnnl_fail(mgb_dnnl_try_status_, what);                                      \
    } while (0)

#endif
