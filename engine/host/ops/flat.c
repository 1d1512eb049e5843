/* What element-wise operators share: the choice of layout, plain copies where layouts differ, sums over rows. */
#include "engine/host/ops/ops.h"

#include "engine/base/parallel.h"

void *mgb_part(const struct mgb_kernel *kernel, const struct mgb_launch *launch, int part)
{
    return launch->workspace ? (char *)launch->workspace + kernel->part[part] : NULL;
}

/* Plain as soon as the inputs have two layouts beside plain, which are costly to change into each other. */
static int layout_choose(const struct mgb_host_use *use, struct mgb_image image, bool zero_stays)
{
    int layout = MGB_LAYOUT_PLAIN;
    for (int i = 0; i < use->input_count; i++) {
        int own = use->in[i].layout;
        if (own != MGB_LAYOUT_PLAIN && layout != MGB_LAYOUT_PLAIN && own != layout)
            return MGB_LAYOUT_PLAIN;
        layout = own != MGB_LAYOUT_PLAIN ? own : layout;
    }
    bool spoilt = !zero_stays && mgb_layout_padded(image, layout);
    return use->plain[0] || spoilt ? MGB_LAYOUT_PLAIN : layout;
}

enum {
    DIRECT = -1,   /* read where it is */
    IN_OUTPUT = -2 /* copied to where the result goes */
};

void mgb_flat_plan(struct mgb_kernel *kernel, bool zero_stays, int over)
{
    const struct mgb_host_use *use = &kernel->use;
    struct mgb_image image = mgb_host_image(&use->out[0], use->rows);
    int layout = layout_choose(use, image, zero_stays);
    int64_t bytes = 4 * mgb_layout_count(image, layout);
    for (int i = 0; i < use->input_count; i++) {
        if (use->in[i].layout == layout)
            kernel->part[i] = DIRECT;
        else
            kernel->part[i] = i == over ? IN_OUTPUT : mgb_host_take_workspace(kernel, bytes);
    }
    kernel->part[MGB_PART_COUNT] = mgb_layout_count(image, layout);
    kernel->facts.in_place = mgb_flat_direct(kernel, over) ? over : -1;
    kernel->facts.out_layout[0] = layout;
    kernel->facts.out_bytes[0] = 4 * kernel->part[MGB_PART_COUNT];
}

void mgb_plain_plan(struct mgb_kernel *kernel)
{
    for (int i = 0; i < kernel->use.input_count; i++) {
        const struct mgb_host_tensor *in = &kernel->use.in[i];
        kernel->part[i] = in->layout == MGB_LAYOUT_PLAIN
                              ? DIRECT
                              : mgb_host_take_workspace(kernel, 4 * in->count);
    }
}

int64_t mgb_flat_count(const struct mgb_kernel *kernel)
{
    return kernel->part[MGB_PART_COUNT];
}

bool mgb_flat_direct(const struct mgb_kernel *kernel, int input)
{
    return kernel->part[input] == DIRECT;
}

const float *mgb_flat_input(struct mgb_kernel *kernel, const struct mgb_launch *launch, int input)
{
    if (mgb_flat_direct(kernel, input))
        return launch->inputs[input];
    bool in_output = kernel->part[input] == IN_OUTPUT;
    float *copy = in_output ? launch->outputs[0] : mgb_part(kernel, launch, input);
    const struct mgb_host_tensor *tensor = &kernel->use.in[input];
    mgb_layout_convert(copy, kernel->facts.out_layout[0], launch->inputs[input], tensor->layout,
                       mgb_host_image(tensor, kernel->use.rows));
    return copy;
}

#define CHUNKS_AT_ONCE 256

struct rows_work {
    mgb_rows_function *f;
    const void *context;
    int64_t rows, first_chunk;
    double sums[CHUNKS_AT_ONCE];
};

static void rows_range(void *context, long long begin, long long end)
{
    struct rows_work *work = context;
    for (long long i = begin; i < end; i++) {
        int64_t first = (work->first_chunk + i) * MGB_ROW_CHUNK, last = first + MGB_ROW_CHUNK;
        work->sums[i] = work->f(work->context, first, last < work->rows ? last : work->rows);
    }
}

#define TEAM_GRAIN 8192 /* elements */

int64_t mgb_rows_grain(int64_t width)
{
    int64_t chunk = MGB_ROW_CHUNK * (width < 1 ? 1 : width);
    return (TEAM_GRAIN + chunk - 1) / chunk * MGB_ROW_CHUNK;
}

double mgb_rows_sum(int64_t rows, int64_t width, mgb_rows_function *f, const void *context)
{
    int64_t grain = mgb_rows_grain(width) / MGB_ROW_CHUNK;
    struct rows_work work = {.f = f, .context = context, .rows = rows};
    int64_t chunks = (rows + MGB_ROW_CHUNK - 1) / MGB_ROW_CHUNK;
    double sum = 0;
    for (int64_t chunk = 0; chunk < chunks; chunk += CHUNKS_AT_ONCE) {
        int64_t now = chunks - chunk < CHUNKS_AT_ONCE ? chunks - chunk : CHUNKS_AT_ONCE;
        work.first_chunk = chunk;
        mgb_parallel_for(now, grain, rows_range, &work);
        for (int64_t i = 0; i < now; i++)
            sum += work.sums[i];
    }
    return sum;
}
