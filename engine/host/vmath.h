/* exp, tanh, sigmoid and erf in plain arithmetic, so that loops over them vectorise and give the same bits on every machine
 * and in every vector width (libm gives neither). exp follows Cephes' expf (S. Moshier, netlib cephes/single): range
 * reduction by ln 2 in two parts and a polynomial of degree 5, error below 2 ulp. */
#ifndef MGB_HOST_VMATH_H
#define MGB_HOST_VMATH_H

#include <stdint.h>
#include <string.h>

static inline float mgb_exp(float x)
{
    float low = x < -87.33654f ? -87.33654f : x, in = low > 88.37626f ? 88.37626f : low;
    float shifted =
        in * 1.44269504088896341f + 12582912.0f; /* 1.5 * 2^23: rounds to nearest in the low bits */
    float n = shifted - 12582912.0f;
    float r = in - n * 0.693359375f;
    r = r - n * -2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    uint32_t power; /* n is in the low bits of `shifted`, whatever x is: no cast of a NaN */
    memcpy(&power, &shifted, sizeof power);
    power = (power + 127) << 23;
    float scale;
    memcpy(&scale, &power, sizeof scale);
    float y = p * scale;
    return x != x ? x : y;
}

static inline float mgb_sigmoid(float x)
{
    return 1.0f / (1.0f + mgb_exp(-x));
}

/* Near 0 the odd polynomial of Cephes' tanhf, where 1 - 2 / (e^2x + 1) would cancel. */
static inline float mgb_tanh(float x)
{
    float a = x < 0 ? -x : x;
    float z = x * x;
    float p = -5.70498872745e-3f;
    p = p * z + 2.06390887954e-2f;
    p = p * z + -5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z + -3.33332819422e-1f;
    float near = p * z * x + x;
    float far = 1.0f - 2.0f / (mgb_exp(2.0f * a) + 1.0f);
    far = x < 0 ? -far : far;
    return a < 0.625f ? near : far;
}

/* x P(x x) / Q(x x), the rational approximation of Eigen's float erf (Eigen 3.4, MathFunctionsImpl.h); 1 from 4 on. */
static inline float mgb_erf(float x)
{
    float low = x < -4.0f ? -4.0f : x, in = low > 4.0f ? 4.0f : low;
    float z = in * in;
    float p = -2.72614225801306e-10f;
    p = p * z + 2.77068142495902e-08f;
    p = p * z + -2.10102402082508e-06f;
    p = p * z + -5.69250639462346e-05f;
    p = p * z + -7.34990630326855e-04f;
    p = p * z + -2.95459980854025e-03f;
    p = p * z + -1.60960333262415e-02f;
    float q = -1.45660718464996e-05f;
    q = q * z + -2.13374055278905e-04f;
    q = q * z + -1.68282697438203e-03f;
    q = q * z + -7.37332916720468e-03f;
    q = q * z + -1.42647390514189e-02f;
    return in * p / q;
}

#endif
