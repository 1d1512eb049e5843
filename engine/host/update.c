/* Optimizer updates, one pass over weight, gradient and slots. The formulas and their sources are in mgb/optimizer.h. */
#include "engine/host/cpu.h"

#include "engine/base/parallel.h"
#include "engine/host/simd.h"
#include <math.h>

#define GRAIN 16384 /* elements */

struct update_work {
    const struct mgb_optimizer *optimizer;
    struct mgb_update_item item;
    const float *momentum; /* of states */
    float lr, clip;        /* lr: adam's bias correction included; clip: 1 without clipping */
};

MGB_SIMD static void sgd_plain(struct mgb_update_item item, float lr, float clip)
{
    MGB_EACH
    for (int64_t i = 0; i < item.count; i++)
        item.weight[i] -= lr * (item.gradient[i] * clip);
}

MGB_SIMD static void sgd_momentum(struct mgb_update_item item, float lr, float clip, float momentum)
{
    float *v = item.slots[0];
    MGB_EACH
    for (int64_t i = 0; i < item.count; i++) {
        v[i] = momentum * v[i] - lr * (item.gradient[i] * clip);
        item.weight[i] += v[i];
    }
}

MGB_SIMD static void sgd_nesterov(struct mgb_update_item item, float lr, float clip, float momentum)
{
    float *v = item.slots[0];
    MGB_EACH
    for (int64_t i = 0; i < item.count; i++) {
        float step = lr * (item.gradient[i] * clip);
        v[i] = momentum * v[i] - step;
        item.weight[i] += momentum * v[i] - step;
    }
}

MGB_SIMD static void rmsprop(struct mgb_update_item item, float lr, float clip, float rho,
                             float epsilon)
{
    float *a = item.slots[0];
    MGB_EACH
    for (int64_t i = 0; i < item.count; i++) {
        float g = item.gradient[i] * clip;
        a[i] = rho * a[i] + (1.0f - rho) * (g * g);
        item.weight[i] -= lr * g / (sqrtf(a[i]) + epsilon);
    }
}

MGB_SIMD static void adagrad(struct mgb_update_item item, float lr, float clip, float epsilon)
{
    float *a = item.slots[0];
    MGB_EACH
    for (int64_t i = 0; i < item.count; i++) {
        float g = item.gradient[i] * clip;
        a[i] += g * g;
        item.weight[i] -= lr * g / (sqrtf(a[i]) + epsilon);
    }
}

MGB_SIMD static void adadelta(struct mgb_update_item item, float lr, float clip, float rho,
                              float epsilon)
{
    float *a = item.slots[0], *d = item.slots[1];
    MGB_EACH
    for (int64_t i = 0; i < item.count; i++) {
        float g = item.gradient[i] * clip;
        a[i] = rho * a[i] + (1.0f - rho) * (g * g);
        float u = g * sqrtf(d[i] + epsilon) / sqrtf(a[i] + epsilon);
        item.weight[i] -= lr * u;
        d[i] = rho * d[i] + (1.0f - rho) * (u * u);
    }
}

MGB_SIMD static void adam(struct mgb_update_item item, float lr, float clip,
                          const struct mgb_optimizer *o)
{
    float *m = item.slots[0], *v = item.slots[1];
    float beta1 = o->beta1, beta2 = o->beta2, epsilon = o->epsilon;
    MGB_EACH
    for (int64_t i = 0; i < item.count; i++) {
        float g = item.gradient[i] * clip;
        m[i] = beta1 * m[i] + (1.0f - beta1) * g;
        v[i] = beta2 * v[i] + (1.0f - beta2) * (g * g);
        item.weight[i] -= lr * m[i] / (sqrtf(v[i]) + epsilon);
    }
}

MGB_SIMD static void states_move(struct mgb_update_item item, float momentum)
{
    MGB_EACH
    for (int64_t i = 0; i < item.count; i++)
        item.weight[i] = momentum * item.weight[i] + (1.0f - momentum) * item.gradient[i];
}

static void update_range(void *context, long long begin, long long end)
{
    struct update_work *work = context;
    const struct mgb_optimizer *o = work->optimizer;
    struct mgb_update_item item = work->item;
    item.weight += begin;
    item.gradient += begin;
    for (int k = 0; k < 2; k++)
        if (item.slots[k])
            item.slots[k] += begin;
    item.count = end - begin;
    if (work->momentum) {
        states_move(item, *work->momentum);
        return;
    }
    switch (o->kind) {
    case MGB_SGD:
        if (o->momentum == 0)
            sgd_plain(item, work->lr, work->clip);
        else if (o->nesterov)
            sgd_nesterov(item, work->lr, work->clip, o->momentum);
        else
            sgd_momentum(item, work->lr, work->clip, o->momentum);
        break;
    case MGB_RMSPROP:
        rmsprop(item, work->lr, work->clip, o->rho, o->epsilon);
        break;
    case MGB_ADAGRAD:
        adagrad(item, work->lr, work->clip, o->epsilon);
        break;
    case MGB_ADADELTA:
        adadelta(item, work->lr, work->clip, o->rho, o->epsilon);
        break;
    case MGB_ADAM:
        adam(item, work->lr, work->clip, o);
        break;
    }
}

void mgb_cpu_update(const struct mgb_update *update)
{
    const struct mgb_optimizer *o = update->optimizer;
    struct update_work work = {
        .optimizer = o, .momentum = update->momentum, .lr = update->values->lr};
    if (o->kind == MGB_ADAM) {
        double t = (double)(update->values->updates + 1);
        double correction = sqrt(1.0 - pow((double)o->beta2, t)) / (1.0 - pow((double)o->beta1, t));
        work.lr = (float)((double)work.lr * correction);
    }
    work.clip = update->clip ? *update->clip : 1.0f;
    for (int k = 0; k < update->item_count && !(work.clip < 0); k++) {
        work.item = update->items[k];
        mgb_parallel_for(work.item.count, GRAIN, update_range, &work);
    }
}
