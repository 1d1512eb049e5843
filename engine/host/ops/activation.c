/* relu, relu6, tanh, sigmoid and their gradients, element by element on the layout of the input. */
#include "engine/host/ops/ops.h"

#include "engine/base/parallel.h"
#include "engine/host/simd.h"
#include "engine/host/vmath.h"
#include <string.h>

#define GRAIN 16384 /* elements: a thread gets at least this many */

struct activate_work {
    float *to;
    const float *from, *dy; /* dy: gradients only */
    enum mgb_activation activation;
};

MGB_SIMD static void relu_forward(float *y, const float *x, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        y[i] = x[i] > 0 ? x[i] : 0;
}

MGB_SIMD static void relu6_forward(float *y, const float *x, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++) {
        float low = x[i] > 0 ? x[i] : 0;
        y[i] = low < 6.0f ? low : 6.0f;
    }
}

MGB_SIMD static void tanh_forward(float *y, const float *x, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        y[i] = mgb_tanh(x[i]);
}

MGB_SIMD static void sigmoid_forward(float *y, const float *x, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        y[i] = mgb_sigmoid(x[i]);
}

MGB_SIMD static void relu_backward(float *dx, const float *y, const float *dy, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++) {
        float g = dy[i]; /* read whatever y says, else the loop has a branch */
        dx[i] = y[i] > 0 ? g : 0;
    }
}

MGB_SIMD static void relu6_backward(float *dx, const float *y, const float *dy, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++) {
        float g = dy[i], low = y[i] > 0 ? g : 0;
        dx[i] = y[i] < 6.0f ? low : 0;
    }
}

MGB_SIMD static void tanh_backward(float *dx, const float *y, const float *dy, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        dx[i] = dy[i] * (1.0f - y[i] * y[i]);
}

MGB_SIMD static void sigmoid_backward(float *dx, const float *y, const float *dy, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        dx[i] = dy[i] * (y[i] * (1.0f - y[i]));
}

static void forward_range(void *context, long long begin, long long end)
{
    struct activate_work *work = context;
    float *y = work->to + begin;
    const float *x = work->from + begin;
    switch (work->activation) {
    case MGB_LINEAR:
        if (y != x)
            memcpy(y, x, sizeof(float) * (size_t)(end - begin));
        break;
    case MGB_RELU:
        relu_forward(y, x, end - begin);
        break;
    case MGB_TANH:
        tanh_forward(y, x, end - begin);
        break;
    case MGB_SIGMOID:
        sigmoid_forward(y, x, end - begin);
        break;
    case MGB_RELU6:
        relu6_forward(y, x, end - begin);
        break;
    }
}

static void backward_range(void *context, long long begin, long long end)
{
    struct activate_work *work = context;
    float *dx = work->to + begin;
    const float *y = work->from + begin, *dy = work->dy + begin;
    switch (work->activation) {
    case MGB_LINEAR:
        if (dx != dy)
            memcpy(dx, dy, sizeof(float) * (size_t)(end - begin));
        break;
    case MGB_RELU:
        relu_backward(dx, y, dy, end - begin);
        break;
    case MGB_TANH:
        tanh_backward(dx, y, dy, end - begin);
        break;
    case MGB_SIGMOID:
        sigmoid_backward(dx, y, dy, end - begin);
        break;
    case MGB_RELU6:
        relu6_backward(dx, y, dy, end - begin);
        break;
    }
}

void mgb_activate(float *y, const float *x, int64_t count, enum mgb_activation activation)
{
    struct activate_work work = {.to = y, .from = x, .activation = activation};
    mgb_parallel_for(count, GRAIN, forward_range, &work);
}

void mgb_activate_grad(float *dx, const float *y, const float *dy, int64_t count,
                       enum mgb_activation activation)
{
    struct activate_work work = {.to = dx, .from = y, .dy = dy, .activation = activation};
    mgb_parallel_for(count, GRAIN, backward_range, &work);
}

static enum mgb_status activation_make(struct mgb_kernel *kernel)
{
    mgb_flat_plan(kernel, kernel->use.a.activation.activation != MGB_SIGMOID, 0);
    return MGB_OK;
}

static enum mgb_status activation_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    const float *x = mgb_flat_input(kernel, launch, 0);
    mgb_activate(launch->outputs[0], x, mgb_flat_count(kernel),
                 kernel->use.a.activation.activation);
    return MGB_OK;
}

static enum mgb_status activation_grad_make(struct mgb_kernel *kernel)
{
    mgb_flat_plan(kernel, true, 1); /* dy is 0 where channels are filled up */
    return MGB_OK;
}

static enum mgb_status activation_grad_run(struct mgb_kernel *kernel,
                                           const struct mgb_launch *launch)
{
    const float *y = mgb_flat_input(kernel, launch, 0), *dy = mgb_flat_input(kernel, launch, 1);
    mgb_activate_grad(launch->outputs[0], y, dy, mgb_flat_count(kernel),
                      kernel->use.a.activation.activation);
    return MGB_OK;
}

const struct mgb_host_op mgb_host_activation = {.make = activation_make, .run = activation_run};
const struct mgb_host_op mgb_host_activation_grad = {.make = activation_grad_make,
                                                     .run = activation_grad_run};
