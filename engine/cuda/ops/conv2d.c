/* Convolution as products of matrices: the windows of a few examples at a time are laid out as rows, group after group, and
 * multiplied with the weight, which is a matrix as it is. The gradient of x goes the same way back, gathered element by
 * element. A kernel of 1x1 over every pixel needs no laying out, depthwise convolution no matrix (depthwise.c). */
#include "engine/cuda/ops/conv2d_host.h"

#include "engine/cuda/dnn/dnn.h"
#include "engine/cuda/ops/channels_host.h"
#include "engine/cuda/product.h"

static bool is_direct(const struct mgb_gpu_window *w)
{
    bool direct = true;
    for (int i = 0; i < 2; i++)
        direct = direct && w->size[i] == 1 && w->stride[i] == 1 && w->before[i] == 0 &&
                 w->out[i] == w->in[i];
    return direct;
}

static int64_t bias_bytes(const struct mgb_cuda_use *use, const struct mgb_cuda_conv *plan)
{
    struct mgb_cuda_channels c =
        mgb_cuda_channels_make(plan->rows * plan->pixels, use->a.conv2d.y.dim[2]);
    bool wanted = use->kind == MGB_OP_CONV2D_GRAD_W && use->out[1].wanted;
    return wanted ? mgb_cuda_channels_bytes(&c, 1) : 0;
}

struct mgb_cuda_conv mgb_cuda_conv_make(const struct mgb_cuda_use *use, int64_t limit)
{
    const struct mgb_conv2d_attributes *a = &use->a.conv2d;
    struct mgb_cuda_conv plan = {
        .window = mgb_cuda_window(&a->window, a->pad_before, &a->x, &a->y),
        .rows = use->rows,
        .groups = a->window.groups,
        .channels = a->x.dim[2] / a->window.groups,
        .filters = a->y.dim[2] / a->window.groups,
        .pixels = a->y.dim[0] * a->y.dim[1],
    };
    plan.cells = (int64_t)a->window.size[0] * a->window.size[1] * plan.channels;
    plan.direct = is_direct(&plan.window);
    plan.depthwise = plan.channels == 1 && plan.groups > 1;
    int64_t example = plan.groups * plan.pixels * plan.cells * (int64_t)sizeof(float);
    plan.chunk = limit / example < 1 ? 1 : limit / example;
    if (plan.chunk > plan.rows || plan.direct)
        plan.chunk = plan.rows;
    plan.workspace = plan.direct ? 0 : plan.chunk * example;
    if (plan.depthwise)
        plan.workspace = mgb_cuda_depthwise_bytes(use, &plan);
    int64_t bias = bias_bytes(use, &plan);
    plan.workspace = bias > plan.workspace ? bias : plan.workspace;
    return plan;
}

/* Windows of `images` images to the matrix, or (gather) the matrix to the gradients of the images. */
static enum mgb_status windows_start(struct mgb_queue *queue, const struct mgb_cuda_conv *plan,
                                     float *to, const float *from, int64_t images, bool gather)
{
    const int *size = gather ? plan->window.in : plan->window.out;
    struct mgb_gpu_windows_args args = {.to = to,
                                        .from = from,
                                        .images = images,
                                        .groups = (int)plan->groups,
                                        .channels = (int)plan->channels,
                                        .wide = plan->channels % 4 == 0,
                                        .window = plan->window};
    int64_t length = size[1] * (gather ? plan->channels : plan->cells) / (args.wide ? 4 : 1);
    const void *kernel =
        gather ? (const void *)mgb_gpu_windows_gather : (const void *)mgb_gpu_windows_lay;
    return mgb_cuda_start_rows(queue, kernel, plan->groups * images * size[0], length, &args);
}

/* The matrix of windows of `images` images: all groups' channels side by side when it is x itself. */
static struct mgb_cuda_matrix matrix_of(const struct mgb_cuda_conv *plan, const float *data,
                                        int64_t images)
{
    struct mgb_cuda_matrix matrix = {.data = data, .ld = plan->cells};
    matrix.stride = images * plan->pixels * plan->cells;
    if (plan->direct) {
        matrix.ld = plan->groups * plan->channels;
        matrix.stride = plan->channels;
    }
    return matrix;
}

