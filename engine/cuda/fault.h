/* Where kernels and CPU jobs note what they found wrong, for the drain to tell. C and CUDA C++. */
#ifndef MGB_CUDA_FAULT_H
#define MGB_CUDA_FAULT_H

#include <stdint.h>

/* The code of a fault page, read and claimed by GPUs and CPU without any order between them. */
#ifdef __CUDACC__
#define MGB_CUDA_PEEK(code) (*(const volatile int *)(code))
#define MGB_CUDA_CLAIM(code, value) (atomicCAS_system((code), 0, (value)) == 0)
#else
#define MGB_CUDA_PEEK(code) __atomic_load_n((code), __ATOMIC_RELAXED)
#define MGB_CUDA_CLAIM(code, value)                                                                \
    __atomic_compare_exchange_n((code), &(int){0}, (value), 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#endif

/* In pinned memory. A kernel that meets wrong data notes it; updates then leave the weights alone. */
struct mgb_cuda_fault {
    int code;  /* an enum mgb_cuda_fault_code; who claims it fills in the rest */
    int label; /* or the number of a row of a table */
    int64_t row, classes;
    int64_t position; /* of a number in its row */
    const char
        *name; /* of the operator that met a number; the host's address, as the launch had it */
};
enum mgb_cuda_fault_code {
    MGB_CUDA_FAULT_NONE,
    MGB_CUDA_FAULT_LABEL,
    MGB_CUDA_FAULT_NUMBER,
    MGB_CUDA_FAULT_CPU
};

#endif
