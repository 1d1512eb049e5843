/* oneDNN 2.x: a matmul primitive whose weights are in its own format, and the reorder into it. */
#include "engine/host/dnnl_packed.h"

#include "engine/base/memory.h"
#include <dnnl.h>
#include <pthread.h>

struct mgb_dnnl_packed {
    dnnl_primitive_desc_t desc, reorder_desc;
    dnnl_primitive_t primitive, reorder;
    dnnl_stream_t stream;
    dnnl_memory_t a, b, packed, c, scratch, reorder_scratch;
    int64_t packed_at, scratch_at; /* in the scratch memory; both primitives use the latter */
};

static dnnl_engine_t engine;
static dnnl_status_t engine_status;
static pthread_once_t engine_once = PTHREAD_ONCE_INIT;

static void engine_open(void)
{
    engine_status = dnnl_engine_create(&engine, dnnl_cpu, 0);
}

static enum mgb_status product_fail(dnnl_status_t status)
{
    if (status == dnnl_out_of_memory)
        return mgb_fail(MGB_NO_MEMORY, "oneDNN has no memory for a product of matrices");
    return mgb_fail(status == dnnl_unimplemented ? MGB_UNSUPPORTED : MGB_DEVICE,
                    "oneDNN cannot multiply these matrices (status %d)", (int)status);
}

#define DNNL_TRY(expr)                                                                             \
    do {                                                                                           \
        dnnl_status_t dnnl_try_status_ = (expr);                                                   \
        if (dnnl_try_status_ != dnnl_success)                                                      \
            return product_fail(dnnl_try_status_);                                                 \
    } while (0)

static int64_t bytes_align(int64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static int64_t desc_bytes(const dnnl_memory_desc_t *md)
{
    return bytes_align((int64_t)dnnl_memory_desc_get_size(md));
}

/* The product first, whose choice of format the reorder then makes. */
static enum mgb_status primitives_make(struct mgb_dnnl_packed *p, dnnl_primitive_attr_t attributes,
                                       const dnnl_memory_desc_t *a, const dnnl_memory_desc_t *b,
                                       const dnnl_memory_desc_t *any, const dnnl_memory_desc_t *c)
{
    dnnl_matmul_desc_t op;
    DNNL_TRY(dnnl_matmul_desc_init(&op, a, any, NULL, c));
    DNNL_TRY(dnnl_primitive_desc_create(&p->desc, &op, attributes, engine, NULL));
    const dnnl_memory_desc_t *packed =
        dnnl_primitive_desc_query_md(p->desc, dnnl_query_weights_md, 0);
    DNNL_TRY(dnnl_reorder_primitive_desc_create(&p->reorder_desc, b, engine, packed, engine,
                                                attributes));
    DNNL_TRY(dnnl_primitive_create(&p->primitive, p->desc));
    DNNL_TRY(dnnl_primitive_create(&p->reorder, p->reorder_desc));
    DNNL_TRY(dnnl_stream_create(&p->stream, engine, dnnl_stream_default_flags));
    DNNL_TRY(dnnl_memory_create(&p->a, a, engine, DNNL_MEMORY_NONE));
    DNNL_TRY(dnnl_memory_create(&p->b, b, engine, DNNL_MEMORY_NONE));
    DNNL_TRY(dnnl_memory_create(&p->packed, packed, engine, DNNL_MEMORY_NONE));
    DNNL_TRY(dnnl_memory_create(&p->c, c, engine, DNNL_MEMORY_NONE));
    return MGB_OK;
}

static enum mgb_status scratch_plan(struct mgb_dnnl_packed *p, int64_t *scratch_bytes)
{
    const dnnl_memory_desc_t *packed =
        dnnl_primitive_desc_query_md(p->desc, dnnl_query_weights_md, 0);
    const dnnl_memory_desc_t *own =
        dnnl_primitive_desc_query_md(p->desc, dnnl_query_scratchpad_md, 0);
    const dnnl_memory_desc_t *reorder =
        dnnl_primitive_desc_query_md(p->reorder_desc, dnnl_query_scratchpad_md, 0);
    DNNL_TRY(dnnl_memory_create(&p->scratch, own, engine, DNNL_MEMORY_NONE));
    DNNL_TRY(dnnl_memory_create(&p->reorder_scratch, reorder, engine, DNNL_MEMORY_NONE));
    int64_t most = desc_bytes(own) > desc_bytes(reorder) ? desc_bytes(own) : desc_bytes(reorder);
    p->packed_at = 0;
    p->scratch_at = desc_bytes(packed);
    *scratch_bytes = p->scratch_at + most;
    return MGB_OK;
}

static enum mgb_status packed_make(struct mgb_dnnl_packed *p, int64_t *scratch_bytes,
                                   const struct mgb_dnnl_packed_shape *shape)
{
    dnnl_dims_t a = {shape->m, shape->k}, b = {shape->k, shape->n}, c = {shape->m, shape->n};
    dnnl_dims_t rows = {shape->b_stride, 1}, columns = {1, shape->b_stride};
    dnnl_memory_desc_t a_md, b_md, any, c_md;
    dnnl_primitive_attr_t attributes;
    DNNL_TRY(engine_status);
    DNNL_TRY(dnnl_memory_desc_init_by_tag(&a_md, 2, a, dnnl_f32, dnnl_ab));
    DNNL_TRY(dnnl_memory_desc_init_by_tag(&c_md, 2, c, dnnl_f32, dnnl_ab));
    DNNL_TRY(dnnl_memory_desc_init_by_tag(&any, 2, b, dnnl_f32, dnnl_format_tag_any));
    DNNL_TRY(dnnl_memory_desc_init_by_strides(&b_md, 2, b, dnnl_f32,
                                              shape->transposed ? columns : rows));
    DNNL_TRY(dnnl_primitive_attr_create(&attributes));
    dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
    enum mgb_status status = primitives_make(p, attributes, &a_md, &b_md, &any, &c_md);
    dnnl_primitive_attr_destroy(attributes);
    return status == MGB_OK ? scratch_plan(p, scratch_bytes) : status;
}

enum mgb_status mgb_dnnl_packed_make(struct mgb_dnnl_packed **out, int64_t *scratch_bytes,
                                     const struct mgb_dnnl_packed_shape *shape)
{
    pthread_once(&engine_once, engine_open);
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
    DNNL_TRY(dnnl_primitive_execute(p->reorder, p->stream, 3, args));
    DNNL_TRY(dnnl_stream_wait(p->stream));
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
    DNNL_TRY(dnnl_primitive_execute(p->primitive, p->stream, 4, args));
    DNNL_TRY(dnnl_stream_wait(p->stream));
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
