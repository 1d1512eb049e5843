/* Casts between f32 and the 16-bit types that gradients travel as, and sums of such numbers. */
#include "engine/host/cpu.h"

#include "engine/base/half.h"
#include "engine/base/parallel.h"
#include "engine/host/simd.h"
#include <string.h>

#define BLOCK 2048 /* numbers: stays in the nearest cache */
#define GRAIN (16 * BLOCK)

#define CAST_LOOPS(type)                                                                           \
    MGB_SIMD static void type##_narrow(uint16_t *to, const float *from, int64_t count)             \
    {                                                                                              \
        MGB_EACH                                                                                   \
        for (int64_t i = 0; i < count; i++)                                                        \
            to[i] = mgb_##type##_of_f32(from[i]);                                                  \
    }                                                                                              \
    MGB_SIMD static void type##_widen(float *to, const uint16_t *from, int64_t count)              \
    {                                                                                              \
        MGB_EACH                                                                                   \
        for (int64_t i = 0; i < count; i++)                                                        \
            to[i] = mgb_f32_of_##type(from[i]);                                                    \
    }                                                                                              \
    MGB_SIMD static void type##_round(float *to, const float *from, int64_t count)                 \
    {                                                                                              \
        MGB_EACH                                                                                   \
        for (int64_t i = 0; i < count; i++)                                                        \
            to[i] = mgb_f32_of_##type(mgb_##type##_of_f32(from[i]));                               \
    }                                                                                              \
    MGB_SIMD static void type##_add(float *to, const uint16_t *from, int64_t count)                \
    {                                                                                              \
        MGB_EACH                                                                                   \
        for (int64_t i = 0; i < count; i++)                                                        \
            to[i] += mgb_f32_of_##type(from[i]);                                                   \
    }
CAST_LOOPS(f16)
CAST_LOOPS(bf16)

struct cast_work {
    void *to;
    const void *from;
    enum mgb_wire_type type;
    enum mgb_cast way;
};

static void narrow(uint16_t *to, const float *from, int64_t count, enum mgb_wire_type type)
{
    if (type == MGB_WIRE_BF16)
        bf16_narrow(to, from, count);
    else
        f16_narrow(to, from, count);
}

static void widen(float *to, const uint16_t *from, int64_t count, enum mgb_wire_type type)
{
    if (type == MGB_WIRE_BF16)
        bf16_widen(to, from, count);
    else
        f16_widen(to, from, count);
}

static void cast_range(void *context, long long begin, long long end)
{
    const struct cast_work *work = context;
    int64_t count = end - begin;
    switch (work->way) {
    case MGB_CAST_NARROW:
        narrow((uint16_t *)work->to + begin, (const float *)work->from + begin, count, work->type);
        break;
    case MGB_CAST_WIDEN:
        widen((float *)work->to + begin, (const uint16_t *)work->from + begin, count, work->type);
        break;
    case MGB_CAST_ROUND:
        if (work->type == MGB_WIRE_BF16)
            bf16_round((float *)work->to + begin, (const float *)work->from + begin, count);
        else
            f16_round((float *)work->to + begin, (const float *)work->from + begin, count);
        break;
    }
}

void mgb_cpu_cast(void *to, const void *from, int64_t count, enum mgb_wire_type type,
                  enum mgb_cast way)
{
    struct cast_work work = {to, from, type, way};
    mgb_parallel_for(count, GRAIN, cast_range, &work);
}

struct sum_work {
    void *const *buffers;
    int count;
    int64_t offset;
    enum mgb_wire_type type;
};

static void add(float *to, const uint16_t *from, int64_t count, enum mgb_wire_type type)
{
    if (type == MGB_WIRE_BF16)
        bf16_add(to, from, count);
    else
        f16_add(to, from, count);
}

/* In f32, then rounded once and written to all. */
static void sum_range(void *context, long long begin, long long end)
{
    const struct sum_work *work = context;
    float sum[BLOCK];
    uint16_t rounded[BLOCK];
    for (int64_t at = begin; at < end; at += BLOCK) {
        int64_t count = end - at < BLOCK ? end - at : BLOCK, from = work->offset + at;
        widen(sum, (const uint16_t *)work->buffers[0] + from, count, work->type);
        for (int k = 1; k < work->count; k++)
            add(sum, (const uint16_t *)work->buffers[k] + from, count, work->type);
        narrow(rounded, sum, count, work->type);
        for (int k = 0; k < work->count; k++)
            memcpy((uint16_t *)work->buffers[k] + from, rounded, (size_t)count * sizeof *rounded);
    }
}

void mgb_cpu_allreduce_wire(void *const *buffers, int buffer_count, int64_t begin, int64_t end,
                            enum mgb_wire_type type)
{
    struct sum_work work = {buffers, buffer_count, begin, type};
    mgb_parallel_for(end - begin, GRAIN, sum_range, &work);
}
