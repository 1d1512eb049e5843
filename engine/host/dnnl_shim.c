/* oneDNN 2.x: descriptors, primitives, packed weights. Facts of the library are in reference/feasibility.md, section 3. */
#include "engine/host/dnnl_shim.h"

#include "engine/base/memory.h"
#include "engine/host/layout.h"
#include <dnnl.h>
#include <pthread.h>
#include <string.h>

int omp_get_max_threads(void);

#define MAX_ARGS 6

struct mgb_dnnl {
    enum mgb_dnnl_pass pass;
    dnnl_primitive_desc_t forward_desc, desc, pack_desc;
    dnnl_primitive_t primitive, pack; /* pack: between plain and packed weights, or NULL */
    dnnl_stream_t stream;
    dnnl_memory_t x, y, weights, bias, plain_weights, scratch, pack_scratch;
    int64_t packed_at, pack_scratch_at; /* in the scratch memory */
    dnnl_exec_arg_t args[MAX_ARGS], pack_args[3];
    int arg_count;
};

static dnnl_engine_t engine;
static dnnl_status_t engine_status;
static pthread_once_t engine_once = PTHREAD_ONCE_INIT;

static void engine_open(void)
{
    engine_status = dnnl_engine_create(&engine, dnnl_cpu, 0);
}

static enum mgb_status dnnl_fail(dnnl_status_t status, const char *what)
{
    if (status == dnnl_out_of_memory)
        return mgb_fail(MGB_NO_MEMORY, "oneDNN has no memory to %s", what);
    return mgb_fail(status == dnnl_unimplemented ? MGB_UNSUPPORTED : MGB_DEVICE,
                    "oneDNN cannot %s (status %d)", what, (int)status);
}

#define DNNL_TRY(expr, what)                                                                       \
    do {                                                                                           \
        dnnl_status_t dnnl_try_status_ = (expr);                                                   \
        if (dnnl_try_status_ != dnnl_success)                                                      \
            return dnnl_fail(dnnl_try_status_, what);                                              \
    } while (0)

/* How the activations of a convolution lie: [rows, channels, height, width] in one of our layouts. */
static const dnnl_format_tag_t layout_tags[MGB_LAYOUT_COUNT] = {
    [MGB_LAYOUT_PLAIN] = dnnl_nhwc,
    [MGB_LAYOUT_BLOCK8] = dnnl_nChw8c,
    [MGB_LAYOUT_BLOCK16] = dnnl_nChw16c,
    [MGB_LAYOUT_PLANAR] = dnnl_nchw,
};

static enum mgb_status md_by_tag(dnnl_memory_desc_t *out, int rank, const dnnl_dims_t dims,
                                 dnnl_format_tag_t tag)
{
    DNNL_TRY(dnnl_memory_desc_init_by_tag(out, rank, dims, dnnl_f32, tag), "describe an operand");
    return MGB_OK;
}

/* Our number for a layout that oneDNN chose, or -1. With one channel plain and planar are the same bytes. */
static int layout_of(const dnnl_memory_desc_t *md)
{
    for (int i = 0; i < MGB_LAYOUT_COUNT; i++) {
        dnnl_memory_desc_t candidate;
        if (dnnl_memory_desc_init_by_tag(&candidate, md->ndims, md->dims, dnnl_f32,
                                         layout_tags[i]) == dnnl_success &&
            dnnl_memory_desc_equal(md, &candidate))
            return i == MGB_LAYOUT_PLANAR && md->dims[1] == 1 ? MGB_LAYOUT_PLAIN : i;
    }
    return -1;
}

static const dnnl_memory_desc_t *desc_md(dnnl_primitive_desc_t desc, dnnl_query_t what)
{
    return dnnl_primitive_desc_query_md(desc, what, 0);
}

static enum mgb_status attributes_make(dnnl_primitive_attr_t *out, enum mgb_activation activation)
{
    DNNL_TRY(dnnl_primitive_attr_create(out), "make attributes");
    dnnl_primitive_attr_set_scratchpad_mode(*out, dnnl_scratchpad_mode_user);
    if (activation != MGB_RELU && activation != MGB_RELU6)
        return MGB_OK;
    dnnl_post_ops_t ops;
    if (dnnl_post_ops_create(&ops) != dnnl_success)
        return mgb_fail(MGB_NO_MEMORY, "oneDNN has no memory for a fused activation");
    bool limited = activation == MGB_RELU6;
    dnnl_post_ops_append_eltwise(ops, 1.0f, limited ? dnnl_eltwise_clip : dnnl_eltwise_relu, 0.0f,
                                 limited ? 6.0f : 0.0f);
    dnnl_primitive_attr_set_post_ops(*out, ops);
    dnnl_post_ops_destroy(ops);
    return MGB_OK;
}

