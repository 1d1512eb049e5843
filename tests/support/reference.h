/* Every operator once more, naively and in double: the oracle for what devices compute. Knows plain layout only. */
#ifndef MGB_TESTS_REFERENCE_H
#define MGB_TESTS_REFERENCE_H

#include "engine/graph/graph.h"
#include <stdint.h>

struct reference {
    const struct mgb_graph *graph;
    int64_t rows, first_row;
    int64_t step;
    uint64_t seed;
    float scale; /* of the gradients of losses */
    bool training;
    double **value;  /* of tensor i: all elements; labels and indices as numbers */
    int64_t *counts; /* elements of tensor i */
};

/* Room for every tensor, nothing computed. Fails the running test when memory is short. */
struct reference reference_make(const struct mgb_graph *graph, int64_t rows);
void reference_free(struct reference *reference);
/* Values of inputs and variables from a seed: labels within the classes that their readers have, floats around 0, no two
 * alike, so that the maximum of a window is never in doubt. */
void reference_fill(struct reference *reference, unsigned seed);
/* Computes nodes [0, end), INPUT and READ excepted. */
void reference_play(struct reference *reference, int end);
/* One node. */
void reference_node(struct reference *reference, const struct mgb_node *node);
/* One node of a family; its outputs are zero. */
void reference_math(struct reference *reference, const struct mgb_node *node);

#endif
