/* The textbook's loops: an example, a position, a unit at a time. */
#include "tests/support/reference_sequence.h"

#include "tests/support/check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static void embedding(struct reference *r, const struct mgb_node *node, double *const *in,
                      double *const *out)
{
    bool back = node->kind == MGB_OP_EMBEDDING_GRAD;
    int table = back ? node->outputs[0] : node->inputs[1];
    int64_t units = r->graph->tensors[table].shape.dim[1], count = r->counts[node->inputs[0]];
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < units; k++) {
            int64_t row = (int64_t)in[0][i] * units + k;
            if (back)
                out[0][row] += in[1][i * units + k];
            else
                out[0][i * units + k] = in[1][row];
        }
}

/* A row of the table at a time: is it used, and by what. */
static void packed(struct reference *r, const struct mgb_node *node, double *const *in,
                   double *const *out)
{
    int64_t positions = r->counts[node->inputs[0]], used = 0,
            units = r->counts[node->outputs[0]] / positions - 1;
    for (int64_t row = 0; row < node->a.packed.vocabulary; row++) {
        bool found = false;
        for (int64_t i = 0; i < positions; i++)
            for (int64_t k = 0; in[0][i] == (double)row && k < units; k++, found = true)
                out[0][positions + used * units + k] += in[1][i * units + k];
        if (found)
            out[0][used++] = (double)row;
    }
    for (int64_t i = used; i < positions; i++)
        out[0][i] = -1;
}

static void unpack(struct reference *r, const struct mgb_node *node, double *const *in,
                   double *const *out)
{
    int64_t units = r->graph->tensors[node->outputs[0]].shape.dim[1],
            positions = r->counts[node->inputs[0]] / (1 + units);
    for (int64_t i = 0; i < positions && in[0][i] >= 0; i++)
        for (int64_t k = 0; k < units; k++)
            out[0][(int64_t)in[0][i] * units + k] = in[0][positions + i * units + k];
}

static void mask(struct reference *r, const struct mgb_node *node, double *const *in,
                 double *const *out)
{
    int64_t positions = r->counts[node->outputs[0]], width = r->counts[node->inputs[0]] / positions;
    for (int64_t i = 0; i < positions * width; i++)
        if (in[0][i] != (double)node->a.mask.value)
            out[0][i / width] = 1;
}

/* One example of a recurrent layer. Operands as in engine/graph/ops/recurrent.c. */
struct cell {
    const struct mgb_recurrent_attributes *a;
    int64_t row, n, width, out_rows;
    int gates;
    const double *x, *w, *u, *b, *mask, *h0, *c0; /* of the first example */
    const double *dy, *kept, *second, *all;       /* gradients only */
    double *const *out;
};

static int64_t position_of(const struct cell *c, int64_t step)
{
    return c->a->reverse ? c->a->steps - 1 - step : step;
}

static bool counts(const struct cell *c, int64_t t)
{
    return !c->mask || c->mask[c->row * c->a->steps + t] != 0;
}

/* The two contributions to gate `k`, biases included. */
static double from_x(const struct cell *c, int64_t t, int64_t k)
{
    const double *x = c->x + (c->row * c->a->steps + t) * c->a->in;
    double sum = c->b ? c->b[k] : 0;
    for (int64_t i = 0; i < c->a->in; i++)
        sum += x[i] * c->w[i * c->width + k];
    return sum;
}

static double from_h(const struct cell *c, const double *h, int64_t k)
{
    double sum = c->b && c->a->reset_after ? c->b[c->width + k] : 0;
    for (int64_t i = 0; i < c->n; i++)
        sum += h[i] * c->u[i * c->width + k];
    return sum;
}

static void lstm_step(const struct cell *c, int64_t t, double *h, double *s, double *g)
{
    int64_t n = c->n;
    for (int64_t k = 0; k < 4 * n; k++) {
        double z = from_x(c, t, k) + from_h(c, h, k);
        g[k] = k / n == 2 ? tanh(z) : sigmoid(z);
    }
    for (int64_t j = 0; j < n; j++) {
        s[j] = g[n + j] * s[j] + g[j] * g[2 * n + j];
        h[j] = g[3 * n + j] * tanh(s[j]);
    }
}

/* s: what the reset gate multiplies. */
static void gru_step(const struct cell *c, int64_t t, double *h, double *s, double *g)
{
    int64_t n = c->n;
    double *reset = calloc((size_t)n, sizeof *reset);
    for (int64_t k = 0; k < 2 * n; k++)
        g[k] = sigmoid(from_x(c, t, k) + from_h(c, h, k));
    for (int64_t j = 0; j < n; j++)
        reset[j] = g[n + j] * h[j];
    for (int64_t j = 0; j < n; j++) {
        s[j] = from_h(c, c->a->reset_after ? h : reset, 2 * n + j);
        g[2 * n + j] = tanh(from_x(c, t, 2 * n + j) + (c->a->reset_after ? g[n + j] * s[j] : s[j]));
    }
    for (int64_t j = 0; j < n; j++)
        h[j] = g[j] * h[j] + (1 - g[j]) * g[2 * n + j];
    free(reset);
}