static enum mgb_status desc_make(dnnl_primitive_desc_t *out, const void *op,
                                 enum mgb_activation activation, dnnl_primitive_desc_t hint,
                                 const char *what)
{
    dnnl_primitive_attr_t attributes = NULL;
    enum mgb_status status = attributes_make(&attributes, activation);
    if (status == MGB_OK) {
        dnnl_status_t made = dnnl_primitive_desc_create(out, op, attributes, engine, hint);
        if (made != dnnl_success)
            status = dnnl_fail(made, what);
    }
    if (attributes)
        dnnl_primitive_attr_destroy(attributes);
    return status;
}

static enum mgb_status memory_make(dnnl_memory_t *out, const dnnl_memory_desc_t *md)
{
    DNNL_TRY(dnnl_memory_create(out, md, engine, DNNL_MEMORY_NONE), "describe an operand");
    return MGB_OK;
}

static int64_t bytes_align(int64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* The reorder between plain master weights and the form the primitive wants; none when it takes them as they are. */
static enum mgb_status pack_make(struct mgb_dnnl *p, struct mgb_dnnl_needs *needs,
                                 const dnnl_memory_desc_t *plain, const dnnl_memory_desc_t *packed)
{
    if (dnnl_memory_desc_equal(plain, packed))
        return MGB_OK;
    bool unpack = p->pass == MGB_DNNL_WEIGHTS;
    dnnl_primitive_attr_t attributes = NULL;
    MGB_TRY(attributes_make(&attributes, MGB_LINEAR));
    dnnl_status_t made =
        dnnl_reorder_primitive_desc_create(&p->pack_desc, unpack ? packed : plain, engine,
                                           unpack ? plain : packed, engine, attributes);
    dnnl_primitive_attr_destroy(attributes);
    DNNL_TRY(made, "reorder weights");
    DNNL_TRY(dnnl_primitive_create(&p->pack, p->pack_desc), "prepare the reorder of weights");
    MGB_TRY(memory_make(&p->plain_weights, plain));
    const dnnl_memory_desc_t *scratch = desc_md(p->pack_desc, dnnl_query_scratchpad_md);
    MGB_TRY(memory_make(&p->pack_scratch, scratch));
    p->packed_at = needs->scratch_bytes;
    needs->scratch_bytes += bytes_align((int64_t)dnnl_memory_desc_get_size(packed));
    p->pack_scratch_at = needs->scratch_bytes;
    needs->scratch_bytes += bytes_align((int64_t)dnnl_memory_desc_get_size(scratch));
    p->pack_args[0] = (dnnl_exec_arg_t){DNNL_ARG_FROM, unpack ? p->weights : p->plain_weights};
    p->pack_args[1] = (dnnl_exec_arg_t){DNNL_ARG_TO, unpack ? p->plain_weights : p->weights};
    p->pack_args[2] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, p->pack_scratch};
    return MGB_OK;
}

/* Names of the operands in each pass: x, weights, bias, y. */
static const int arg_names[3][4] = {
    [MGB_DNNL_FORWARD] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST},
    [MGB_DNNL_DATA] = {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, 0, DNNL_ARG_DIFF_DST},
    [MGB_DNNL_WEIGHTS] = {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_BIAS,
                          DNNL_ARG_DIFF_DST},
};
static const dnnl_query_t arg_queries[3][3] = {
    /* x, weights, y */
    [MGB_DNNL_FORWARD] = {dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md},
    [MGB_DNNL_DATA] = {dnnl_query_diff_src_md, dnnl_query_weights_md, dnnl_query_diff_dst_md},
    [MGB_DNNL_WEIGHTS] = {dnnl_query_src_md, dnnl_query_diff_weights_md, dnnl_query_diff_dst_md},
};

static void arg_add(struct mgb_dnnl *p, int name, dnnl_memory_t memory)
{
    p->args[p->arg_count++] = (dnnl_exec_arg_t){name, memory};
}

