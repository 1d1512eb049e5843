/* Products of an example's matrices, as they lie: a transposed operand costs nothing. A tall one is cut into blocks of rows, always the
 * same, so that one large product fills a team. */
#include "engine/host/ops/products.h"

#define BLOCK 128 /* rows of the result */

struct matmul_work {
    float *y;
    const float *a, *b;
    int64_t m, n, k, blocks;
    bool transpose_a, transpose_b;
};

static enum mgb_status matmul_items(void *context, int thread, int64_t begin, int64_t end)
{
    const struct matmul_work *work = context;
    int64_t m = work->m, n = work->n, k = work->k;
    (void)thread;
    for (int64_t item = begin; item < end; item++) {
        int64_t matrix = item / work->blocks, first = item % work->blocks * BLOCK;
        const float *a = work->a + matrix * m * k;
        struct mgb_matrix left = {.at = a + (work->transpose_a ? first : first * k),
                                  .row = work->transpose_a ? m : k,
                                  .transposed = work->transpose_a};
        struct mgb_matrix right = {.at = work->b + matrix * k * n,
                                   .row = work->transpose_b ? k : n,
                                   .transposed = work->transpose_b};
        struct mgb_product product = {
            .m = m - first < BLOCK ? m - first : BLOCK, .n = n, .k = k, .alpha = 1};
        MGB_TRY(mgb_dnnl_product(work->y + (matrix * m + first) * n, n, left, right, product));
    }
    return MGB_OK;
}

static enum mgb_status matmul_make(struct mgb_kernel *kernel)
{
    mgb_plain_plan(kernel);
    return MGB_OK;
}

static enum mgb_status matmul_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    const struct mgb_shape *a = &kernel->use.in[0].shape, *y = &kernel->use.out[0].shape;
    bool ta = kernel->use.a.matmul.transpose_a;
    struct matmul_work work = {.y = launch->outputs[0],
                               .a = mgb_flat_input(kernel, launch, 0),
                               .b = mgb_flat_input(kernel, launch, 1),
                               .m = y->dim[y->rank - 2],
                               .n = y->dim[y->rank - 1],
                               .k = a->dim[ta ? a->rank - 2 : a->rank - 1],
                               .transpose_a = ta,
                               .transpose_b = kernel->use.a.matmul.transpose_b};
    work.blocks = (work.m + BLOCK - 1) / BLOCK;
    int64_t matrices = kernel->use.out[0].count / (work.m * work.n);
    return mgb_products_run(kernel, matrices * work.blocks, matmul_items, &work);
}

const struct mgb_host_op mgb_host_matmul = {.make = matmul_make, .run = matmul_run};
