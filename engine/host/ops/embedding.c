/* Rows of a table by number, and the gradient: for every row of the table the sum of the gradients of its uses, in the order
 * of the uses, whatever the team. */
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

const struct mgb_host_op mgb_host_embedding = {.make = embedding_make, .run = embedding_run};
const struct mgb_host_op mgb_host_embedding_grad = {.make = embedding_make,
                                                    .run = embedding_grad_run};
