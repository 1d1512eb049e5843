/* y = x / (1 - rate) where the mask keeps an element, else 0; the gradient is the same operator on dy. The mask is made
 * anew each time, 256 random words at once in vector lanes (mgb_random_at of base/random.h, written out for lanes).
 * On evaluation the input passes through. */
#include "engine/host/ops/ops.h"

#include "engine/backend/dropout.h"
#include "engine/base/parallel.h"
#include "engine/host/simd.h"

#define COUNTERS 64
#define WORDS (4 * COUNTERS)
#define GRAIN (64 * WORDS) /* elements: a multiple of 4, so that threads begin on whole counters */

struct dropout_work {
    struct mgb_host_mask mask;
    float *y;
    const float *x;
    struct mgb_image image;
    struct mgb_form form;
};

#define PHILOX_ROUND                                                                               \
    {                                                                                              \
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;                 \
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;         \
        c1 = (uint32_t)p1;                                                                         \
        c3 = (uint32_t)p0;                                                                         \
        c0 = n0;                                                                                   \
        c2 = n2;                                                                                   \
        k0 += 0x9E3779B9u;                                                                         \
        k1 += 0xBB67AE85u;                                                                         \
    }

/* words[4 i ..] of counters[i]. */
MGB_SIMD static void words_make(uint32_t *restrict words, const uint64_t *restrict counters,
                                uint64_t seed, uint64_t high)
{
    uint32_t lane[4][COUNTERS];
    for (int i = 0; i < COUNTERS; i++) {
        uint32_t c0 = (uint32_t)counters[i], c1 = (uint32_t)(counters[i] >> 32);
        uint32_t c2 = (uint32_t)high, c3 = (uint32_t)(high >> 32);
        uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
        PHILOX_ROUND PHILOX_ROUND PHILOX_ROUND PHILOX_ROUND PHILOX_ROUND PHILOX_ROUND PHILOX_ROUND
            PHILOX_ROUND PHILOX_ROUND PHILOX_ROUND lane[0][i] = c0;
        lane[1][i] = c1;
        lane[2][i] = c2;
        lane[3][i] = c3;
    }
    for (int i = 0; i < COUNTERS; i++)
        for (int j = 0; j < 4; j++)
            words[4 * i + j] = lane[j][i];
}

MGB_SIMD static void mask_apply(float *y, const float *x, const uint32_t *words, int64_t count,
                                uint32_t threshold, float scale)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++) {
        float kept = x[i] * scale;
        y[i] = words[i] >> 8 >= threshold ? kept : 0.0f;
    }
}

void mgb_host_mask_apply(const struct mgb_host_mask *mask, float *y, const float *x, uint64_t first,
                         int64_t count)
{
    uint64_t counters[COUNTERS];
    uint32_t words[WORDS];
    int64_t at = 0;
    while (at < count) {
        uint64_t index = mask->first + first + (uint64_t)at, skip = index % 4;
        for (int i = 0; i < COUNTERS; i++)
            counters[i] = index / 4 + (uint64_t)i;
        words_make(words, counters, mask->seed, mask->high);
        int64_t now = WORDS - (int64_t)skip < count - at ? WORDS - (int64_t)skip : count - at;
        mask_apply(y + at, x + at, words + skip, now, mask->threshold, mask->scale);
        at += now;
    }
}

static void plain_range(void *context, long long begin, long long end)
{
    struct dropout_work *work = context;
    mgb_host_mask_apply(&work->mask, work->y + begin, work->x + begin, (uint64_t)begin,
                        end - begin);
}

/* Blocks of 8 or 16 channels: a block's neighbours are neighbours in plain order, too, and begin on whole counters,
 * because blocks are full and so channels are a multiple of 8. */