/* The filters of all groups lie side by side in the weight as in y. */
static struct mgb_cuda_matrix filters_of(const struct mgb_cuda_conv *plan, const float *data)
{
    return (struct mgb_cuda_matrix){
        .data = data, .ld = plan->groups * plan->filters, .stride = plan->filters};
}

struct chunk { /* of examples, for one operator */
    struct mgb_queue *queue;
    const struct mgb_cuda_conv *plan;
    int64_t images;
    const float *x, *w, *dy;
    float *to, *workspace;
    bool first;
};

static enum mgb_status chunk_forward(const struct chunk *c)
{
    const struct mgb_cuda_conv *plan = c->plan;
    struct mgb_cuda_product product = {.b = filters_of(plan, c->w),
                                       .c = c->to,
                                       .ldc = plan->groups * plan->filters,
                                       .stride_c = plan->filters,
                                       .m = c->images * plan->pixels,
                                       .n = plan->filters,
                                       .k = plan->cells,
                                       .batch = plan->groups,
                                       .b_stays = true};
    if (!plan->direct)
        MGB_TRY(windows_start(c->queue, plan, c->workspace, c->x, c->images, false));
    product.a = matrix_of(plan, plan->direct ? c->x : c->workspace, c->images);
    return mgb_cuda_multiply(c->queue, &product);
}

/* Chunks add up in their order. */
static enum mgb_status chunk_grad_w(const struct chunk *c)
{
    const struct mgb_cuda_conv *plan = c->plan;
    struct mgb_cuda_product product = {.b = filters_of(plan, c->dy),
                                       .c = c->to,
                                       .ldc = plan->groups * plan->filters,
                                       .stride_c = plan->filters,
                                       .m = plan->cells,
                                       .n = plan->filters,
                                       .k = c->images * plan->pixels,
                                       .batch = plan->groups,
                                       .beta = c->first ? 0.0f : 1.0f};
    if (!plan->direct)
        MGB_TRY(windows_start(c->queue, plan, c->workspace, c->x, c->images, false));
    product.a = matrix_of(plan, plan->direct ? c->x : c->workspace, c->images);
    product.a.transposed = true;
    return mgb_cuda_multiply(c->queue, &product);
}

static enum mgb_status chunk_grad_x(const struct chunk *c)
{
    const struct mgb_cuda_conv *plan = c->plan;
    float *matrix = plan->direct ? c->to : c->workspace;
    struct mgb_cuda_matrix layout = matrix_of(plan, matrix, c->images);
    struct mgb_cuda_product product = {.a = filters_of(plan, c->dy),
                                       .b = filters_of(plan, c->w),
                                       .c = matrix,
                                       .ldc = layout.ld,
                                       .stride_c = layout.stride,
                                       .m = c->images * plan->pixels,
                                       .n = plan->cells,
                                       .k = plan->filters,
                                       .batch = plan->groups,
                                       .b_stays = true};
    product.b.transposed = true;
    MGB_TRY(mgb_cuda_multiply(c->queue, &product));
    if (plan->direct)
        return MGB_OK;
    return windows_start(c->queue, plan, c->to, c->workspace, c->images, true);
}

static enum mgb_status chunk_start(const struct chunk *c, enum mgb_op_kind kind)
{
    if (kind == MGB_OP_CONV2D)
        return chunk_forward(c);
    return kind == MGB_OP_CONV2D_GRAD_X ? chunk_grad_x(c) : chunk_grad_w(c);
}

