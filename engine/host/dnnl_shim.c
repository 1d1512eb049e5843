/* Layers as primitives: which form the library wants each operand in, and the reorder of weights that this takes. Facts of the
 * library are in reference/feasibility.md, section 3; what depends on its version is in dnnl_api.h. */
#include "engine/host/dnnl_shim.h"

#include "engine/base/memory.h"
#include "engine/host/dnnl_api.h"
#include "engine/host/layout.h"
#include <string.h>

int omp_get_max_threads(void);

#define MAX_ARGS 6

struct mgb_dnnl {
    enum mgb_dnnl_pass pass;
    dnnl_engine_t engine; /* the process's */
    dnnl_primitive_desc_t forward_desc, desc, pack_desc;
    dnnl_primitive_t primitive, pack; /* pack: between plain and packed weights, or NULL */
    dnnl_stream_t stream;
    dnnl_memory_t x, y, weights, bias, plain_weights, scratch, pack_scratch;
    int64_t packed_at, pack_scratch_at; /* in the scratch memory */
    dnnl_exec_arg_t args[MAX_ARGS], pack_args[3];
    int arg_count;
};

/* How the activations of a convolution lie: [rows, channels, height, width] in one of our layouts. */
static const dnnl_format_tag_t layout_tags[MGB_LAYOUT_COUNT] = {
    [MGB_LAYOUT_PLAIN] = dnnl_nhwc,
    [MGB_LAYOUT_BLOCK8] = dnnl_nChw8c,
    [MGB_LAYOUT_BLOCK16] = dnnl_nChw16c,
    [MGB_LAYOUT_PLANAR] = dnnl_nchw,
};

static enum mgb_status md_make(struct mgb_dnnl_md **out, int rank, const dnnl_dims_t dims,
                               dnnl_format_tag_t tag)
{
    MGB_DNNL_TRY(mgb_dnnl_md_make(out, rank, dims, tag), "describe an operand");
    return MGB_OK;
}

/* Our number for a layout that oneDNN chose, or -1. With one channel plain and planar are the same bytes. */
static enum mgb_status layout_find(int *out, const struct mgb_dnnl_md *md, const dnnl_dims_t dims)
{
    *out = -1;
    for (int i = 0; *out < 0 && i < MGB_LAYOUT_COUNT; i++) {
        struct mgb_dnnl_md *candidate;
        MGB_TRY(md_make(&candidate, 4, dims, layout_tags[i]));
        if (mgb_dnnl_md_equal(md, candidate))
            *out = i == MGB_LAYOUT_PLANAR && dims[1] == 1 ? MGB_LAYOUT_PLAIN : i;
        mgb_dnnl_md_free(candidate);
    }
    return MGB_OK;
}

static enum mgb_status fused_attributes_make(dnnl_primitive_attr_t *out,
                                             enum mgb_activation activation)
{
    MGB_TRY(mgb_dnnl_attributes_make(out));
    if (activation != MGB_RELU && activation != MGB_RELU6)
        return MGB_OK;
    dnnl_post_ops_t ops;
    if (dnnl_post_ops_create(&ops) != dnnl_success)
        return mgb_fail(MGB_NO_MEMORY, "oneDNN has no memory for a fused activation");
    bool limited = activation == MGB_RELU6;
    mgb_dnnl_eltwise_append(ops, limited ? dnnl_eltwise_clip : dnnl_eltwise_relu, 0.0f,
                            limited ? 6.0f : 0.0f);
    dnnl_primitive_attr_set_post_ops(*out, ops);
    dnnl_post_ops_destroy(ops);
    return MGB_OK;
}

/* The descriptor of one pass into `out`. */
static enum mgb_status desc_make(struct mgb_dnnl *p, dnnl_primitive_desc_t *out,
                                 const struct mgb_dnnl_op *op, enum mgb_activation activation)
{
    dnnl_primitive_attr_t attributes = NULL;
    enum mgb_status status = fused_attributes_make(&attributes, activation);
    if (status == MGB_OK) {
        dnnl_status_t made = mgb_dnnl_op_describe(out, op, p->engine, attributes, p->forward_desc);
        if (made != dnnl_success)
            status =
                mgb_dnnl_fail(made, op->window ? "run this convolution" : "run this dense layer");
    }
    if (attributes)
        dnnl_primitive_attr_destroy(attributes);
    return status;
}

