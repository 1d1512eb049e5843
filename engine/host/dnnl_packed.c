/* A matmul primitive whose weights are in its own format, and the reorder into it. */
#include "engine/host/dnnl_packed.h"

#include "engine/base/memory.h"
#include "engine/host/dnnl_api.h"

struct mgb_dnnl_packed {
    dnnl_engine_t engine; /* the process's */
    dnnl_primitive_desc_t desc, reorder_desc;
    dnnl_primitive_t primitive, reorder;
    dnnl_stream_t stream;
    dnnl_memory_t a, b, packed, c, scratch, reorder_scratch;
    int64_t packed_at, scratch_at; /* in the scratch memory; both primitives use the latter */
};

#define PRODUCT_TRY(expr) MGB_DNNL_TRY(expr, "multiply these matrices")

struct product_mds {
    struct mgb_dnnl_md *a, *b, *any,
        *c; /* b as it lies, and in whatever form the product likes best */
};

/* The product first, whose choice of format the reorder then makes. */
static enum mgb_status descs_make(struct mgb_dnnl_packed *p, const struct product_mds *m)
{
    dnnl_primitive_attr_t attributes;
    MGB_TRY(mgb_dnnl_attributes_make(&attributes));
    dnnl_status_t made =
        mgb_dnnl_matmul_describe(&p->desc, m->a, m->any, m->c, p->engine, attributes);
    if (made == dnnl_success)
        made = mgb_dnnl_reorder_describe(&p->reorder_desc, m->b,
                                         mgb_dnnl_md_of(p->desc, dnnl_query_weights_md), p->engine,
                                         attributes);
    dnnl_primitive_attr_destroy(attributes);
    PRODUCT_TRY(made);
    return MGB_OK;
}

static enum mgb_status primitives_make(struct mgb_dnnl_packed *p, const struct product_mds *m)
{
    PRODUCT_TRY(dnnl_primitive_create(&p->primitive, p->desc));
    PRODUCT_TRY(dnnl_primitive_create(&p->reorder, p->reorder_desc));
    PRODUCT_TRY(dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags));
    PRODUCT_TRY(mgb_dnnl_memory_make(&p->a, m->a, p->engine));
    PRODUCT_TRY(mgb_dnnl_memory_make(&p->b, m->b, p->engine));
    PRODUCT_TRY(mgb_dnnl_memory_make(&p->packed, mgb_dnnl_md_of(p->desc, dnnl_query_weights_md),
                                     p->engine));
    PRODUCT_TRY(mgb_dnnl_memory_make(&p->c, m->c, p->engine));
    return MGB_OK;
}

static enum mgb_status scratch_plan(struct mgb_dnnl_packed *p, int64_t *scratch_bytes)
{
    const struct mgb_dnnl_md *own = mgb_dnnl_md_of(p->desc, dnnl_query_scratchpad_md);
    const struct mgb_dnnl_md *reorder = mgb_dnnl_md_of(p->reorder_desc, dnnl_query_scratchpad_md);
    PRODUCT_TRY(mgb_dnnl_memory_make(&p->scratch, own, p->engine));
    PRODUCT_TRY(mgb_dnnl_memory_make(&p->reorder_scratch, reorder, p->engine));
    int64_t own_bytes = mgb_dnnl_md_bytes(own), reorder_bytes = mgb_dnnl_md_bytes(reorder);
    p->packed_at = 0;
    p->scratch_at = mgb_dnnl_md_bytes(mgb_dnnl_md_of(p->desc, dnnl_query_weights_md));
    *scratch_bytes = p->scratch_at + (own_bytes > reorder_bytes ? own_bytes : reorder_bytes);
    return MGB_OK;
}

static enum mgb_status product_describe(struct product_mds *out,
                                        const struct mgb_dnnl_packed_shape *shape)
{
    dnnl_dims_t a = {shape->m, shape->k}, b = {shape->k, shape->n}, c = {shape->m, shape->n};
    dnnl_dims_t rows = {shape->b_stride, 1}, columns = {1, shape->b_stride};
    PRODUCT_TRY(mgb_dnnl_md_make(&out->a, 2, a, dnnl_ab));
    PRODUCT_TRY(mgb_dnnl_md_make(&out->c, 2, c, dnnl_ab));
    PRODUCT_TRY(mgb_dnnl_md_make(&out->any, 2, b, dnnl_format_tag_any));
    PRODUCT_TRY(mgb_dnnl_md_make_strides(&out->b, 2, b, shape->transposed ? columns : rows));
    return MGB_OK;
}

