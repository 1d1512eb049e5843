/* Shuffles and votes of a warp under their CUDA names, for the types that CUDA has them for. Part of device_shim.h. */
#ifndef FAKE_DEVICE_WARP_H
#define FAKE_DEVICE_WARP_H

#include "tests/fake_cuda/device_runtime.h"

#include <string.h>

#define FAKE_SHUFFLE(how, name, type, lane_type)                                                   \
    static inline type fake_shuffle_##how##_##name(unsigned mask, type value, lane_type lane)      \
    {                                                                                              \
        unsigned long long bits = 0;                                                               \
        memcpy(&bits, &value, sizeof value);                                                       \
        bits = fake_shuffle_##how(mask, bits, lane);                                               \
        memcpy(&value, &bits, sizeof value);                                                       \
        return value;                                                                              \
    }
#define FAKE_SHUFFLES(name, type)                                                                  \
    FAKE_SHUFFLE(xor, name, type, int)                                                             \
    FAKE_SHUFFLE(up, name, type, unsigned)                                                         \
    FAKE_SHUFFLE(down, name, type, unsigned)                                                       \
    FAKE_SHUFFLE(from, name, type, int)
FAKE_SHUFFLES(int, int)
FAKE_SHUFFLES(unsigned, unsigned)
FAKE_SHUFFLES(long, long)
FAKE_SHUFFLES(ulong, unsigned long)
FAKE_SHUFFLES(llong, long long)
FAKE_SHUFFLES(ullong, unsigned long long)
FAKE_SHUFFLES(float, float)
FAKE_SHUFFLES(double, double)

#define FAKE_SHUFFLE_OF(how, value)                                                                \
    _Generic((value), int                                                                          \
             : fake_shuffle_##how##_int, unsigned                                                  \
             : fake_shuffle_##how##_unsigned, long                                                 \
             : fake_shuffle_##how##_long, unsigned long                                            \
             : fake_shuffle_##how##_ulong, long long                                               \
             : fake_shuffle_##how##_llong, unsigned long long                                      \
             : fake_shuffle_##how##_ullong, float                                                  \
             : fake_shuffle_##how##_float, double                                                  \
             : fake_shuffle_##how##_double)

#define __syncwarp() fake_warp_barrier(0xffffffffu)
#define __shfl_xor_sync(mask, value, lanes) FAKE_SHUFFLE_OF(xor, value)(mask, value, lanes)
#define __shfl_up_sync(mask, value, lanes) FAKE_SHUFFLE_OF(up, value)(mask, value, lanes)
#define __shfl_down_sync(mask, value, lanes) FAKE_SHUFFLE_OF(down, value)(mask, value, lanes)
#define __shfl_sync(mask, value, lane) FAKE_SHUFFLE_OF(from, value)(mask, value, lane)
#define __ballot_sync(mask, predicate) fake_ballot(mask, (predicate) != 0)
#define __any_sync(mask, predicate) (fake_ballot(mask, (predicate) != 0) != 0)
#define __all_sync(mask, predicate) (fake_ballot(mask, (predicate) == 0) == 0)

#endif
