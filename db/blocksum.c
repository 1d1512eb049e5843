/* Distribution of a block-resampled median by its blocks' counts; see blocksum.h. */
#include "db/blocksum.h"

#include <math.h>
#include <stdlib.h>

#include "db/draw.h"

/* Walks up the ranks. Of every block: how many of its steps are ranked at most `at`. */
struct walk {
    const struct mgb_ranked *ranked;
    size_t block, at;
    double squares;   /* of `held`, summed */
    uint32_t *held;   /* by the step a block begins at */
    uint32_t *placed; /* the step of each rank */
};

/* Distribution functions of the resample's two middle ranks, from rank `first` on. */
struct table {
    size_t first, count;
    double *lower, *upper; /* equal of an odd count */
};

static void walk_done(struct walk *walk)
{
    free(walk->held);
    free(walk->placed);
}

static enum mgb_status walk_init(struct walk *out, const struct mgb_ranked *ranked, size_t block,
                                 size_t at)
{
    size_t n = ranked->count, held = 0;
    *out = (struct walk){
        ranked, block, at, 0, calloc(n, sizeof *out->held), calloc(n, sizeof *out->placed)};
    if (!out->held || !out->placed) {
        walk_done(out);
        return mgb_fail(MGB_NO_MEMORY, "no memory to resample %zu steps", n);
    }
    for (size_t i = 0; i < n; i++)
        out->placed[ranked->rank[i]] = (uint32_t)i;
    for (size_t i = 0; i < block; i++)
        held += ranked->rank[i] <= at;
    for (size_t i = 0; i < n; i++) {
        out->held[i] = (uint32_t)held;
        out->squares += (double)held * (double)held;
        held += ranked->rank[(i + block) % n] <= at;
        held -= ranked->rank[i] <= at;
    }
    return MGB_OK;
}

static void walk_up(struct walk *walk)
{
    size_t n = walk->ranked->count, at = walk->placed[++walk->at];
    for (size_t i = 0; i < walk->block; i++) {
        walk->squares += 2.0 * walk->held[at] + 1;
        walk->held[at]++;
        at = at > 0 ? at - 1 : n - 1;
    }
}

/* P(at least `needed` of the resampled steps are ranked at most walk->at), with half a step for continuity. */
static double walk_share(const struct walk *walk, size_t needed)
{
    double n = (double)walk->ranked->count, block = (double)walk->block;
    double mean = block * (double)(walk->at + 1) / n;
    double variance = fmax(0, walk->squares / n - mean * mean) * n / block;
    double over = (double)(walk->at + 1) - (double)needed + 0.5;
    if (variance < 1e-9)
        return over > 0;
    return 0.5 * erfc(-over / sqrt(2 * variance));
}

static void table_done(struct table *table)
{
    free(table->lower);
    free(table->upper);
}

/* From six of the largest possible standard deviations below the middle, upwards until the functions have reached 1. */
static enum mgb_status table_make(struct table *out, const struct mgb_ranked *ranked, size_t block)
{
    size_t n = ranked->count, middle = (n - 1) / 2;
    size_t reach = (size_t)ceil(3 * sqrt((double)n * (double)block)) + 1;
    size_t first = middle > reach ? middle - reach : 0;
    size_t room = n - first < 2 * reach + 2 ? n - first : 2 * reach + 2;
    struct walk walk;
    MGB_TRY(walk_init(&walk, ranked, block, first));
    *out = (struct table){first, 0, calloc(room, sizeof *out->lower),
                          calloc(room, sizeof *out->upper)};
    if (!out->lower || !out->upper) {
        walk_done(&walk);
        table_done(out);
        return mgb_fail(MGB_NO_MEMORY, "no memory to resample %zu steps", n);
    }
    double lower = 0, upper = 0; /* never fall, whatever the normal says */
    while (out->count < room && upper < 1 - 1e-12) {
        if (out->count > 0)
            walk_up(&walk);
        lower = fmax(lower, walk_share(&walk, (n - 1) / 2 + 1));
        upper = fmax(upper, walk_share(&walk, n / 2 + 1));
        out->lower[out->count] = lower;
        out->upper[out->count++] = upper;
    }
    walk_done(&walk);
    return MGB_OK;
}

/* The first rank whose share is at least `share`. */
static size_t table_find(const struct table *table, const double *shares, double share)
{
    size_t low = 0, high = table->count - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (shares[middle] >= share)
            high = middle;
        else
            low = middle + 1;
    }
    return table->first + low;
}

enum mgb_status mgb_blocksum_medians(double *medians, size_t resamples,
                                     const struct mgb_ranked *ranked, size_t block, uint64_t seed,
                                     uint64_t stream)
{
    struct table table;
    MGB_TRY(table_make(&table, ranked, block));
    for (size_t i = 0; i < resamples; i++) {
        double share = mgb_draw_unit(mgb_draw_at(seed, stream, i));
        double low = ranked->sorted[table_find(&table, table.lower, share)];
        double high = ranked->sorted[table_find(&table, table.upper, share)];
        medians[i] = low + (high - low) / 2;
    }
    table_done(&table);
    return MGB_OK;
}
