/* Mann-Whitney; see rank_test.h. */
#include "db/rank_test.h"

#include <math.h>
#include <stdlib.h>

struct value {
    double value;
    bool first; /* of the first sample */
};

struct pool {
    struct value *values; /* ascending */
    size_t *twice;        /* twice the midrank of each */
    size_t count, first;  /* values, of them of the first sample */
    double tied;          /* sum of t^3 - t over groups of t equal values */
    size_t sum;           /* of `twice` over the first sample */
};

static int value_compare(const void *a, const void *b)
{
    double x = ((const struct value *)a)->value, y = ((const struct value *)b)->value;
    return (x > y) - (x < y);
}

static void pool_rank(struct pool *pool)
{
    qsort(pool->values, pool->count, sizeof *pool->values, value_compare);
    for (size_t i = 0, end; i < pool->count; i = end) {
        for (end = i; end < pool->count && pool->values[end].value == pool->values[i].value; end++)
            ;
        double group = (double)(end - i);
        pool->tied += group * group * group - group;
        for (size_t k = i; k < end; k++) {
            pool->twice[k] = i + 1 + end;
            pool->sum += pool->values[k].first ? pool->twice[k] : 0;
        }
    }
}

/* ways[k * width + s]: of the ways to choose k values, how many have twice-midranks that add up to s. As doubles: C(100,
 * 50) is 1e29, and only shares of it are wanted. */
static void ways_count(double *ways, size_t width, const struct pool *pool)
{
    ways[0] = 1;
    size_t reach = 0;
    for (size_t i = 0; i < pool->count; i++) {
        size_t rank = pool->twice[i];
        reach += rank;
        size_t most = i + 1 < pool->first ? i + 1 : pool->first;
        for (size_t k = most; k >= 1; k--)
            for (size_t s = reach < width ? reach : width - 1; s >= rank; s--)
                ways[k * width + s] += ways[(k - 1) * width + s - rank];
    }
}

static enum mgb_status exact_run(double *p, const struct pool *pool)
{
    size_t width = pool->count * (pool->count + 1) + 1;
    double *ways = calloc((pool->first + 1) * width, sizeof *ways);
    if (!ways)
        return mgb_fail(MGB_NO_MEMORY, "no memory for the rank test of %zu repetitions",
                        pool->count);
    ways_count(ways, width, pool);
    const double *row = ways + pool->first * width;
    double below = 0, above = 0, all = 0;
    for (size_t s = 0; s < width; s++) {
        all += row[s];
        below += s <= pool->sum ? row[s] : 0;
        above += s >= pool->sum ? row[s] : 0;
    }
    *p = fmin(1, 2 * fmin(below, above) / all);
    free(ways);
    return MGB_OK;
}

/* Normal approximation with continuity correction and the variance for ties; Hollander and Wolfe, 4.1. */
static double normal_run(double u, const struct pool *pool)
{
    double m = (double)pool->first, n = (double)(pool->count - pool->first), all = m + n;
    double variance = m * n / 12 * (all + 1 - pool->tied / (all * (all - 1)));
    double distance = fmax(0, fabs(u - m * n / 2) - 0.5);
    return variance > 0 ? fmin(1, erfc(distance / sqrt(2 * variance))) : 1;
}

static enum mgb_status pool_run(struct mgb_rank_test *out, struct pool *pool)
{
    pool_rank(pool);
    double m = (double)pool->first;
    out->u = (double)pool->sum / 2 - m * (m + 1) / 2;
    out->smallest = mgb_rank_test_smallest(pool->first, pool->count - pool->first);
    out->exact = pool->count <= MGB_RANK_TEST_EXACT;
    if (out->exact)
        return exact_run(&out->p, pool);
    out->p = normal_run(out->u, pool);
    return MGB_OK;
}

enum mgb_status mgb_rank_test_run(struct mgb_rank_test *out, const double *a, size_t a_count,
                                  const double *b, size_t b_count)
{
    struct pool pool = {.count = a_count + b_count, .first = a_count};
    *out = (struct mgb_rank_test){.p = 1, .smallest = 1};
    if (a_count == 0 || b_count == 0)
        return mgb_fail(MGB_INVALID, "a rank test of %zu against %zu repetitions needs one of each",
                        a_count, b_count);
    pool.values = calloc(pool.count, sizeof *pool.values);
    pool.twice = calloc(pool.count, sizeof *pool.twice);
    enum mgb_status status = MGB_OK;
    if (!pool.values || !pool.twice) {
        status = mgb_fail(MGB_NO_MEMORY, "no memory to rank %zu repetitions", pool.count);
    } else {
        for (size_t i = 0; i < pool.count; i++)
            pool.values[i] = (struct value){i < a_count ? a[i] : b[i - a_count], i < a_count};
        status = pool_run(out, &pool);
    }
    free(pool.values);
    free(pool.twice);
    return status;
}

double mgb_rank_test_smallest(size_t a_count, size_t b_count)
{
    double ways = 1;
    for (size_t i = 1; i <= a_count; i++)
        ways *= (double)(b_count + i) / (double)i;
    return fmin(1, 2 / ways);
}
