/* The conformance models of normalisation; the caller frees. */
#ifndef MGB_TESTS_CONFORMANCE_NORM_H
#define MGB_TESTS_CONFORMANCE_NORM_H

#include "engine/graph/graph.h"

struct mgb_graph *conformance_batch_norm(void);
struct mgb_graph *conformance_layer_norm(void);

#endif
