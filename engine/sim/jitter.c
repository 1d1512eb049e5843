/* Slowness by chance: log-normal factors of mean 1. Only additions, products, quotients and square roots, which every
 * machine rounds alike: the same seed gives the same bytes everywhere. */
#include "engine/sim/sim.h"

#include "engine/base/random.h"
#include <math.h>

#define LN2 0.69314718055994530942

/* e^x for |x| below 100: the whole halves of ln 2 apart, then the series. */
static double exponential(double x)
{
    double turns = x / LN2;
    int whole = (int)(turns + (turns < 0 ? -0.5 : 0.5));
    double rest = x - whole * LN2, sum = 1, term = 1;
    for (int i = 1; i < 22; i++) {
        term *= rest / i;
        sum += term;
    }
    return ldexp(sum, whole);
}

/* ln of a positive number: 2 artanh((m - 1) / (m + 1)) of its mantissa. */
static double logarithm(double x)
{
    int whole;
    double m = frexp(x, &whole); /* in [0.5, 1) */
    double t = (m - 0.75) / (m + 0.75), square = t * t, sum = 0, power = t;
    for (int i = 1; i < 40; i += 2) {
        sum += power / i;
        power *= square;
    }
    /* ln 0.75 */
    return 2 * sum - 0.28768207245178092744 + whole * LN2;
}

static double polynomial(const double *c, int count, double x)
{
    double value = 0;
    for (int i = 0; i < count; i++)
        value = value * x + c[i];
    return value;
}

/* The standard normal's quantile, relative error below 1.2e-9 (Acklam's rational approximation). */
static double normal_quantile(double p)
{
    static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,
                               -2.759285104469687e+02, 1.383577518672690e+02,
                               -3.066479806614716e+01, 2.506628277459239e+00};
    static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02,
                               -1.556989798598866e+02, 6.680131188771972e+01,
                               -1.328068155288572e+01, 1};
    static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01,
                               -2.400758277161838e+00, -2.549732539343734e+00,
                               4.374664141464968e+00,  2.938163982698783e+00};
    static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                               3.754408661907416e+00, 1};
    if (p < 0.02425 || p > 1 - 0.02425) {
        double q = sqrt(-2 * logarithm(p < 0.5 ? p : 1 - p));
        double z = polynomial(c, 6, q) / polynomial(d, 5, q);
        return p < 0.5 ? z : -z;
    }
    double q = p - 0.5, r = q * q;
    return polynomial(a, 6, r) * q / polynomial(b, 6, r);
}

double mgb_sim_draw(double sigma, uint64_t seed, uint64_t number, uint64_t step)
{
    struct mgb_random4 random = mgb_random_at(seed, number, step);
    uint64_t bits = (uint64_t)random.v[0] << 21 | random.v[1] >> 11;
    double p = ((double)bits + 0.5) / 9007199254740992.0; /* of 53 bits, never 0 or 1 */
    return exponential(sigma * normal_quantile(p) - sigma * sigma / 2);
}

enum mgb_status mgb_sim_slowness_make(struct mgb_sim *sim)
{
    double sigma = sim->machine->device_sigma;
    int count = sim->machine->device_count;
    if (sigma <= 0)
        return MGB_OK;
    sim->slowness = mgb_alloc((size_t)count * sizeof *sim->slowness);
    if (!sim->slowness)
        return mgb_fail(MGB_NO_MEMORY, "opening a simulator: the host's memory is exhausted");
    for (int d = 0; d < count; d++)
        sim->slowness[d] = mgb_sim_draw(sigma, sim->options.seed, (uint64_t)d, UINT64_MAX);
    return MGB_OK;
}
