/* Sources made of other things already in memory: rows of caller's arrays, and a range of another source. */
#include <mgb/data.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/data/bind.h"
#include "engine/data/order.h"
#include <string.h>

void mgb_source_close(struct mgb_source *source)
{
    if (source->close)
        source->close(source->context);
    *source = (struct mgb_source){0};
}

struct memory_source {
    struct mgb_order order;
    int inputs;
    struct memory_input {
        const unsigned char *rows;
        int64_t row_bytes;
    } input[];
};

static enum mgb_status memory_fill(void *context, uint64_t seed, int64_t epoch, int64_t first,
                                   int64_t rows, int index, void *out)
{
    struct memory_source *source = context;
    const struct memory_input *input = &source->input[index];
    MGB_TRY(mgb_rows_check("data in memory", source->order.rows, first, rows));
    mgb_order_begin(&source->order, seed, epoch);
    for (int64_t i = 0; i < rows; i++)
        memcpy((unsigned char *)out + i * input->row_bytes,
               input->rows + mgb_order_at(&source->order, epoch, first + i) * input->row_bytes,
               (size_t)input->row_bytes);
    mgb_order_end(&source->order);
    return MGB_OK;
}

static void memory_close(void *context)
{
    struct memory_source *source = context;
    mgb_order_done(&source->order);
    mgb_release(source);
}

static enum mgb_status labels_check(const struct mgb_graph *graph, const void *const *data,
                                    int64_t rows)
{
    for (int i = 0; i < mgb_graph_input_count(graph); i++) {
        const char *name;
        int tensor = mgb_graph_input_at(graph, i, &name);
        if (mgb_tensor_type(graph, tensor) != MGB_I32 || mgb_graph_input_classes(graph, i) == 0)
            continue;
        const int32_t *labels = data[i];
        int64_t per_row = mgb_shape_count(mgb_tensor_shape(graph, tensor));
        for (int64_t k = 0; k < rows * per_row; k++)
            MGB_TRY(mgb_label_check("data in memory", graph, i, k / per_row, labels[k]));
    }
    return MGB_OK;
}

enum mgb_status mgb_source_memory(struct mgb_source *out, const struct mgb_graph *graph,
                                  const void *const *data, int64_t rows, bool shuffle)
{
    int inputs = mgb_graph_input_count(graph);
    MGB_TRY(labels_check(graph, data, rows));
    struct memory_source *source =
        mgb_alloc(sizeof *source + (size_t)inputs * sizeof source->input[0]);
    if (!source)
        return mgb_fail(MGB_NO_MEMORY, "no memory for a data source");
    enum mgb_status status = mgb_order_init(&source->order, rows, shuffle);
    if (status != MGB_OK) {
        memory_close(source);
        return status;
    }
    source->inputs = inputs;
    for (int i = 0; i < inputs; i++)
        source->input[i] = (struct memory_input){data[i], mgb_input_row_bytes(graph, i)};
    *out = (struct mgb_source){.context = source,
                               .rows = rows,
                               .ordered = !shuffle,
                               .fill = memory_fill,
                               .close = memory_close};
    mgb_format(out->description, sizeof out->description, "%lld rows in memory", (long long)rows);
    return MGB_OK;
}

/* A range keeps an order of its own: its rows are those stored at [begin, end), whatever the other's epochs look like. */
struct take_source {
    const struct mgb_source *of;
    int64_t begin;
    struct mgb_order order;
    int inputs;
    int64_t row_bytes[];
};

static enum mgb_status take_fill(void *context, uint64_t seed, int64_t epoch, int64_t first,
                                 int64_t rows, int index, void *out)
{
    struct take_source *take = context;
    MGB_TRY(mgb_rows_check(take->of->description, take->order.rows, first, rows));
    enum mgb_status status = MGB_OK;
    mgb_order_begin(&take->order, seed, epoch);
    for (int64_t i = 0; i < rows && status == MGB_OK; i++) {
        int64_t row = take->begin + mgb_order_at(&take->order, epoch, first + i);
        status = take->of->fill(take->of->context, seed, -1, row, 1, index,
                                (unsigned char *)out + i * take->row_bytes[index]);
    }
    mgb_order_end(&take->order);
    return status;
}

static void take_close(void *context)
{
    struct take_source *take = context;
    mgb_order_done(&take->order);
    mgb_release(take);
}

enum mgb_status mgb_source_take(struct mgb_source *out, const struct mgb_source *of,
                                const struct mgb_graph *graph, int64_t begin, int64_t end)
{
    if (begin < 0 || end <= begin || (of->rows > 0 && end > of->rows))
        return mgb_fail(MGB_INVALID, "rows %lld to %lld of %s: it has %lld rows", (long long)begin,
                        (long long)end, of->description, (long long)of->rows);
    int inputs = mgb_graph_input_count(graph);
    struct take_source *take = mgb_alloc(sizeof *take + (size_t)inputs * sizeof take->row_bytes[0]);
    if (!take)
        return mgb_fail(MGB_NO_MEMORY, "no memory for a data source");
    enum mgb_status status = mgb_order_init(&take->order, end - begin, !of->ordered);
    if (status != MGB_OK) {
        take_close(take);
        return status;
    }
    take->of = of;
    take->begin = begin;
    take->inputs = inputs;
    for (int i = 0; i < inputs; i++)
        take->row_bytes[i] = mgb_input_row_bytes(graph, i);
    *out = (struct mgb_source){.context = take,
                               .rows = end - begin,
                               .ordered = of->ordered,
                               .fill = take_fill,
                               .close = take_close};
    mgb_format(out->description, sizeof out->description, "rows %lld to %lld of %.100s",
               (long long)begin, (long long)end - 1, of->description);
    return MGB_OK;
}
