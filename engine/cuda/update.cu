/* Optimizer updates of many tensors in one launch, a block a piece of one. The formulas and their sources are in
 * mgb/optimizer.h; operation for operation as on CPU devices (compiled without contraction), so bits agree. After a fault
 * of the step the weights stay as they were. */
#include "engine/cuda/many.h"

#include "engine/cuda/many.cuh"
#include "engine/cuda/vector.cuh"
#include <stddef.h>

/* One element: its weight, its gradient times `clip`, its slots. */
struct element {
    float w, g, slot0, slot1;
    int slots; /* there is a slot 0 */
};

static __device__ __forceinline__ void sgd_one(const struct mgb_gpu_update_args *a, struct element *e, float lr)
{
    float step = lr * e->g;
    if (!e->slots) {
        e->w -= step;
        return;
    }
    e->slot0 = a->momentum * e->slot0 - step;
    e->w += a->nesterov ? a->momentum * e->slot0 - step : e->slot0;
}

static __device__ __forceinline__ void rmsprop_one(const struct mgb_gpu_update_args *a, struct element *e, float lr)
{
    e->slot0 = a->rho * e->slot0 + (1.0f - a->rho) * (e->g * e->g);
    e->w -= lr * e->g / (sqrtf(e->slot0) + a->epsilon);
}

static __device__ __forceinline__ void adagrad_one(const struct mgb_gpu_update_args *a, struct element *e, float lr)
{
    e->slot0 += e->g * e->g;
    e->w -= lr * e->g / (sqrtf(e->slot0) + a->epsilon);
}

static __device__ __forceinline__ void adadelta_one(const struct mgb_gpu_update_args *a, struct element *e, float lr)
{
    e->slot0 = a->rho * e->slot0 + (1.0f - a->rho) * (e->g * e->g);
    float u = e->g * sqrtf(e->slot1 + a->epsilon) / sqrtf(e->slot0 + a->epsilon);
    e->w -= lr * u;
    e->slot1 = a->rho * e->slot1 + (1.0f - a->rho) * (u * u);
}

static __device__ __forceinline__ void adam_one(const struct mgb_gpu_update_args *a, struct element *e, float lr)
{
    e->slot0 = a->beta1 * e->slot0 + (1.0f - a->beta1) * e->g;
    e->slot1 = a->beta2 * e->slot1 + (1.0f - a->beta2) * (e->g * e->g);
    e->w -= lr * e->slot0 / (sqrtf(e->slot1) + a->epsilon);
}

/* No optimizer: what moves are statistics, and the gradient is their newest value; there is no clip then. */
static __device__ __forceinline__ void move_one(const struct mgb_gpu_update_args *a, struct element *e, float lr)
{
    (void)lr;
    e->w = a->momentum * e->w + (1.0f - a->momentum) * e->g;
}

/* Four elements, or one, from `i` on. */
#define UPDATE_PART(part, one)                                                                                         \
    static __device__ __forceinline__ void part(const struct mgb_gpu_update_args *a,                                   \
                                                const struct mgb_gpu_update_item *t, float clip, float lr, int64_t i,  \
                                                int wide)                                                              \
    {                                                                                                                  \
        struct quad w = quad_load(t->weight + i, wide), g = quad_load(t->gradient + i, wide);                          \
        struct quad s = quad_all(0.0f), d = quad_all(0.0f);                                                            \
        if (t->slot0 != NULL)                                                                                          \
            s = quad_load(t->slot0 + i, wide);                                                                         \
        if (t->slot1 != NULL)                                                                                          \
            d = quad_load(t->slot1 + i, wide);                                                                         \
        for (int k = 0; k < QUAD_WIDTH(wide); k++) {                                                                   \
            struct element e = {w.v[k], g.v[k] * clip, s.v[k], d.v[k], t->slot0 != NULL};                              \
            one(a, &e, lr);                                                                                            \
            w.v[k] = e.w;                                                                                              \
            s.v[k] = e.slot0;                                                                                          \
            d.v[k] = e.slot1;                                                                                          \
        }                                                                                                              \
        if (t->slot0 != NULL)                                                                                          \
            quad_store(t->slot0 + i, s, wide);                                                                         \
        if (t->slot1 != NULL)                                                                                          \
            quad_store(t->slot1 + i, d, wide);                                                                         \
        quad_store(t->weight + i, w, wide);                                                                            \
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

UPDATE_PART(sgd_part, sgd_one)
UPDATE_KERNEL(mgb_gpu_sgd, sgd_part)
UPDATE_PART(rmsprop_part, rmsprop_one)
UPDATE_KERNEL(mgb_gpu_rmsprop, rmsprop_part)
UPDATE_PART(adagrad_part, adagrad_one)
UPDATE_KERNEL(mgb_gpu_adagrad, adagrad_part)
UPDATE_PART(adadelta_part, adadelta_one)
UPDATE_KERNEL(mgb_gpu_adadelta, adadelta_part)
UPDATE_PART(adam_part, adam_one)
UPDATE_KERNEL(mgb_gpu_adam, adam_part)
UPDATE_PART(move_part, move_one)
UPDATE_KERNEL(mgb_gpu_move, move_part)
