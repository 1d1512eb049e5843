/* What the operators of batch normalisation share: tensors seen channel by channel in any layout, and sums over a channel
 * whose bits depend neither on the layout nor on the team: positions (row, pixel) in order, in double, in chunks whose
 * length only the shape decides, chunks in order. */
#ifndef MGB_HOST_BATCH_NORM_H
#define MGB_HOST_BATCH_NORM_H

#include "engine/host/ops/ops.h"

/* Element i of channel block b at a position lies at ((row * blocks + b) * pixels + pixel) * inner + i. Plain tensors are one
 * row of one block. */
struct mgb_channels {
    int64_t rows, blocks, pixels, inner, channels;
    int64_t filled; /* blocks * inner: channels with those that fill up the last block */
};
struct mgb_channels mgb_channels_make(const struct mgb_host_tensor *tensor, int64_t rows,
                                      int layout);

/* Takes workspace for copies of those of the inputs 0 .. count - 1 that are not in `layout`; mgb_channels_input reads them. */
void mgb_channels_plan(struct mgb_kernel *kernel, int count, int layout);
const float *mgb_channels_input(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                                int input, int layout);

/* Adds `positions` positions of block `block`, which begin at element `at` of the tensor, to first[0 .. inner) and
 * second[0 .. inner), position by position. */
typedef void mgb_channels_adder(const void *context, int64_t block, int64_t at, int64_t positions,
                                double *first, double *second);
int64_t mgb_channels_bytes(const struct mgb_channels *channels); /* workspace of the sums */
/* first and second sums of all channels: `filled` numbers each, at `workspace` and behind. */
void mgb_channels_sum(const struct mgb_channels *channels, mgb_channels_adder *add,
                      const void *context, void *workspace);

/* Coefficients of a channel, in the workspace: repeated until they fill a stretch of memory that vectors like. */
struct mgb_stretch {
    int64_t repeats, length; /* positions, elements */
};
struct mgb_stretch mgb_channels_stretch(const struct mgb_channels *channels);
/* f over all elements, through the team: `count` elements from `at` on, whose coefficients begin at `coefficient`. */
typedef void mgb_channels_function(const void *context, int64_t at, int64_t coefficient,
                                   int64_t count);
void mgb_channels_each(const struct mgb_channels *channels, mgb_channels_function *f,
                       const void *context);

/* The affine form of the normalisation of a channel: z = (x - mean) * slope + shift. */
struct mgb_norm_line {
    float mean, slope, shift, rstd;
};
/* `inputs` begin at mean, variance; gamma and beta at `gamma` where the attributes say that there are any. */
struct mgb_norm_line mgb_norm_line_at(const struct mgb_kernel *kernel,
                                      const struct mgb_launch *launch, int mean, int gamma,
                                      int64_t channel);

#endif
