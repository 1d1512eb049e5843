/* A source from IDX files: u8 images become f32 / 255, u8 labels i32. Values stay u8 in memory and are converted when a
 * batch is filled. */
#include <mgb/data.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/data/bind.h"
#include "engine/data/idx_file.h"
#include "engine/data/order.h"
#include "engine/data/stored.h"
#include <string.h>

struct idx_source {
    struct mgb_order order;
    int inputs;
    struct idx_input {
        struct mgb_idx idx; /* .values NULL: no file given yet */
        const char *path;   /* for messages while the source is made */
        enum mgb_type type;
    } input[];
};

static enum mgb_status idx_fill(void *context, uint64_t seed, int64_t epoch, int64_t first,
                                int64_t rows, int index, void *out)
{
    struct idx_source *source = context;
    const struct idx_input *input = &source->input[index];
    int64_t count = input->idx.row_count;
    MGB_TRY(mgb_rows_check("IDX data", source->order.rows, first, rows));
    mgb_order_begin(&source->order, seed, epoch);
    for (int64_t i = 0; i < rows; i++) {
        int64_t row = mgb_order_at(&source->order, epoch, first + i);
        mgb_bytes_convert(input->type, input->idx.values + row * count, count,
                          (unsigned char *)out + i * count * mgb_type_size(input->type));
    }
    mgb_order_end(&source->order);
    return MGB_OK;
}

static void idx_close(void *context)
{
    struct idx_source *source = context;
    for (int i = 0; i < source->inputs; i++)
        mgb_idx_done(&source->input[i].idx);
    mgb_order_done(&source->order);
    mgb_release(source);
}

/* The file's rows must have the input's shape, or lack only a last dimension of 1 (the channel axis). */
static bool shape_fits(const struct mgb_shape *shape, const struct mgb_idx *idx)
{
    int have = idx->rank - 1;
    if (have != shape->rank && !(have + 1 == shape->rank && shape->dim[have] == 1))
        return false;
    for (int i = 0; i < have; i++)
        if (idx->dim[i + 1] != shape->dim[i])
            return false;
    return true;
}

static enum mgb_status shape_check(const struct mgb_graph *graph, int tensor,
                                   const struct mgb_idx_file *file, const struct mgb_idx *idx)
{
    const struct mgb_shape *shape = mgb_tensor_shape(graph, tensor);
    if (shape_fits(shape, idx))
        return MGB_OK;
    struct mgb_shape row = {.rank = idx->rank - 1};
    for (int i = 0; i < row.rank && i < MGB_MAX_RANK; i++)
        row.dim[i] = idx->dim[i + 1];
    char wanted[96], found[96];
    mgb_shape_format(wanted, sizeof wanted, shape);
    mgb_shape_format(found, sizeof found, &row);
    return mgb_fail(MGB_INVALID, "'%s' holds rows of %s, but input '%s' of model '%s' takes %s",
                    file->path, row.rank ? found : "one value", file->input, mgb_graph_name(graph),
                    shape->rank ? wanted : "one value");
}

static enum mgb_status labels_check(const struct mgb_graph *graph, int index,
                                    const struct idx_input *input, const char *path)
{
    if (input->type != MGB_I32 || mgb_graph_input_classes(graph, index) == 0)
        return MGB_OK;
    int64_t values = input->idx.dim[0] * input->idx.row_count;
    for (int64_t i = 0; i < values; i++)
        MGB_TRY(
            mgb_label_check(path, graph, index, i / input->idx.row_count, input->idx.values[i]));
    return MGB_OK;
}

static enum mgb_status file_add(struct idx_source *source, const struct mgb_graph *graph,
                                const struct mgb_idx_file *file)
{
    int index;
    const char *name;
    MGB_TRY(mgb_input_find(&index, graph, file->input));
    struct idx_input *input = &source->input[index];
    if (input->path)
        return mgb_fail(MGB_INVALID, "input '%s' is given two files, '%s' and '%s'", file->input,
                        input->path, file->path);
    int tensor = mgb_graph_input_at(graph, index, &name);
    MGB_TRY(mgb_idx_read(&input->idx, file->path));
    input->path = file->path;
    input->type = mgb_tensor_type(graph, tensor);
    MGB_TRY(shape_check(graph, tensor, file, &input->idx));
    return labels_check(graph, index, input, file->path);
}

/* Every input has a file, and all files have the same number of rows. */
static enum mgb_status files_check(const struct idx_source *source, const struct mgb_graph *graph)
{
    const struct idx_input *first = NULL;
    for (int i = 0; i < source->inputs; i++) {
        const struct idx_input *input = &source->input[i];
        const char *name;
        mgb_graph_input_at(graph, i, &name);
        if (!input->path)
            return mgb_fail(MGB_INVALID, "input '%s' of model '%s' is given no file", name,
                            mgb_graph_name(graph));
        if (!first)
            first = input;
        if (input->idx.dim[0] != first->idx.dim[0])
            return mgb_fail(MGB_CORRUPT, "'%s' holds %lld rows, but '%s' holds %lld", first->path,
                            (long long)first->idx.dim[0], input->path,
                            (long long)input->idx.dim[0]);
    }
    return first ? MGB_OK : mgb_fail(MGB_INVALID, "model '%s' has no input", mgb_graph_name(graph));
}

enum mgb_status mgb_source_idx(struct mgb_source *out, const struct mgb_graph *graph,
                               const struct mgb_idx_file *files, int count, bool shuffle)
{
    int inputs = mgb_graph_input_count(graph);
    struct idx_source *source =
        mgb_alloc(sizeof *source + (size_t)inputs * sizeof source->input[0]);
    if (!source)
        return mgb_fail(MGB_NO_MEMORY, "no memory for a data source");
    source->inputs = inputs;
    enum mgb_status status;
    for (int i = 0; i < count; i++)
        MGB_TRY_GOTO(status, file_add(source, graph, &files[i]), failed);
    MGB_TRY_GOTO(status, files_check(source, graph), failed);
    MGB_TRY_GOTO(status, mgb_order_init(&source->order, source->input[0].idx.dim[0], shuffle),
                 failed);
    *out = (struct mgb_source){.context = source,
                               .rows = source->order.rows,
                               .ordered = !shuffle,
                               .fill = idx_fill,
                               .close = idx_close};
    const char *slash = strrchr(files[0].path, '/');
    mgb_format(out->description, sizeof out->description, "%lld rows of IDX files, %.100s",
               (long long)out->rows, slash ? slash + 1 : files[0].path);
    for (int i = 0; i < inputs; i++)
        source->input[i].path = NULL;
    return MGB_OK;
failed:
    idx_close(source);
    return status;
}
