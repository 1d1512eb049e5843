/* Forms of the layouts and the copies between them. */
#include "engine/host/layout.h"

#include "engine/base/parallel.h"
#include "engine/host/simd.h"
#include <string.h>

static int64_t layout_block(int layout, int64_t channels)
{
    switch ((enum mgb_host_layout)layout) {
    case MGB_LAYOUT_BLOCK8:
        return 8;
    case MGB_LAYOUT_BLOCK16:
        return 16;
    case MGB_LAYOUT_PLANAR:
        return 1;
    case MGB_LAYOUT_PLAIN:
    case MGB_LAYOUT_COUNT:
        break;
    }
    return channels;
}

struct mgb_form mgb_layout_form(struct mgb_image image, int layout)
{
    int64_t block = layout_block(layout, image.channels);
    int64_t blocks = block > 0 ? (image.channels + block - 1) / block : 0;
    return (struct mgb_form){image.rows * blocks, image.pixels, block};
}

int64_t mgb_layout_count(struct mgb_image image, int layout)
{
    struct mgb_form form = mgb_layout_form(image, layout);
    return form.outer * form.pixels * form.inner;
}

bool mgb_layout_padded(struct mgb_image image, int layout)
{
    return image.channels % layout_block(layout, image.channels) != 0;
}

struct convert_work {
    float *to;
    const float *from;
    int to_layout, from_layout;
    struct mgb_image image;
};

/* One image, plain from blocks of `block` channels. `block` is constant where it matters, so that the copies inline. */
static inline void image_unblock(float *to, const float *from, struct mgb_image image,
                                 int64_t block)
{
    int64_t whole = image.channels / block, rest = image.channels % block;
    for (int64_t p = 0; p < image.pixels; p++) {
        float *out = to + p * image.channels;
        const float *in = from + p * block;
        for (int64_t b = 0; b < whole; b++)
            memcpy(out + b * block, in + b * image.pixels * block, sizeof(float) * (size_t)block);
        if (rest)
            memcpy(out + whole * block, in + whole * image.pixels * block,
                   sizeof(float) * (size_t)rest);
    }
}

static inline void image_block(float *to, const float *from, struct mgb_image image, int64_t block)
{
    int64_t whole = image.channels / block, rest = image.channels % block;
    for (int64_t p = 0; p < image.pixels; p++) {
        float *out = to + p * block;
        const float *in = from + p * image.channels;
        for (int64_t b = 0; b < whole; b++)
            memcpy(out + b * image.pixels * block, in + b * block, sizeof(float) * (size_t)block);
        if (rest) {
            float *last = out + whole * image.pixels * block;
            memcpy(last, in + whole * block, sizeof(float) * (size_t)rest);
            memset(last + rest, 0, sizeof(float) * (size_t)(block - rest));
        }
    }
}

/* Between two layouts neither of which is plain: element by element, seldom needed. */
static void image_rearrange(float *to, int64_t to_block, const float *from, int64_t from_block,
                            struct mgb_image image)
{
    int64_t filled = (image.channels + to_block - 1) / to_block * to_block;
    for (int64_t c = 0; c < filled; c++)
        for (int64_t p = 0; p < image.pixels; p++) {
            float *out = to + (c / to_block * image.pixels + p) * to_block + c % to_block;
            *out = c < image.channels
                       ? from[(c / from_block * image.pixels + p) * from_block + c % from_block]
                       : 0;
        }
}

static void convert_range(void *context, long long begin, long long end)
{
    struct convert_work *work = context;
    struct mgb_image image = work->image;
    int64_t to_block = layout_block(work->to_layout, image.channels);
    int64_t from_block = layout_block(work->from_layout, image.channels);
    int64_t to_size = mgb_layout_count(image, work->to_layout) / image.rows;
    int64_t from_size = mgb_layout_count(image, work->from_layout) / image.rows;
    for (long long i = begin; i < end; i++) {
        float *to = work->to + i * to_size;
        const float *from = work->from + i * from_size;
        if (work->to_layout == work->from_layout)
            memcpy(to, from, sizeof(float) * (size_t)to_size);
        else if (work->to_layout == MGB_LAYOUT_PLAIN && from_block == 16)
            image_unblock(to, from, image, 16);
        else if (work->to_layout == MGB_LAYOUT_PLAIN)
            image_unblock(to, from, image, from_block);
        else if (work->from_layout == MGB_LAYOUT_PLAIN && to_block == 16)
            image_block(to, from, image, 16);
        else if (work->from_layout == MGB_LAYOUT_PLAIN)
            image_block(to, from, image, to_block);
        else
            image_rearrange(to, to_block, from, from_block, image);
    }
}

void mgb_layout_convert(float *to, int to_layout, const float *from, int from_layout,
                        struct mgb_image image)
{
    struct convert_work work = {to, from, to_layout, from_layout, image};
    mgb_parallel_for(image.rows, 1, convert_range, &work);
}
