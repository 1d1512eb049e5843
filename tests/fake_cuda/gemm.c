/* Products: f32 or 16-bit inputs, one sum in f32 in ascending k an element, f32 or 16-bit output. The arithmetic runs
 * unwatched and the columns it touches are told to ThreadSanitizer as ranges, which keeps tests fast. */
#include "tests/fake_cuda/gemm.h"

#include "engine/base/half.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A matrix of a batch as floats, in place where it is that already. */
struct view {
    const float *data;
    long long ld;
    bool transposed;
    float *made; /* what `data` is in when it was converted */
};

size_t fake_element_size(cudaDataType type)
{
    if (type == CUDA_R_32F)
        return 4;
    return type == CUDA_R_16F || type == CUDA_R_16BF ? 2 : 0;
}

/* Nearest, ties to even, as tensor cores are fed by cuBLAS; infinities and NaN as they are. */
float fake_tf32_round(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7f800000u) != 0x7f800000u)
        bits = (bits + 0xfffu + (bits >> 13 & 1)) & ~0x1fffu;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float element_get(const char *at, cudaDataType type, bool tf32)
{
    if (type == CUDA_R_32F) {
        float value;
        memcpy(&value, at, sizeof value);
        return tf32 ? fake_tf32_round(value) : value;
    }
    uint16_t half;
    memcpy(&half, at, sizeof half);
    return type == CUDA_R_16F ? mgb_f32_of_f16(half) : mgb_f32_of_bf16(half);
}

static void element_put(char *at, float value, cudaDataType type)
{
    if (type == CUDA_R_32F) {
        memcpy(at, &value, sizeof value);
        return;
    }
    uint16_t half = type == CUDA_R_16F ? mgb_f16_of_f32(value) : mgb_bf16_of_f32(value);
    memcpy(at, &half, sizeof half);
}

static const char *column_get(const struct fake_matrix *matrix, long long member, long long column)
{
    return (const char *)matrix->data + (size_t)(member * matrix->stride + column * matrix->ld) *
                                            fake_element_size(matrix->type);
}

static struct view view_make(const struct fake_matrix *matrix, long long member, bool tf32)
{
    size_t size = fake_element_size(matrix->type);
    struct view view = {.transposed = matrix->transposed};
    for (long long c = 0; c < matrix->columns; c++)
        fake_touch_read(column_get(matrix, member, c), (size_t)matrix->rows * size);
    if (matrix->type == CUDA_R_32F && !tf32) {
        view.data = (const float *)matrix->data + member * matrix->stride;
        view.ld = matrix->ld;
        return view;
    }
    view.ld = matrix->rows;
    view.data = view.made =
        fake_allocate((size_t)(matrix->rows * matrix->columns) * sizeof(float) + 1);
    for (long long c = 0; c < matrix->columns; c++)
        for (long long r = 0; r < matrix->rows; r++)
            view.made[c * matrix->rows + r] =
                element_get(column_get(matrix, member, c) + (size_t)r * size, matrix->type, tf32);
    return view;
}

static float dot(const struct view *a, const struct view *b, long long i, long long j, long long k)
{
    long long step_a = a->transposed ? 1 : a->ld;
    long long step_b = b->transposed ? b->ld : 1;
    const float *x = a->data + (a->transposed ? i * a->ld : i);
    const float *y = b->data + (b->transposed ? j : j * b->ld);
    float sum = 0.0f;
    for (long long l = 0; l < k; l++)
        sum += x[l * step_a] * y[l * step_b];
    return sum;
}

static void member_run(const struct fake_gemm *g, long long member)
{
    struct view a = view_make(&g->a, member, g->tf32);
    struct view b = view_make(&g->b, member, g->tf32);
    size_t size = fake_element_size(g->c.type);
    for (long long j = 0; j < g->n; j++) {
        char *c = (char *)column_get(&g->c, member, j);
        if (g->beta != 0.0f)
            fake_touch_read(c, (size_t)g->m * size);
        fake_touch_write(c, (size_t)g->m * size);
        for (long long i = 0; i < g->m; i++, c += size) {
            float product = g->alpha * dot(&a, &b, i, j, g->k);
            /* beta 0 means that C is not read: it may be NaN. */
            if (g->beta != 0.0f)
                product += g->beta * element_get(c, g->c.type, false);
            element_put(c, product, g->c.type);
        }
    }
    free(a.made);
    free(b.made);
}

void fake_gemm_run(struct fake_op *op)
{
    const struct fake_gemm *g = (const struct fake_gemm *)op;
    if (fake_config_get()->blas_slow_us)
        usleep(fake_config_get()->blas_slow_us);
    if (g->workspace) {
        fake_touch_write(g->workspace, g->workspace_bytes);
        memset(g->workspace, 0xff, g->workspace_bytes);
    }
    for (long long member = 0; member < g->batch; member++)
        member_run(g, member);
}
