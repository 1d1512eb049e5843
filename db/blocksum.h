/* Medians of block-resampled steps, drawn without resampling step by step: for many steps, where that would take seconds.
 * Internal to the bootstrap; see bootstrap.h. */
#ifndef MGB_DB_BLOCKSUM_H
#define MGB_DB_BLOCKSUM_H

#include <stddef.h>
#include <stdint.h>

#include <mgb/status.h>

/* A series as ranks: `sorted` ascending, `rank` the place in it of each step, in the order of steps. */
struct mgb_ranked {
    const double *sorted;
    const uint32_t *rank;
    size_t count;
};

/* `resamples` medians of circular-block resamples into `medians`. How many resampled steps are not above a given one is a
 * sum over independent blocks, whose mean and variance are known exactly from all `count` places a block may begin at; the
 * sum is taken as normal (with 7 blocks, the fewest that occur, its 2.5 % tail is off by a tenth of that). Each median is
 * then drawn from its distribution function by inversion. O(count log count) but for strong correlation. */
enum mgb_status mgb_blocksum_medians(double *medians, size_t resamples,
                                     const struct mgb_ranked *ranked, size_t block, uint64_t seed,
                                     uint64_t stream);

#endif
