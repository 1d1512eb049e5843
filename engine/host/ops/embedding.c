/* Rows of a table by number, and the gradient: for every row of the table the sum of the gradients of its uses, in the order
 * of the uses, whatever the team; as a whole table or as the rows that are used (kinds.h: packed). */
#include "engine/host/ops/ops.h"

#include "engine/base/parallel.h"
#include "engine/host/simd.h"
#include <string.h>

#define GRAIN 16384 /* elements: a thread gets at least this many */

struct embedding_work {
    float *out;
    const float *from; /* the table; the gradient of what was looked up */
    const int32_t *ids;
    int64_t units, count; /* of a row; numbers looked up */
};

static int64_t grain_of(int64_t units)
{
    return units >= GRAIN ? 1 : GRAIN / units;
}

static enum mgb_status embedding_make(struct mgb_kernel *kernel)
{
    mgb_plain_plan(kernel);
    return MGB_OK;
}

static enum mgb_status ids_check(const struct mgb_kernel *kernel, const struct mgb_launch *launch,
                                 int64_t vocabulary)
{
    const int32_t *ids = launch->inputs[0];
    int64_t positions = mgb_shape_count(&kernel->use.in[0].shape);
    for (int64_t i = 0; i < kernel->use.in[0].count; i++)
        if (ids[i] < 0 || ids[i] >= vocabulary)
            return mgb_fail(MGB_INVALID,
                            "'%s': number %d of row %lld, position %lld, is not in its vocabulary "
                            "of %lld, 0 to "
                            "%lld; check the data or set vocabulary",
                            launch->name ? launch->name : "?", (int)ids[i],
                            (long long)(launch->first_row + i / positions),
                            (long long)(i % positions), (long long)vocabulary,
                            (long long)vocabulary - 1);
    return MGB_OK;
}

static void rows_copy(void *context, long long begin, long long end)
{
    const struct embedding_work *work = context;
    size_t bytes = sizeof(float) * (size_t)work->units;
    for (long long i = begin; i < end; i++)
        memcpy(work->out + i * work->units, work->from + work->ids[i] * work->units, bytes);
}

static enum mgb_status embedding_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    const struct mgb_shape *table = &kernel->use.in[1].shape;
    struct embedding_work work = {.out = launch->outputs[0],
                                  .from = launch->inputs[1],
                                  .ids = launch->inputs[0],
                                  .units = table->dim[1],
                                  .count = kernel->use.in[0].count};
    MGB_TRY(ids_check(kernel, launch, table->dim[0]));
    mgb_parallel_for(work.count, grain_of(work.units), rows_copy, &work);
    return MGB_OK;
}

MGB_SIMD static void row_add(float *to, const float *from, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        to[i] += from[i];
}

/* Sums the uses of rows [begin, end) of the table. Looking through all numbers is cheap beside clearing the rows. */
static void uses_sum(void *context, long long begin, long long end)
{
    const struct embedding_work *work = context;
    memset(work->out + begin * work->units, 0,
           sizeof(float) * (size_t)(end - begin) * (size_t)work->units);
    for (int64_t i = 0; i < work->count; i++)
        if (work->ids[i] >= begin && work->ids[i] < end)
            row_add(work->out + work->ids[i] * work->units, work->from + i * work->units,
                    work->units);
}

static enum mgb_status embedding_grad_run(struct mgb_kernel *kernel,
                                          const struct mgb_launch *launch)
{
    const struct mgb_shape *table = &kernel->use.out[0].shape;
    struct embedding_work work = {.out = launch->outputs[0],
                                  .from = mgb_flat_input(kernel, launch, 1),
                                  .ids = launch->inputs[0],
                                  .units = table->dim[1],
                                  .count = kernel->use.in[0].count};
    MGB_TRY(ids_check(kernel, launch, table->dim[0]));
    mgb_parallel_for(table->dim[0], grain_of(work.units), uses_sum, &work);
    return MGB_OK;
}

/* Which rows of the table are used, a bit each, and how many are before each word of bits; then each use's place among them. */
struct packing {
    uint64_t *bits;
    int32_t *before, *slots;
    int64_t words, positions;
};

static int64_t bit_words(const struct mgb_kernel *kernel)
{
    return (kernel->use.a.packed.vocabulary + 63) / 64;
}

