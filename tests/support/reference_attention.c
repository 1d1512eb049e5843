/* Loops as in the textbook. */
#include "tests/support/reference_attention.h"

#include "tests/support/check.h"

#include "engine/backend/dropout.h"
#include <math.h>
#include <stdlib.h>

static const struct mgb_shape *shape_of(const struct reference *r, int tensor)
{
    return &r->graph->tensors[tensor].shape;
}

struct scene { /* one head of one row */
    const struct mgb_attention_attributes *a;
    int64_t row, head, queries, keys, size, value_size, part, value_part;
    const double *q, *k, *v, *mask;
    double *p, *d; /* probabilities; those that dropout leaves, scaled */
};

static double drop(const struct reference *r, const struct scene *s, int64_t i, int64_t j)
{
    int64_t line = ((r->first_row + s->row) * s->a->heads + s->head) * s->queries + i;
    double rate = (double)s->a->dropout;
    if (!r->training || rate == 0)
        return 1;
    int keeps =
        mgb_dropout_keeps(r->seed, mgb_dropout_high(r->step, s->a->key),
                          (uint64_t)(line * s->keys + j), mgb_dropout_threshold(s->a->dropout));
    return keeps ? 1 / (1 - rate) : 0;
}

static int seen(const struct scene *s, int64_t i, int64_t j)
{
    return (!s->a->causal || j <= i) && (!s->mask || s->mask[s->row * s->keys + j] != 0);
}

static void probabilities(const struct reference *r, const struct scene *s, int64_t i)
{
    double *p = s->p + i * s->keys, sum = 0;
    for (int64_t j = 0; j < s->keys; j++) {
        double dot = 0;
        for (int64_t c = 0; c < s->part; c++)
            dot += s->q[i * s->size + c] * s->k[j * s->size + c];
        p[j] = seen(s, i, j) ? exp(dot * (double)s->a->scale) : 0;
        sum += p[j];
    }
    for (int64_t j = 0; j < s->keys; j++) {
        p[j] = sum > 0 ? p[j] / sum : 0;
        s->d[i * s->keys + j] = p[j] * drop(r, s, i, j);
    }
}

static void head_forward(const struct scene *s, double *y)
{
    for (int64_t i = 0; i < s->queries; i++)
        for (int64_t j = 0; j < s->keys; j++)
            for (int64_t c = 0; c < s->value_part; c++)
                y[i * s->value_size + c] += s->d[i * s->keys + j] * s->v[j * s->value_size + c];
}

/* The gradients of one head; dk and dv may be NULL. */
static void head_backward(const struct reference *r, const struct scene *s, const double *dy,
                          double *dq, double *dk, double *dv)
{
    for (int64_t i = 0; i < s->queries; i++) {
        double sum = 0, dp[256];
        assert_true(s->keys <= 256);
        for (int64_t j = 0; j < s->keys; j++) {
            dp[j] = 0;
            for (int64_t c = 0; c < s->value_part; c++) {
                dp[j] += dy[i * s->value_size + c] * s->v[j * s->value_size + c];
                if (dv)
                    dv[j * s->value_size + c] += s->d[i * s->keys + j] * dy[i * s->value_size + c];
            }
            dp[j] *= drop(r, s, i, j);
            sum += dp[j] * s->p[i * s->keys + j];
        }
        for (int64_t j = 0; j < s->keys; j++)
            for (int64_t c = 0; c < s->part; c++) {
                double ds = s->p[i * s->keys + j] * (dp[j] - sum) * (double)s->a->scale;
                dq[i * s->size + c] += ds * s->k[j * s->size + c];
                if (dk)
                    dk[j * s->size + c] += ds * s->q[i * s->size + c];
            }
    }
}

void reference_attention(struct reference *r, const struct mgb_node *node, double *const *in,
                         double *const *out)
{
    bool back = node->kind == MGB_OP_ATTENTION_GRAD;
    int mask = back ? 4 : 3;
    const struct mgb_shape *q = shape_of(r, node->inputs[0]), *v = shape_of(r, node->inputs[2]);
    struct scene s = {.a = &node->a.attention,
                      .queries = q->dim[0],
                      .keys = v->dim[0],
                      .size = q->dim[1],
                      .value_size = v->dim[1],
                      .mask = node->input_count > mask ? in[mask] : NULL};
    s.part = s.size / s.a->heads;
    s.value_part = s.value_size / s.a->heads;
    s.p = calloc((size_t)(s.queries * s.keys), sizeof *s.p);
    s.d = calloc((size_t)(s.queries * s.keys), sizeof *s.d);
    for (int64_t item = 0; item < r->rows * s.a->heads; item++) {
        s.row = item / s.a->heads;
        s.head = item % s.a->heads;
        int64_t of_q = s.row * s.queries * s.size + s.head * s.part,
                of_k = s.row * s.keys * s.size + s.head * s.part,
                of_v = s.row * s.keys * s.value_size + s.head * s.value_part,
                of_y = s.row * s.queries * s.value_size + s.head * s.value_part;
        s.q = in[0] + of_q;
        s.k = in[1] + of_k;
        s.v = in[2] + of_v;
        for (int64_t i = 0; i < s.queries; i++)
            probabilities(r, &s, i);
        if (back)
            head_backward(r, &s, in[3] + of_y, out[0] + of_q, out[1] ? out[1] + of_k : NULL,
                          out[2] ? out[2] + of_v : NULL);
        else
            head_forward(&s, out[0] + of_y);
    }
    free(s.p);
    free(s.d);
}