/* From the chosen descriptor to something that runs. */
static enum mgb_status primitive_finish(struct mgb_dnnl *p, struct mgb_dnnl_needs *needs,
                                        const dnnl_memory_desc_t *plain_weights,
                                        const dnnl_memory_desc_t *bias)
{
    const dnnl_query_t *queries = arg_queries[p->pass];
    const dnnl_memory_desc_t *weights = desc_md(p->desc, queries[1]);
    const dnnl_memory_desc_t *scratch = desc_md(p->desc, dnnl_query_scratchpad_md);
    DNNL_TRY(dnnl_stream_create(&p->stream, engine, dnnl_stream_default_flags), "make a stream");
    DNNL_TRY(dnnl_primitive_create(&p->primitive, p->desc), "prepare the operator");
    MGB_TRY(memory_make(&p->x, desc_md(p->desc, queries[0])));
    MGB_TRY(memory_make(&p->weights, weights));
    MGB_TRY(memory_make(&p->y, desc_md(p->desc, queries[2])));
    MGB_TRY(memory_make(&p->scratch, scratch));
    arg_add(p, arg_names[p->pass][0], p->x);
    arg_add(p, arg_names[p->pass][1], p->weights);
    if (bias) {
        MGB_TRY(memory_make(&p->bias, bias));
        arg_add(p, arg_names[p->pass][2], p->bias);
    }
    arg_add(p, arg_names[p->pass][3], p->y);
    arg_add(p, DNNL_ARG_SCRATCHPAD, p->scratch);
    needs->scratch_bytes = bytes_align((int64_t)dnnl_memory_desc_get_size(scratch));
    return pack_make(p, needs, plain_weights, weights);
}

struct conv_mds {
    dnnl_memory_desc_t x, weights, plain_weights, bias, y;
};

static enum mgb_status conv_describe(struct conv_mds *out, const struct mgb_dnnl_conv *c,
                                     dnnl_format_tag_t tag)
{
    dnnl_dims_t x = {c->rows, c->in, c->height, c->width},
                y = {c->rows, c->out, c->out_height, c->out_width};
    dnnl_dims_t bias = {c->out};
    MGB_TRY(md_by_tag(&out->x, 4, x, tag));
    MGB_TRY(md_by_tag(&out->y, 4, y, tag));
    MGB_TRY(md_by_tag(&out->bias, 1, bias, dnnl_x));
    int64_t in = c->in / c->groups, group_out = c->out / c->groups, kh = c->kernel[0],
            kw = c->kernel[1];
    int64_t row = kw * in * c->out,
            column = in * c->out; /* strides of [height, width, in / groups, out] */
    if (c->groups == 1) {
        dnnl_dims_t dims = {c->out, in, kh, kw}, strides = {1, c->out, row, column};
        MGB_TRY(md_by_tag(&out->weights, 4, dims, dnnl_format_tag_any));
        DNNL_TRY(dnnl_memory_desc_init_by_strides(&out->plain_weights, 4, dims, dnnl_f32, strides),
                 "describe weights");
    } else {
        dnnl_dims_t dims = {c->groups, group_out, in, kh, kw},
                    strides = {group_out, 1, c->out, row, column};
        MGB_TRY(md_by_tag(&out->weights, 5, dims, dnnl_format_tag_any));
        DNNL_TRY(dnnl_memory_desc_init_by_strides(&out->plain_weights, 5, dims, dnnl_f32, strides),
                 "describe weights");
    }
    return MGB_OK;
}

struct conv_geometry {
    dnnl_dims_t stride, dilation, before, after;
};