static enum mgb_status products_start(struct mgb_queue *queue, const struct mgb_cuda_use *use,
                                      const struct mgb_cuda_conv *plan,
                                      const struct mgb_launch *launch)
{
    int64_t in = mgb_shape_count(&use->a.conv2d.x), out = mgb_shape_count(&use->a.conv2d.y);
    for (int64_t first = 0; first < plan->rows; first += plan->chunk) {
        struct chunk c = {.queue = queue,
                          .plan = plan,
                          .images = plan->rows - first,
                          .to = launch->outputs[0],
                          .workspace = launch->workspace,
                          .first = first == 0};
        const float *one = launch->inputs[0], *two = launch->inputs[1];
        if (c.images > plan->chunk)
            c.images = plan->chunk;
        c.w = two;
        c.x = one + first * in;
        c.dy = use->kind == MGB_OP_CONV2D_GRAD_X ? one + first * out : two + first * out;
        if (use->kind == MGB_OP_CONV2D)
            c.to += first * out;
        else if (use->kind == MGB_OP_CONV2D_GRAD_X)
            c.to += first * in;
        MGB_TRY(chunk_start(&c, use->kind));
    }
    return MGB_OK;
}

enum mgb_status mgb_cuda_conv_activate(struct mgb_queue *queue, const struct mgb_cuda_use *use,
                                       const struct mgb_launch *launch)
{
    struct mgb_gpu_bias_args args = {.y = launch->outputs[0],
                                     .b = use->input_count > 2 ? launch->inputs[2] : NULL,
                                     .count = use->out[0].count,
                                     .columns = use->out[0].last,
                                     .activation = (int)use->a.conv2d.activation};
    if (!args.b && use->a.conv2d.activation == MGB_LINEAR)
        return MGB_OK;
    return mgb_cuda_start(queue, (const void *)mgb_gpu_bias, mgb_cuda_blocks(args.count, 256), 256,
                          &args);
}

enum mgb_status mgb_cuda_conv_start(struct mgb_queue *queue, const struct mgb_cuda_use *use,
                                    const struct mgb_cuda_conv *plan,
                                    const struct mgb_launch *launch)
{
    int64_t filters = use->a.conv2d.y.dim[2];
    if (use->kind == MGB_OP_CONV2D_GRAD_W && use->out[1].wanted)
        MGB_TRY(mgb_cuda_columns_start(queue, launch->outputs[1], launch->inputs[1],
                                       plan->rows * plan->pixels, filters, launch->workspace));
    if (plan->depthwise)
        return mgb_cuda_depthwise_start(queue, use, plan, launch);
    MGB_TRY(products_start(queue, use, plan, launch));
    return use->kind == MGB_OP_CONV2D ? mgb_cuda_conv_activate(queue, use, launch) : MGB_OK;
}

static enum mgb_status conv_facts(struct mgb_operator_facts *facts, const struct mgb_cuda_use *use)
{
    facts->workspace_bytes = mgb_cuda_conv_make(use, MGB_CUDA_CONV_LIMIT).workspace;
    return MGB_OK;
}

static enum mgb_status conv_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                  const struct mgb_launch *launch)
{
    struct mgb_cuda_conv plan = mgb_cuda_conv_make(&kernel->use, MGB_CUDA_CONV_LIMIT);
    return mgb_cuda_conv_start(queue, &kernel->use, &plan, launch);
}

/* A chunk: its windows, or y where the gradient of x is made of it, and the weight, or y for the gradient of that. */
static int64_t conv_narrow(const struct mgb_cuda_use *use)
{
    struct mgb_cuda_conv plan = mgb_cuda_conv_make(use, MGB_CUDA_CONV_LIMIT);
    int64_t pixels = plan.chunk * plan.pixels;
    int64_t windows = mgb_cuda_narrow_bytes(plan.groups, pixels, plan.cells);
    int64_t y = mgb_cuda_narrow_bytes(plan.groups, pixels, plan.filters);
    int64_t weight = mgb_cuda_narrow_bytes(plan.groups, plan.cells, plan.filters);
    if (plan.depthwise)
        return 0;
    if (use->kind == MGB_OP_CONV2D)
        return windows + weight;
    return use->kind == MGB_OP_CONV2D_GRAD_X ? y + weight : windows + y;
}

const struct mgb_cuda_op mgb_cuda_conv2d = {.facts = conv_facts,
                                            .start = conv_start,
                                            .narrow = conv_narrow,
                                            .second = MGB_CUDA_SECOND(mgb_cuda_dnn_conv2d)};