static void block_outer(const struct dropout_work *work, int64_t outer)
{
    const struct mgb_host_mask *mask = &work->mask;
    int64_t inner = work->form.inner, blocks = work->image.channels / inner, per = inner / 4,
            group = COUNTERS / per;
    uint64_t counters[COUNTERS];
    uint32_t words[WORDS];
    int64_t row = outer / blocks, channel = outer % blocks * inner;
    for (int64_t pixel = 0; pixel < work->form.pixels; pixel += group) {
        int64_t place = row * work->form.pixels + pixel;
        for (int64_t g = 0; g < group; g++) {
            int64_t element = (place + g) * work->image.channels + channel;
            for (int64_t k = 0; k < per; k++)
                counters[g * per + k] = (mask->first + (uint64_t)element) / 4 + (uint64_t)k;
        }
        words_make(words, counters, mask->seed, mask->high);
        int64_t pixels = work->form.pixels - pixel < group ? work->form.pixels - pixel : group;
        int64_t at = (outer * work->form.pixels + pixel) * inner;
        mask_apply(work->y + at, work->x + at, words, pixels * inner, mask->threshold, mask->scale);
    }
}

static void block_range(void *context, long long begin, long long end)
{
    for (long long outer = begin; outer < end; outer++)
        block_outer(context, outer);
}

static void planar_range(void *context, long long begin, long long end)
{
    struct dropout_work *work = context;
    const struct mgb_host_mask *mask = &work->mask;
    int64_t channels = work->image.channels, pixels = work->form.pixels;
    for (int64_t outer = begin; outer < end; outer++)
        for (int64_t pixel = 0; pixel < pixels; pixel++) {
            int64_t at = outer * pixels + pixel;
            int64_t place = (outer / channels * pixels + pixel) * channels + outer % channels;
            bool keeps = mgb_dropout_keeps(mask->seed, mask->high, mask->first + (uint64_t)place,
                                           mask->threshold);
            work->y[at] = keeps ? work->x[at] * mask->scale : 0.0f;
        }
}

static bool passes(const struct mgb_kernel *kernel)
{
    return !kernel->use.training || kernel->use.a.dropout.rate == 0;
}

static enum mgb_status dropout_make(struct mgb_kernel *kernel)
{
    mgb_flat_plan(kernel, passes(kernel), 0);
    if (passes(kernel) && mgb_flat_direct(kernel, 0)) {
        kernel->facts.alias = 0;
        kernel->facts.in_place = -1;
    }
    return MGB_OK;
}

struct mgb_host_mask mgb_host_mask_make(const struct mgb_launch *launch, float rate, int key,
                                        int64_t row)
{
    return (struct mgb_host_mask){.seed = launch->values->seed,
                                  .high = mgb_dropout_high(launch->values->step, key),
                                  .first = (uint64_t)(launch->first_row * row),
                                  .threshold = mgb_dropout_threshold(rate),
                                  .scale = 1.0f / (1.0f - rate)};
}

static enum mgb_status dropout_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    const float *x = mgb_flat_input(kernel, launch, 0);
    int64_t count = mgb_flat_count(kernel);
    if (passes(kernel)) {
        mgb_activate(launch->outputs[0], x, count, MGB_LINEAR);
        return MGB_OK;
    }
    struct dropout_work work = {.y = launch->outputs[0], .x = x};
    work.mask = mgb_host_mask_make(launch, kernel->use.a.dropout.rate, kernel->use.a.dropout.key,
                                   kernel->use.out[0].count / kernel->use.rows);
    int layout = kernel->facts.out_layout[0];
    work.image = mgb_host_image(&kernel->use.out[0], kernel->use.rows);
    work.form = mgb_layout_form(work.image, layout);
    if (layout == MGB_LAYOUT_PLAIN)
        mgb_parallel_for(count, GRAIN, plain_range, &work);
    else
        mgb_parallel_for(work.form.outer, 1,
                         layout == MGB_LAYOUT_PLANAR ? planar_range : block_range, &work);
    return MGB_OK;
}

const struct mgb_host_op mgb_host_dropout = {.make = dropout_make, .run = dropout_run};
