/* Which elements lie under a window, and which windows lie over an element. */
#ifndef MGB_CUDA_OPS_WINDOW_CUH
#define MGB_CUDA_OPS_WINDOW_CUH

#include "engine/cuda/ops/window.h"

/* The element under cell `cell` of window `at`, or -1: it lies outside. */
static __device__ __forceinline__ int window_element(const struct mgb_gpu_window *w, int axis, int at, int cell)
{
    int place = at * w->stride[axis] - w->before[axis] + cell * w->dilation[axis];
    return place >= 0 && place < w->in[axis] ? place : -1;
}

/* The window whose cell `cell` is element `at`, or -1: there is none. */
static __device__ __forceinline__ int window_over(const struct mgb_gpu_window *w, int axis, int at, int cell)
{
    int place = at + w->before[axis] - cell * w->dilation[axis];
    if (place < 0 || place % w->stride[axis] != 0)
        return -1;
    place /= w->stride[axis];
    return place < w->out[axis] ? place : -1;
}

/* Cells [begin, end) of window `at` that lie inside; without dilation. */
static __device__ __forceinline__ int window_first_cell(const struct mgb_gpu_window *w, int axis, int at)
{
    int place = w->before[axis] - at * w->stride[axis];
    return place > 0 ? place : 0;
}

static __device__ __forceinline__ int window_cells_end(const struct mgb_gpu_window *w, int axis, int at)
{
    int place = w->in[axis] + w->before[axis] - at * w->stride[axis];
    return place < w->size[axis] ? place : w->size[axis];
}

/* Windows [begin, end) over element `at`; without dilation. */
static __device__ __forceinline__ int window_first_over(const struct mgb_gpu_window *w, int axis, int at)
{
    int beyond = at + w->before[axis] - w->size[axis];
    return beyond < 0 ? 0 : beyond / w->stride[axis] + 1;
}

static __device__ __forceinline__ int window_over_end(const struct mgb_gpu_window *w, int axis, int at)
{
    int end = (at + w->before[axis]) / w->stride[axis] + 1;
    return end < w->out[axis] ? end : w->out[axis];
}

#endif
