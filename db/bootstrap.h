/* Median step time of one segment with its 95 % interval by block bootstrap: neighbouring steps resemble each other, so
 * whole stretches of steps are resampled. Knows no database; allocates only inside the call. */
#ifndef MGB_DB_BOOTSTRAP_H
#define MGB_DB_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

#include <mgb/status.h>

enum {
    MGB_BOOTSTRAP_RESAMPLES = 2000,
    MGB_BOOTSTRAP_MIN_STEPS = 20, /* below it there is no interval: too few */
    MGB_BOOTSTRAP_DIRECT = 400    /* up to it every resample is made; beyond, see blocksum.h */
};

/* For segment_stat.interval_method, with the default number of resamples. */
#define MGB_BOOTSTRAP_METHOD "circular block bootstrap of the median, 2000 resamples"
#define MGB_BOOTSTRAP_METHOD_MANY                                                                  \
    "circular block bootstrap of the median, 2000 draws by normal sums of blocks"

struct mgb_interval {
    size_t count;           /* steps it is over */
    double median_ns;       /* of an even count: mean of the middle two */
    double low_ns, high_ns; /* 95 %; both the median when the steps are too few */
    double error_ns;        /* standard error of the median */
    double freedom;         /* degrees of freedom of that error: blocks less one */
    size_t block;           /* steps a block; 0: too few steps, no interval */
    size_t resamples;
    uint64_t seed; /* the same seed gives the same interval */
};

/* Which of the two methods an interval of `count` steps takes; NULL below MGB_BOOTSTRAP_MIN_STEPS. */
const char *mgb_bootstrap_method(size_t count);

/* The interval of the median of `count` steady steps, in their order. `resamples` and `seed`: 0 for the defaults. */
enum mgb_status mgb_bootstrap_median(struct mgb_interval *out, const int64_t *wall_ns, size_t count,
                                     size_t resamples, uint64_t seed);

/* The resampled medians, in the order drawn, into `medians` (`resamples` of them, at least 2); `out` as from
 * mgb_bootstrap_median, but without the interval's ends. `stream` keeps segments with the same seed apart. */
enum mgb_status mgb_bootstrap_draw(struct mgb_interval *out, double *medians,
                                   const int64_t *wall_ns, size_t count, size_t resamples,
                                   uint64_t seed, uint64_t stream);

#endif
