/* Small random models for property tests: convolution, pooling, dense, dropout, add, concat,
 * activations, one or two inputs, one or two losses, shared layers, frozen variables, device scopes
 * (/cpu:0 only), names made twice.
 *
 * The same seed gives the same model (and digest). Inputs are "image" (4 to 8 pixels a side),
 * "label" (classes 0 to 2), and, with some seeds, "side" (f32, rank 1) and "target" (f32, rank 1).
 * The graph is finished; free it with mgb_graph_free. */
#ifndef MGB_TESTS_RANDOM_MODEL_H
#define MGB_TESTS_RANDOM_MODEL_H

#include <mgb/model.h>

#define RANDOM_MODEL_CLASSES 3

enum mgb_status random_model_make(struct mgb_graph **out, uint64_t seed);

/* Like it, without dropout and without the kinks of relu and maxima, for comparing with finite
 * differences. */
enum mgb_status random_model_make_smooth(struct mgb_graph **out, uint64_t seed);

#endif
