/* The axes of an example in another order. Where the last axis stays, stretches are copied; else tiles are, of the axis that was last
 * and the one that becomes it, so that both sides are read and written in whole cache lines. */
#include "engine/host/ops/ops.h"

#include "engine/base/parallel.h"
#include <string.h>

#define TILE 16

struct transpose_work {
    float *y;
    const float *x;
    int rank, was_last;          /* was_last: the axis of y that is the last of x */
    int64_t dim[MGB_MAX_RANK];   /* of y */
    int64_t from[MGB_MAX_RANK];  /* elements between neighbours along an axis of y: in x, */
    int64_t to[MGB_MAX_RANK];    /* in y */
    int64_t count, outer, bands; /* of an example; bands: tiles along was_last */
};

/* Where the outer axes (all but the last and `was_last`) of number `index` begin. */
static void outer_find(const struct transpose_work *work, int64_t index, int64_t *from, int64_t *to)
{
    int64_t row = index / work->outer, rest = index % work->outer;
    *from = *to = row * work->count;
    for (int i = work->rank - 2; i >= 0; i--) {
        if (i == work->was_last)
            continue;
        *from += rest % work->dim[i] * work->from[i];
        *to += rest % work->dim[i] * work->to[i];
        rest /= work->dim[i];
    }
}

static void stretch_range(void *context, long long begin, long long end)
{
    const struct transpose_work *work = context;
    int64_t last = work->dim[work->rank - 1];
    for (long long index = begin; index < end; index++) {
        int64_t from, to;
        outer_find(work, index, &from, &to);
        memcpy(work->y + to, work->x + from, sizeof(float) * (size_t)last);
    }
}

static void band_copy(const struct transpose_work *work, int64_t from, int64_t to, int64_t first)
{
    int64_t high = work->dim[work->was_last], last = work->dim[work->rank - 1];
    int64_t to_row = work->to[work->was_last], from_row = work->from[work->rank - 1];
    int64_t end = high - first < TILE ? high : first + TILE;
    for (int64_t column = 0; column < last; column += TILE) {
        int64_t column_end = last - column < TILE ? last : column + TILE;
        for (int64_t i = first; i < end; i++)
            for (int64_t j = column; j < column_end; j++)
                work->y[to + i * to_row + j] = work->x[from + i + j * from_row];
    }
}

static void band_range(void *context, long long begin, long long end)
{
    const struct transpose_work *work = context;
    for (long long index = begin; index < end; index++) {
        int64_t from, to;
        outer_find(work, index / work->bands, &from, &to);
        band_copy(work, from, to, index % work->bands * TILE);
    }
}

static void work_measure(struct transpose_work *work, const struct mgb_kernel *kernel)
{
    const struct mgb_shape *x = &kernel->use.in[0].shape, *y = &kernel->use.out[0].shape;
    int64_t in_x[MGB_MAX_RANK], in_y = 1, step = 1;
    work->rank = y->rank;
    for (int i = x->rank - 1; i >= 0; i--) {
        in_x[i] = step;
        step *= x->dim[i];
    }
    work->count = work->outer = step;
    for (int i = y->rank - 1; i >= 0; i--) {
        int axis = kernel->use.a.transpose.axes[i];
        work->dim[i] = y->dim[i];
        work->from[i] = in_x[axis];
        work->to[i] = in_y;
        in_y *= y->dim[i];
        if (axis == y->rank - 1)
            work->was_last = i;
    }
    work->outer /= work->dim[work->rank - 1];
    if (work->was_last < work->rank - 1)
        work->outer /= work->dim[work->was_last];
    work->bands = (work->dim[work->was_last] + TILE - 1) / TILE;
}

static enum mgb_status transpose_make(struct mgb_kernel *kernel)
{
    mgb_plain_plan(kernel);
    return MGB_OK;
}

static enum mgb_status transpose_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct transpose_work work = {.y = launch->outputs[0], .x = mgb_flat_input(kernel, launch, 0)};
    if (kernel->use.out[0].shape.rank == 0) {
        mgb_activate(work.y, work.x, kernel->use.out[0].count, MGB_LINEAR);
        return MGB_OK;
    }
    work_measure(&work, kernel);
    int64_t items = kernel->use.rows * work.outer, last = work.dim[work.rank - 1];
    if (work.was_last == work.rank - 1)
        mgb_parallel_for(items, 16384 / last + 1, stretch_range, &work);
    else
        mgb_parallel_for(items * work.bands, 16384 / (TILE * last) + 1, band_range, &work);
    return MGB_OK;
}

const struct mgb_host_op mgb_host_transpose = {.make = transpose_make, .run = transpose_run};