/* `op` with x, weights, y and window set: of the pass that p is for, after the forward pass where that is another. */
static enum mgb_status pass_desc_make(struct mgb_dnnl *p, struct mgb_dnnl_op op,
                                      const struct mgb_dnnl_md *bias,
                                      enum mgb_activation activation)
{
    bool forward = p->pass == MGB_DNNL_FORWARD;
    if (!forward) {
        op.pass = MGB_DNNL_FORWARD;
        MGB_TRY(desc_make(p, &p->forward_desc, &op, MGB_LINEAR));
    }
    op.pass = p->pass;
    op.bias = p->pass == MGB_DNNL_DATA ? NULL : bias;
    return desc_make(p, &p->desc, &op, forward ? activation : MGB_LINEAR);
}

static enum mgb_status memory_make(struct mgb_dnnl *p, dnnl_memory_t *out,
                                   const struct mgb_dnnl_md *md)
{
    MGB_DNNL_TRY(mgb_dnnl_memory_make(out, md, p->engine), "describe an operand");
    return MGB_OK;
}

static enum mgb_status pack_desc_make(struct mgb_dnnl *p, const struct mgb_dnnl_md *from,
                                      const struct mgb_dnnl_md *to)
{
    dnnl_primitive_attr_t attributes = NULL;
    MGB_TRY(mgb_dnnl_attributes_make(&attributes));
    dnnl_status_t made = mgb_dnnl_reorder_describe(&p->pack_desc, from, to, p->engine, attributes);
    dnnl_primitive_attr_destroy(attributes);
    MGB_DNNL_TRY(made, "reorder weights");
    return MGB_OK;
}

/* The reorder between plain master weights and the form the primitive wants; none when it takes them as they are. */
static enum mgb_status pack_make(struct mgb_dnnl *p, struct mgb_dnnl_needs *needs,
                                 const struct mgb_dnnl_md *plain, const struct mgb_dnnl_md *packed)
{
    if (mgb_dnnl_md_equal(plain, packed))
        return MGB_OK;
    bool unpack = p->pass == MGB_DNNL_WEIGHTS;
    MGB_TRY(pack_desc_make(p, unpack ? packed : plain, unpack ? plain : packed));
    MGB_DNNL_TRY(dnnl_primitive_create(&p->pack, p->pack_desc), "prepare the reorder of weights");
    MGB_TRY(memory_make(p, &p->plain_weights, plain));
    const struct mgb_dnnl_md *scratch = mgb_dnnl_md_of(p->pack_desc, dnnl_query_scratchpad_md);
    MGB_TRY(memory_make(p, &p->pack_scratch, scratch));
    p->packed_at = needs->scratch_bytes;
    p->pack_scratch_at = p->packed_at + mgb_dnnl_md_bytes(packed);
    needs->scratch_bytes = p->pack_scratch_at + mgb_dnnl_md_bytes(scratch);
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

/* Every operand of a layer; `weights` is NULL where the plain ones are asked for. */
struct layer_mds {
    struct mgb_dnnl_md *x, *weights, *plain_weights, *bias, *y;
};

static void layer_forget(struct layer_mds *m)
{
    mgb_dnnl_md_free(m->x);
    mgb_dnnl_md_free(m->weights);
    mgb_dnnl_md_free(m->plain_weights);
    mgb_dnnl_md_free(m->bias);
    mgb_dnnl_md_free(m->y);
    *m = (struct layer_mds){NULL, NULL, NULL, NULL, NULL};
}

/* From the chosen descriptor to something that runs. */
static enum mgb_status primitive_finish(struct mgb_dnnl *p, struct mgb_dnnl_needs *needs,
                                        const struct layer_mds *m, bool bias)
{
    const dnnl_query_t *queries = arg_queries[p->pass];
    const struct mgb_dnnl_md *weights = mgb_dnnl_md_of(p->desc, queries[1]);
    const struct mgb_dnnl_md *scratch = mgb_dnnl_md_of(p->desc, dnnl_query_scratchpad_md);
    MGB_DNNL_TRY(dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags),
                 "make a stream");
    MGB_DNNL_TRY(dnnl_primitive_create(&p->primitive, p->desc), "prepare the operator");
    MGB_TRY(memory_make(p, &p->x, mgb_dnnl_md_of(p->desc, queries[0])));
    MGB_TRY(memory_make(p, &p->weights, weights));
    MGB_TRY(memory_make(p, &p->y, mgb_dnnl_md_of(p->desc, queries[2])));
    MGB_TRY(memory_make(p, &p->scratch, scratch));
    arg_add(p, arg_names[p->pass][0], p->x);
    arg_add(p, arg_names[p->pass][1], p->weights);
    if (bias && p->pass != MGB_DNNL_DATA) {
        MGB_TRY(memory_make(p, &p->bias, m->bias));
        arg_add(p, arg_names[p->pass][2], p->bias);
    }
    arg_add(p, arg_names[p->pass][3], p->y);
    arg_add(p, DNNL_ARG_SCRATCHPAD, p->scratch);
    needs->scratch_bytes = mgb_dnnl_md_bytes(scratch);
    return pack_make(p, needs, m->plain_weights, weights);
}

