/* CUDA's atomics of integers, relaxed as they are there; each returns what was there before. Part of device_shim.h. */
#ifndef FAKE_DEVICE_ATOMIC_H
#define FAKE_DEVICE_ATOMIC_H

#define FAKE_ATOMICS(name, type)                                                                   \
    static inline type fake_atomic_add_##name(type *to, type value)                                \
    {                                                                                              \
        return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);                                    \
    }                                                                                              \
    static inline type fake_atomic_exchange_##name(type *to, type value)                           \
    {                                                                                              \
        return __atomic_exchange_n(to, value, __ATOMIC_RELAXED);                                   \
    }                                                                                              \
    static inline type fake_atomic_swap_##name(type *to, type old, type value)                     \
    {                                                                                              \
        __atomic_compare_exchange_n(to, &old, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);       \
        return old;                                                                                \
    }                                                                                              \
    static inline type fake_atomic_max_##name(type *to, type value)                                \
    {                                                                                              \
        type old = __atomic_load_n(to, __ATOMIC_RELAXED);                                          \
        while (old < value && !__atomic_compare_exchange_n(to, &old, value, 0, __ATOMIC_RELAXED,   \
                                                           __ATOMIC_RELAXED))                      \
            continue;                                                                              \
        return old;                                                                                \
    }                                                                                              \
    static inline type fake_atomic_min_##name(type *to, type value)                                \
    {                                                                                              \
        type old = __atomic_load_n(to, __ATOMIC_RELAXED);                                          \
        while (old > value && !__atomic_compare_exchange_n(to, &old, value, 0, __ATOMIC_RELAXED,   \
                                                           __ATOMIC_RELAXED))                      \
            continue;                                                                              \
        return old;                                                                                \
    }
FAKE_ATOMICS(int, int)
FAKE_ATOMICS(unsigned, unsigned)
FAKE_ATOMICS(ullong, unsigned long long)

#define FAKE_ATOMIC_OF(what, to)                                                                   \
    _Generic((to), int *                                                                           \
             : fake_atomic_##what##_int, unsigned *                                                \
             : fake_atomic_##what##_unsigned, unsigned long long *                                 \
             : fake_atomic_##what##_ullong)

#define atomicAdd(to, value) FAKE_ATOMIC_OF(add, to)(to, value)
#define atomicExch(to, value) FAKE_ATOMIC_OF(exchange, to)(to, value)
#define atomicCAS(to, old, value) FAKE_ATOMIC_OF(swap, to)(to, old, value)
#define atomicMax(to, value) FAKE_ATOMIC_OF(max, to)(to, value)
#define atomicMin(to, value) FAKE_ATOMIC_OF(min, to)(to, value)
#define atomicAdd_system atomicAdd
#define atomicCAS_system atomicCAS

#endif
