/* The graphs of the conformance checks, continued: attention, products of matrices, tied weights. */
#ifndef MGB_TESTS_CONFORMANCE_ATTENTION_H
#define MGB_TESTS_CONFORMANCE_ATTENTION_H

#include <mgb/model.h>

/* Cross attention with a mask, then causal attention that drops; blocks that are not full. */
struct mgb_graph *conformance_attention(void);
/* One query, one key, one head; tensors that need no gradient. */
struct mgb_graph *conformance_attention_small(void);
/* matmul in all four forms, transpose, both softmaxes, both gelus. */
struct mgb_graph *conformance_matrices(void);
/* relu6, alone and fused, and one table used as it lies and transposed. */
struct mgb_graph *conformance_tied(void);

#endif