static enum mgb_status conv_weights_describe(struct layer_mds *out, const struct mgb_dnnl_conv *c)
{
    int64_t in = c->in / c->groups, group_out = c->out / c->groups, kh = c->kernel[0],
            kw = c->kernel[1];
    int64_t row = kw * in * c->out,
            column = in * c->out; /* strides of [height, width, in / groups, out] */
    dnnl_dims_t dims = {c->out, in, kh, kw}, strides = {1, c->out, row, column};
    dnnl_dims_t group_dims = {c->groups, group_out, in, kh, kw},
                group_strides = {group_out, 1, c->out, row, column};
    bool grouped = c->groups > 1;
    int rank = grouped ? 5 : 4;
    MGB_TRY(md_make(&out->weights, rank, grouped ? group_dims : dims, dnnl_format_tag_any));
    MGB_DNNL_TRY(mgb_dnnl_md_make_strides(&out->plain_weights, rank, grouped ? group_dims : dims,
                                          grouped ? group_strides : strides),
                 "describe weights");
    return MGB_OK;
}

/* Activations as [rows, channels, height, width]. */
struct conv_dims {
    dnnl_dims_t x, y;
};

static enum mgb_status conv_desc_make(struct mgb_dnnl *p, struct layer_mds *m,
                                      const struct mgb_dnnl_conv *c, const struct conv_dims *dims,
                                      dnnl_format_tag_t tag)
{
    struct mgb_dnnl_window w = {{0}, {0}, {0}, {0}};
    for (int i = 0; i < 2; i++) {
        w.stride[i] = c->stride[i];
        w.dilation[i] = c->dilation[i] - 1;
        w.before[i] = c->pad_before[i];
        w.after[i] = c->pad_after[i];
    }
    dnnl_dims_t bias = {c->out};
    MGB_TRY(md_make(&m->x, 4, dims->x, tag));
    MGB_TRY(md_make(&m->y, 4, dims->y, tag));
    MGB_TRY(md_make(&m->bias, 1, bias, dnnl_x));
    MGB_TRY(conv_weights_describe(m, c));
    struct mgb_dnnl_op op = {.x = m->x, .weights = m->weights, .y = m->y, .window = &w};
    return pass_desc_make(p, op, c->bias ? m->bias : NULL, c->activation);
}