static void row_forward(const struct cell *c)
{
    int64_t n = c->n, steps = c->a->steps;
    size_t bytes = sizeof(double) * (size_t)n;
    double *h = calloc((size_t)(2 * n + c->width), sizeof *h), *s = h + n, *g = h + 2 * n;
    if (c->h0)
        memcpy(h, c->h0 + c->row * n, bytes);
    if (c->c0)
        memcpy(s, c->c0 + c->row * n, bytes);
    for (int64_t step = 0; step < steps; step++) {
        int64_t t = position_of(c, step), at = c->row * steps + t;
        memset(g, 0, sizeof(double) * (size_t)c->width);
        if (c->gates == 3)
            memset(s, 0, bytes);
        if (counts(c, t) && c->gates == 4)
            lstm_step(c, t, h, s, g);
        else if (counts(c, t))
            gru_step(c, t, h, s, g);
        if (c->a->sequences)
            memcpy(c->out[0] + (c->row * c->out_rows + t) * n, h, bytes);
        if (c->out[1])
            memcpy(c->out[1] + at * c->width, g, sizeof(double) * (size_t)c->width);
        if (c->out[2])
            memcpy(c->out[2] + at * n, s, bytes);
        if (c->out[3])
            memcpy(c->out[3] + at * n, h, bytes);
    }
    if (!c->a->sequences)
        memcpy(c->out[0] + c->row * n, h, bytes);
    if (c->a->cell)
        memcpy(c->out[0] + (c->row * c->out_rows + steps) * n, s, bytes);
    free(h);
}

/* Gradients of the gates before their activations: as x sees them (dx), and as h does (du). */
static void lstm_gates(const struct cell *c, int64_t at, const double *before, double *dh,
                       double *dc, double *dx, double *du)
{
    int64_t n = c->n;
    const double *g = c->kept + at * c->width, *s = c->second + at * n;
    for (int64_t j = 0; j < n; j++) {
        double t = tanh(s[j]), i = g[j], f = g[n + j], q = g[2 * n + j], o = g[3 * n + j];
        double d = dc[j] + dh[j] * o * (1 - t * t);
        dx[j] = d * q * i * (1 - i);
        dx[n + j] = d * before[j] * f * (1 - f);
        dx[2 * n + j] = d * i * (1 - q * q);
        dx[3 * n + j] = dh[j] * t * o * (1 - o);
        dc[j] = d * f;
        dh[j] = 0;
    }
    memcpy(du, dx, sizeof(double) * (size_t)c->width);
}

static void gru_gates(const struct cell *c, int64_t at, const double *before, double *dh,
                      double *dx, double *du)
{
    int64_t n = c->n;
    const double *g = c->kept + at * c->width;
    for (int64_t j = 0; j < n; j++) {
        double z = g[j], q = g[2 * n + j];
        dx[j] = dh[j] * (before[j] - q) * z * (1 - z);
        dx[2 * n + j] = dh[j] * (1 - z) * (1 - q * q);
        dh[j] *= z;
    }
    for (int64_t j = 0; j < n; j++) {
        double r = g[n + j], back = 0; /* the gradient of r h */
        for (int64_t k = 0; k < n && !c->a->reset_after; k++)
            back += dx[2 * n + k] * c->u[j * c->width + 2 * n + k];
        dx[n + j] = (c->a->reset_after ? dx[2 * n + j] * c->second[at * n + j] : back * before[j]) *
                    r * (1 - r);
        du[j] = dx[j];
        du[n + j] = dx[n + j];
        du[2 * n + j] = c->a->reset_after ? dx[2 * n + j] * r : 0;
        dh[j] += back * r;
    }
}

