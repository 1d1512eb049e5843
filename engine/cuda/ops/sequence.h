/* Kernels of masks and recurrent layers. */
#ifndef MGB_CUDA_OPS_SEQUENCE_H
#define MGB_CUDA_OPS_SEQUENCE_H

#include "engine/cuda/kernels.h"

struct mgb_gpu_mask_args { /* a warp a position */
    float *y;
    const void *x;
    int64_t positions, width;
    float value;
    int whole;
};
/* A recurrent layer at one position; a thread a row and unit. Tensors of all positions are [rows][steps][width or units]. */
struct mgb_gpu_recurrent_place {
    int64_t rows, steps, units, position;
    const void *mask; /* NULL: all positions count */
    int mask_whole;
};
struct mgb_gpu_previous_args { /* the state before every position */
    float *to;
    const float *h, *h0; /* h0 NULL: zeros */
    int64_t rows, steps, units, h_stride;
    int reverse;
};
struct mgb_gpu_lstm_args {
    struct mgb_gpu_recurrent_place place;
    float *gates;                     /* what x and h contribute becomes the gates */
    const float *bias;                /* NULL: none */
    const float *h_before, *c_before; /* [rows][units]; NULL: zeros; may be h, c */
    float *h, *c;
    float *y, *last; /* h and c here, of the first row; NULL: not wanted */
    float *kept_c, *kept_h;
    int64_t y_stride;
};
struct mgb_gpu_lstm_grad_args {
    struct mgb_gpu_recurrent_place place;
    float *dgates;
    const float *gates, *c; /* kept */
    const float *c_before;  /* at the position before, or the initial state; NULL: zeros */
    const float *dy;        /* at this position; NULL: none */
    const float *dh_after, *dc_after; /* NULL: zeros */
    float *dh, *dc;                   /* dh: what reaches the state before past the gates */
    int64_t c_stride, dy_stride, dc_stride;
};
struct mgb_gpu_gru_args {
    struct mgb_gpu_recurrent_place place;
    float *gates;
    const float *bias, *second_bias; /* NULL: none */
    const float *state;              /* reset after: h times the recurrent kernel; NULL: zeros */
    const float *h_before;           /* NULL: zeros; may be h */
    float *h, *reset;                /* reset before: r h */
    float *y, *kept_second, *kept_h;
    int64_t y_stride;
};
struct mgb_gpu_gru_grad_args {
    struct mgb_gpu_recurrent_place place;
    float *dgates, *dstate, *resets; /* dstate: reset after; resets: r h, reset before */
    const float *gates, *second;     /* kept */
    const float *h_before;           /* at the position before, or the initial state; NULL: zeros */
    const float *dy, *dh_after;
    const float *dreset; /* reset before, second pass */
    float *dh;
    int64_t h_stride, dy_stride;
};

MGB_CUDA_DECLARE(mgb_gpu_mask, struct mgb_gpu_mask_args)
MGB_CUDA_DECLARE(mgb_gpu_previous, struct mgb_gpu_previous_args)
MGB_CUDA_DECLARE(mgb_gpu_lstm, struct mgb_gpu_lstm_args)
MGB_CUDA_DECLARE(mgb_gpu_lstm_grad, struct mgb_gpu_lstm_grad_args)
MGB_CUDA_DECLARE(mgb_gpu_gru_after, struct mgb_gpu_gru_args)
MGB_CUDA_DECLARE(mgb_gpu_gru_gates, struct mgb_gpu_gru_args)
MGB_CUDA_DECLARE(mgb_gpu_gru_candidate, struct mgb_gpu_gru_args)
MGB_CUDA_DECLARE(mgb_gpu_gru_grad_after, struct mgb_gpu_gru_grad_args)
MGB_CUDA_DECLARE(mgb_gpu_gru_grad_candidate, struct mgb_gpu_gru_grad_args)
MGB_CUDA_DECLARE(mgb_gpu_gru_grad_reset, struct mgb_gpu_gru_grad_args)

#endif
