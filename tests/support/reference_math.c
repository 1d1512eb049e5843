/* Arithmetic, reductions, cuts and their losses as in the textbook. */
#include "tests/support/reference.h"

#include <math.h>

struct place { /* an element: its row, and its position along every axis */
    int64_t row, at[MGB_MAX_RANK];
};

static const struct mgb_tensor *tensor_of(const struct reference *r, int tensor)
{
    return &r->graph->tensors[tensor];
}

static struct place place_of(const struct mgb_shape *shape, int64_t element)
{
    struct place place = {0};
    for (int axis = shape->rank - 1; axis >= 0; axis--) {
        place.at[axis] = element % shape->dim[axis];
        element /= shape->dim[axis];
    }
    place.row = element;
    return place;
}

static int64_t element_at(const struct mgb_shape *shape, const struct place *place, int64_t row)
{
    int64_t element = row;
    for (int axis = 0; axis < shape->rank; axis++)
        element = element * shape->dim[axis] + place->at[axis];
    return element;
}

/* The element of a smaller tensor under element `i` of `whole`. */
static int64_t under(const struct reference *r, int tensor, const struct mgb_shape *whole,
                     int64_t i)
{
    const struct mgb_tensor *small = tensor_of(r, tensor);
    struct place place = place_of(whole, i), own = {0};
    for (int axis = 0; axis < small->shape.rank; axis++) {
        int64_t at = place.at[axis + whole->rank - small->shape.rank];
        own.at[axis] = small->shape.dim[axis] == 1 ? 0 : at;
    }
    return element_at(&small->shape, &own, small->batched ? place.row : 0);
}

static double two(enum mgb_op_kind kind, double a, double b)
{
    return kind == MGB_OP_SUB   ? a - b
           : kind == MGB_OP_MUL ? a * b
           : kind == MGB_OP_DIV ? a / b
                                : a + b;
}

static void arithmetic(struct reference *r, const struct mgb_node *node)
{
    const struct mgb_shape *whole = &tensor_of(r, node->outputs[0])->shape;
    for (int64_t i = 0; i < r->counts[node->outputs[0]]; i++)
        r->value[node->outputs[0]][i] =
            two(node->kind, r->value[node->inputs[0]][under(r, node->inputs[0], whole, i)],
                r->value[node->inputs[1]][under(r, node->inputs[1], whole, i)]);
}

static void sum_to(struct reference *r, const struct mgb_node *node)
{
    const struct mgb_shape *whole = &tensor_of(r, node->inputs[0])->shape;
    for (int64_t i = 0; i < r->counts[node->inputs[0]]; i++)
        r->value[node->outputs[0]][under(r, node->outputs[0], whole, i)] +=
            r->value[node->inputs[0]][i];
}

static void expand(struct reference *r, const struct mgb_node *node)
{
    const struct mgb_shape *whole = &tensor_of(r, node->outputs[0])->shape;
    for (int64_t i = 0; i < r->counts[node->outputs[0]]; i++)
        r->value[node->outputs[0]][i] =
            r->value[node->inputs[0]][under(r, node->inputs[0], whole, i)];
}

static void one(struct reference *r, const struct mgb_node *node)
{
    for (int64_t i = 0; i < r->counts[node->outputs[0]]; i++) {
        double x = r->value[node->inputs[0]][i];
        double dy = node->input_count > 1 ? r->value[node->inputs[1]][i] : 0;
        r->value[node->outputs[0]][i] =
            node->kind == MGB_OP_ABS ? fabs(x)
            : node->kind == MGB_OP_ABS_GRAD
                ? dy * ((x > 0) - (x < 0))
                : (double)node->a.affine.factor * x + (double)node->a.affine.shift;
    }
}

