/* The gates of an lstm at one position and their gradients. Gates lie side by side: in, forget, candidate, out. A position
 * that does not count carries h and c through; its gates are kept as 0. */
#include "engine/cuda/ops/recurrent.cuh"

/* The activated gate `k` of a unit. */
static __device__ __forceinline__ float gate_of(const struct mgb_gpu_lstm_args *a, const float *g,
                                                int64_t k)
{
    return sigmoid_of(g[k] + or_zero(a->bias, k));
}

MGB_CUDA_KERNEL(mgb_gpu_lstm, struct mgb_gpu_lstm_args)
{
    int64_t n = a.place.units;
    EACH_UNIT(index, a.place)
    {
        struct unit_place unit = unit_find(&a.place, index);
        float *g = a.gates + unit.at * 4 * n;
        int64_t j = unit.unit;
        float h = or_zero(a.h_before, index), c = or_zero(a.c_before, index);
        float in = 0.0f, forget = 0.0f, candidate = 0.0f, out = 0.0f;
        if (unit.live) {
            in = gate_of(&a, g, j);
            forget = gate_of(&a, g, n + j);
            candidate = tanhf(g[2 * n + j] + or_zero(a.bias, 2 * n + j));
            out = gate_of(&a, g, 3 * n + j);
            c = forget * c + in * candidate;
            h = out * tanhf(c);
        }
        g[j] = in;
        g[n + j] = forget;
        g[2 * n + j] = candidate;
        g[3 * n + j] = out;
        a.h[index] = h;
        a.c[index] = c;
        if (a.y != NULL)
            a.y[unit.row * a.y_stride + j] = h;
        if (a.last != NULL)
            a.last[unit.row * a.y_stride + j] = c;
        if (a.kept_c != NULL)
            a.kept_c[unit.at * n + j] = c;
        if (a.kept_h != NULL)
            a.kept_h[unit.at * n + j] = h;
    }
}

MGB_CUDA_KERNEL(mgb_gpu_lstm_grad, struct mgb_gpu_lstm_grad_args)
{
    int64_t n = a.place.units;
    EACH_UNIT(index, a.place)
    {
        struct unit_place unit = unit_find(&a.place, index);
        const float *g = a.gates + unit.at * 4 * n;
        float *dg = a.dgates + unit.at * 4 * n;
        int64_t j = unit.unit;
        float dh = or_zero(a.dh_after, index);
        float dc = or_zero(a.dc_after, unit.row * a.dc_stride + j);
        float din = 0.0f, dforget = 0.0f, dcandidate = 0.0f, dout = 0.0f;
        if (a.dy != NULL)
            dh += a.dy[unit.row * a.dy_stride + j];
        if (unit.live) {
            float in = g[j], forget = g[n + j], candidate = g[2 * n + j], out = g[3 * n + j];
            float t = tanhf(a.c[unit.at * n + j]);
            float cell = dc + dh * out * (1.0f - t * t);
            din = cell * candidate * (in * (1.0f - in));
            dforget = cell * or_zero(a.c_before, unit.row * a.c_stride + j) *
                      (forget * (1.0f - forget));
            dcandidate = cell * in * (1.0f - candidate * candidate);
            dout = dh * t * (out * (1.0f - out));
            dc = cell * forget;
            dh = 0.0f;
        }
        dg[j] = din;
        dg[n + j] = dforget;
        dg[2 * n + j] = dcandidate;
        dg[3 * n + j] = dout;
        a.dh[index] = dh;
        a.dc[index] = dc;
    }
}
