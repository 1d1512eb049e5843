/* The reference of batch and layer normalisation. */
#ifndef MGB_TESTS_REFERENCE_NORM_H
#define MGB_TESTS_REFERENCE_NORM_H

#include "tests/support/reference.h"

/* Any kind of these families; inputs and outputs (zeroed; NULL where unwanted) in the node's order. */
void reference_norm(struct reference *reference, const struct mgb_node *node, double **in,
                    double **out);

#endif
