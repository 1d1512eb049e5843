/* Orthonormal rows or columns, whichever are fewer, out of any matrix: the Q of its QR decomposition with a positive
 * diagonal of R (Saxe, McClelland and Ganguli 2014; Keras' orthogonal flips the signs of its Q to the same end).
 *
 * Modified Gram-Schmidt in place, sums in f64; a second pass over what the first left takes its rounding away (Giraud,
 * Langou and Rozloznik 2005: twice is enough). Both directions go along rows, which lie together. */
#include "engine/graph/orthogonal.h"

#include <math.h>

/* Columns at a time; and how many are taken off them together, but for the last panel, which has up to LANES - 1 more. */
#define LANES 8
#define PANEL 24

struct matrix {
    float *at;
    int64_t rows, width;
};

static double inverse(double squares)
{
    return squares > 0 ? 1 / sqrt(squares) : 0;
}

/* Takes column `at` of a panel off the columns after it. */
static void panel_clear(struct matrix a, int64_t at, int64_t end)
{
    for (int64_t j = at + 1; j < end; j++) {
        double share = 0;
        for (int64_t i = 0; i < a.rows; i++)
            share += (double)a.at[i * a.width + at] * (double)a.at[i * a.width + j];
        for (int64_t i = 0; i < a.rows; i++)
            a.at[i * a.width + j] -= (float)((double)a.at[i * a.width + at] * share);
    }
}

/* Takes `panel` orthonormal columns from `at` on off LANES columns from `first` on. */
static void lanes_clear(struct matrix a, int64_t at, int panel, int64_t first)
{
    double share[PANEL + LANES][LANES] = {{0}};
    for (int64_t i = 0; i < a.rows; i++) {
        const float *q = a.at + i * a.width + at, *row = a.at + i * a.width + first;
        for (int p = 0; p < panel; p++)
            for (int j = 0; j < LANES; j++)
                share[p][j] += (double)q[p] * (double)row[j];
    }
    for (int64_t i = 0; i < a.rows; i++) {
        float *q = a.at + i * a.width + at, *row = a.at + i * a.width + first;
        double taken[LANES] = {0};
        for (int p = 0; p < panel; p++)
            for (int j = 0; j < LANES; j++)
                taken[j] += (double)q[p] * share[p][j];
        for (int j = 0; j < LANES; j++)
            row[j] -= (float)taken[j];
    }
}

/* Columns, a panel at a time; what is not yet a multiple of LANES behind a panel belongs to the next one. */
static void columns_pass(struct matrix a)
{
    int64_t end;
    for (int64_t first = 0; first < a.width; first = end) {
        end = first + PANEL < a.width ? first + PANEL : a.width;
        end += (a.width - end) % LANES;
        for (int64_t k = first; k < end; k++) {
            double squares = 0;
            for (int64_t i = 0; i < a.rows; i++)
                squares += (double)a.at[i * a.width + k] * (double)a.at[i * a.width + k];
            for (int64_t i = 0; i < a.rows; i++)
                a.at[i * a.width + k] = (float)((double)a.at[i * a.width + k] * inverse(squares));
            panel_clear(a, k, end);
        }
        for (int64_t j = end; j < a.width; j += LANES)
            lanes_clear(a, first, (int)(end - first), j);
    }
}

/* Four sums side by side, so that an addition need not wait for the one before. */
static double product(const float *a, const float *b, int64_t count)
{
    double sum[4] = {0};
    int64_t whole = count - count % 4;
    for (int64_t i = 0; i < whole; i += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += (double)a[i + k] * (double)b[i + k];
    for (int64_t i = whole; i < count; i++)
        sum[0] += (double)a[i] * (double)b[i];
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

static void rows_pass(float *a, int64_t rows, int64_t width)
{
    for (int64_t k = 0; k < rows; k++) {
        float *row = a + k * width;
        for (int64_t j = 0; j < k; j++) {
            double share = product(a + j * width, row, width);
            for (int64_t i = 0; i < width; i++)
                row[i] -= (float)(share * (double)a[j * width + i]);
        }
        double factor = inverse(product(row, row, width));
        for (int64_t i = 0; i < width; i++)
            row[i] = (float)((double)row[i] * factor);
    }
}

void mgb_orthogonalise(float *values, int64_t rows, int64_t width)
{
    for (int pass = 0; pass < 2; pass++) {
        if (rows >= width)
            columns_pass((struct matrix){values, rows, width});
        else
            rows_pass(values, rows, width);
    }
}
