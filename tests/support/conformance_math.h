/* Small graphs of arithmetic, reductions, cuts and their losses; finished, the caller frees them. */
#ifndef MGB_TESTS_CONFORMANCE_MATH_H
#define MGB_TESTS_CONFORMANCE_MATH_H

#include <mgb/model.h>

struct mgb_graph *conformance_arithmetic(void);
struct mgb_graph *conformance_gates(void);
struct mgb_graph *conformance_reductions(void);
struct mgb_graph *conformance_cuts(void);
struct mgb_graph *conformance_penalty(void);

#endif
