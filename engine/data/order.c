/* The order of rows in an epoch (Fisher and Yates' shuffle, Durstenfeld's form, CACM 1964), drawn from the counter-based
 * generator so that it depends on seed and epoch only. */
#include "engine/data/order.h"

#include "engine/base/memory.h"
#include "engine/base/random.h"

/* Sets the shuffle's numbers apart from others drawn with the same seed. */
#define ORDER_STREAM 0x6f72646572ull

enum mgb_status mgb_order_init(struct mgb_order *out, int64_t rows, bool shuffle)
{
    *out = (struct mgb_order){.rows = rows, .epoch = -1};
    pthread_mutex_init(&out->lock, NULL);
    if (rows < 1 || rows > UINT32_MAX)
        return mgb_fail(MGB_INVALID, "a data source of %lld rows: 1 to %lld are possible",
                        (long long)rows, (long long)UINT32_MAX);
    if (!shuffle)
        return MGB_OK;
    out->permutation = mgb_alloc((size_t)rows * sizeof *out->permutation);
    if (!out->permutation)
        return mgb_fail(MGB_NO_MEMORY, "no memory for the order of %lld rows", (long long)rows);
    return MGB_OK;
}

void mgb_order_done(struct mgb_order *order)
{
    mgb_release(order->permutation);
    pthread_mutex_destroy(&order->lock);
    *order = (struct mgb_order){.epoch = -1};
}

static void permute(struct mgb_order *order, uint64_t seed, int64_t epoch)
{
    uint32_t *p = order->permutation;
    if (!p || epoch < 0 || (order->epoch == epoch && order->seed == seed))
        return;
    for (int64_t i = 0; i < order->rows; i++)
        p[i] = (uint32_t)i;
    for (int64_t i = order->rows - 1; i > 0; i--) {
        struct mgb_random4 r = mgb_random_at(seed ^ ORDER_STREAM, (uint64_t)i, (uint64_t)epoch);
        uint32_t j = mgb_random_below(r.v[0], (uint32_t)(i + 1));
        uint32_t held = p[i];
        p[i] = p[j];
        p[j] = held;
    }
    order->epoch = epoch;
    order->seed = seed;
}

void mgb_order_begin(struct mgb_order *order, uint64_t seed, int64_t epoch)
{
    pthread_mutex_lock(&order->lock);
    permute(order, seed, epoch);
}

void mgb_order_end(struct mgb_order *order)
{
    pthread_mutex_unlock(&order->lock);
}

int64_t mgb_order_at(const struct mgb_order *order, int64_t epoch, int64_t position)
{
    return order->permutation && epoch >= 0 ? (int64_t)order->permutation[position] : position;
}

enum mgb_status mgb_rows_check(const char *what, int64_t of, int64_t first, int64_t rows)
{
    if (first >= 0 && rows >= 1 && (of == 0 || (first < of && rows <= of - first)))
        return MGB_OK;
    return mgb_fail(MGB_INVALID, "%s: rows %lld to %lld were asked of %lld", what, (long long)first,
                    (long long)(first + rows - 1), (long long)of);
}
