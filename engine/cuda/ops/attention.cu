/* Rows of scores of attention: to probabilities, and the gradient of scores from that of what dropout left of them. A mask is
 * made once more where it is wanted again. */
#include "engine/cuda/ops/transformer.h"

#include "engine/backend/dropout.h"
#include "engine/cuda/ops/rows.cuh"
#include <stddef.h>

#define UNSEEN -3e38f /* below every score */

struct line_place {
    int64_t seen;  /* keys that may be seen, a mask aside */
    int64_t index; /* of the line's first probability among all of the layer's, for dropout */
    int64_t mask;  /* where the row's mask begins */
};

static __device__ __forceinline__ struct line_place line_find(const struct mgb_gpu_attention_args *a,
                                                              int64_t line)
{
    struct line_place place;
    int64_t query = line % a->queries, head = line / a->queries % a->heads;
    int64_t row = line / (a->queries * a->heads);
    place.seen = a->causal ? a->first_query + query + 1 : a->seen;
    place.index = (a->first_line + row * a->lines_row + head * a->all_queries + query) * a->keys;
    place.mask = row * a->keys;
    return place;
}

static __device__ __forceinline__ int key_seen(const struct mgb_gpu_attention_args *a,
                                               struct line_place place, int64_t key)
{
    if (key >= place.seen)
        return 0;
    if (a->mask == NULL)
        return 1;
    return a->mask_whole ? ((const int32_t *)a->mask)[place.mask + key] != 0
                         : ((const float *)a->mask)[place.mask + key] != 0.0f;
}

static __device__ __forceinline__ float kept_of(const struct mgb_gpu_attention_args *a,
                                                const struct mgb_random4 *random, uint64_t index)
{
    return random->v[index % 4] >> 8 >= a->threshold ? a->kept : 0.0f;
}

/* D = P where dropout keeps, scaled. Four neighbours share a call of the generator, so a thread takes them together. */
static __device__ __forceinline__ void line_drop(const struct mgb_gpu_attention_args *a,
                                                 struct row_place place, uint64_t index, float *d,
                                                 const float *p)
{
    uint64_t end = index + (uint64_t)a->seen;
    uint64_t seed = a->later != NULL ? a->later->seed : a->seed;
    uint64_t high = mgb_dropout_high(a->later != NULL ? a->later->step : a->step, a->key);
    for (uint64_t four = index / 4 + (uint64_t)place.lane; four * 4 < end;
         four += (uint64_t)place.step) {
        struct mgb_random4 random = mgb_random_at(seed, four, high);
        for (uint64_t i = four * 4; i < four * 4 + 4; i++)
            if (i >= index && i < end)
                d[i - index] = p[i - index] * kept_of(a, &random, i);
    }
}

/* A query that sees no key has probabilities 0. */
MGB_CUDA_KERNEL(mgb_gpu_attention_softmax, struct mgb_gpu_attention_args)
{
    struct row_place place = row_find(a.keys);
    if (place.row >= a.lines)
        return;
    struct line_place line = line_find(&a, place.row);
    float *p = a.p + place.row * a.keys;
    float most = UNSEEN, sum = 0.0f;
    for (int64_t i = place.lane; i < line.seen; i += place.step)
        if (key_seen(&a, line, i))
            most = p[i] > most ? p[i] : most;
    most = row_largest(place, most);
    for (int64_t i = place.lane; i < a.seen; i += place.step) {
        float e = key_seen(&a, line, i) ? expf(p[i] - most) : 0.0f;
        p[i] = e;
        sum += e;
    }
    sum = row_total(place, sum);
    float inverse = sum == 0.0f ? 0.0f : 1.0f / sum;
    for (int64_t i = place.lane; i < a.seen; i += place.step)
        p[i] *= inverse;
    if (a.d == NULL)
        return;
    if (place.wide)
        __syncthreads(); /* neighbours' probabilities are there */
    else
        __syncwarp();
    line_drop(&a, place, (uint64_t)line.index, a.d + place.row * a.keys, p);
}

/* dS = D dP - P sum(D dP) over dP, which was made of all keys; those not seen have P = 0. */
MGB_CUDA_KERNEL(mgb_gpu_attention_scores, struct mgb_gpu_attention_args)
{
    struct row_place place = row_find(a.keys);
    if (place.row >= a.lines)
        return;
    struct line_place line = line_find(&a, place.row);
    const float *p = a.p + place.row * a.keys;
    float *s = a.scores + place.row * a.keys, sum = 0.0f;
    if (a.kept != 0.0f) { /* something is dropped: s becomes its gradient past dropout */
        line_drop(&a, place, (uint64_t)line.index, s, s);
        if (place.wide)
            __syncthreads();
        else
            __syncwarp();
    }
    for (int64_t i = place.lane; i < a.seen; i += place.step)
        sum += p[i] * s[i];
    sum = row_total(place, sum);
    for (int64_t i = place.lane; i < a.seen; i += place.step)
        s[i] = p[i] * (s[i] - sum);
}
