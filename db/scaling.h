/* Words and arithmetic of scaling, from measured medians: what a GPU more is worth, and what of it is the batch's doing.
 * Every figure is unknown where its definition does not apply to the points given. */
#ifndef MGB_DB_SCALING_H
#define MGB_DB_SCALING_H

#include <stdint.h>

#include <mgb/record.h>

/* Printed beside the figures: readers take these words for one another. */
#define MGB_SCALING_WEAK_TEXT "weak: time(1 GPU, b) / time(N GPUs, N b)"
#define MGB_SCALING_STRONG_TEXT "strong: time(1 GPU, B) / (N time(N GPUs, B))"
#define MGB_SCALING_EPOCH_TEXT "per epoch: epoch(1 GPU) / (N epoch(N GPUs)), whatever the batches"
#define MGB_SCALING_SPLIT_TEXT "speed-up in examples/s = batch effect x GPU effect"
#define MGB_SCALING_EXCHANGE_TEXT                                                                  \
    "cost of exchange: step, less the step of the same towers left independent"

/* One measured placement. */
struct mgb_scaling_point {
    int64_t gpus, global_batch;
    double step_ns; /* median; 0 or less: not measured (out of memory) */
};

/* Efficiencies of a step, 1 is ideal. `one` has one GPU; weak asks for N times its global batch, strong for the same. */
struct mgb_maybe_real mgb_scaling_weak(const struct mgb_scaling_point *one,
                                       const struct mgb_scaling_point *many);
struct mgb_maybe_real mgb_scaling_strong(const struct mgb_scaling_point *one,
                                         const struct mgb_scaling_point *many);

/* Time of an epoch of `examples`: ceil(examples / global batch) steps; a short last one is taken for a whole one. */
struct mgb_maybe_real mgb_scaling_epoch_ns(const struct mgb_scaling_point *point, int64_t examples);

/* Efficiency of an epoch, for any two batches: the batch effect is in it. */
struct mgb_maybe_real mgb_scaling_epoch(const struct mgb_scaling_point *one,
                                        const struct mgb_scaling_point *many, int64_t examples);

/* Examples per second: examples over seconds, never a mean of rates. */
struct mgb_maybe_real mgb_scaling_throughput(int64_t examples, int64_t timed_ns);

/* Speed-up in examples/s from one point to another, as the product of what the larger batch alone does and of what the
 * GPUs alone do. */
struct mgb_scaling_split {
    struct mgb_maybe_real speedup, batch_effect, gpu_effect;
    int batch_first; /* 1: the batch grew on few GPUs, then GPUs were added; 0: the other way; the effects differ */
};

/* `corner` is the third measurement: the GPUs of `from` with the global batch of `to`, or the other way round where that
 * one does not fit into memory. Without a fitting corner only the speed-up is known. */
struct mgb_scaling_split mgb_scaling_separate(const struct mgb_scaling_point *from,
                                              const struct mgb_scaling_point *to,
                                              const struct mgb_scaling_point *corner);

/* What merging costs: the step beside that of the same GPUs and batch with independent towers, which exchange nothing. */
struct mgb_scaling_exchange {
    struct mgb_maybe_real cost_ns; /* may be negative by noise: see mgb_scaling_exchange_told */
    struct mgb_maybe_real share;   /* of the step */
};
struct mgb_scaling_exchange mgb_scaling_exchange(const struct mgb_scaling_point *merged,
                                                 const struct mgb_scaling_point *independent);

/* Whether a cost is told from none by what is known of its two steps, each with its interval low to high, all in one unit:
 * the interval of the difference (half widths added in quadrature) does not reach 0. Without an interval (not above 0) only
 * a cost above 0 is told. */
int mgb_scaling_exchange_told(double cost, double merged_low, double merged_high,
                              double independent_low, double independent_high);

#endif
