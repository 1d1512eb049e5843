/* A source from arrays of numpy. Values are converted while they are read, a block at a time, so that no array is held
 * twice; u1 stays as it is. */
#include <mgb/data.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/data/bind.h"
#include "engine/data/npy.h"
#include "engine/data/stored.h"
#include "engine/data/zip.h"
#include <math.h>
#include <string.h>

/* Memory is taken as data arrives, so that a false header cannot ask for more than comes. */
#define FIRST_BLOCK (4 << 20)
#define PIECE (1 << 16)

struct reading {
    const struct mgb_graph *graph;
    struct mgb_bytes bytes;
    struct mgb_npy npy;
    const char *input;
    int index;
    int64_t have; /* values so far */
};

static enum mgb_status value_fail(const struct reading *r, int64_t at, double value)
{
    char text[40];
    mgb_format(text, sizeof text, "%.17g", value);
    return mgb_bytes_fail(&r->bytes, MGB_INVALID, "row %lld holds %s, which input '%s' cannot: %s",
                          (long long)(at / r->npy.row_count), text, r->input,
                          "it takes whole numbers of 32 bits, or f32 within its range");
}

static double value_get(enum mgb_npy_type type, const unsigned char *from)
{
    float f;
    double d;
    int32_t i;
    int64_t l;
    switch (type) {
    case MGB_NPY_F4:
        memcpy(&f, from, sizeof f);
        return (double)f;
    case MGB_NPY_F8:
        memcpy(&d, from, sizeof d);
        return d;
    case MGB_NPY_I4:
        memcpy(&i, from, sizeof i);
        return i;
    case MGB_NPY_I8:
        memcpy(&l, from, sizeof l);
        return (double)l; /* rounded only where no 32 bits hold it */
    case MGB_NPY_U1:
        return *from;
    }
    return 0;
}

static enum mgb_status f32_store(const struct reading *r, float *to, const unsigned char *from,
                                 int64_t count)
{
    int size = mgb_npy_type_size(r->npy.type);
    for (int64_t i = 0; i < count; i++, from += size) {
        double value = value_get(r->npy.type, from);
        to[i] = (float)value;
        if (isinf(to[i]) && !isinf(value))
            return value_fail(r, r->have + i, value);
    }
    return MGB_OK;
}

static enum mgb_status i32_store(const struct reading *r, int32_t *to, const unsigned char *from,
                                 int64_t count)
{
    int size = mgb_npy_type_size(r->npy.type);
    for (int64_t i = 0; i < count; i++, from += size) {
        double value = value_get(r->npy.type, from);
        int64_t at = r->have + i;
        if (!(value >= INT32_MIN && value <= INT32_MAX) || value != (double)(int32_t)value)
            return value_fail(r, at, value);
        to[i] = (int32_t)value;
    }
    return MGB_OK;
}

static enum mgb_status labels_check(const struct reading *r, const void *values, int64_t count,
                                    enum mgb_type held)
{
    for (int64_t i = 0; i < count; i++)
        MGB_TRY(mgb_label_check(r->bytes.path, r->graph, r->index, (r->have + i) / r->npy.row_count,
                                held == MGB_U8 ? ((const uint8_t *)values)[i]
                                               : ((const int32_t *)values)[i]));
    return MGB_OK;
}

/* The next `count` values to their place. */
static enum mgb_status piece_read(struct reading *r, const struct mgb_stored_input *to,
                                  enum mgb_type type, int64_t count)
{
    unsigned char piece[PIECE], *out = to->owned;
    out += r->have * mgb_type_size(to->held);
    MGB_TRY(mgb_bytes_get(&r->bytes, to->held == MGB_U8 ? out : piece,
                          count * mgb_npy_type_size(r->npy.type)));
    if (to->held == MGB_F32)
        MGB_TRY(f32_store(r, (float *)(void *)out, piece, count));
    if (to->held == MGB_I32)
        MGB_TRY(i32_store(r, (int32_t *)(void *)out, piece, count));
    return type == MGB_I32 ? labels_check(r, out, count, to->held) : MGB_OK;
}

static enum mgb_status values_read(struct reading *r, struct mgb_stored_input *to,
                                   enum mgb_type type)
{
    int64_t size = mgb_type_size(to->held), capacity = 0;
    int64_t all = r->npy.dim[0] * r->npy.row_count;
    while (r->have < all) {
        if (r->have == capacity) {
            capacity = capacity ? 2 * capacity : FIRST_BLOCK / size;
            capacity = capacity < all ? capacity : all;
            void *grown = mgb_realloc(to->owned, (size_t)(capacity * size));
            if (!grown)
                return mgb_fail(MGB_NO_MEMORY, "'%s': no memory for %lld bytes", r->bytes.path,
                                (long long)(capacity * size));
            to->owned = grown;
        }
        int64_t count = PIECE / mgb_npy_type_size(r->npy.type);
        count = count < capacity - r->have ? count : capacity - r->have;
        MGB_TRY(piece_read(r, to, type, count));
        r->have += count;
    }
    to->values = to->owned;
    return MGB_OK;
}

/* The array's rows have the input's shape, apart from axes of 1 at the end. */
static bool shape_fits(const struct mgb_shape *shape, const struct mgb_npy *npy)
{
    int rank = npy->rank - 1;
    for (int i = 0; i < rank || i < shape->rank; i++)
        if ((i < rank ? npy->dim[i + 1] : 1) != (i < shape->rank ? shape->dim[i] : 1))
            return false;
    return true;
}

