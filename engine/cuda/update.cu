/* Optimizer updates of many tensors in one launch, a block a piece of one. The formulas and their sources are in
 * mgb/optimizer.h; operation for operation as on CPU devices (compiled without contraction), so bits agree. After a fault
 * of the step the weights stay as they were. */
#include "engine/cuda/many.h"

#include "engine/cuda/many.cuh"
#include "engine/cuda/vector.cuh"
#include <stddef.h>

static __device__ __forceinline__ void sgd_part(const struct mgb_gpu_update_args *a,
                                                const struct mgb_gpu_update_item *t, float clip, float lr,
                                                int64_t i, int wide)
{
    struct quad w = quad_load(t->weight + i, wide), g = quad_load(t->gradient + i, wide), v = quad_all(0.0f);
    if (t->slot0 != NULL)
        v = quad_load(t->slot0 + i, wide);
    for (int k = 0; k < QUAD_WIDTH(wide); k++) {
        float step = lr * (g.v[k] * clip);
        if (t->slot0 == NULL) {
            w.v[k] -= step;
        } else {
            v.v[k] = a->momentum * v.v[k] - step;
            w.v[k] += a->nesterov ? a->momentum * v.v[k] - step : v.v[k];
        }
    }
    if (t->slot0 != NULL)
        quad_store(t->slot0 + i, v, wide);
    quad_store(t->weight + i, w, wide);
}

static __device__ __forceinline__ void rmsprop_part(const struct mgb_gpu_update_args *a,
                                                    const struct mgb_gpu_update_item *t, float clip, float lr,
                                                    int64_t i, int wide)
{
    struct quad w = quad_load(t->weight + i, wide), g = quad_load(t->gradient + i, wide);
    struct quad s = quad_load(t->slot0 + i, wide);
    for (int k = 0; k < QUAD_WIDTH(wide); k++) {
        float step = g.v[k] * clip;
        s.v[k] = a->rho * s.v[k] + (1.0f - a->rho) * (step * step);
        w.v[k] -= lr * step / (sqrtf(s.v[k]) + a->epsilon);
    }
    quad_store(t->slot0 + i, s, wide);
    quad_store(t->weight + i, w, wide);
}

static __device__ __forceinline__ void adagrad_part(const struct mgb_gpu_update_args *a,
                                                    const struct mgb_gpu_update_item *t, float clip, float lr,
                                                    int64_t i, int wide)
{
    struct quad w = quad_load(t->weight + i, wide), g = quad_load(t->gradient + i, wide);
    struct quad s = quad_load(t->slot0 + i, wide);
    for (int k = 0; k < QUAD_WIDTH(wide); k++) {
        float step = g.v[k] * clip;
        s.v[k] += step * step;
        w.v[k] -= lr * step / (sqrtf(s.v[k]) + a->epsilon);
    }
    quad_store(t->slot0 + i, s, wide);
    quad_store(t->weight + i, w, wide);
}

static __device__ __forceinline__ void adadelta_part(const struct mgb_gpu_update_args *a,
                                                     const struct mgb_gpu_update_item *t, float clip, float lr,
                                                     int64_t i, int wide)
{
    struct quad w = quad_load(t->weight + i, wide), g = quad_load(t->gradient + i, wide);
    struct quad s = quad_load(t->slot0 + i, wide), d = quad_load(t->slot1 + i, wide);
    for (int k = 0; k < QUAD_WIDTH(wide); k++) {
        float step = g.v[k] * clip;
        s.v[k] = a->rho * s.v[k] + (1.0f - a->rho) * (step * step);
        float u = step * sqrtf(d.v[k] + a->epsilon) / sqrtf(s.v[k] + a->epsilon);
        w.v[k] -= lr * u;
        d.v[k] = a->rho * d.v[k] + (1.0f - a->rho) * (u * u);
    }
    quad_store(t->slot0 + i, s, wide);
    quad_store(t->slot1 + i, d, wide);
    quad_store(t->weight + i, w, wide);
}

