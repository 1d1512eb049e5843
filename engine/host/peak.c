/* What one core reaches at best in what towers spend their time with: f32 products of matrices that lie in its caches. The
 * yardstick of a roofline (S. Williams, A. Waterman, D. Patterson, CACM 52(4), 2009), not a bound that a model can meet. */
#include "engine/host/host.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/parallel.h"
#include "engine/host/dnnl_shim.h"

enum { SIDE = 384 };

/* The best of those that fit into the time; the first one is for pages and caches. */
static enum mgb_status products_time(int64_t *best_ns, float *c, const float *a, const float *b,
                                     int64_t budget_ns)
{
    struct mgb_matrix left = {a, SIDE, false}, right = {b, SIDE, false};
    struct mgb_product product = {SIDE, SIDE, SIDE, 1, 0};
    int64_t began = mgb_clock_ns(), before = began;
    *best_ns = 0;
    for (int i = 0; i < 2 || before - began < budget_ns; i++) {
        MGB_TRY(mgb_dnnl_product(c, SIDE, left, right, product));
        int64_t now = mgb_clock_ns(), took = now - before;
        if (i > 0 && took > 0 && (*best_ns == 0 || took < *best_ns))
            *best_ns = took;
        before = now;
    }
    return MGB_OK;
}

enum mgb_status mgb_host_peak(double *tflops, int64_t budget_ns)
{
    const int64_t count = (int64_t)SIDE * SIDE;
    float *block = mgb_alloc(3 * (size_t)count * sizeof *block);
    int team = mgb_dnnl_team();
    int64_t best_ns = 0;
    *tflops = 0;
    if (!block)
        return mgb_fail(MGB_NO_MEMORY, "measuring a core: memory is exhausted");
    for (int64_t i = 0; i < 3 * count; i++)
        block[i] = (float)(i % 7) - 3;
    mgb_parallel_set_threads(1);
    enum mgb_status status =
        products_time(&best_ns, block, block + count, block + 2 * count, budget_ns);
    mgb_parallel_set_threads(team);
    mgb_release(block);
    if (status == MGB_OK && best_ns > 0)
        *tflops = 2.0 * SIDE * SIDE * SIDE / (double)best_ns / 1e3;
    return status;
}
