/* The naive interpreter, continued: attention, products of matrices and what goes with them. `in` and `out` are the node's values. */
#ifndef MGB_TESTS_REFERENCE_ATTENTION_H
#define MGB_TESTS_REFERENCE_ATTENTION_H

#include "tests/support/reference.h"

void reference_attention(struct reference *r, const struct mgb_node *node, double *const *in,
                         double *const *out);
void reference_matmul(struct reference *r, const struct mgb_node *node, double *const *in,
                      double *const *out);
void reference_transpose(struct reference *r, const struct mgb_node *node, double *const *in,
                         double *const *out);
/* softmax and log_softmax, and their gradients. */
void reference_softmax(struct reference *r, const struct mgb_node *node, double *const *in,
                       double *const *out);
void reference_gelu(struct reference *r, const struct mgb_node *node, double *const *in,
                    double *const *out);

#endif
