/* oneDNN 2.x: memory descriptors are structs of the caller, operators are described in two steps. */
#include "engine/host/dnnl_api.h"

#include "engine/base/memory.h"

struct mgb_dnnl_md {
    dnnl_memory_desc_t it; /* the only member: those the library returns are used in place */
};

static const dnnl_memory_desc_t *md_its(const struct mgb_dnnl_md *md)
{
    return md ? &md->it : NULL;
}

/* Frees what could not be described. */
static dnnl_status_t md_finish(struct mgb_dnnl_md **out, struct mgb_dnnl_md *md,
                               dnnl_status_t status)
{
    if (status != dnnl_success)
        mgb_release(md);
    *out = status == dnnl_success ? md : NULL;
    return status;
}

dnnl_status_t mgb_dnnl_md_make(struct mgb_dnnl_md **out, int rank, const dnnl_dims_t dims,
                               dnnl_format_tag_t tag)
{
    struct mgb_dnnl_md *md = *out = mgb_alloc(sizeof *md);
    if (!md)
        return dnnl_out_of_memory;
    return md_finish(out, md, dnnl_memory_desc_init_by_tag(&md->it, rank, dims, dnnl_f32, tag));
}

dnnl_status_t mgb_dnnl_md_make_strides(struct mgb_dnnl_md **out, int rank, const dnnl_dims_t dims,
                                       const dnnl_dims_t strides)
{
    struct mgb_dnnl_md *md = *out = mgb_alloc(sizeof *md);
    if (!md)
        return dnnl_out_of_memory;
    return md_finish(out, md,
                     dnnl_memory_desc_init_by_strides(&md->it, rank, dims, dnnl_f32, strides));
}

void mgb_dnnl_md_free(struct mgb_dnnl_md *md)
{
    mgb_release(md);
}

bool mgb_dnnl_md_equal(const struct mgb_dnnl_md *a, const struct mgb_dnnl_md *b)
{
    return dnnl_memory_desc_equal(&a->it, &b->it) != 0;
}

int64_t mgb_dnnl_md_bytes(const struct mgb_dnnl_md *md)
{
    return ((int64_t)dnnl_memory_desc_get_size(&md->it) + 63) / 64 * 64;
}

const struct mgb_dnnl_md *mgb_dnnl_md_of(dnnl_primitive_desc_t desc, dnnl_query_t what)
{
    return (const struct mgb_dnnl_md *)dnnl_primitive_desc_query_md(desc, what, 0);
}

dnnl_status_t mgb_dnnl_memory_make(dnnl_memory_t *out, const struct mgb_dnnl_md *md,
                                   dnnl_engine_t engine)
{
    return dnnl_memory_create(out, &md->it, engine, DNNL_MEMORY_NONE);
}

static dnnl_status_t conv_init(dnnl_convolution_desc_t *out, const struct mgb_dnnl_op *op)
{
    const struct mgb_dnnl_window *w = op->window;
    switch (op->pass) {
    case MGB_DNNL_FORWARD:
        return dnnl_dilated_convolution_forward_desc_init(
            out, dnnl_forward_training, dnnl_convolution_direct, &op->x->it, &op->weights->it,
            md_its(op->bias), &op->y->it, w->stride, w->dilation, w->before, w->after);
    case MGB_DNNL_DATA:
        return dnnl_dilated_convolution_backward_data_desc_init(
            out, dnnl_convolution_direct, &op->x->it, &op->weights->it, &op->y->it, w->stride,
            w->dilation, w->before, w->after);
    case MGB_DNNL_WEIGHTS:
        return dnnl_dilated_convolution_backward_weights_desc_init(
            out, dnnl_convolution_direct, &op->x->it, &op->weights->it, md_its(op->bias),
            &op->y->it, w->stride, w->dilation, w->before, w->after);
    }
    return dnnl_invalid_arguments;
}

static dnnl_status_t dense_init(dnnl_inner_product_desc_t *out, const struct mgb_dnnl_op *op)
{
    switch (op->pass) {
    case MGB_DNNL_FORWARD:
        return dnnl_inner_product_forward_desc_init(out, dnnl_forward_training, &op->x->it,
                                                    &op->weights->it, md_its(op->bias), &op->y->it);
    case MGB_DNNL_DATA:
        return dnnl_inner_product_backward_data_desc_init(out, &op->x->it, &op->weights->it,
                                                          &op->y->it);
    case MGB_DNNL_WEIGHTS:
        return dnnl_inner_product_backward_weights_desc_init(out, &op->x->it, &op->weights->it,
                                                             md_its(op->bias), &op->y->it);
    }
    return dnnl_invalid_arguments;
}

dnnl_status_t mgb_dnnl_op_describe(dnnl_primitive_desc_t *out, const struct mgb_dnnl_op *op,
                                   dnnl_engine_t engine, dnnl_primitive_attr_t attributes,
                                   dnnl_primitive_desc_t forward)
{
    union {
        dnnl_convolution_desc_t conv;
        dnnl_inner_product_desc_t dense;
    } desc;
    dnnl_status_t status = op->window ? conv_init(&desc.conv, op) : dense_init(&desc.dense, op);
    if (status != dnnl_success)
        return status;
    return dnnl_primitive_desc_create(out, &desc, attributes, engine, forward);
}

dnnl_status_t mgb_dnnl_matmul_describe(dnnl_primitive_desc_t *out, const struct mgb_dnnl_md *a,
                                       const struct mgb_dnnl_md *b, const struct mgb_dnnl_md *c,
                                       dnnl_engine_t engine, dnnl_primitive_attr_t attributes)
{
    dnnl_matmul_desc_t desc;
    dnnl_status_t status = dnnl_matmul_desc_init(&desc, &a->it, &b->it, NULL, &c->it);
    if (status != dnnl_success)
        return status;
    return dnnl_primitive_desc_create(out, &desc, attributes, engine, NULL);
}

dnnl_status_t mgb_dnnl_reorder_describe(dnnl_primitive_desc_t *out, const struct mgb_dnnl_md *from,
                                        const struct mgb_dnnl_md *to, dnnl_engine_t engine,
                                        dnnl_primitive_attr_t attributes)
{
    return dnnl_reorder_primitive_desc_create(out, &from->it, engine, &to->it, engine, attributes);
}

dnnl_status_t mgb_dnnl_eltwise_append(dnnl_post_ops_t ops, dnnl_alg_kind_t kind, float alpha,
                                      float beta)
{
    return dnnl_post_ops_append_eltwise(ops, 1.0f, kind, alpha, beta);
}
