/* One stretch of items a member of the team. */
#include "engine/host/ops/products.h"

#include "engine/base/parallel.h"
#include <stdatomic.h>

struct team_work {
    mgb_products_function *f;
    void *context;
    int64_t items, threads;
    atomic_int status;
};

static void team_range(void *context, long long begin, long long end)
{
    struct team_work *work = context;
    for (long long thread = begin; thread < end; thread++) {
        int64_t first = work->items * thread / work->threads,
                last = work->items * (thread + 1) / work->threads;
        if (first == last)
            continue;
        int ok = MGB_OK;
        enum mgb_status status = work->f(work->context, (int)thread, first, last);
        if (status != MGB_OK)
            atomic_compare_exchange_strong(&work->status, &ok, (int)status);
    }
}

enum mgb_status mgb_products_run(const struct mgb_kernel *kernel, int64_t items,
                                 mgb_products_function *f, void *context)
{
    struct team_work work = {
        .f = f, .context = context, .items = items, .threads = kernel->use.threads};
    atomic_init(&work.status, MGB_OK);
    mgb_parallel_for(work.threads, 1, team_range, &work);
    enum mgb_status status = (enum mgb_status)atomic_load(&work.status);
    if (status == MGB_OK)
        return MGB_OK;
    /* The message stayed in the member's thread. */
    return mgb_fail(status, "a product of matrices failed: %s",
                    status == MGB_NO_MEMORY ? "oneDNN has no memory for it" : "oneDNN refused it");
}