static enum mgb_status packed_make(struct mgb_dnnl_packed *p, int64_t *scratch_bytes,
                                   const struct mgb_dnnl_packed_shape *shape)
{
    MGB_TRY(mgb_dnnl_engine_get(&p->engine));
    struct product_mds mds = {NULL, NULL, NULL, NULL};
    enum mgb_status status = product_describe(&mds, shape);
    if (status == MGB_OK)
        status = descs_make(p, &mds);
    if (status == MGB_OK)
        status = primitives_make(p, &mds);
    if (status == MGB_OK)
        status = scratch_plan(p, scratch_bytes);
    mgb_dnnl_md_free(mds.a);
    mgb_dnnl_md_free(mds.b);
    mgb_dnnl_md_free(mds.any);
    mgb_dnnl_md_free(mds.c);
    return status;
}

enum mgb_status mgb_dnnl_packed_make(struct mgb_dnnl_packed **out, int64_t *scratch_bytes,
                                     const struct mgb_dnnl_packed_shape *shape)
{
    *scratch_bytes = 0;
    *out = mgb_alloc(sizeof **out);
    if (!*out)
        return mgb_fail(MGB_NO_MEMORY, "no memory to prepare a product of matrices");
    enum mgb_status status = packed_make(*out, scratch_bytes, shape);
    if (status != MGB_OK) {
        mgb_dnnl_packed_free(*out);
        *out = NULL;
    }
    return status;
}

enum mgb_status mgb_dnnl_packed_pack(struct mgb_dnnl_packed *p, const float *b, void *scratch)
{
    dnnl_memory_set_data_handle(p->b, (void *)b);
    dnnl_memory_set_data_handle(p->packed, (char *)scratch + p->packed_at);
    dnnl_memory_set_data_handle(p->reorder_scratch, (char *)scratch + p->scratch_at);
    const dnnl_exec_arg_t args[] = {
        {DNNL_ARG_FROM, p->b}, {DNNL_ARG_TO, p->packed}, {DNNL_ARG_SCRATCHPAD, p->reorder_scratch}};
    PRODUCT_TRY(dnnl_primitive_execute(p->reorder, p->stream, 3, args));
    PRODUCT_TRY(dnnl_stream_wait(p->stream));
    return MGB_OK;
}

enum mgb_status mgb_dnnl_packed_run(struct mgb_dnnl_packed *p, const float *a, float *c,
                                    void *scratch)
{
    dnnl_memory_set_data_handle(p->a, (void *)a);
    dnnl_memory_set_data_handle(p->c, c);
    dnnl_memory_set_data_handle(p->packed, (char *)scratch + p->packed_at);
    dnnl_memory_set_data_handle(p->scratch, (char *)scratch + p->scratch_at);
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, p->a},
                                    {DNNL_ARG_WEIGHTS, p->packed},
                                    {DNNL_ARG_DST, p->c},
                                    {DNNL_ARG_SCRATCHPAD, p->scratch}};
    PRODUCT_TRY(dnnl_primitive_execute(p->primitive, p->stream, 4, args));
    PRODUCT_TRY(dnnl_stream_wait(p->stream));
    return MGB_OK;
}

void mgb_dnnl_packed_free(struct mgb_dnnl_packed *p)
{
    if (!p)
        return;
    dnnl_memory_t memories[] = {p->a, p->b, p->packed, p->c, p->scratch, p->reorder_scratch};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++)
        if (memories[i])
            dnnl_memory_destroy(memories[i]);
    if (p->primitive)
        dnnl_primitive_destroy(p->primitive);
    if (p->reorder)
        dnnl_primitive_destroy(p->reorder);
    if (p->desc)
        dnnl_primitive_desc_destroy(p->desc);
    if (p->reorder_desc)
        dnnl_primitive_desc_destroy(p->reorder_desc);
    if (p->stream)
        dnnl_stream_destroy(p->stream);
    mgb_release(p);
}