/* The library's choice of layout first; plain where it chose one that layout.h has no number for. */
static enum mgb_status conv_choose(struct mgb_dnnl *p, struct mgb_dnnl_needs *needs,
                                   const struct mgb_dnnl_conv *c, struct layer_mds *mds)
{
    static const dnnl_format_tag_t tags[] = {dnnl_format_tag_any, dnnl_nhwc};
    const struct conv_dims dims = {{c->rows, c->in, c->height, c->width},
                                   {c->rows, c->out, c->out_height, c->out_width}};
    for (int i = 0; i < 2; i++) {
        MGB_TRY(conv_desc_make(p, mds, c, &dims, tags[i]));
        const dnnl_query_t *queries = arg_queries[p->pass];
        MGB_TRY(layout_find(&needs->x_layout, mgb_dnnl_md_of(p->desc, queries[0]), dims.x));
        MGB_TRY(layout_find(&needs->y_layout, mgb_dnnl_md_of(p->desc, queries[2]), dims.y));
        if (needs->x_layout >= 0 && needs->y_layout >= 0)
            return MGB_OK;
        layer_forget(mds);
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
    dnnl_engine_t engine;
    MGB_TRY(mgb_dnnl_engine_get(&engine));
    memset(needs, 0, sizeof *needs);
    *out = mgb_alloc(sizeof **out);
    if (!*out)
        return mgb_fail(MGB_NO_MEMORY, "no memory to prepare an operator");
    (*out)->pass = pass;
    (*out)->engine = engine;
    return MGB_OK;
}

static enum mgb_status shim_end(struct mgb_dnnl **out, struct mgb_dnnl *p, struct layer_mds *mds,
                                enum mgb_status status)
{
    layer_forget(mds);
    if (status != MGB_OK)
        mgb_dnnl_free(p);
    *out = status == MGB_OK ? p : NULL;
    return status;
}

enum mgb_status mgb_dnnl_conv_make(struct mgb_dnnl **out, struct mgb_dnnl_needs *needs,
                                   const struct mgb_dnnl_conv *conv)
{
    struct mgb_dnnl *p;
    struct layer_mds mds = {NULL, NULL, NULL, NULL, NULL};
    MGB_TRY(shim_begin(&p, needs, conv->pass));
    enum mgb_status status = conv_choose(p, needs, conv, &mds);
    if (status == MGB_OK)
        status = primitive_finish(p, needs, &mds, conv->bias);
    return shim_end(out, p, &mds, status);
}

static enum mgb_status dense_desc_make(struct mgb_dnnl *p, struct layer_mds *m,
                                       const struct mgb_dnnl_dense *d)
{
    dnnl_dims_t x = {d->rows, d->in}, weights = {d->out, d->in}, y = {d->rows, d->out},
                bias = {d->out};
    MGB_TRY(md_make(&m->x, 2, x, dnnl_nc));
    MGB_TRY(md_make(&m->plain_weights, 2, weights, d->transposed ? dnnl_oi : dnnl_io));
    MGB_TRY(md_make(&m->y, 2, y, dnnl_nc));
    MGB_TRY(md_make(&m->bias, 1, bias, dnnl_x));
    struct mgb_dnnl_op op = {.x = m->x, .weights = m->plain_weights, .y = m->y};
    return pass_desc_make(p, op, d->bias ? m->bias : NULL, d->activation);
}

enum mgb_status mgb_dnnl_dense_make(struct mgb_dnnl **out, struct mgb_dnnl_needs *needs,
                                    const struct mgb_dnnl_dense *dense)
{
    struct mgb_dnnl *p;
    struct layer_mds mds = {NULL, NULL, NULL, NULL, NULL};
    MGB_TRY(shim_begin(&p, needs, dense->pass));
    enum mgb_status status = dense_desc_make(p, &mds, dense);
    if (status == MGB_OK)
        status = primitive_finish(p, needs, &mds, dense->bias);
    return shim_end(out, p, &mds, status);
}

static enum mgb_status reorder_run(struct mgb_dnnl *p)
{
    MGB_DNNL_TRY(dnnl_primitive_execute(p->pack, p->stream, 3, p->pack_args), "reorder weights");
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
    MGB_DNNL_TRY(dnnl_primitive_execute(p->primitive, p->stream, p->arg_count, p->args),
                 "run an operator");
    if (p->pack && p->pass == MGB_DNNL_WEIGHTS)
        MGB_TRY(reorder_run(p));
    MGB_DNNL_TRY(dnnl_stream_wait(p->stream), "finish an operator");
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
