/* What lstm and gru share on the host side: where operands of a launch are, room in the workspace, products with the weights.
 * Products with the kernel are taken for all positions at once, those with the recurrent kernel a position at a time. */
#ifndef MGB_CUDA_OPS_RECURRENT_H
#define MGB_CUDA_OPS_RECURRENT_H

#include "engine/cuda/kernel.h"
#include "engine/cuda/ops/sequence.h"
#include "engine/cuda/product.h"
#include "engine/cuda/queue.h"

/* Room for areas of floats, each beginning at a multiple of 64 bytes of `base`; with a NULL base they are measured only. */
struct mgb_cuda_room {
    char *base;
    int64_t bytes;
};
float *mgb_cuda_room_take(struct mgb_cuda_room *room, int64_t elements);

/* Operands of a launch, NULL where there is none. */
struct mgb_cuda_recurrent {
    const struct mgb_recurrent_attributes *a;
    int64_t rows, steps, in, units, width; /* width: of all gates */
    const float *dy, *x, *kernel, *recurrent, *bias, *h0, *c0;
    const float *gates, *second, *h; /* kept for the gradient */
    const void *mask;
    int mask_whole;
    int64_t y_stride; /* from one row of y, dy, h to the next */
};
struct mgb_cuda_recurrent mgb_cuda_recurrent_forward(const struct mgb_cuda_use *use,
                                                     const struct mgb_launch *launch, int gates);
/* `second`: the forward pass kept something beside gates and states. */
struct mgb_cuda_recurrent mgb_cuda_recurrent_gradient(const struct mgb_cuda_use *use,
                                                      const struct mgb_launch *launch, int gates,
                                                      bool second);

/* Position number `step` in the order of computation. */
static inline int64_t mgb_cuda_recurrent_position(const struct mgb_cuda_recurrent *r, int64_t step)
{
    return r->a->reverse ? r->steps - 1 - step : step;
}
struct mgb_gpu_recurrent_place mgb_cuda_recurrent_place(const struct mgb_cuda_recurrent *r,
                                                        int64_t step);
/* dy at a position; NULL: only the last one has it. */
const float *mgb_cuda_recurrent_dy(const struct mgb_cuda_recurrent *r, int64_t step);
/* Enqueues a kernel with a thread a row and unit. */
enum mgb_status mgb_cuda_recurrent_start(struct mgb_queue *queue, const void *kernel,
                                         const struct mgb_cuda_recurrent *r, void *args);
/* to = what `from` holds before every position. */
enum mgb_status mgb_cuda_recurrent_previous(struct mgb_queue *queue,
                                            const struct mgb_cuda_recurrent *r, float *to);
/* gates = x kernel, of all positions. */
enum mgb_status mgb_cuda_recurrent_input(struct mgb_queue *queue,
                                         const struct mgb_cuda_recurrent *r, float *gates);
/* mgb_cuda_op.narrow of lstm and gru, and of their gradients. */
int64_t mgb_cuda_recurrent_narrow(const struct mgb_cuda_use *use, int gates, bool gradient);
/* dx = dgates kernel', and the gradients of kernel and bias; those not wanted NULL. */
enum mgb_status mgb_cuda_recurrent_input_grad(struct mgb_queue *queue,
                                              const struct mgb_cuda_recurrent *r,
                                              const float *dgates, float *dx, float *dkernel,
                                              float *dbias);
/* A weight gradient: to [m, n] = x' dy over all rows and positions, dy and `to` with rows of `width`. */
enum mgb_status mgb_cuda_recurrent_weights(struct mgb_queue *queue,
                                           const struct mgb_cuda_recurrent *r, const float *x,
                                           const float *dy, float *to, int64_t n);
/* to[column] = the sum of dgates over all rows and positions. */
enum mgb_status mgb_cuda_recurrent_bias(struct mgb_queue *queue, const struct mgb_cuda_recurrent *r,
                                        const float *dgates, float *to);

#endif