/* Element i of the whole belongs to the reduced element with the axis taken out. */
static void reduce(struct reference *r, const struct mgb_node *node)
{
    bool back = node->kind == MGB_OP_SPREAD || node->kind == MGB_OP_MAX_GRAD;
    int big = back ? node->outputs[0] : node->inputs[0],
        small = back ? node->inputs[0] : node->outputs[0];
    const struct mgb_shape *whole = &tensor_of(r, big)->shape;
    int axis = node->a.reduce.axis;
    double *x = r->value[big], *y = r->value[small], length = (double)whole->dim[axis];
    double *index = node->kind == MGB_OP_MAX_GRAD ? r->value[node->inputs[1]]
                    : node->outputs[1] >= 0       ? r->value[node->outputs[1]]
                                                  : NULL;
    for (int64_t i = 0; i < r->counts[big]; i++) {
        int64_t behind = 1, at = place_of(whole, i).at[axis];
        for (int k = axis + 1; k < whole->rank; k++)
            behind *= whole->dim[k];
        int64_t j = i / behind / whole->dim[axis] * behind + i % behind;
        if (node->kind == MGB_OP_SPREAD)
            x[i] = y[j] * (double)node->a.reduce.factor;
        else if (node->kind == MGB_OP_MAX_GRAD)
            x[i] = index[j] == (double)at ? y[j] : 0;
        else if (node->kind != MGB_OP_MAX)
            y[j] += node->kind == MGB_OP_MEAN ? x[i] / length : x[i];
        else if (at == 0 || x[i] > y[j]) {
            y[j] = x[i];
            if (index)
                index[j] = (double)at;
        }
    }
}

static void pad(struct reference *r, const struct mgb_node *node)
{
    const struct mgb_shape *x = &tensor_of(r, node->inputs[0])->shape;
    for (int64_t i = 0; i < r->counts[node->inputs[0]]; i++) {
        struct place place = place_of(x, i);
        place.at[node->a.pad.axis] += node->a.pad.before;
        r->value[node->outputs[0]][element_at(&tensor_of(r, node->outputs[0])->shape, &place,
                                              place.row)] = r->value[node->inputs[0]][i];
    }
}

static void bce(struct reference *r, const struct mgb_node *node)
{
    double n = (double)mgb_shape_count(&tensor_of(r, node->inputs[0])->shape);
    for (int64_t i = 0; i < r->counts[node->inputs[0]]; i++) {
        double z = r->value[node->inputs[0]][i], t = r->value[node->inputs[1]][i];
        double p = 1 / (1 + exp(-z));
        if (node->kind == MGB_OP_BCE)
            r->value[node->outputs[0]][0] -= (t * log(p) + (1 - t) * log(1 - p)) / n;
        else
            r->value[node->outputs[0]][i] = (p - t) * (double)r->scale / n;
    }
}

static void squares(struct reference *r, const struct mgb_node *node)
{
    double sum = 0, strength = (double)node->a.squares.strength;
    double *out = r->value[node->outputs[0]];
    if (node->kind == MGB_OP_SQUARES_GRAD) {
        for (int64_t row = 0; row < r->rows; row++)
            sum += r->value[node->inputs[1]][row];
        for (int64_t i = 0; i < r->counts[node->inputs[0]]; i++)
            out[i] = 2 * strength * sum * r->value[node->inputs[0]][i];
        return;
    }
    for (int k = 0; k < node->input_count; k++)
        for (int64_t i = 0; i < r->counts[node->inputs[k]]; i++)
            sum += strength * r->value[node->inputs[k]][i] * r->value[node->inputs[k]][i];
    for (int64_t row = 0; row < r->rows; row++)
        out[row] = sum;
}

static void total(struct reference *r, const struct mgb_node *node)
{
    double n = (double)mgb_shape_count(&tensor_of(r, node->inputs[0])->shape);
    for (int64_t i = 0; i < r->counts[node->inputs[0]]; i++)
        if (node->kind == MGB_OP_TOTAL)
            r->value[node->outputs[0]][0] += r->value[node->inputs[0]][i] / n;
        else
            r->value[node->outputs[0]][i] = (double)r->scale / n;
}

void reference_math(struct reference *r, const struct mgb_node *node)
{
    switch ((int)node->kind) {
    case MGB_OP_SUM_TO:
        sum_to(r, node);
        break;
    case MGB_OP_EXPAND:
        expand(r, node);
        break;
    case MGB_OP_AFFINE:
    case MGB_OP_ABS:
    case MGB_OP_ABS_GRAD:
        one(r, node);
        break;
    case MGB_OP_SUM:
    case MGB_OP_MEAN:
    case MGB_OP_MAX:
    case MGB_OP_SPREAD:
    case MGB_OP_MAX_GRAD:
        reduce(r, node);
        break;
    case MGB_OP_PAD:
        pad(r, node);
        break;
    case MGB_OP_BCE:
    case MGB_OP_BCE_GRAD:
        bce(r, node);
        break;
    case MGB_OP_SQUARES:
    case MGB_OP_SQUARES_GRAD:
        squares(r, node);
        break;
    case MGB_OP_TOTAL:
    case MGB_OP_TOTAL_GRAD:
        total(r, node);
        break;
    default: /* of two operands */
        arithmetic(r, node);
        break;
    }
}
