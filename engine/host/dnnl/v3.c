/* oneDNN 3.x: memory descriptors are the library's own and opaque, operators are described in one step. */
#include "engine/host/dnnl_api.h"

/* struct mgb_dnnl_md is the library's own struct under our name. */
static const_dnnl_memory_desc_t md_its(const struct mgb_dnnl_md *md)
{
    return (const_dnnl_memory_desc_t)md;
}

static dnnl_status_t md_finish(struct mgb_dnnl_md **out, dnnl_memory_desc_t md,
                               dnnl_status_t status)
{
    *out = status == dnnl_success ? (struct mgb_dnnl_md *)md : NULL;
    return status;
}

dnnl_status_t mgb_dnnl_md_make(struct mgb_dnnl_md **out, int rank, const dnnl_dims_t dims,
                               dnnl_format_tag_t tag)
{
    dnnl_memory_desc_t md = NULL;
    dnnl_status_t status = dnnl_memory_desc_create_with_tag(&md, rank, dims, dnnl_f32, tag);
    return md_finish(out, md, status);
}

dnnl_status_t mgb_dnnl_md_make_strides(struct mgb_dnnl_md **out, int rank, const dnnl_dims_t dims,
                                       const dnnl_dims_t strides)
{
    dnnl_memory_desc_t md = NULL;
    dnnl_status_t status = dnnl_memory_desc_create_with_strides(&md, rank, dims, dnnl_f32, strides);
    return md_finish(out, md, status);
}

void mgb_dnnl_md_free(struct mgb_dnnl_md *md)
{
    if (md)
        dnnl_memory_desc_destroy((dnnl_memory_desc_t)md);
}

bool mgb_dnnl_md_equal(const struct mgb_dnnl_md *a, const struct mgb_dnnl_md *b)
{
    return dnnl_memory_desc_equal(md_its(a), md_its(b)) != 0;
}

int64_t mgb_dnnl_md_bytes(const struct mgb_dnnl_md *md)
{
    return ((int64_t)dnnl_memory_desc_get_size(md_its(md)) + 63) / 64 * 64;
}

const struct mgb_dnnl_md *mgb_dnnl_md_of(dnnl_primitive_desc_t desc, dnnl_query_t what)
{
    return (const struct mgb_dnnl_md *)dnnl_primitive_desc_query_md(desc, what, 0);
}

dnnl_status_t mgb_dnnl_memory_make(dnnl_memory_t *out, const struct mgb_dnnl_md *md,
                                   dnnl_engine_t engine)
{
    return dnnl_memory_create(out, md_its(md), engine, DNNL_MEMORY_NONE);
}

static dnnl_status_t conv_describe(dnnl_primitive_desc_t *out, const struct mgb_dnnl_op *op,
                                   dnnl_engine_t engine, dnnl_primitive_attr_t attributes,
                                   dnnl_primitive_desc_t forward)
{
    const_dnnl_memory_desc_t x = md_its(op->x), weights = md_its(op->weights),
                             bias = md_its(op->bias), y = md_its(op->y);
    const struct mgb_dnnl_window *w = op->window;
    switch (op->pass) {
    case MGB_DNNL_FORWARD:
        return dnnl_convolution_forward_primitive_desc_create(
            out, engine, dnnl_forward_training, dnnl_convolution_direct, x, weights, bias, y,
            w->stride, w->dilation, w->before, w->after, attributes);
    case MGB_DNNL_DATA:
        return dnnl_convolution_backward_data_primitive_desc_create(
            out, engine, dnnl_convolution_direct, x, weights, y, w->stride, w->dilation, w->before,
            w->after, forward, attributes);
    case MGB_DNNL_WEIGHTS:
        return dnnl_convolution_backward_weights_primitive_desc_create(
            out, engine, dnnl_convolution_direct, x, weights, bias, y, w->stride, w->dilation,
            w->before, w->after, forward, attributes);
    }
    return dnnl_invalid_arguments;
}

static dnnl_status_t dense_describe(dnnl_primitive_desc_t *out, const struct mgb_dnnl_op *op,
                                    dnnl_engine_t engine, dnnl_primitive_attr_t attributes,
                                    dnnl_primitive_desc_t forward)
{
    const_dnnl_memory_desc_t x = md_its(op->x), weights = md_its(op->weights),
                             bias = md_its(op->bias), y = md_its(op->y);
    switch (op->pass) {
    case MGB_DNNL_FORWARD:
        return dnnl_inner_product_forward_primitive_desc_create(out, engine, dnnl_forward_training,
                                                                x, weights, bias, y, attributes);
    case MGB_DNNL_DATA:
        return dnnl_inner_product_backward_data_primitive_desc_create(out, engine, x, weights, y,
                                                                      forward, attributes);
    case MGB_DNNL_WEIGHTS:
        return dnnl_inner_product_backward_weights_primitive_desc_create(
            out, engine, x, weights, bias, y, forward, attributes);
    }
    return dnnl_invalid_arguments;
}

dnnl_status_t mgb_dnnl_op_describe(dnnl_primitive_desc_t *out, const struct mgb_dnnl_op *op,
                                   dnnl_engine_t engine, dnnl_primitive_attr_t attributes,
                                   dnnl_primitive_desc_t forward)
{
    return op->window ? conv_describe(out, op, engine, attributes, forward)
                      : dense_describe(out, op, engine, attributes, forward);
}

dnnl_status_t mgb_dnnl_matmul_describe(dnnl_primitive_desc_t *out, const struct mgb_dnnl_md *a,
                                       const struct mgb_dnnl_md *b, const struct mgb_dnnl_md *c,
                                       dnnl_engine_t engine, dnnl_primitive_attr_t attributes)
{
    return dnnl_matmul_primitive_desc_create(out, engine, md_its(a), md_its(b), NULL, md_its(c),
                                             attributes);
}

dnnl_status_t mgb_dnnl_reorder_describe(dnnl_primitive_desc_t *out, const struct mgb_dnnl_md *from,
                                        const struct mgb_dnnl_md *to, dnnl_engine_t engine,
                                        dnnl_primitive_attr_t attributes)
{
    return dnnl_reorder_primitive_desc_create(out, md_its(from), engine, md_its(to), engine,
                                              attributes);
}

dnnl_status_t mgb_dnnl_eltwise_append(dnnl_post_ops_t ops, dnnl_alg_kind_t kind, float alpha,
                                      float beta)
{
    return dnnl_post_ops_append_eltwise(ops, kind, alpha, beta);
}
