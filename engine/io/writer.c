/* See writer.h. */
#include "engine/io/writer.h"

#include "engine/base/memory.h"
#include "engine/io/tensor_file.h"
#include <string.h>

#define ALIGNMENT 64

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "values are written as they lie in memory: little-endian"
#endif

void mgb_writer_done(struct mgb_writer *writer)
{
    for (int i = 0; i < writer->items.count; i++)
        mgb_release(writer->items.at[i].name);
    mgb_vector_done(&writer->items);
    mgb_text_done(&writer->words);
    mgb_text_done(&writer->header);
}

void mgb_writer_add(struct mgb_writer *writer, const struct mgb_variable_info *info, int variable,
                    int slot, const char *slot_name)
{
    struct mgb_text name = {0};
    struct mgb_writer_item item = {
        .shape = info->shape, .count = info->count, .variable = variable, .slot = slot};
    mgb_text_add(&name, slot < 0 ? "%s" : "%s/%s", info->name, slot_name);
    if (mgb_text_take(&item.name, &name) != MGB_OK || !mgb_vector_push(&writer->items, item)) {
        mgb_release(item.name);
        writer->failed = true;
    }
}

static void text_quote(struct mgb_text *out, const char *text)
{
    mgb_text_add(out, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            mgb_text_add(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            mgb_text_add(out, "\\u%04x", (unsigned)*text);
        else
            mgb_text_add(out, "%c", *text);
    }
    mgb_text_add(out, "\"");
}

void mgb_writer_add_word(struct mgb_writer *writer, const char *name, const char *format, ...)
{
    char value[256];
    va_list args;
    va_start(args, format);
    mgb_format_list(value, sizeof value, format, args);
    va_end(args);
    if (writer->words.length)
        mgb_text_add(&writer->words, ",");
    text_quote(&writer->words, name);
    mgb_text_add(&writer->words, ":");
    text_quote(&writer->words, value);
}

static void item_write(struct mgb_text *out, const struct mgb_writer_item *item, int64_t begin)
{
    mgb_text_add(out, ",");
    text_quote(out, item->name);
    mgb_text_add(out, ":{\"dtype\":\"F32\",\"shape\":[");
    for (int i = 0; i < item->shape.rank; i++)
        mgb_text_add(out, i ? ",%lld" : "%lld", (long long)item->shape.dim[i]);
    mgb_text_add(out, "],\"data_offsets\":[%lld,%lld]}", (long long)begin,
                 (long long)(begin + item->count * (int64_t)sizeof(float)));
}

enum mgb_status mgb_writer_make_header(struct mgb_writer *writer)
{
    struct mgb_text *out = &writer->header;
    mgb_text_add(out, "{\"__metadata__\":{%s}", writer->words.length ? writer->words.chars : "");
    for (int i = 0; i < writer->items.count; i++) {
        item_write(out, &writer->items.at[i], writer->values_bytes);
        writer->values_bytes += writer->items.at[i].count * (int64_t)sizeof(float);
    }
    mgb_text_add(out, "}");
    while (!out->failed && (out->length + 8) % ALIGNMENT)
        mgb_text_add(out, " ");
    return writer->failed || writer->words.failed || out->failed
               ? mgb_fail(MGB_NO_MEMORY, "no memory for the header of a checkpoint")
               : MGB_OK;
}

int64_t mgb_writer_bytes(const struct mgb_writer *writer)
{
    return 8 + (int64_t)writer->header.length + writer->values_bytes;
}

enum mgb_status mgb_writer_write(struct mgb_replace *file, const struct mgb_writer *writer,
                                 const struct mgb_checkpoint_values *values, float *scratch,
                                 uint64_t *digest)
{
    uint64_t size = writer->header.length;
    *digest = 0;
    MGB_TRY(mgb_replace_write(file, &size, sizeof size));
    MGB_TRY(mgb_replace_write(file, writer->header.chars, writer->header.length));
    for (int i = 0; i < writer->items.count; i++) {
        const struct mgb_writer_item *item = &writer->items.at[i];
        MGB_TRY(values->read(values->context, scratch, item->variable, item->slot));
        MGB_TRY(mgb_replace_write(file, scratch, (size_t)item->count * sizeof *scratch));
        *digest += mgb_stored_digest(item->name, scratch, item->count);
    }
    return mgb_replace_sync(file);
}
