/* Tensors channel by channel: sums and element-wise work in the layout that arrives. */
#include "engine/host/ops/batch_norm.h"

#include "engine/base/parallel.h"
#include <math.h>
#include <string.h>

#define CHUNK 65536 /* elements of a chunk, at least */
#define CHUNKS 64   /* at most: their sums lie in the workspace */
#define STRETCH 64  /* elements */
#define GRAIN 16384 /* elements */

struct mgb_channels mgb_channels_make(const struct mgb_host_tensor *tensor, int64_t rows,
                                      int layout)
{
    const struct mgb_shape *shape = &tensor->shape;
    int64_t channels = shape->dim[shape->rank - 1];
    if (layout == MGB_LAYOUT_PLAIN)
        return (struct mgb_channels){1, 1, tensor->count / channels, channels, channels, channels};
    struct mgb_image image = mgb_host_image(tensor, rows);
    struct mgb_form form = mgb_layout_form(image, layout);
    int64_t blocks = form.outer / image.rows;
    return (struct mgb_channels){.rows = image.rows,
                                 .blocks = blocks,
                                 .pixels = form.pixels,
                                 .inner = form.inner,
                                 .channels = image.channels,
                                 .filled = blocks * form.inner};
}

void mgb_channels_plan(struct mgb_kernel *kernel, int count, int layout)
{
    for (int i = 0; i < kernel->use.input_count; i++)
        kernel->part[i] = -1;
    for (int i = 0; i < count; i++) {
        const struct mgb_host_tensor *in = &kernel->use.in[i];
        if (in->layout != layout)
            kernel->part[i] = mgb_host_take_workspace(
                kernel, 4 * mgb_layout_count(mgb_host_image(in, kernel->use.rows), layout));
    }
}

const float *mgb_channels_input(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                                int input, int layout)
{
    const struct mgb_host_tensor *tensor = &kernel->use.in[input];
    if (kernel->part[input] < 0)
        return launch->inputs[input];
    float *copy = mgb_part(kernel, launch, input);
    mgb_layout_convert(copy, layout, launch->inputs[input], tensor->layout,
                       mgb_host_image(tensor, kernel->use.rows));
    return copy;
}

/* Positions of a chunk: by the shape alone. */
static int64_t chunk_positions(const struct mgb_channels *c)
{
    int64_t positions = c->rows * c->pixels, least = (CHUNK + c->channels - 1) / c->channels;
    int64_t split = (positions + CHUNKS - 1) / CHUNKS;
    return least > split ? least : split;
}

static int64_t chunk_count(const struct mgb_channels *c)
{
    int64_t chunk = chunk_positions(c), positions = c->rows * c->pixels;
    return (positions + chunk - 1) / chunk;
}

int64_t mgb_channels_bytes(const struct mgb_channels *channels)
{
    return chunk_count(channels) * 2 * channels->filled * (int64_t)sizeof(double);
}

struct sum_work {
    const struct mgb_channels *channels;
    mgb_channels_adder *add;
    const void *context;
    double *sums; /* [chunk][first, second][filled] */
};

static void unit_sum(const struct sum_work *work, int64_t chunk, int64_t block)
{
    const struct mgb_channels *c = work->channels;
    int64_t length = chunk_positions(c), position = chunk * length, end = position + length;
    double *first = work->sums + chunk * 2 * c->filled + block * c->inner;
    double *second = first + c->filled;
    if (end > c->rows * c->pixels)
        end = c->rows * c->pixels;
    memset(first, 0, sizeof *first * (size_t)c->inner);
    memset(second, 0, sizeof *second * (size_t)c->inner);
    while (position < end) {
        int64_t row = position / c->pixels, pixel = position % c->pixels;
        int64_t count = c->pixels - pixel < end - position ? c->pixels - pixel : end - position;
        int64_t at = ((row * c->blocks + block) * c->pixels + pixel) * c->inner;
        work->add(work->context, block, at, count, first, second);
        position += count;
    }
}

static void units_sum(void *context, long long begin, long long end)
{
    const struct sum_work *work = context;
    for (long long unit = begin; unit < end; unit++)
        unit_sum(work, unit / work->channels->blocks, unit % work->channels->blocks);
}

void mgb_channels_sum(const struct mgb_channels *channels, mgb_channels_adder *add,
                      const void *context, void *workspace)
{
    struct sum_work work = {channels, add, context, workspace};
    int64_t chunks = chunk_count(channels), unit = chunk_positions(channels) * channels->inner;
    mgb_parallel_for(chunks * channels->blocks, GRAIN / 2 / (unit < 1 ? 1 : unit) + 1, units_sum,
                     &work);
    for (int64_t chunk = 1; chunk < chunks; chunk++)
        for (int64_t i = 0; i < 2 * channels->filled; i++)
            work.sums[i] += work.sums[chunk * 2 * channels->filled + i];
}

struct mgb_stretch mgb_channels_stretch(const struct mgb_channels *channels)
{
    int64_t repeats = (STRETCH + channels->inner - 1) / channels->inner;
    return (struct mgb_stretch){repeats, repeats * channels->inner};
}

struct each_work {
    const struct mgb_channels *channels;
    mgb_channels_function *f;
    const void *context;
    struct mgb_stretch stretch;
};

/* `positions` positions of one block. */
static void run_each(const struct each_work *work, int64_t block, int64_t at, int64_t positions)
{
    int64_t left = positions * work->channels->inner, length = work->stretch.length;
    for (; left > 0; left -= length, at += length)
        work->f(work->context, at, block * length, left < length ? left : length);
}

static void outer_each(void *context, long long begin, long long end)
{
    const struct each_work *work = context;
    const struct mgb_channels *c = work->channels;
    for (long long outer = begin; outer < end; outer++)
        run_each(work, outer % c->blocks, outer * c->pixels * c->inner, c->pixels);
}

static void positions_each(void *context, long long begin, long long end)
{
    const struct each_work *work = context;
    run_each(work, 0, begin * work->channels->inner, end - begin);
}

void mgb_channels_each(const struct mgb_channels *channels, mgb_channels_function *f,
                       const void *context)
{
    struct each_work work = {channels, f, context, mgb_channels_stretch(channels)};
    if (channels->blocks == 1 && channels->rows == 1)
        mgb_parallel_for(channels->pixels, GRAIN / channels->inner + 1, positions_each, &work);
    else
        mgb_parallel_for(channels->rows * channels->blocks,
                         GRAIN / (channels->pixels * channels->inner) + 1, outer_each, &work);
}

struct mgb_norm_line mgb_norm_line_at(const struct mgb_kernel *kernel,
                                      const struct mgb_launch *launch, int mean, int gamma,
                                      int64_t channel)
{
    const union mgb_attributes *a = &kernel->use.a;
    const float *means = launch->inputs[mean], *variances = launch->inputs[mean + 1];
    const float *scales = a->norm.scale ? launch->inputs[gamma] : NULL;
    const float *shifts = a->norm.center ? launch->inputs[gamma + (scales ? 1 : 0)] : NULL;
    double rstd = 1.0 / sqrt((double)variances[channel] + (double)a->norm.epsilon);
    return (struct mgb_norm_line){
        .mean = means[channel],
        .slope = (float)(scales ? rstd * (double)scales[channel] : rstd),
        .shift = shifts ? shifts[channel] : 0.0f,
        .rstd = (float)rstd,
    };
}
