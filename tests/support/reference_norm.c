/* Batch and layer normalisation once more, naively. Variances by the definition, in two passes. */
#include "tests/support/reference_norm.h"

#include <math.h>

static int64_t width_of(const struct reference *r, int tensor)
{
    const struct mgb_shape *shape = &r->graph->tensors[tensor].shape;
    return shape->dim[shape->rank - 1];
}

static void batch_stats(struct reference *r, const struct mgb_node *node, double **in, double **out)
{
    int64_t channels = width_of(r, node->inputs[0]), n = r->counts[node->inputs[0]] / channels;
    for (int64_t c = 0; c < channels; c++) {
        double sum = 0, spread = 0;
        for (int64_t i = 0; i < n; i++)
            sum += in[0][i * channels + c];
        for (int64_t i = 0; i < n; i++)
            spread += pow(in[0][i * channels + c] - sum / (double)n, 2);
        out[0][c] = r->training ? sum / (double)n : in[1][c];
        out[1][c] = r->training ? spread / (double)n : in[2][c];
    }
}

struct channel {
    double mean, rstd, gamma, beta;
};

/* mean and variance are inputs `first` and the next, gamma and beta begin at `gamma`. */
static struct channel channel_of(const struct mgb_node *node, double **in, int first, int gamma,
                                 int64_t c)
{
    struct channel channel = {in[first][c], 0, 1, 0};
    channel.rstd = 1 / sqrt(in[first + 1][c] + (double)node->a.norm.epsilon);
    if (node->a.norm.scale)
        channel.gamma = in[gamma++][c];
    if (node->a.norm.center)
        channel.beta = in[gamma][c];
    return channel;
}

static double line_at(struct channel c, double x)
{
    return (x - c.mean) * c.rstd * c.gamma + c.beta;
}

static void batch_norm(struct reference *r, const struct mgb_node *node, double **in, double **out)
{
    int64_t channels = width_of(r, node->inputs[0]);
    for (int64_t i = 0; i < r->counts[node->inputs[0]]; i++) {
        double z = line_at(channel_of(node, in, 1, 3, i % channels), in[0][i]);
        out[0][i] = node->a.norm.activation == MGB_RELU && z < 0 ? 0 : z;
    }
}

/* dy where relu let z through. */
static double through(const struct mgb_node *node, struct channel c, double x, double dy)
{
    return node->a.norm.activation == MGB_RELU && !(line_at(c, x) > 0) ? 0 : dy;
}

static void batch_norm_sums(struct reference *r, const struct mgb_node *node, double **in,
                            double **out)
{
    int64_t channels = width_of(r, node->inputs[1]);
    for (int64_t i = 0; i < r->counts[node->inputs[1]]; i++) {
        struct channel c = channel_of(node, in, 2, 4, i % channels);
        double dz = through(node, c, in[1][i], in[0][i]);
        out[0][i % channels] += dz * (in[1][i] - c.mean) * c.rstd;
        out[1][i % channels] += dz;
    }
    for (int k = 0; k < 2; k++)
        for (int64_t c = 0; out[2 + k] && c < channels; c++)
            out[2 + k][c] = out[k][c];
}

static void batch_norm_grad(struct reference *r, const struct mgb_node *node, double **in,
                            double **out)
{
    int64_t channels = width_of(r, node->inputs[1]), count = r->counts[node->inputs[1]];
    double n = (double)(count / channels) / (double)r->scale;
    for (int64_t i = 0; i < count; i++) {
        int64_t k = i % channels;
        struct channel c = channel_of(node, in, 2, 6, k);
        double dz = through(node, c, in[1][i], in[0][i]), xhat = (in[1][i] - c.mean) * c.rstd;
        double off = r->training ? (in[5][k] + xhat * in[4][k]) / n : 0;
        out[0][i] = c.gamma * c.rstd * (dz - off);
    }
}

static void batch_moving(struct reference *r, const struct mgb_node *node, double **in,
                         double **out)
{
    for (int k = 0; k < 2; k++)
        for (int64_t c = 0; out[k] && c < r->counts[node->inputs[k]]; c++)
            for (int use = k; use < node->input_count; use += 2)
                out[k][c] += in[use][c] * (double)r->scale / (node->input_count / 2);
}

static void layer_norm(struct reference *r, const struct mgb_node *node, double **in, double **out)
{
    int64_t width = width_of(r, node->inputs[0]), rows = r->counts[node->inputs[0]] / width;
    for (int64_t row = 0; row < rows; row++) {
        const double *x = in[0] + row * width;
        double sum = 0, spread = 0;
        for (int64_t i = 0; i < width; i++)
            sum += x[i];
        for (int64_t i = 0; i < width; i++)
            spread += pow(x[i] - sum / (double)width, 2);
        double mean = sum / (double)width;
        double rstd = 1 / sqrt(spread / (double)width + (double)node->a.norm.epsilon);
        for (int64_t i = 0; i < width; i++) {
            double gamma = node->a.norm.scale ? in[1][i] : 1;
            double beta = node->a.norm.center ? in[node->a.norm.scale ? 2 : 1][i] : 0;
            out[0][row * width + i] = (x[i] - mean) * rstd * gamma + beta;
        }
        if (out[1])
            out[1][row] = mean;
        if (out[2])
            out[2][row] = rstd;
    }
}

static void layer_norm_grad_x(struct reference *r, const struct mgb_node *node, double **in,
                              double **out)
{
    int64_t width = width_of(r, node->inputs[1]), rows = r->counts[node->inputs[1]] / width;
    for (int64_t row = 0; row < rows; row++) {
        double one = 0, two = 0, n = (double)width;
        for (int pass = 0; pass < 2; pass++)
            for (int64_t i = 0; i < width; i++) {
                double g = in[0][row * width + i] * (node->a.norm.scale ? in[4][i] : 1);
                double xhat = (in[1][row * width + i] - in[2][row]) * in[3][row];
                if (pass == 1)
                    out[0][row * width + i] = in[3][row] * (g - one / n - xhat * two / n);
                one += pass == 0 ? g : 0;
                two += pass == 0 ? g * xhat : 0;
            }
    }
}

static void layer_norm_grad_w(struct reference *r, const struct mgb_node *node, double **in,
                              double **out)
{
    int64_t width = width_of(r, node->inputs[1]);
    for (int64_t i = 0; i < r->counts[node->inputs[1]]; i++) {
        int64_t row = i / width;
        out[0][i % width] += in[0][i] * (in[1][i] - in[2][row]) * in[3][row];
        out[1][i % width] += in[0][i];
    }
}

void reference_norm(struct reference *r, const struct mgb_node *node, double **in, double **out)
{
    if (node->kind == MGB_OP_BATCH_STATS)
        batch_stats(r, node, in, out);
    else if (node->kind == MGB_OP_BATCH_NORM)
        batch_norm(r, node, in, out);
    else if (node->kind == MGB_OP_BATCH_NORM_SUMS)
        batch_norm_sums(r, node, in, out);
    else if (node->kind == MGB_OP_BATCH_NORM_GRAD)
        batch_norm_grad(r, node, in, out);
    else if (node->kind == MGB_OP_BATCH_MOVING)
        batch_moving(r, node, in, out);
    else if (node->kind == MGB_OP_LAYER_NORM)
        layer_norm(r, node, in, out);
    else if (node->kind == MGB_OP_LAYER_NORM_GRAD_X)
        layer_norm_grad_x(r, node, in, out);
    else
        layer_norm_grad_w(r, node, in, out);
}
