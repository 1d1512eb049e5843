/* Orthonormal matrices for initial values. Private to engine/graph. */
#ifndef MGB_GRAPH_ORTHOGONAL_H
#define MGB_GRAPH_ORTHOGONAL_H

#include <stdint.h>

/* Makes the columns of a matrix (stored by rows) orthonormal in place, or its rows where it has fewer of them. Takes
 * about 4 rows x width x min(rows, width) multiply-adds. */
void mgb_orthogonalise(float *values, int64_t rows, int64_t width);

#endif
