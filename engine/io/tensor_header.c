/* The header of a safetensors file: a table of tensors, checked for what any reader may rely on. See tensor_file.h. */
#include "engine/io/tensor_header.h"

#include "engine/base/memory.h"
#include "engine/base/vector.h"
#include "engine/base/json.h"
#include <stdlib.h>
#include <string.h>

struct table {
    mgb_vector(struct mgb_stored) tensors;
    mgb_vector(struct mgb_stored_word) words;
    bool has_words;
};

/* Bytes of an element; 0: not known. */
static int64_t type_size(const char *type)
{
    static const struct {
        const char *name;
        int bytes;
    } types[] = {{"F32", 4},  {"F16", 2}, {"BF16", 2},    {"F64", 8},    {"I64", 8}, {"U64", 8},
                 {"I32", 4},  {"U32", 4}, {"I16", 2},     {"U16", 2},    {"I8", 1},  {"U8", 1},
                 {"BOOL", 1}, {"C64", 8}, {"F8_E5M2", 1}, {"F8_E4M3", 1}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, type) == 0)
            return types[i].bytes;
    return 0;
}

static enum mgb_status no_memory(void)
{
    return mgb_fail(MGB_NO_MEMORY, "no memory for its header");
}

static enum mgb_status shape_read(struct mgb_stored *out, struct mgb_json *json)
{
    MGB_TRY(mgb_json_expect(json, '['));
    out->rank = 0;
    out->count = 1;
    bool empty = false, over = false;
    if (mgb_json_take(json, ']'))
        return MGB_OK;
    do {
        int64_t dim;
        MGB_TRY(mgb_json_count(&dim, json));
        if (out->rank < MGB_MAX_RANK)
            out->dim[out->rank] = dim;
        out->rank += out->rank <= MGB_MAX_RANK;
        empty = empty || dim == 0;
        over = over || (dim && __builtin_mul_overflow(out->count, dim, &out->count));
    } while (mgb_json_take(json, ','));
    if (over && !empty)
        return mgb_fail(MGB_CORRUPT, "its shape has more elements than can be counted");
    out->count = empty ? 0 : out->count;
    return mgb_json_expect(json, ']');
}

static enum mgb_status offsets_read(int64_t *begin, int64_t *end, struct mgb_json *json)
{
    MGB_TRY(mgb_json_expect(json, '['));
    MGB_TRY(mgb_json_count(begin, json));
    MGB_TRY(mgb_json_expect(json, ','));
    MGB_TRY(mgb_json_count(end, json));
    return mgb_json_expect(json, ']');
}

/* What was read of a tensor agrees with itself and with the file. */
static enum mgb_status tensor_check(struct mgb_stored *tensor, int64_t end, int64_t data_bytes)
{
    int64_t size = type_size(tensor->type), bytes;
    char shown[MGB_JSON_SHOWN];
    if (!size)
        return mgb_fail(MGB_CORRUPT, "its type '%s' is not known",
                        mgb_json_show(shown, tensor->type));
    if (end < tensor->begin || end > data_bytes)
        return mgb_fail(MGB_CORRUPT,
                        "its values are said to be at bytes %lld to %lld, the file has %lld bytes "
                        "of values: it was cut short or is damaged",
                        (long long)tensor->begin, (long long)end, (long long)data_bytes);
    if (__builtin_mul_overflow(tensor->count, size, &bytes) || bytes != end - tensor->begin)
        return mgb_fail(MGB_CORRUPT, "%lld elements of type %s do not fill its %lld bytes",
                        (long long)tensor->count, tensor->type, (long long)(end - tensor->begin));
    tensor->bytes = bytes;
    return MGB_OK;
}

/* { "dtype": "F32", "shape": [..], "data_offsets": [.., ..] } in any order, each once. */
static enum mgb_status tensor_read(struct mgb_stored *out, struct mgb_json *json,
                                   int64_t data_bytes)
{
    static const char *const names[] = {"dtype", "shape", "data_offsets"};
    int seen = 0;
    int64_t end = 0;
    MGB_TRY(mgb_json_expect(json, '{'));
    do {
        char *name, *type, shown[MGB_JSON_SHOWN];
        int field = 0;
        MGB_TRY(mgb_json_text(&name, json));
        while (field < 3 && strcmp(names[field], name) != 0)
            field++;
        if (field == 3 || seen & 1 << field)
            return mgb_fail(MGB_CORRUPT, "its entry has '%s' %s", mgb_json_show(shown, name),
                            field == 3 ? "which no tensor has" : "twice");
        seen |= 1 << field;
        MGB_TRY(mgb_json_expect(json, ':'));
        if (field == 0) {
            MGB_TRY(mgb_json_text(&type, json));
            out->type = type;
        } else {
            MGB_TRY(field == 1 ? shape_read(out, json) : offsets_read(&out->begin, &end, json));
        }
    } while (mgb_json_take(json, ','));
    MGB_TRY(mgb_json_expect(json, '}'));
    for (int field = 0; field < 3; field++)
        if (!(seen & 1 << field))
            return mgb_fail(MGB_CORRUPT, "its entry has no '%s'", names[field]);
    return tensor_check(out, end, data_bytes);
}