static enum mgb_status rows_make(struct mgb_kernel *kernel)
{
    mgb_plain_plan(kernel);
    kernel->part[MGB_PART_SCRATCH] =
        mgb_host_take_workspace(kernel, bit_words(kernel) * (8 + 4) + kernel->use.in[0].count * 4);
    return MGB_OK;
}

static void rows_number(const struct packing *p, const int32_t *ids, int32_t *numbers)
{
    int32_t used = 0;
    memset(p->bits, 0, (size_t)p->words * sizeof *p->bits);
    for (int64_t i = 0; i < p->positions; i++)
        p->bits[ids[i] / 64] |= (uint64_t)1 << ids[i] % 64;
    for (int64_t w = 0; w < p->words; w++) {
        p->before[w] = used;
        for (uint64_t left = p->bits[w]; left; left &= left - 1)
            numbers[used++] = (int32_t)(w * 64 + __builtin_ctzll(left));
    }
    for (int64_t i = used; i < p->positions; i++)
        numbers[i] = -1;
    for (int64_t i = 0; i < p->positions; i++) {
        uint64_t below = p->bits[ids[i] / 64] & (((uint64_t)1 << ids[i] % 64) - 1);
        p->slots[i] = p->before[ids[i] / 64] + __builtin_popcountll(below);
    }
}

static int64_t rows_used(const int32_t *numbers, int64_t positions)
{
    int64_t used = 0;
    while (used < positions && numbers[used] >= 0)
        used++;
    return used;
}

static enum mgb_status rows_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    char *scratch = mgb_part(kernel, launch, MGB_PART_SCRATCH);
    struct packing p = {.words = bit_words(kernel), .positions = kernel->use.in[0].count};
    int32_t *numbers = launch->outputs[0];
    MGB_TRY(ids_check(kernel, launch, kernel->use.a.packed.vocabulary));
    p.bits = (uint64_t *)(void *)scratch;
    p.before = (int32_t *)(void *)(scratch + 8 * p.words);
    p.slots = p.before + p.words;
    rows_number(&p, launch->inputs[0], numbers);
    struct embedding_work work = {.out = (float *)launch->outputs[0] + p.positions,
                                  .from = mgb_flat_input(kernel, launch, 1),
                                  .ids = p.slots,
                                  .units = kernel->use.out[0].count / p.positions - 1,
                                  .count = p.positions};
    mgb_parallel_for(rows_used(numbers, p.positions), grain_of(work.units), uses_sum, &work);
    return MGB_OK;
}

static int64_t number_find(const int32_t *numbers, int64_t count, long long row)
{
    int64_t low = 0;
    while (low < count) {
        int64_t middle = (low + count) / 2;
        if (numbers[middle] < row)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* Rows [begin, end) of the table: those that are there, zeros between them. */
static void rows_spread(void *context, long long begin, long long end)
{
    const struct embedding_work *work = context;
    size_t bytes = sizeof(float) * (size_t)work->units;
    for (int64_t slot = number_find(work->ids, work->count, begin); begin < end; slot++) {
        bool last = slot >= work->count || work->ids[slot] >= end;
        long long row = last ? end : work->ids[slot];
        memset(work->out + begin * work->units, 0, bytes * (size_t)(row - begin));
        if (!last)
            memcpy(work->out + row * work->units, work->from + slot * work->units, bytes);
        begin = row + 1;
    }
}

static enum mgb_status unpack_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    const struct mgb_shape *table = &kernel->use.out[0].shape;
    int64_t positions = kernel->use.in[0].count / (1 + table->dim[1]);
    const int32_t *numbers = launch->inputs[0];
    struct embedding_work work = {.out = launch->outputs[0],
                                  .from = (const float *)launch->inputs[0] + positions,
                                  .ids = numbers,
                                  .units = table->dim[1],
                                  .count = rows_used(numbers, positions)};
    mgb_parallel_for(table->dim[0], grain_of(work.units), rows_spread, &work);
    return MGB_OK;
}

const struct mgb_host_op mgb_host_embedding = {.make = embedding_make, .run = embedding_run};
const struct mgb_host_op mgb_host_embedding_grad = {.make = embedding_make,
                                                    .run = embedding_grad_run};
const struct mgb_host_op mgb_host_embedding_rows = {.make = rows_make, .run = rows_run};
const struct mgb_host_op mgb_host_embedding_unpack = {.make = embedding_make, .run = unpack_run};
