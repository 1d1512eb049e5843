/* CUDA's arithmetic that C's <math.h> does not have: bits, reinterpretation, vectors. Part of device_shim.h. */
#ifndef FAKE_DEVICE_MATH_H
#define FAKE_DEVICE_MATH_H

#include <cuda_runtime_api.h>
#include <math.h>
#include <string.h>

#define __ldg(address) (*(address))

static inline float rsqrtf(float x)
{
    return 1.0f / sqrtf(x);
}

static inline double rsqrt(double x)
{
    return 1.0 / sqrt(x);
}

static inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}

/* The position of the lowest set bit from 1, or 0. */
static inline int __ffs(int x)
{
    return __builtin_ffs(x);
}

static inline int __clz(int x)
{
    return x == 0 ? 32 : __builtin_clz((unsigned)x);
}

/* The upper half of the product. */
static inline unsigned __umulhi(unsigned x, unsigned y)
{
    return (unsigned)((unsigned long long)x * y >> 32);
}

#define FAKE_REINTERPRET(name, to, from)                                                           \
    static inline to name(from x)                                                                  \
    {                                                                                              \
        to y;                                                                                      \
        memcpy(&y, &x, sizeof y);                                                                  \
        return y;                                                                                  \
    }
FAKE_REINTERPRET(__float_as_int, int, float)
FAKE_REINTERPRET(__float_as_uint, unsigned, float)
FAKE_REINTERPRET(__int_as_float, float, int)
FAKE_REINTERPRET(__uint_as_float, float, unsigned)

static inline float2 make_float2(float x, float y)
{
    return (float2){x, y};
}

static inline float4 make_float4(float x, float y, float z, float w)
{
    return (float4){x, y, z, w};
}

static inline int4 make_int4(int x, int y, int z, int w)
{
    return (int4){x, y, z, w};
}

static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return (uint4){x, y, z, w};
}

#endif