static enum mgb_status words_read(struct table *out, struct mgb_json *json)
{
    if (out->has_words)
        return mgb_fail(MGB_CORRUPT, "it is there twice");
    out->has_words = true;
    MGB_TRY(mgb_json_expect(json, '{'));
    if (mgb_json_take(json, '}'))
        return MGB_OK;
    do {
        char *name, *value;
        MGB_TRY(mgb_json_text(&name, json));
        MGB_TRY(mgb_json_expect(json, ':'));
        MGB_TRY(mgb_json_text(&value, json));
        if (!mgb_vector_push(&out->words, (struct mgb_stored_word){name, value}))
            return no_memory();
    } while (mgb_json_take(json, ','));
    return mgb_json_expect(json, '}');
}

static enum mgb_status entries_read(struct table *out, struct mgb_json *json, int64_t data_bytes)
{
    MGB_TRY(mgb_json_expect(json, '{'));
    if (mgb_json_take(json, '}'))
        return mgb_json_end(json);
    do {
        char *name, shown[MGB_JSON_SHOWN];
        struct mgb_stored tensor = {0};
        MGB_TRY(mgb_json_text(&name, json));
        MGB_TRY(mgb_json_expect(json, ':'));
        bool words = strcmp(name, "__metadata__") == 0;
        enum mgb_status status =
            words ? words_read(out, json) : tensor_read(&tensor, json, data_bytes);
        if (status != MGB_OK)
            return mgb_fail_in(status, words ? "%s" : "tensor '%s'", mgb_json_show(shown, name));
        tensor.name = name;
        if (!words && !mgb_vector_push(&out->tensors, tensor))
            return no_memory();
    } while (mgb_json_take(json, ','));
    MGB_TRY(mgb_json_expect(json, '}'));
    return mgb_json_end(json);
}

static int place_compare(const void *a, const void *b)
{
    const struct mgb_stored *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static int name_compare(const void *a, const void *b)
{
    const struct mgb_stored *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static void table_sort(struct table *table, int (*compare)(const void *, const void *))
{
    if (table->tensors.count)
        qsort(table->tensors.at, (size_t)table->tensors.count, sizeof *table->tensors.at, compare);
}

/* The values lie one behind the other, without holes: so the format demands. */
static enum mgb_status places_check(const struct table *table, int64_t data_bytes)
{
    int64_t at = 0;
    char shown[MGB_JSON_SHOWN];
    for (int i = 0; i < table->tensors.count; i++) {
        const struct mgb_stored *tensor = &table->tensors.at[i];
        if (tensor->begin != at)
            return mgb_fail(MGB_CORRUPT, "tensor '%s': its values begin at byte %lld, %s %lld",
                            mgb_json_show(shown, tensor->name), (long long)tensor->begin,
                            tensor->begin < at ? "within those of another, which end at"
                                               : "behind a hole from byte",
                            (long long)at);
        at = tensor->begin + tensor->bytes;
    }
    if (at != data_bytes)
        return mgb_fail(MGB_CORRUPT, "%lld bytes behind its last tensor belong to none",
                        (long long)(data_bytes - at));
    return MGB_OK;
}

static enum mgb_status names_check(const struct table *table)
{
    char shown[MGB_JSON_SHOWN];
    for (int i = 1; i < table->tensors.count; i++)
        if (name_compare(&table->tensors.at[i - 1], &table->tensors.at[i]) == 0)
            return mgb_fail(MGB_CORRUPT, "tensor '%s' is there twice",
                            mgb_json_show(shown, table->tensors.at[i].name));
    return MGB_OK;
}

static int word_compare(const void *a, const void *b)
{
    const struct mgb_stored_word *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static enum mgb_status words_check(struct table *table)
{
    char shown[MGB_JSON_SHOWN];
    if (table->words.count)
        qsort(table->words.at, (size_t)table->words.count, sizeof *table->words.at, word_compare);
    for (int i = 1; i < table->words.count; i++)
        if (word_compare(&table->words.at[i - 1], &table->words.at[i]) == 0)
            return mgb_fail(MGB_CORRUPT, "__metadata__ has '%s' twice",
                            mgb_json_show(shown, table->words.at[i].name));
    return MGB_OK;
}

enum mgb_status mgb_tensor_file_read_header(struct mgb_tensor_file *out, size_t size)
{
    struct table table = {0};
    struct mgb_json json = {out->header, size, 0, "the header"};
    enum mgb_status status = entries_read(&table, &json, out->data_bytes);
    if (status == MGB_OK) {
        table_sort(&table, place_compare);
        status = places_check(&table, out->data_bytes);
    }
    if (status == MGB_OK) {
        table_sort(&table, name_compare);
        status = names_check(&table);
    }
    if (status == MGB_OK)
        status = words_check(&table);
    out->tensors = table.tensors.at;
    out->count = table.tensors.count;
    out->words = table.words.at;
    out->word_count = table.words.count;
    return status;
}
