/* Convolutions and their gradients by the definition: one sum in f32 an element, from the last product to the first, so that
 * the bits are not those of a product of matrices. The workspace is left full of NaN. */
#include "tests/fake_cuda/cudnn.h"
#include "tests/fake_cuda/gemm.h"

#include <string.h>
#include <unistd.h>

struct place { /* one product: which element of x, y and w */
    int n, group, oh, ow, k, r, s, c;
};

static long x_index(const struct fake_conv *v, const struct place *p)
{
    int h = p->oh * v->window.stride[0] - v->window.pad[0] + p->r * v->window.dilation[0];
    int w = p->ow * v->window.stride[1] - v->window.pad[1] + p->s * v->window.dilation[1];
    if (h < 0 || w < 0 || h >= v->x.h || w >= v->x.w)
        return -1;
    return (((long)p->n * v->x.h + h) * v->x.w + w) * v->x.c + p->group * v->w.c + p->c;
}

static long y_index(const struct fake_conv *v, const struct place *p)
{
    return (((long)p->n * v->y.h + p->oh) * v->y.w + p->ow) * v->y.c + p->k;
}

static long w_index(const struct fake_conv *v, const struct place *p)
{
    return (((long)p->k * v->w.h + p->r) * v->w.w + p->s) * v->w.c + p->c;
}

static float factor(const struct fake_conv *v, float value)
{
    return v->window.math == CUDNN_FMA_MATH ? value : fake_tf32_round(value);
}

static void product_add(struct fake_conv *v, const struct place *p)
{
    long x = x_index(v, p), y = y_index(v, p), w = w_index(v, p);
    if (x < 0)
        return;
    switch (v->direction) {
    case FAKE_FORWARD:
        v->y_data[y] += v->alpha * factor(v, v->x_data[x]) * factor(v, v->w_data[w]);
        break;
    case FAKE_BACKWARD_DATA:
        v->x_data[x] += v->alpha * factor(v, v->y_data[y]) * factor(v, v->w_data[w]);
        break;
    case FAKE_BACKWARD_FILTER:
        v->w_data[w] += v->alpha * factor(v, v->x_data[x]) * factor(v, v->y_data[y]);
        break;
    }
}

static void windows_add(struct fake_conv *v, struct place p)
{
    p.group = p.k / (v->w.k / v->window.groups);
    for (p.r = v->w.h - 1; p.r >= 0; p.r--)
        for (p.s = v->w.w - 1; p.s >= 0; p.s--)
            for (p.c = v->w.c - 1; p.c >= 0; p.c--)
                product_add(v, &p);
}

static void result_begin(struct fake_conv *v)
{
    size_t x = (size_t)v->x.n * (size_t)v->x.c * (size_t)(v->x.h * v->x.w);
    size_t y = (size_t)v->y.n * (size_t)v->y.c * (size_t)(v->y.h * v->y.w);
    size_t w = (size_t)v->w.k * (size_t)v->w.c * (size_t)(v->w.h * v->w.w);
    float *to[] = {v->y_data, v->x_data, v->w_data};
    const size_t counts[] = {y, x, w};
    for (int i = 0; i < 3; i++) {
        if (i != (int)v->direction) {
            fake_touch_read(to[i], counts[i] * sizeof(float));
            continue;
        }
        fake_touch_write(to[i], counts[i] * sizeof(float));
        for (size_t k = 0; k < counts[i]; k++) /* beta 0: it is not read */
            to[i][k] = v->beta == 0.0f ? 0.0f : v->beta * to[i][k];
    }
}

void fake_conv_run(struct fake_op *op)
{
    struct fake_conv *v = (struct fake_conv *)op;
    struct place p = {0};
    if (fake_config_get()->dnn_slow_us)
        usleep(fake_config_get()->dnn_slow_us);
    if (v->bytes) {
        fake_touch_write(v->workspace, v->bytes);
        memset(v->workspace, 0xff, v->bytes);
    }
    result_begin(v);
    for (p.n = v->x.n - 1; p.n >= 0; p.n--)
        for (p.oh = v->y.h - 1; p.oh >= 0; p.oh--)
            for (p.ow = v->y.w - 1; p.ow >= 0; p.ow--)
                for (p.k = v->w.k - 1; p.k >= 0; p.k--)
                    windows_add(v, p);
}
