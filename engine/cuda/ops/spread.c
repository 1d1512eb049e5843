/* Operands under a larger tensor, and the start of element-wise kernels. */
#include "engine/cuda/ops/spread.h"

#include "engine/cuda/queue.h"

#define BLOCK 256 /* threads */

/* Elements from one place to the next along each axis of the whole, of which axis 0 are the rows; 0 where it is repeated. */
static void steps_fill(int64_t steps[MGB_GPU_AXES], const struct mgb_cuda_tensor *operand, int rank)
{
    int64_t elements = 1;
    int missing = rank - operand->shape.rank;
    for (int axis = rank; axis > 0; axis--) {
        int64_t dim = axis > missing ? operand->shape.dim[axis - 1 - missing] : 1;
        steps[axis] = dim > 1 ? elements : 0;
        elements *= dim;
    }
    steps[0] = operand->batched ? elements : 0;
}

/* The axis is one with the last one that was taken, for both operands. */
static bool joins(const struct mgb_gpu_spread *spread, int64_t dim, const int64_t step[2])
{
    int last = spread->axes - 1;
    return spread->axes > 0 && spread->stride[0][last] == step[0] * dim &&
           spread->stride[1][last] == step[1] * dim;
}

struct mgb_gpu_spread mgb_cuda_spread(const struct mgb_cuda_tensor *whole, int64_t rows,
                                      const struct mgb_cuda_tensor *a,
                                      const struct mgb_cuda_tensor *b)
{
    struct mgb_gpu_spread spread = {0};
    int64_t steps[2][MGB_GPU_AXES];
    int rank = whole->shape.rank;
    steps_fill(steps[0], a, rank);
    steps_fill(steps[1], b, rank);
    for (int axis = 0; axis <= rank; axis++) {
        int64_t dim = axis == 0 ? rows : whole->shape.dim[axis - 1];
        int64_t step[2] = {steps[0][axis], steps[1][axis]};
        if (dim == 1)
            continue;
        bool joined = joins(&spread, dim, step);
        int at = joined ? spread.axes - 1 : spread.axes++;
        spread.dim[at] = joined ? spread.dim[at] * dim : dim;
        for (int k = 0; k < 2; k++)
            spread.stride[k][at] = step[k];
    }
    if (spread.axes == 0) /* of one element */
        spread.dim[spread.axes++] = 1;
    return spread;
}

static bool fits(const void *address)
{
    return (uintptr_t)address % 16 == 0;
}

/* Operands that go along with the last axis do so from a multiple of its length on. */
enum mgb_status mgb_cuda_start_spread(struct mgb_queue *queue, struct mgb_gpu_spread_args *args)
{
    const struct mgb_gpu_spread *spread = &args->spread;
    int last = spread->axes - 1;
    args->wide = spread->dim[last] % 4 == 0 && fits(args->y) &&
                 (spread->stride[0][last] == 0 || fits(args->a)) &&
                 (spread->stride[1][last] == 0 || fits(args->b));
    return mgb_cuda_start(queue, (const void *)mgb_gpu_spread_over,
                          mgb_cuda_blocks(args->wide ? args->count / 4 : args->count, BLOCK), BLOCK,
                          args);
}

enum mgb_status mgb_cuda_start_elements(struct mgb_queue *queue, struct mgb_gpu_elements_args *args)
{
    return mgb_cuda_start_quads(queue, (const void *)mgb_gpu_elements, args->count, args);
}
