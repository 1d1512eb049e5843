/* One side of a comparison, resampled: what compare.c needs of it and nothing that it would have to undo. */
#ifndef MGB_DB_RESAMPLE_H
#define MGB_DB_RESAMPLE_H

#include "db/compare.h"

struct mgb_resample {
    struct mgb_location location;
    double *medians; /* of the repetitions as measured */
    double *draws;   /* the location in each resample */
    double variance; /* of the location, ns^2, free of the bias that `draws` have */
    double freedom;  /* degrees of freedom of that variance */
    double log_mean,
        log_variance; /* of the logarithms of `medians`: their mean, and its variance, at least that above */
    bool few_steps; /* one repetition, too short to say anything of its median */
};

/* `side` has repetitions and each has steps. `stream` keeps sides with one seed apart. Free with mgb_resample_done. */
enum mgb_status mgb_resample_init(struct mgb_resample *out, const struct mgb_side *side,
                                  size_t resamples, uint64_t seed, uint64_t stream);
void mgb_resample_done(struct mgb_resample *resample);

/* 95 % interval around `centre` from resampled values, sorted in place: the distances of their percentiles, stretched so
 * that they spread as `variance` and Student's t with `freedom` ask. */
void mgb_resample_interval(double *low, double *high, double centre, double *draws, size_t count,
                           double variance, double freedom);

#endif