static enum mgb_status conv_desc_make(struct mgb_dnnl *p, const struct mgb_dnnl_conv *c,
                                      struct conv_mds *m)
{
    struct conv_geometry g = {{0}, {0}, {0}, {0}};
    for (int i = 0; i < 2; i++) {
        g.stride[i] = c->stride[i];
        g.dilation[i] = c->dilation[i] - 1;
        g.before[i] = c->pad_before[i];
        g.after[i] = c->pad_after[i];
    }
    dnnl_memory_desc_t *bias = c->bias ? &m->bias : NULL;
    dnnl_convolution_desc_t op;
    DNNL_TRY(dnnl_dilated_convolution_forward_desc_init(
                 &op, dnnl_forward_training, dnnl_convolution_direct, &m->x, &m->weights,
                 c->pass == MGB_DNNL_FORWARD ? bias : NULL, &m->y, g.stride, g.dilation, g.before,
                 g.after),
             "describe this convolution");
    if (c->pass == MGB_DNNL_FORWARD)
        return desc_make(&p->desc, &op, c->activation, NULL, "run this convolution");
    MGB_TRY(desc_make(&p->forward_desc, &op, MGB_LINEAR, NULL, "run this convolution"));
    if (c->pass == MGB_DNNL_DATA)
        DNNL_TRY(dnnl_dilated_convolution_backward_data_desc_init(
                     &op, dnnl_convolution_direct, &m->x, &m->weights, &m->y, g.stride, g.dilation,
                     g.before, g.after),
                 "describe this convolution's gradient");
    else
        DNNL_TRY(dnnl_dilated_convolution_backward_weights_desc_init(
                     &op, dnnl_convolution_direct, &m->x, &m->weights, bias, &m->y, g.stride,
                     g.dilation, g.before, g.after),
                 "describe this convolution's gradient");
    return desc_make(&p->desc, &op, MGB_LINEAR, p->forward_desc, "run this convolution's gradient");
}

/* The library's choice of layout first; plain where it chose one that layout.h has no number for. */
static enum mgb_status conv_choose(struct mgb_dnnl *p, struct mgb_dnnl_needs *needs,
                                   const struct mgb_dnnl_conv *c, struct conv_mds *mds)
{
    static const dnnl_format_tag_t tags[] = {dnnl_format_tag_any, dnnl_nhwc};
    for (int i = 0; i < 2; i++) {
        MGB_TRY(conv_describe(mds, c, tags[i]));
        MGB_TRY(conv_desc_make(p, c, mds));
        needs->x_layout = layout_of(desc_md(p->desc, arg_queries[p->pass][0]));
        needs->y_layout = layout_of(desc_md(p->desc, arg_queries[p->pass][2]));
        if (needs->x_layout >= 0 && needs->y_layout >= 0)
            return MGB_OK;
        dnnl_primitive_desc_destroy(p->desc);
        p->desc = NULL;
        if (p->forward_desc)
            dnnl_primitive_desc_destroy(p->forward_desc);
        p->forward_desc = NULL;
    }
    return mgb_fail(MGB_UNSUPPORTED, "oneDNN insists on a layout of its own for this convolution");
}

static enum mgb_status shim_begin(struct mgb_dnnl **out, struct mgb_dnnl_needs *needs,
                                  enum mgb_dnnl_pass pass)
{
    pthread_once(&engine_once, engine_open);
    if (engine_status != dnnl_success)
        return dnnl_fail(engine_status, "start");
    memset(needs, 0, sizeof *needs);
    *out = mgb_alloc(sizeof **out);
    if (!*out)
        return mgb_fail(MGB_NO_MEMORY, "no memory to prepare an operator");
    (*out)->pass = pass;
    return MGB_OK;
}

static enum mgb_status shim_end(struct mgb_dnnl **out, struct mgb_dnnl *p, enum mgb_status status)
{
    if (status != MGB_OK)
        mgb_dnnl_free(p);
    *out = status == MGB_OK ? p : NULL;
    return status;
}

enum mgb_status mgb_dnnl_conv_make(struct mgb_dnnl **out, struct mgb_dnnl_needs *needs,
                                   const struct mgb_dnnl_conv *conv)
{
    struct mgb_dnnl *p;
    struct conv_mds mds;
    MGB_TRY(shim_begin(&p, needs, conv->pass));
    enum mgb_status status = conv_choose(p, needs, conv, &mds);
    if (status == MGB_OK)
        status = primitive_finish(p, needs, &mds.plain_weights,
                                  conv->bias && conv->pass != MGB_DNNL_DATA ? &mds.bias : NULL);
    return shim_end(out, p, status);
}

