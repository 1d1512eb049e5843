/* The gates of a gru at one position and their gradients. Gates lie side by side: z, r, candidate. A position that does not
 * count carries h through; what it keeps is 0. Where the reset gate comes before the product a position takes two passes, with
 * the product between them. */
#include "engine/cuda/ops/recurrent.cuh"

/* What comes out of a unit at a position. */
static __device__ __forceinline__ void unit_end(const struct mgb_gpu_gru_args *a,
                                                struct unit_place unit, int64_t index, float h)
{
    a->h[index] = h;
    if (a->y != NULL)
        a->y[unit.row * a->y_stride + unit.unit] = h;
    if (a->kept_h != NULL)
        a->kept_h[unit.at * a->place.units + unit.unit] = h;
}

MGB_CUDA_KERNEL(mgb_gpu_gru_after, struct mgb_gpu_gru_args)
{
    int64_t n = a.place.units;
    EACH_UNIT(index, a.place)
    {
        struct unit_place unit = unit_find(&a.place, index);
        float *g = a.gates + unit.at * 3 * n;
        int64_t j = unit.unit, s = unit.row * 3 * n;
        float z = 0.0f, r = 0.0f, candidate = 0.0f, inner = 0.0f, h = or_zero(a.h_before, index);
        if (unit.live) {
            z = sigmoid_of(g[j] + or_zero(a.bias, j) +
                           (or_zero(a.state, s + j) + or_zero(a.second_bias, j)));
            r = sigmoid_of(g[n + j] + or_zero(a.bias, n + j) +
                           (or_zero(a.state, s + n + j) + or_zero(a.second_bias, n + j)));
            inner = or_zero(a.state, s + 2 * n + j) + or_zero(a.second_bias, 2 * n + j);
            candidate = tanhf(g[2 * n + j] + or_zero(a.bias, 2 * n + j) + r * inner);
            h = z * h + (1.0f - z) * candidate;
        }
        g[j] = z;
        g[n + j] = r;
        g[2 * n + j] = candidate;
        if (a.kept_second != NULL)
            a.kept_second[unit.at * n + j] = inner;
        unit_end(&a, unit, index, h);
    }
}

MGB_CUDA_KERNEL(mgb_gpu_gru_gates, struct mgb_gpu_gru_args)
{
    int64_t n = a.place.units;
    EACH_UNIT(index, a.place)
    {
        struct unit_place unit = unit_find(&a.place, index);
        float *g = a.gates + unit.at * 3 * n;
        int64_t j = unit.unit;
        float r = sigmoid_of(g[n + j] + or_zero(a.bias, n + j));
        g[j] = sigmoid_of(g[j] + or_zero(a.bias, j));
        g[n + j] = r;
        a.reset[index] = r * or_zero(a.h_before, index);
    }
}

MGB_CUDA_KERNEL(mgb_gpu_gru_candidate, struct mgb_gpu_gru_args)
{
    int64_t n = a.place.units;
    EACH_UNIT(index, a.place)
    {
        struct unit_place unit = unit_find(&a.place, index);
        float *g = a.gates + unit.at * 3 * n;
        int64_t j = unit.unit;
        float candidate = 0.0f, h = or_zero(a.h_before, index);
        if (unit.live) {
            candidate = tanhf(g[2 * n + j] + or_zero(a.bias, 2 * n + j));
            h = g[j] * h + (1.0f - g[j]) * candidate;
        } else {
            g[j] = 0.0f;
            g[n + j] = 0.0f;
        }
        g[2 * n + j] = candidate;
        unit_end(&a, unit, index, h);
    }
}

static __device__ __forceinline__ float dh_of(const struct mgb_gpu_gru_grad_args *a,
                                              struct unit_place unit, int64_t index)
{
    float dh = or_zero(a->dh_after, index);
    return a->dy != NULL ? dh + a->dy[unit.row * a->dy_stride + unit.unit] : dh;
}

/* The recurrent kernel and its bias see r times the gradient of the candidate. */
MGB_CUDA_KERNEL(mgb_gpu_gru_grad_after, struct mgb_gpu_gru_grad_args)
{
    int64_t n = a.place.units;
    EACH_UNIT(index, a.place)
    {
        struct unit_place unit = unit_find(&a.place, index);
        const float *g = a.gates + unit.at * 3 * n;
        float *dg = a.dgates + unit.at * 3 * n, *ds = a.dstate + unit.at * 3 * n;
        int64_t j = unit.unit;
        float d = dh_of(&a, unit, index), dz = 0.0f, dr = 0.0f, dc = 0.0f, r = 0.0f;
        if (unit.live) {
            float z = g[j], candidate = g[2 * n + j];
            float before = or_zero(a.h_before, unit.row * a.h_stride + j);
            r = g[n + j];
            dc = d * (1.0f - z) * (1.0f - candidate * candidate);
            dz = d * (before - candidate) * (z * (1.0f - z));
            dr = dc * a.second[unit.at * n + j] * (r * (1.0f - r));
            d = d * z;
        }
        dg[j] = ds[j] = dz;
        dg[n + j] = ds[n + j] = dr;
        dg[2 * n + j] = dc;
        ds[2 * n + j] = dc * r;
        a.dh[index] = d;
    }
}

/* The candidate and z; r waits for the product with the recurrent kernel. */
MGB_CUDA_KERNEL(mgb_gpu_gru_grad_candidate, struct mgb_gpu_gru_grad_args)
{
    int64_t n = a.place.units;
    EACH_UNIT(index, a.place)
    {
        struct unit_place unit = unit_find(&a.place, index);
        const float *g = a.gates + unit.at * 3 * n;
        float *dg = a.dgates + unit.at * 3 * n;
        int64_t j = unit.unit;
        float d = dh_of(&a, unit, index), dz = 0.0f, dc = 0.0f, reset = 0.0f;
        if (unit.live) {
            float z = g[j], candidate = g[2 * n + j];
            float before = or_zero(a.h_before, unit.row * a.h_stride + j);
            dc = d * (1.0f - z) * (1.0f - candidate * candidate);
            dz = d * (before - candidate) * (z * (1.0f - z));
            reset = g[n + j] * before;
            d = d * z;
        }
        dg[j] = dz;
        dg[2 * n + j] = dc;
        a.resets[unit.at * n + j] = reset;
        a.dh[index] = d;
    }
}

/* A row that does not count has gates 0: nothing comes of it. */
MGB_CUDA_KERNEL(mgb_gpu_gru_grad_reset, struct mgb_gpu_gru_grad_args)
{
    int64_t n = a.place.units;
    EACH_UNIT(index, a.place)
    {
        struct unit_place unit = unit_find(&a.place, index);
        int64_t j = unit.unit;
        float r = a.gates[unit.at * 3 * n + n + j], dreset = a.dreset[index];
        float before = or_zero(a.h_before, unit.row * a.h_stride + j);
        a.dgates[unit.at * 3 * n + n + j] = dreset * before * (r * (1.0f - r));
        a.dh[index] += dreset * r;
    }
}
