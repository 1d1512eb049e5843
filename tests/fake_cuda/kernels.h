/* Kernels of the fake runtime's own tests. */
#ifndef FAKE_CUDA_TEST_KERNELS_H
#define FAKE_CUDA_TEST_KERNELS_H

#include <stddef.h>

struct fill_args {
    float *y;
    float value;
    size_t n;
};
struct axpy_args { /* y += a * x */
    float *y;
    const float *x;
    float a;
    size_t n;
};
struct row_sum_args { /* y[row] = sum of x[row][0..columns): one block a row */
    float *y;
    const float *x;
    int columns;
};
struct index_args { /* y[i] = i for the flat index i of a thread of a 3D grid of 3D blocks */
    float *y;
};
struct reverse_args { /* reverses each block's part of y through shared memory */
    float *y;
};
struct lonely_args { /* a shuffle that lane 1 does not come to */
    float *y;
};
struct warp_args { /* a warp; y of 8 numbers, counter zeroed */
    float *y;
    int *counter;
};

void fill(struct fill_args a);
void axpy(struct axpy_args a);
void row_sum(struct row_sum_args a);
void index_all(struct index_args a);
void reverse(struct reverse_args a);
void reverse_without_barrier(struct reverse_args a);
void lonely(struct lonely_args a);
void warp_all(struct warp_args a);
void warp_halves(struct warp_args a);

#endif
