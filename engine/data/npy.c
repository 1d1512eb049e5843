/* See npy.h. The header is a Python dictionary as numpy prints it: {'descr': '<f4', 'fortran_order': False,
 * 'shape': (3, 4), }, and then blanks. Only that much of Python is read. */
#include "engine/data/npy.h"

#include "engine/base/memory.h"
#include <string.h>

/* numpy itself refuses more than 10,000 bytes. */
#define MOST_HEADER 10000

struct header {
    const struct mgb_bytes *bytes;
    const char *at;
    bool descr, order, shape;
};

static const struct {
    char name[4];
    int size;
} types[] = {[MGB_NPY_F4] = {"<f4", 4},
             [MGB_NPY_F8] = {"<f8", 8},
             [MGB_NPY_I4] = {"<i4", 4},
             [MGB_NPY_I8] = {"<i8", 8},
             [MGB_NPY_U1] = {"|u1", 1}};

int mgb_npy_type_size(enum mgb_npy_type type)
{
    return types[type].size;
}

static bool take(struct header *header, const char *word)
{
    header->at += strspn(header->at, " ");
    size_t length = strlen(word);
    if (strncmp(header->at, word, length) != 0)
        return false;
    header->at += length;
    return true;
}

static enum mgb_status header_fail(const struct header *header, const char *wanted)
{
    return mgb_bytes_fail(header->bytes, MGB_CORRUPT,
                          "the header of its array is damaged: %s expected; write it again with "
                          "numpy.save",
                          wanted);
}

static enum mgb_status type_read(struct header *header, struct mgb_npy *out)
{
    if (!take(header, "'")) /* a list: fields of records */
        return mgb_bytes_fail(header->bytes, MGB_UNSUPPORTED,
                              "an array of records; save each field by itself");
    size_t length = strcspn(header->at, "'");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (length == 3 && strncmp(header->at, types[i].name, 3) == 0) {
            out->type = (enum mgb_npy_type)i;
            header->at += length;
            return take(header, "'") ? MGB_OK : header_fail(header, "'");
        }
    bool shown = length > 0 && length < 12;
    for (size_t i = 0; i < length && shown; i++)
        shown = header->at[i] > ' ' && header->at[i] < 0x7f;
    return mgb_bytes_fail(header->bytes, MGB_UNSUPPORTED,
                          "values of type '%.*s'; <f4, <f8, <i4, <i8 and |u1 are read: save "
                          "x.astype('<f4') or x.astype('<i4')",
                          shown ? (int)length : 1, shown ? header->at : "?");
}

static enum mgb_status dimension_read(struct header *header, struct mgb_npy *out)
{
    int64_t value = 0;
    const char *begin = header->at;
    for (; *header->at >= '0' && *header->at <= '9'; header->at++)
        if (__builtin_mul_overflow(value, (int64_t)10, &value) ||
            __builtin_add_overflow(value, (int64_t)(*header->at - '0'), &value))
            return header_fail(header, "a size of 63 bits");
    if (header->at == begin)
        return header_fail(header, "a size");
    if (out->rank == MGB_NPY_MAX_RANK)
        return mgb_bytes_fail(header->bytes, MGB_UNSUPPORTED, "more than %d axes",
                              MGB_NPY_MAX_RANK);
    if (value == 0)
        return mgb_bytes_fail(header->bytes, MGB_INVALID, "axis %d is 0 long: there are no values",
                              out->rank);
    out->dim[out->rank++] = value;
    return MGB_OK;
}

static enum mgb_status shape_read(struct header *header, struct mgb_npy *out)
{
    out->rank = 0;
    if (!take(header, "("))
        return header_fail(header, "( before the shape");
    while (!take(header, ")")) {
        MGB_TRY(dimension_read(header, out));
        bool comma = take(header, ",");
        bool end = strncmp(header->at + strspn(header->at, " "), ")", 1) == 0;
        if ((!comma && !end) || (end && !comma && out->rank == 1))
            return header_fail(header, ", between sizes");
    }
    if (out->rank == 0)
        return mgb_bytes_fail(header->bytes, MGB_INVALID,
                              "a single number; an array whose first axis counts rows is wanted");
    return MGB_OK;
}

