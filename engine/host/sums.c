/* Sums, norms, clipping, filling and copying. Sums are element by element in the order of the sources; norms in the fixed
 * chunks that the contract names. */
#include "engine/host/cpu.h"

#include "engine/base/parallel.h"
#include "engine/host/simd.h"
#include <math.h>
#include <string.h>

#define BLOCK 2048 /* floats: stays in the nearest cache over all sources */
#define GRAIN (16 * BLOCK)

struct sum_work {
    float *const *to;
    const float *const *from;
    int to_count, from_count;
    int64_t offset;
};

MGB_SIMD static void sum_two(float *to, const float *a, const float *b, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        to[i] = a[i] + b[i];
}

/* Sums a block in a buffer of its own, because every source may also be a destination. */
static void sum_block(const struct sum_work *work, int64_t at, int64_t count)
{
    float sum[BLOCK];
    size_t bytes = sizeof(float) * (size_t)count;
    if (work->from_count == 1)
        memcpy(sum, work->from[0] + at, bytes);
    else
        sum_two(sum, work->from[0] + at, work->from[1] + at, count);
    for (int k = 2; k < work->from_count; k++)
        sum_two(sum, sum, work->from[k] + at, count);
    for (int k = 0; k < work->to_count; k++)
        memcpy(work->to[k] + at, sum, bytes);
}

static void sum_range(void *context, long long begin, long long end)
{
    struct sum_work *work = context;
    for (int64_t at = begin; at < end; at += BLOCK)
        sum_block(work, work->offset + at, end - at < BLOCK ? end - at : BLOCK);
}

void mgb_cpu_reduce(float *to, const float *const *sources, int source_count, int64_t count)
{
    struct sum_work work = {&to, sources, 1, source_count, 0};
    mgb_parallel_for(count, GRAIN, sum_range, &work);
}

/* In place: a range belongs to one of the meeting, so its buffers may hold the sums of the branches. */
static void tree_range(void *context, long long begin, long long end)
{
    const struct sum_work *work = context;
    for (int64_t at = begin; at < end; at += BLOCK) {
        int64_t count = end - at < BLOCK ? end - at : BLOCK, from = work->offset + at;
        for (int t = work->to_count - 1; t > 0; t--)
            sum_two(work->to[(t - 1) / 2] + from, work->to[(t - 1) / 2] + from, work->to[t] + from,
                    count);
        for (int t = 1; t < work->to_count; t++)
            memcpy(work->to[t] + from, work->to[0] + from, sizeof(float) * (size_t)count);
    }
}

void mgb_cpu_allreduce_tree(float *const *buffers, int buffer_count, int64_t begin, int64_t end)
{
    struct sum_work work = {.to = buffers, .to_count = buffer_count, .offset = begin};
    mgb_parallel_for(end - begin, GRAIN, tree_range, &work);
}

void mgb_cpu_allreduce(float *const *buffers, int buffer_count, int64_t begin, int64_t end)
{
    struct sum_work work = {buffers, (const float *const *)buffers, buffer_count, buffer_count,
                            begin};
    mgb_parallel_for(end - begin, GRAIN, sum_range, &work);
}

#define NORM_CHUNK 4096
#define CHUNKS_AT_ONCE 256
#define LANES 8

struct norm_work {
    const float *from;
    int64_t count, first_chunk;
    double sums[CHUNKS_AT_ONCE];
};

static double chunk_norm(const float *x, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (double)x[i] * (double)x[i];
    return sum;
}

/* Eight whole chunks side by side: each is still summed in order, but the additions do not wait for one another. */
MGB_SIMD static void chunks_norm(double *sums, const float *x)
{
    double lane[LANES] = {0};
    for (int64_t i = 0; i < NORM_CHUNK; i++)
        for (int j = 0; j < LANES; j++) {
            double value = (double)x[j * NORM_CHUNK + i];
            lane[j] += value * value;
        }
    memcpy(sums, lane, sizeof lane);
}

static void norm_range(void *context, long long begin, long long end)
{
    struct norm_work *work = context;
    long long i = begin;
    while (i < end) {
        int64_t at = (work->first_chunk + i) * NORM_CHUNK, left = work->count - at;
        if (end - i >= LANES && left >= LANES * NORM_CHUNK) {
            chunks_norm(work->sums + i, work->from + at);
            i += LANES;
        } else {
            work->sums[i++] = chunk_norm(work->from + at, left < NORM_CHUNK ? left : NORM_CHUNK);
        }
    }
}

void mgb_cpu_norm(float *to, const float *const *sources, const int64_t *counts, int source_count)
{
    for (int k = 0; k < source_count; k++) {
        struct norm_work work = {.from = sources[k], .count = counts[k]};
        int64_t chunks = (counts[k] + NORM_CHUNK - 1) / NORM_CHUNK;
        double sum = 0;
        for (int64_t chunk = 0; chunk < chunks; chunk += CHUNKS_AT_ONCE) {
            int64_t now = chunks - chunk < CHUNKS_AT_ONCE ? chunks - chunk : CHUNKS_AT_ONCE;
            work.first_chunk = chunk;
            mgb_parallel_for(now, LANES, norm_range, &work);
            for (int64_t i = 0; i < now; i++)
                sum += work.sums[i];
        }
        to[k] = (float)sum;
    }
}

void mgb_cpu_clip(float *to, const float *const *sources, const int64_t *counts, int source_count,
                  struct mgb_clip clip)
{
    double sum = 0;
    for (int k = 0; k < source_count; k++)
        for (int64_t i = 0; i < counts[k]; i++)
            sum += (double)sources[k][i];
    double scale = clip.scale > 0 ? (double)clip.scale : 1.0;
    double factor = (double)clip.norm * scale / sqrt(sum);
    *to = (factor < 1 ? (float)factor : 1.0f) / (float)scale;
    if (clip.scale > 0 && !isfinite(sum))
        *to = -1.0f;
}

struct copy_work {
    char *to;
    const char *from; /* NULL: zeros */
};

static void copy_range(void *context, long long begin, long long end)
{
    struct copy_work *work = context;
    if (work->from)
        memcpy(work->to + begin, work->from + begin, (size_t)(end - begin));
    else
        memset(work->to + begin, 0, (size_t)(end - begin));
}

void mgb_cpu_fill(void *to, int64_t bytes)
{
    struct copy_work work = {.to = to};
    mgb_parallel_for(bytes, 4 * GRAIN, copy_range, &work);
}

void mgb_cpu_copy(void *to, const void *from, int64_t bytes)
{
    struct copy_work work = {.to = to, .from = from};
    mgb_parallel_for(bytes, 4 * GRAIN, copy_range, &work);
}
