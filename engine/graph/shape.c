/* Types and shapes as values. */
#include "engine/base/text.h"
#include "engine/graph/op.h"

#include <string.h>

#define COUNT_MOST ((int64_t)1 << 40) /* elements; above it byte counts of a batch could overflow */

int mgb_type_size(enum mgb_type type)
{
    switch (type) {
    case MGB_F32:
    case MGB_I32:
        return 4;
    case MGB_U8:
        return 1;
    }
    return 0;
}

const char *mgb_type_name(enum mgb_type type)
{
    switch (type) {
    case MGB_F32:
        return "f32";
    case MGB_I32:
        return "i32";
    case MGB_U8:
        return "u8";
    }
    return "?";
}

int64_t mgb_shape_count(const struct mgb_shape *shape)
{
    int64_t count = 1;
    for (int i = 0; i < shape->rank; i++)
        count *= shape->dim[i];
    return count;
}

char *mgb_shape_format(char *out, size_t size, const struct mgb_shape *shape)
{
    size_t used = 0;
    if (shape->rank == 0)
        mgb_format(out, size, "scalar");
    for (int i = 0; i < shape->rank && used < size; i++)
        used += (size_t)mgb_format(out + used, size - used, i > 0 ? "x%lld" : "%lld",
                                   (long long)shape->dim[i]);
    return out;
}

bool mgb_shape_equal(const struct mgb_shape *a, const struct mgb_shape *b)
{
    return a->rank == b->rank && memcmp(a->dim, b->dim, (size_t)a->rank * sizeof a->dim[0]) == 0;
}

enum mgb_status mgb_graph_check_shape(const char *what, const char *name,
                                      const struct mgb_shape *shape)
{
    if (shape->rank < 0 || shape->rank > MGB_MAX_RANK)
        return mgb_fail(MGB_INVALID, "%s '%s': a shape has 0 to %d axes, not %d", what, name,
                        MGB_MAX_RANK, shape->rank);
    int64_t count = 1;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dim[i] < 1)
            return mgb_fail(MGB_INVALID, "%s '%s': axis %d has %lld elements; give at least 1",
                            what, name, i, (long long)shape->dim[i]);
        if (shape->dim[i] > COUNT_MOST / count)
            return mgb_fail(MGB_INVALID, "%s '%s': the shape has more than 2^40 elements", what,
                            name);
        count *= shape->dim[i];
    }
    return MGB_OK;
}