static enum mgb_status shape_check(const struct reading *r, const struct mgb_shape *shape)
{
    if (shape_fits(shape, &r->npy))
        return MGB_OK;
    char wanted[96], found[96];
    struct mgb_text row = {0};
    for (int i = 1; i < r->npy.rank; i++)
        mgb_text_add(&row, "%s%lld", i > 1 ? "x" : "", (long long)r->npy.dim[i]);
    mgb_format(found, sizeof found, "%s", row.chars && !row.failed ? row.chars : "one value");
    mgb_text_done(&row);
    mgb_shape_format(wanted, sizeof wanted, shape);
    return mgb_bytes_fail(&r->bytes, MGB_INVALID,
                          "rows of %s, but input '%s' of model '%s' takes %s", found, r->input,
                          mgb_graph_name(r->graph), shape->rank ? wanted : "one value");
}

/* A u1 is kept as it is; everything else becomes what the input takes. */
static enum mgb_status array_read(struct reading *r, struct mgb_stored_input *to, int64_t *rows,
                                  const char **rows_of)
{
    const char *name;
    int tensor = mgb_graph_input_at(r->graph, r->index, &name);
    enum mgb_type type = mgb_tensor_type(r->graph, tensor);
    MGB_TRY(mgb_npy_read(&r->npy, &r->bytes));
    MGB_TRY(shape_check(r, mgb_tensor_shape(r->graph, tensor)));
    if (*rows_of && *rows != r->npy.dim[0])
        return mgb_bytes_fail(&r->bytes, MGB_CORRUPT, "%lld rows, but input '%s' has %lld",
                              (long long)r->npy.dim[0], *rows_of, (long long)*rows);
    *rows = r->npy.dim[0];
    *rows_of = r->input;
    to->held = r->npy.type == MGB_NPY_U1 ? MGB_U8 : type;
    to->count = to->stride = r->npy.row_count;
    if (type == MGB_U8 && r->npy.type != MGB_NPY_U1)
        return mgb_bytes_fail(&r->bytes, MGB_INVALID, "input '%s' takes |u1 values", r->input);
    return values_read(r, to, type);
}

static enum mgb_status no_such_entry(const struct mgb_zip *zip, const char *archive,
                                     const struct mgb_idx_file *file)
{
    struct mgb_text list = {0};
    int count = mgb_zip_count(zip);
    for (int i = 0; i < count && i < 20; i++)
        mgb_text_add(&list, "%s'%s'", i ? ", " : "", mgb_zip_name(zip, i));
    enum mgb_status status = mgb_fail(
        MGB_MISSING, "input '%s': '%s' has no entry '%s'; it has %s%s", file->input, archive,
        file->path, list.chars && !list.failed ? list.chars : "none", count > 20 ? ", ..." : "");
    mgb_text_done(&list);
    return status;
}

static enum mgb_status bytes_begin(struct mgb_bytes *out, struct mgb_zip *zip, const char *archive,
                                   const struct mgb_idx_file *file)
{
    if (!zip)
        return mgb_bytes_begin(out, file->path);
    int entry = mgb_zip_find(zip, file->path);
    if (entry < 0) {
        struct mgb_text whole = {0};
        mgb_text_add(&whole, "%s.npy", file->path);
        bool failed = whole.failed;
        entry = failed ? -1 : mgb_zip_find(zip, whole.chars);
        mgb_text_done(&whole);
        if (failed)
            return mgb_fail(MGB_NO_MEMORY, "no memory to read '%s'", archive);
    }
    return entry < 0 ? no_such_entry(zip, archive, file) : mgb_zip_begin(out, zip, entry);
}

static enum mgb_status files_read(struct mgb_stored_input *inputs, int64_t *rows,
                                  const struct mgb_graph *graph, struct mgb_zip *zip,
                                  const char *archive, const struct mgb_idx_file *files, int count)
{
    const char *rows_of = NULL;
    for (int i = 0; i < count; i++) {
        struct reading r = {.graph = graph, .input = files[i].input, .bytes.file = -1};
        MGB_TRY(mgb_input_find(&r.index, graph, r.input));
        if (inputs[r.index].values)
            return mgb_fail(MGB_INVALID, "input '%s' is given two arrays", r.input);
        enum mgb_status status = bytes_begin(&r.bytes, zip, archive, &files[i]);
        if (status == MGB_OK)
            status = array_read(&r, &inputs[r.index], rows, &rows_of);
        mgb_bytes_end(&r.bytes);
        MGB_TRY(status);
    }
    return mgb_stored_check(inputs, graph, "array");
}

enum mgb_status mgb_source_npz(struct mgb_source *out, const struct mgb_graph *graph,
                               const char *archive, const struct mgb_idx_file *files, int count,
                               bool shuffle)
{
    struct mgb_stored_input *inputs = NULL;
    struct mgb_zip *zip = NULL;
    int64_t rows = 0;
    MGB_TRY(mgb_stored_make(&inputs, graph));
    enum mgb_status status = archive ? mgb_zip_open(&zip, archive) : MGB_OK;
    if (status == MGB_OK)
        status = files_read(inputs, &rows, graph, zip, archive, files, count);
    mgb_zip_close(zip);
    if (status != MGB_OK) {
        mgb_stored_free(inputs, mgb_graph_input_count(graph));
        return status;
    }
    status = mgb_source_stored(out, graph, inputs, rows, shuffle);
    mgb_release(inputs);
    if (status == MGB_OK)
        mgb_format(out->description, sizeof out->description, "%lld rows of %.100s",
                   (long long)out->rows, mgb_file_name(archive ? archive : files[0].path));
    return status;
}
