/* What every maker of a source does with a model. Knows the public reading functions of a model only. */
#include "engine/data/bind.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include <string.h>

static enum mgb_status no_such_input(const struct mgb_graph *graph, const char *name)
{
    const char *names[64];
    struct mgb_text list = {0};
    int count = mgb_graph_input_count(graph);
    for (int i = 0; i < count && i < 64; i++) {
        mgb_graph_input_at(graph, i, &names[i]);
        mgb_text_add(&list, "%s'%s'", i ? ", " : "", names[i]);
    }
    const char *near = mgb_nearest_name(name, names, count < 64 ? count : 64);
    char hint[96] = "";
    if (near)
        mgb_format(hint, sizeof hint, "; did you mean '%s'?", near);
    enum mgb_status status = mgb_fail(
        MGB_INVALID, "data for input '%s': model '%s' has no such input, it has %s%s", name,
        mgb_graph_name(graph), list.failed || !list.chars ? "none" : list.chars, hint);
    mgb_text_done(&list);
    return status;
}

enum mgb_status mgb_input_find(int *index, const struct mgb_graph *graph, const char *name)
{
    int count = mgb_graph_input_count(graph);
    for (int i = 0; i < count; i++) {
        const char *have;
        mgb_graph_input_at(graph, i, &have);
        if (strcmp(have, name) == 0) {
            *index = i;
            return MGB_OK;
        }
    }
    return no_such_input(graph, name);
}

int64_t mgb_input_row_bytes(const struct mgb_graph *graph, int index)
{
    const char *name;
    int tensor = mgb_graph_input_at(graph, index, &name);
    return mgb_shape_count(mgb_tensor_shape(graph, tensor)) *
           mgb_type_size(mgb_tensor_type(graph, tensor));
}

enum mgb_status mgb_label_check(const char *where, const struct mgb_graph *graph, int index,
                                int64_t row, int64_t label)
{
    int64_t classes = mgb_graph_input_classes(graph, index);
    if (classes == 0 || (label >= 0 && label < classes))
        return MGB_OK;
    const char *name;
    mgb_graph_input_at(graph, index, &name);
    const char *lookup = mgb_graph_input_lookup(graph, index);
    if (lookup)
        return mgb_fail(
            MGB_INVALID,
            "%s: row %lld holds number %lld, but embedding '%s' of model '%s' looks input "
            "'%s' up in %lld rows, 0 to %lld; set vocabulary, or check the data",
            where, (long long)row, (long long)label, lookup, mgb_graph_name(graph), name,
            (long long)classes, (long long)(classes - 1));
    return mgb_fail(
        MGB_INVALID,
        "%s: row %lld is of class %lld, but input '%s' of model '%s' takes classes 0 to %lld",
        where, (long long)row, (long long)label, name, mgb_graph_name(graph),
        (long long)(classes - 1));
}