static __device__ __forceinline__ void adam_part(const struct mgb_gpu_update_args *a,
                                                 const struct mgb_gpu_update_item *t, float clip, float lr,
                                                 int64_t i, int wide)
{
    struct quad w = quad_load(t->weight + i, wide), g = quad_load(t->gradient + i, wide);
    struct quad m = quad_load(t->slot0 + i, wide), v = quad_load(t->slot1 + i, wide);
    for (int k = 0; k < QUAD_WIDTH(wide); k++) {
        float step = g.v[k] * clip;
        m.v[k] = a->beta1 * m.v[k] + (1.0f - a->beta1) * step;
        v.v[k] = a->beta2 * v.v[k] + (1.0f - a->beta2) * (step * step);
        w.v[k] -= lr * m.v[k] / (sqrtf(v.v[k]) + a->epsilon);
    }
    quad_store(t->slot0 + i, m, wide);
    quad_store(t->slot1 + i, v, wide);
    quad_store(t->weight + i, w, wide);
}

/* No optimizer: what moves are statistics, and the gradient is their newest value. */
static __device__ __forceinline__ void move_part(const struct mgb_gpu_update_args *a,
                                                 const struct mgb_gpu_update_item *t, float clip, float lr,
                                                 int64_t i, int wide)
{
    struct quad w = quad_load(t->weight + i, wide), g = quad_load(t->gradient + i, wide);
    (void)clip;
    (void)lr;
    for (int k = 0; k < QUAD_WIDTH(wide); k++)
        w.v[k] = a->momentum * w.v[k] + (1.0f - a->momentum) * g.v[k];
    quad_store(t->weight + i, w, wide);
}

/* The block's piece of its tensor, four elements at a time where all addresses allow. */
#define UPDATE_KERNEL(name, part)                                                                                      \
    MGB_CUDA_KERNEL(name, struct mgb_gpu_update_args)                                                                  \
    {                                                                                                                  \
        float clip = a.clip != NULL ? *a.clip : 1.0f;                                                                  \
        float lr = a.later != NULL ? a.later->rate : a.lr;                                                             \
        if (MGB_CUDA_PEEK(&a.fault->code) != MGB_CUDA_FAULT_NONE || clip < 0.0f)                                       \
            return;                                                                                                    \
        int owner = piece_owner(a.end, a.items, (int32_t)blockIdx.x);                                                  \
        struct mgb_gpu_update_item t = a.item[owner];                                                                  \
        int64_t first = (int64_t)((int32_t)blockIdx.x - (owner > 0 ? a.end[owner - 1] : 0)) * MGB_GPU_UPDATE_PIECE;    \
        int64_t left = t.count - first, count = left < MGB_GPU_UPDATE_PIECE ? left : MGB_GPU_UPDATE_PIECE;             \
        int even = quad_fits(t.weight) && quad_fits(t.gradient) && quad_fits(t.slot0) && quad_fits(t.slot1);           \
        int64_t whole = even ? count / 4 * 4 : 0;                                                                      \
        for (int64_t i = 4 * (int64_t)threadIdx.x; i < whole; i += 4 * (int64_t)blockDim.x)                            \
            part(&a, &t, clip, lr, first + i, 1);                                                                      \
        for (int64_t i = whole + threadIdx.x; i < count; i += blockDim.x)                                              \
            part(&a, &t, clip, lr, first + i, 0);                                                                      \
    }

UPDATE_KERNEL(mgb_gpu_sgd, sgd_part)
UPDATE_KERNEL(mgb_gpu_rmsprop, rmsprop_part)
UPDATE_KERNEL(mgb_gpu_adagrad, adagrad_part)
UPDATE_KERNEL(mgb_gpu_adadelta, adadelta_part)
UPDATE_KERNEL(mgb_gpu_adam, adam_part)
UPDATE_KERNEL(mgb_gpu_move, move_part)
