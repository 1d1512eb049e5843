/* Student's t; see student.h. */
#include "db/student.h"

#include <math.h>

/* lgamma itself writes to a global. */
static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* The continued fraction of the incomplete beta function, NIST DLMF 8.17.22, by Lentz's method. It converges fast for
 * x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m < 500; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double change = 1;
        for (int half = 0; half < 2; half++) {
            double term = half ? odd : even;
            d = 1 + term * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + term / c;
            c = fabs(c) < tiny ? tiny : c;
            change = c * d;
            h *= change;
        }
        if (fabs(change - 1) < 1e-15)
            break;
    }
    return h;
}

/* Regularised incomplete beta function I_x(a, b), NIST DLMF 8.17. `y` is 1 - x, given apart for its digits. */
static double beta_share(double a, double b, double x, double y)
{
    if (x <= 0)
        return 0;
    if (y <= 0)
        return 1;
    double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(y));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, y) / b;
}

double mgb_student_above(double t, double freedom)
{
    /* Abramowitz and Stegun 26.7.1: P(|T| > t) = I_x(freedom / 2, 1/2), x = freedom / (freedom + t^2). */
    double whole = freedom + t * t;
    double tail = isinf(t) ? 0 : 0.5 * beta_share(freedom / 2, 0.5, freedom / whole, t * t / whole);
    return t >= 0 ? tail : 1 - tail;
}

/* Newton from 0: the tail is convex there, so the steps never overshoot. */
double mgb_student_quantile(double share, double freedom)
{
    double half = (freedom + 1) / 2, t = 0;
    double peak = exp(log_gamma(half) - log_gamma(freedom / 2)) / sqrt(3.141592653589793 * freedom);
    for (int i = 0; i < 1000; i++) {
        double density = peak * exp(-half * log1p(t * t / freedom));
        double step = (mgb_student_above(t, freedom) - share) / density;
        t += step;
        if (!(step > 1e-12 * t))
            break;
    }
    return t;
}