void reference_matmul(struct reference *r, const struct mgb_node *node, double *const *in,
                      double *const *out)
{
    const struct mgb_shape *y = shape_of(r, node->outputs[0]), *a = shape_of(r, node->inputs[0]);
    bool ta = node->a.matmul.transpose_a, tb = node->a.matmul.transpose_b;
    int64_t m = y->dim[y->rank - 2], n = y->dim[y->rank - 1],
            k = a->dim[ta ? a->rank - 2 : a->rank - 1];
    for (int64_t at = 0; at < r->counts[node->outputs[0]]; at++) {
        int64_t matrix = at / (m * n), i = at / n % m, j = at % n;
        const double *left = in[0] + matrix * m * k, *right = in[1] + matrix * k * n;
        for (int64_t c = 0; c < k; c++)
            out[0][at] += left[ta ? c * m + i : i * k + c] * right[tb ? j * k + c : c * n + j];
    }
}

void reference_transpose(struct reference *r, const struct mgb_node *node, double *const *in,
                         double *const *out)
{
    const struct mgb_shape *x = shape_of(r, node->inputs[0]), *y = shape_of(r, node->outputs[0]);
    int64_t row = mgb_shape_count(x);
    for (int64_t at = 0; at < r->counts[node->outputs[0]]; at++) {
        int64_t place[MGB_MAX_RANK], rest = at % row, from = 0;
        for (int i = y->rank - 1; i >= 0; i--) {
            place[node->a.transpose.axes[i]] = rest % y->dim[i];
            rest /= y->dim[i];
        }
        for (int i = 0; i < x->rank; i++)
            from = from * x->dim[i] + place[i];
        out[0][at] = in[0][at / row * row + from];
    }
}

void reference_softmax(struct reference *r, const struct mgb_node *node, double *const *in,
                       double *const *out)
{
    const struct mgb_shape *x = shape_of(r, node->inputs[0]);
    int64_t width = x->dim[x->rank - 1];
    bool back = node->kind == MGB_OP_SOFTMAX_GRAD, logs = node->a.softmax.log;
    for (int64_t at = 0; at < r->counts[node->inputs[0]]; at += width) {
        const double *a = in[0] + at, *dy = back ? in[1] + at : NULL;
        double sum = 0, *to = out[0] + at;
        for (int64_t i = 0; i < width; i++)
            sum += !back ? exp(a[i]) : logs ? dy[i] : a[i] * dy[i];
        for (int64_t i = 0; i < width; i++)
            if (back)
                to[i] = logs ? dy[i] - exp(a[i]) * sum : a[i] * (dy[i] - sum);
            else
                to[i] = logs ? a[i] - log(sum) : exp(a[i]) / sum;
    }
}

static double gelu(double x, bool approximate)
{
    double root = sqrt(2 / acos(-1));
    return approximate ? x / 2 * (1 + tanh(root * (x + 0.044715 * x * x * x)))
                       : x / 2 * (1 + erf(x / sqrt(2)));
}

static double gelu_slope(double x, bool approximate)
{
    double pi = acos(-1), root = sqrt(2 / pi);
    if (!approximate)
        return (1 + erf(x / sqrt(2))) / 2 + x * exp(-x * x / 2) / sqrt(2 * pi);
    double t = tanh(root * (x + 0.044715 * x * x * x));
    return (1 + t) / 2 + x / 2 * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x);
}

void reference_gelu(struct reference *r, const struct mgb_node *node, double *const *in,
                    double *const *out)
{
    bool approximate = node->a.gelu.approximate;
    for (int64_t i = 0; i < r->counts[node->outputs[0]]; i++)
        out[0][i] = node->kind == MGB_OP_GELU ? gelu(in[0][i], approximate)
                                              : in[1][i] * gelu_slope(in[0][i], approximate);
}