/* Hands the gradients of the gates of a position to everything that made them. */
static void gates_spread(const struct cell *c, int64_t t, const double *h, double *dh,
                         const double *dx, const double *du)
{
    int64_t n = c->n, in = c->a->in, at = c->row * c->a->steps + t;
    const double *reset = c->kept + at * c->width + n;
    bool before_product = c->gates == 3 && !c->a->reset_after;
    for (int64_t k = 0; k < c->width; k++) {
        bool candidate = before_product && k >= 2 * n;
        for (int64_t i = 0; i < in; i++) {
            if (c->out[0])
                c->out[0][at * in + i] += dx[k] * c->w[i * c->width + k];
            if (c->out[1])
                c->out[1][i * c->width + k] += dx[k] * c->x[at * in + i];
        }
        for (int64_t i = 0; i < n; i++) {
            dh[i] += du[k] * c->u[i * c->width + k];
            if (c->out[2])
                c->out[2][i * c->width + k] += candidate ? dx[k] * reset[i] * h[i] : du[k] * h[i];
        }
        if (c->out[3])
            c->out[3][k] += dx[k];
        if (c->out[3] && c->a->reset_after)
            c->out[3][c->width + k] += du[k];
    }
}

/* What `all` holds of the position before, or the initial state. */
static void before_get(const struct cell *c, double *to, const double *all, int64_t rows,
                       const double *initial, int64_t step)
{
    size_t bytes = sizeof(double) * (size_t)c->n;
    memset(to, 0, bytes);
    if (step > 0)
        memcpy(to, all + (c->row * rows + position_of(c, step - 1)) * c->n, bytes);
    else if (initial)
        memcpy(to, initial + c->row * c->n, bytes);
}

static void row_backward(const struct cell *c)
{
    int64_t n = c->n, steps = c->a->steps;
    double *dh = calloc((size_t)(4 * n + 2 * c->width), sizeof *dh), *dc = dh + n, *h = dh + 2 * n,
           *cell = dh + 3 * n, *dx = dh + 4 * n, *du = dx + c->width;
    if (c->a->cell)
        memcpy(dc, c->dy + (c->row * c->out_rows + steps) * n, sizeof(double) * (size_t)n);
    for (int64_t step = steps - 1; step >= 0; step--) {
        int64_t t = position_of(c, step), at = c->row * steps + t;
        for (int64_t j = 0; j < n; j++)
            if (c->a->sequences)
                dh[j] += c->dy[(c->row * c->out_rows + t) * n + j];
            else if (step == steps - 1)
                dh[j] += c->dy[c->row * n + j];
        if (!counts(c, t))
            continue;
        before_get(c, h, c->all, c->a->sequences ? c->out_rows : steps, c->h0, step);
        if (c->gates == 4) {
            before_get(c, cell, c->second, steps, c->c0, step);
            lstm_gates(c, at, cell, dh, dc, dx, du);
        } else {
            gru_gates(c, at, h, dh, dx, du);
        }
        gates_spread(c, t, h, dh, dx, du);
    }
    if (c->out[4])
        memcpy(c->out[4] + c->row * n, dh, sizeof(double) * (size_t)n);
    if (c->out[5])
        memcpy(c->out[5] + c->row * n, dc, sizeof(double) * (size_t)n);
    free(dh);
}

static void recurrent(struct reference *r, const struct mgb_node *node, double *const *in,
                      double *const *out)
{
    bool back = node->kind == MGB_OP_LSTM_GRAD || node->kind == MGB_OP_GRU_GRAD;
    bool lstm = node->kind == MGB_OP_LSTM || node->kind == MGB_OP_LSTM_GRAD;
    const struct mgb_recurrent_attributes *a = &node->a.recurrent;
    struct cell c = {.a = a, .n = a->units, .gates = lstm ? 4 : 3, .out = out};
    int next = 0;
    c.width = c.gates * c.n;
    c.out_rows = a->steps + (a->cell ? 1 : 0);
    c.dy = back ? in[next++] : NULL;
    c.x = in[next++];
    c.w = in[next++];
    c.u = in[next++];
    c.b = a->bias && !back ? in[next++] : NULL;
    c.mask = a->mask ? in[next++] : NULL;
    c.h0 = a->state ? in[next++] : NULL;
    c.c0 = a->state && lstm ? in[next++] : NULL;
    if (back) {
        c.kept = in[next++];
        c.second = lstm || a->reset_after ? in[next++] : NULL;
        c.all = in[next++];
    }
    assert_int_equal(next, node->input_count);
    for (c.row = 0; c.row < r->rows; c.row++)
        if (back)
            row_backward(&c);
        else
            row_forward(&c);
}

void reference_sequence(struct reference *r, const struct mgb_node *node, double *const *in,
                        double *const *out)
{
    if (node->kind == MGB_OP_MASK)
        mask(r, node, in, out);
    else if (node->kind == MGB_OP_EMBEDDING || node->kind == MGB_OP_EMBEDDING_GRAD)
        embedding(r, node, in, out);
    else if (node->kind == MGB_OP_EMBEDDING_ROWS)
        packed(r, node, in, out);
    else if (node->kind == MGB_OP_EMBEDDING_UNPACK)
        unpack(r, node, in, out);
    else
        recurrent(r, node, in, out);
}
