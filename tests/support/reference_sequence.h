/* Operators of sequences, naively: embedding, mask, lstm, gru and their gradients. */
#ifndef MGB_TESTS_REFERENCE_SEQUENCE_H
#define MGB_TESTS_REFERENCE_SEQUENCE_H

#include "tests/support/reference.h"

/* `out` is cleared; NULL where not wanted. */
void reference_sequence(struct reference *reference, const struct mgb_node *node, double *const *in,
                        double *const *out);

#endif