static enum mgb_status dense_desc_make(struct mgb_dnnl *p, const struct mgb_dnnl_dense *d,
                                       struct conv_mds *m)
{
    dnnl_dims_t x = {d->rows, d->in}, weights = {d->out, d->in}, y = {d->rows, d->out},
                bias = {d->out};
    dnnl_memory_desc_t *with_bias = d->bias && d->pass != MGB_DNNL_DATA ? &m->bias : NULL;
    dnnl_inner_product_desc_t op;
    MGB_TRY(md_by_tag(&m->x, 2, x, dnnl_nc));
    MGB_TRY(md_by_tag(&m->plain_weights, 2, weights, d->transposed ? dnnl_oi : dnnl_io));
    MGB_TRY(md_by_tag(&m->y, 2, y, dnnl_nc));
    MGB_TRY(md_by_tag(&m->bias, 1, bias, dnnl_x));
    DNNL_TRY(
        dnnl_inner_product_forward_desc_init(&op, dnnl_forward_training, &m->x, &m->plain_weights,
                                             d->pass == MGB_DNNL_FORWARD ? with_bias : NULL, &m->y),
        "describe this dense layer");
    if (d->pass == MGB_DNNL_FORWARD)
        return desc_make(&p->desc, &op, d->activation, NULL, "run this dense layer");
    MGB_TRY(desc_make(&p->forward_desc, &op, MGB_LINEAR, NULL, "run this dense layer"));
    if (d->pass == MGB_DNNL_DATA)
        DNNL_TRY(dnnl_inner_product_backward_data_desc_init(&op, &m->x, &m->plain_weights, &m->y),
                 "describe this dense layer's gradient");
    else
        DNNL_TRY(dnnl_inner_product_backward_weights_desc_init(&op, &m->x, &m->plain_weights,
                                                               with_bias, &m->y),
                 "describe this dense layer's gradient");
    return desc_make(&p->desc, &op, MGB_LINEAR, p->forward_desc, "run this dense layer's gradient");
}

enum mgb_status mgb_dnnl_dense_make(struct mgb_dnnl **out, struct mgb_dnnl_needs *needs,
                                    const struct mgb_dnnl_dense *dense)
{
    struct mgb_dnnl *p;
    struct conv_mds mds;
    MGB_TRY(shim_begin(&p, needs, dense->pass));
    enum mgb_status status = dense_desc_make(p, dense, &mds);
    if (status == MGB_OK)
        status = primitive_finish(p, needs, &mds.plain_weights,
                                  dense->bias && dense->pass != MGB_DNNL_DATA ? &mds.bias : NULL);
    return shim_end(out, p, status);
}

static enum mgb_status reorder_run(struct mgb_dnnl *p)
{
    DNNL_TRY(dnnl_primitive_execute(p->pack, p->stream, 3, p->pack_args), "reorder weights");
    return MGB_OK;
}

enum mgb_status mgb_dnnl_run(struct mgb_dnnl *p, const struct mgb_dnnl_operands *operands)
{
    char *scratch = operands->scratch;
    dnnl_memory_set_data_handle(p->x, operands->x);
    dnnl_memory_set_data_handle(p->y, operands->y);
    dnnl_memory_set_data_handle(p->scratch, scratch);
    if (p->bias)
        dnnl_memory_set_data_handle(p->bias, operands->bias);
    if (p->pack) {
        dnnl_memory_set_data_handle(p->plain_weights, operands->weights);
        dnnl_memory_set_data_handle(p->weights, scratch + p->packed_at);
        dnnl_memory_set_data_handle(p->pack_scratch, scratch + p->pack_scratch_at);
    } else {
        dnnl_memory_set_data_handle(p->weights, operands->weights);
    }
    if (p->pack && p->pass != MGB_DNNL_WEIGHTS)
        MGB_TRY(reorder_run(p));
    DNNL_TRY(dnnl_primitive_execute(p->primitive, p->stream, p->arg_count, p->args),
             "run an operator");
    if (p->pack && p->pass == MGB_DNNL_WEIGHTS)
        MGB_TRY(reorder_run(p));
    DNNL_TRY(dnnl_stream_wait(p->stream), "finish an operator");
    return MGB_OK;
}

void mgb_dnnl_free(struct mgb_dnnl *p)
{
    if (!p)
        return;
    dnnl_memory_t memories[] = {p->x,       p->y,           p->weights, p->bias, p->plain_weights,
                                p->scratch, p->pack_scratch};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++)
        if (memories[i])
            dnnl_memory_destroy(memories[i]);
    dnnl_primitive_desc_t descs[] = {p->desc, p->forward_desc, p->pack_desc};
    for (size_t i = 0; i < sizeof descs / sizeof *descs; i++)
        if (descs[i])
            dnnl_primitive_desc_destroy(descs[i]);
    if (p->primitive)
        dnnl_primitive_destroy(p->primitive);
    if (p->pack)
        dnnl_primitive_destroy(p->pack);
    if (p->stream)
        dnnl_stream_destroy(p->stream);
    mgb_release(p);
}

int mgb_dnnl_team(void)
{
    return omp_get_max_threads();
}