static enum mgb_status field_read(struct header *header, struct mgb_npy *out, bool *fortran)
{
    bool *seen = NULL;
    enum mgb_status status = MGB_OK;
    if (take(header, "'descr':")) {
        seen = &header->descr;
        status = type_read(header, out);
    } else if (take(header, "'shape':")) {
        seen = &header->shape;
        status = shape_read(header, out);
    } else if (take(header, "'fortran_order':")) {
        seen = &header->order;
        *fortran = take(header, "True");
        if (!*fortran && !take(header, "False"))
            return header_fail(header, "True or False");
    }
    MGB_TRY(status);
    if (!seen || *seen)
        return header_fail(header, "descr, fortran_order and shape, once each,");
    *seen = true;
    return MGB_OK;
}

/* The values fill what is left of the bytes. */
static enum mgb_status size_check(struct mgb_npy *out, const struct mgb_bytes *bytes)
{
    int64_t size = mgb_npy_type_size(out->type);
    for (int i = 0; i < out->rank; i++)
        if (__builtin_mul_overflow(size, out->dim[i], &size))
            return mgb_bytes_fail(bytes, MGB_CORRUPT, "its array is larger than any file");
    if (size != bytes->size - bytes->at)
        return mgb_bytes_fail(bytes, MGB_CORRUPT,
                              "its header promises %lld rows in %lld bytes, %lld are there; write "
                              "it again with numpy.save",
                              (long long)out->dim[0], (long long)size,
                              (long long)(bytes->size - bytes->at));
    out->row_count = size / mgb_npy_type_size(out->type) / out->dim[0];
    return MGB_OK;
}

static enum mgb_status text_parse(struct mgb_npy *out, const struct mgb_bytes *bytes,
                                  const char *text, size_t size)
{
    struct header header = {.bytes = bytes, .at = text};
    bool fortran = false;
    if (!take(&header, "{"))
        return header_fail(&header, "{");
    while (!take(&header, "}")) {
        MGB_TRY(field_read(&header, out, &fortran));
        if (!take(&header, ",") && header.at[strspn(header.at, " ")] != '}')
            return header_fail(&header, ", between fields");
    }
    header.at += strspn(header.at, " ");
    if (*header.at == '\n')
        header.at++;
    if (header.at != text + size || !header.descr || !header.order || !header.shape)
        return header_fail(&header, "descr, fortran_order, shape and the end");
    if (fortran && out->rank > 1)
        return mgb_bytes_fail(bytes, MGB_UNSUPPORTED,
                              "an array in Fortran's order; save numpy.ascontiguousarray(x)");
    return MGB_OK;
}

enum mgb_status mgb_npy_read(struct mgb_npy *out, struct mgb_bytes *bytes)
{
    unsigned char begin[12];
    *out = (struct mgb_npy){0};
    if (bytes->size < 10)
        return mgb_bytes_fail(bytes, MGB_CORRUPT, "no .npy array: only %lld bytes",
                              (long long)bytes->size);
    MGB_TRY(mgb_bytes_get(bytes, begin, 8));
    if (memcmp(begin, "\x93NUMPY", 6) != 0)
        return mgb_bytes_fail(bytes, MGB_CORRUPT, "no .npy array: it does not begin with NUMPY");
    if (begin[6] < 1 || begin[6] > 3 || begin[7] != 0)
        return mgb_bytes_fail(bytes, MGB_UNSUPPORTED, ".npy version %d.%d; 1.0 to 3.0 are read",
                              begin[6], begin[7]);
    int wide = begin[6] == 1 ? 2 : 4;
    uint32_t size = 0;
    unsigned char length[4];
    MGB_TRY(mgb_bytes_get(bytes, length, wide));
    for (int i = 0; i < wide; i++)
        size |= (uint32_t)length[i] << 8 * i;
    if (size > MOST_HEADER)
        return mgb_bytes_fail(bytes, MGB_CORRUPT, "a header of %u bytes; %d are possible", size,
                              MOST_HEADER);
    char *text = mgb_alloc((size_t)size + 1); /* ended by 0, which no word goes over */
    if (!text)
        return mgb_fail(MGB_NO_MEMORY, "no memory to read '%s'", bytes->path);
    enum mgb_status status = mgb_bytes_get(bytes, text, size);
    if (status == MGB_OK)
        status = text_parse(out, bytes, text, size);
    if (status == MGB_OK)
        status = size_check(out, bytes);
    mgb_release(text);
    return status;
}
