/* See csv_record.h. */
#include "engine/data/csv_record.h"

#include "engine/base/memory.h"

enum { MOST_CHARS = 16 << 20, MOST_FIELDS = 1 << 20 };

static enum mgb_status record_fail(const struct mgb_csv_record *record, enum mgb_status status,
                                   const char *what)
{
    return mgb_fail(status, "'%s', line %lld, column %d: %s", record->stream.gzip.path,
                    (long long)record->stream.line, record->fields.count, what);
}

static enum mgb_status byte_add(struct mgb_csv_record *record, char byte)
{
    if (record->used == record->room) {
        size_t room = record->room ? 2 * record->room : 1024;
        if (room > MOST_CHARS)
            return record_fail(record, MGB_CORRUPT,
                               "a record of more than 16 MiB; is a quote left open?");
        char *chars = mgb_realloc(record->chars, room);
        if (!chars)
            return record_fail(record, MGB_NO_MEMORY, "no memory for it");
        record->chars = chars;
        record->room = room;
    }
    record->chars[record->used++] = byte;
    return MGB_OK;
}

/* After the first quote, up to and over the last. */
static enum mgb_status quoted_read(struct mgb_csv_record *record)
{
    for (int byte;;) {
        int64_t line = record->stream.line;
        MGB_TRY(mgb_stream_get(&byte, &record->stream));
        if (byte == '"') {
            MGB_TRY(mgb_stream_look(&byte, &record->stream));
            if (byte != '"')
                return MGB_OK;
            MGB_TRY(mgb_stream_get(&byte, &record->stream));
        }
        if (byte <= 0)
            return mgb_fail(MGB_CORRUPT,
                            "'%s', line %lld, column %d: %s (the record began at line "
                            "%lld)",
                            record->stream.gzip.path, (long long)line, record->fields.count,
                            byte ? "the file ends within quotes" : "a zero byte",
                            (long long)record->line);
        MGB_TRY(byte_add(record, (char)byte));
    }
}

static enum mgb_status plain_read(struct mgb_csv_record *record)
{
    for (int byte;;) {
        MGB_TRY(mgb_stream_look(&byte, &record->stream));
        if (byte < 0 || byte == '\n' || byte == '\r' || byte == record->separator)
            return MGB_OK;
        if (byte == '"')
            return record_fail(record, MGB_CORRUPT,
                               "a quote within a field; such a field is quoted whole, its quotes "
                               "doubled");
        if (byte == 0)
            return record_fail(record, MGB_CORRUPT, "a zero byte; is it a text?");
        MGB_TRY(mgb_stream_get(&byte, &record->stream));
        MGB_TRY(byte_add(record, (char)byte));
    }
}

/* What follows a field: *more when a further one does. */
static enum mgb_status end_read(struct mgb_csv_record *record, bool *more)
{
    int byte;
    MGB_TRY(mgb_stream_look(&byte, &record->stream));
    *more = byte == record->separator;
    if (byte != '\r' && byte != '\n' && byte >= 0 && !*more)
        return record_fail(record, MGB_CORRUPT, "something follows the quotes of a field");
    if (byte < 0 || byte == '\n' || *more)
        return mgb_stream_get(&byte, &record->stream);
    MGB_TRY(mgb_stream_get(&byte, &record->stream));
    MGB_TRY(mgb_stream_look(&byte, &record->stream));
    if (byte >= 0 && byte != '\n')
        return record_fail(record, MGB_CORRUPT,
                           "a carriage return without a new line; convert the file with dos2unix "
                           "or mac2unix");
    return mgb_stream_get(&byte, &record->stream);
}

static enum mgb_status field_read(struct mgb_csv_record *record, bool *more)
{
    int byte;
    if (record->fields.count == MOST_FIELDS)
        return record_fail(record, MGB_CORRUPT, "more columns than are possible");
    if (!mgb_vector_push(&record->fields, record->used))
        return record_fail(record, MGB_NO_MEMORY, "no memory for it");
    MGB_TRY(mgb_stream_look(&byte, &record->stream));
    record->blank = record->fields.count == 1 && (byte == '\n' || byte == '\r');
    if (byte == '"') {
        MGB_TRY(mgb_stream_get(&byte, &record->stream));
        MGB_TRY(quoted_read(record));
    } else {
        MGB_TRY(plain_read(record));
    }
    MGB_TRY(byte_add(record, '\0'));
    return end_read(record, more);
}

enum mgb_status mgb_csv_next(bool *some, struct mgb_csv_record *record)
{
    int byte;
    record->used = 0;
    record->fields.count = 0;
    record->line = record->stream.line;
    MGB_TRY(mgb_stream_look(&byte, &record->stream));
    *some = byte >= 0;
    for (bool more = *some; more;)
        MGB_TRY(field_read(record, &more));
    return MGB_OK;
}

const char *mgb_csv_field(const struct mgb_csv_record *record, int field)
{
    return record->chars + record->fields.at[field];
}

enum mgb_status mgb_csv_open(struct mgb_csv_record *out, const char *path, char separator)
{
    out->separator = separator;
    out->chars = NULL;
    out->used = out->room = 0;
    out->fields.at = NULL;
    out->fields.count = out->fields.capacity = 0;
    return mgb_stream_open(&out->stream, path);
}

void mgb_csv_close(struct mgb_csv_record *record)
{
    mgb_stream_close(&record->stream);
    mgb_release(record->chars);
    mgb_vector_done(&record->fields);
}
