/* See stored.h. Knows no format. */
#include "engine/data/stored.h"

#include "engine/base/memory.h"
#include "engine/data/bind.h"
#include "engine/data/order.h"
#include <string.h>

struct stored_source {
    struct mgb_order order;
    int inputs;
    struct stored_input {
        struct mgb_stored_input in;
        enum mgb_type type;
    } input[];
};

void mgb_bytes_convert(enum mgb_type type, const unsigned char *from, int64_t count, void *to)
{
    switch (type) {
    case MGB_F32:
        for (int64_t i = 0; i < count; i++)
            ((float *)to)[i] = (float)from[i] / 255.0f;
        break;
    case MGB_I32:
        for (int64_t i = 0; i < count; i++)
            ((int32_t *)to)[i] = from[i];
        break;
    case MGB_U8:
        memcpy(to, from, (size_t)count);
        break;
    }
}

static void row_fill(const struct stored_input *input, int64_t row, unsigned char *to)
{
    const struct mgb_stored_input *in = &input->in;
    int64_t begin = in->starts ? in->starts[row] : in->offset + row * in->stride;
    int64_t have = in->starts ? in->starts[row + 1] - begin : in->count;
    int64_t count = have < in->count ? have : in->count;
    int64_t size = mgb_type_size(input->type);
    const unsigned char *from = (const unsigned char *)in->values + begin * mgb_type_size(in->held);
    if (in->held == MGB_U8)
        mgb_bytes_convert(input->type, from, count, to);
    else
        memcpy(to, from, (size_t)(count * size));
    if (count < in->count)
        memset(to + count * size, 0, (size_t)((in->count - count) * size));
}

static enum mgb_status stored_fill(void *context, uint64_t seed, int64_t epoch, int64_t first,
                                   int64_t rows, int index, void *out)
{
    struct stored_source *source = context;
    const struct stored_input *input = &source->input[index];
    int64_t row_bytes = input->in.count * mgb_type_size(input->type);
    MGB_TRY(mgb_rows_check("data of files", source->order.rows, first, rows));
    mgb_order_begin(&source->order, seed, epoch);
    for (int64_t i = 0; i < rows; i++)
        row_fill(input, mgb_order_at(&source->order, epoch, first + i),
                 (unsigned char *)out + i * row_bytes);
    mgb_order_end(&source->order);
    return MGB_OK;
}

static void stored_close(void *context)
{
    struct stored_source *source = context;
    for (int i = 0; i < source->inputs; i++)
        mgb_release(source->input[i].in.owned);
    mgb_order_done(&source->order);
    mgb_release(source);
}

enum mgb_status mgb_source_stored(struct mgb_source *out, const struct mgb_graph *graph,
                                  const struct mgb_stored_input *inputs, int64_t rows, bool shuffle)
{
    int count = mgb_graph_input_count(graph);
    struct stored_source *source =
        mgb_alloc(sizeof *source + (size_t)count * sizeof source->input[0]);
    if (!source) {
        for (int i = 0; i < count; i++)
            mgb_release(inputs[i].owned);
        return mgb_fail(MGB_NO_MEMORY, "no memory for a data source");
    }
    source->inputs = count;
    for (int i = 0; i < count; i++) {
        const char *name;
        int tensor = mgb_graph_input_at(graph, i, &name);
        source->input[i] = (struct stored_input){inputs[i], mgb_tensor_type(graph, tensor)};
    }
    enum mgb_status status = mgb_order_init(&source->order, rows, shuffle);
    if (status != MGB_OK) {
        stored_close(source);
        return status;
    }
    *out = (struct mgb_source){.context = source,
                               .rows = rows,
                               .ordered = !shuffle,
                               .fill = stored_fill,
                               .close = stored_close};
    return MGB_OK;
}

enum mgb_status mgb_stored_make(struct mgb_stored_input **out, const struct mgb_graph *graph)
{
    int count = mgb_graph_input_count(graph);
    if (count < 1)
        return mgb_fail(MGB_INVALID, "model '%s' has no input", mgb_graph_name(graph));
    *out = mgb_alloc((size_t)count * sizeof **out);
    return *out ? MGB_OK : mgb_fail(MGB_NO_MEMORY, "no memory for a data source");
}

void mgb_stored_free(struct mgb_stored_input *inputs, int count)
{
    for (int i = 0; inputs && i < count; i++)
        mgb_release(inputs[i].owned);
    mgb_release(inputs);
}

enum mgb_status mgb_stored_check(const struct mgb_stored_input *inputs,
                                 const struct mgb_graph *graph, const char *what)
{
    for (int i = 0; i < mgb_graph_input_count(graph); i++) {
        const char *name;
        mgb_graph_input_at(graph, i, &name);
        if (!inputs[i].values)
            return mgb_fail(MGB_INVALID, "input '%s' of model '%s' is given no %s", name,
                            mgb_graph_name(graph), what);
    }
    return MGB_OK;
}

const char *mgb_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
