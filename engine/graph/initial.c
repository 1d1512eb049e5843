/* Initial values. Element i of a variable is a function of (seed, full name, i) alone, of an orthogonal one also of its
 * shape, so that values depend neither on the order of making nor on where the variable lives.
 *
 * glorot_uniform: uniform in +-sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio 2010). he_normal:
 * normal with standard deviation sqrt(2 / fan_in) (He et al. 2015), not truncated, unlike Keras. unit_forget: Jozefowicz,
 * Zaremba and Sutskever 2015. */
#include "engine/base/hash.h"
#include "engine/base/random.h"
#include "engine/graph/graph.h"
#include "engine/graph/orthogonal.h"

#include <math.h>
#include <string.h>

static void fill_constant(float *out, int64_t count, float value)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = value;
}

static void fill_uniform(float *out, int64_t count, uint64_t key, double limit)
{
    for (int64_t i = 0; i < count; i++) {
        struct mgb_random4 r = mgb_random_at(key, (uint64_t)i / 4, 0);
        out[i] = (float)((2.0 * (double)mgb_random_unit(r.v[i % 4]) - 1.0) * limit);
    }
}

/* Box and Muller 1958: two words give two values. */
static void fill_normal(float *out, int64_t count, uint64_t key, double deviation)
{
    const double two_pi = 6.283185307179586;
    for (int64_t i = 0; i < count; i++) {
        struct mgb_random4 r = mgb_random_at(key, (uint64_t)i / 4, 0);
        int pair = (int)(i % 4) / 2;
        double u = ((double)r.v[2 * pair] + 1.0) / 4294967296.0; /* in (0, 1] */
        double angle = two_pi * ((double)r.v[2 * pair + 1] / 4294967296.0);
        double radius = sqrt(-2.0 * log(u)) * deviation;
        out[i] = (float)(radius * (i % 2 == 0 ? cos(angle) : sin(angle)));
    }
}

/* Rows are all axes but the last, as Keras flattens them. */
static void fill_orthogonal(float *out, const struct mgb_variable *v, uint64_t key)
{
    int64_t width = v->info.shape.dim[v->info.shape.rank - 1];
    fill_normal(out, v->info.count, key, 1);
    mgb_orthogonalise(out, v->info.count / width, width);
    for (int64_t i = 0; i < v->info.count; i++)
        out[i] *= v->init.value;
}

void mgb_variable_initial(float *out, const struct mgb_graph *graph, int variable, uint64_t seed)
{
    const struct mgb_variable *v = &graph->variables[variable];
    uint64_t key = mgb_hash(seed, v->info.name, strlen(v->info.name));
    double in = (double)v->init.fan_in, both = in + (double)v->init.fan_out;
    switch (v->init.kind) {
    case MGB_GLOROT_UNIFORM:
        fill_uniform(out, v->info.count, key, sqrt(6.0 / both));
        break;
    case MGB_HE_NORMAL:
        fill_normal(out, v->info.count, key, sqrt(2.0 / in));
        break;
    case MGB_NORMAL:
        fill_normal(out, v->info.count, key, (double)v->init.value);
        break;
    case MGB_ZEROS:
        fill_constant(out, v->info.count, 0.0f);
        break;
    case MGB_ONES:
        fill_constant(out, v->info.count, 1.0f);
        break;
    case MGB_CONSTANT:
        fill_constant(out, v->info.count, v->init.value);
        break;
    case MGB_UNIFORM:
        fill_uniform(out, v->info.count, key, (double)v->init.value);
        break;
    case MGB_UNIT_FORGET:
        fill_constant(out, v->info.count, 0.0f);
        fill_constant(out + v->info.count / 4, v->info.count / 4, 1.0f);
        break;
    case MGB_ORTHOGONAL:
        fill_orthogonal(out, v, key);
        break;
    }
}
