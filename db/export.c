/* Rows as CSV, JSON, JSON lines and Markdown; see export.h. */
#include "db/export.h"

#include <errno.h>
#include <math.h>
#include <mgb/text.h>
#include <stdlib.h>
#include <string.h>

#include "db/schema.h"

enum mgb_status mgb_export_fail(const char *name)
{
    return mgb_fail(MGB_IO, "cannot write %s: %s", name ? name : "standard output",
                    strerror(errno));
}

/* What stands for itself in a cell: Markdown lets HTML pass, and would make pictures and links of brackets. */
static void markdown_text_put(FILE *out, const char *text, size_t size)
{
    static const char marks[] = "|\\`*[]";
    char shown[MGB_CHARACTER_SHOWN];
    for (size_t used; size > 0; text += used, size -= used) {
        size_t length = mgb_character_show(shown, &used, text, size);
        if (*text == '\n')
            fputs("<br>", out);
        else if (*text == '\t')
            fputc(' ', out);
        else if (*text == '<' || *text == '>' || *text == '&')
            fputs(*text == '<' ? "&lt;" : *text == '>' ? "&gt;" : "&amp;", out);
        else if (*text != '\r') {
            bool mark = length == 1 && strchr(marks, *shown);
            fprintf(out, "%s%s", mark || shown[0] != *text ? "\\" : "", shown);
        }
    }
}

static void text_put(const struct mgb_export *writer, const char *text, size_t size)
{
    switch (writer->format) {
    case MGB_EXPORT_CSV:
        mgb_csv_put(writer->out, text, size, !writer->plain);
        break;
    case MGB_EXPORT_JSON:
    case MGB_EXPORT_JSONL:
        mgb_json_put(writer->out, text, size);
        break;
    case MGB_EXPORT_MARKDOWN:
        markdown_text_put(writer->out, text, size);
        break;
    }
}

static bool is_json(const struct mgb_export *writer)
{
    return writer->format == MGB_EXPORT_JSON || writer->format == MGB_EXPORT_JSONL;
}

/* As tables on the screen show it: 4 digits, all of a whole part. */
static double screen_round(double value)
{
    char text[MGB_EXPORT_NUMBER];
    if (fabs(value) >= 1000 && fabs(value) < 1e15)
        return round(value);
    snprintf(text, sizeof text, "%.3e", value);
    return strtod(text, NULL);
}

static void real_put(const struct mgb_export *writer, double value)
{
    char text[MGB_EXPORT_NUMBER];
    if (!isfinite(value)) {
        fputs(is_json(writer) ? "null" : "", writer->out);
    } else if (writer->format == MGB_EXPORT_MARKDOWN) {
        fputs(mgb_export_number(text, screen_round(value), true), writer->out);
    } else {
        fputs(mgb_export_number(text, value, writer->plain), writer->out);
    }
}

/* Bytes as hexadecimal digits, as hex() of SQL has them. */
static void blob_put(const struct mgb_export *writer, const char *bytes, size_t size)
{
    if (is_json(writer))
        fputc('"', writer->out);
    for (size_t i = 0; i < size; i++)
        fprintf(writer->out, "%02X", (unsigned char)bytes[i]);
    if (is_json(writer))
        fputc('"', writer->out);
}

static void value_put(const struct mgb_export *writer, const struct mgb_value *value)
{
    switch (value->kind) {
    case MGB_VALUE_NULL:
        fputs(is_json(writer) ? "null" : "", writer->out);
        break;
    case MGB_VALUE_INT:
        fprintf(writer->out, "%lld", (long long)value->integer);
        break;
    case MGB_VALUE_REAL:
        real_put(writer, value->real);
        break;
    case MGB_VALUE_TEXT:
        text_put(writer, value->text, value->size);
        break;
    case MGB_VALUE_BLOB:
        blob_put(writer, value->text, value->size);
        break;
    }
}

static bool name_is_taken(const struct mgb_export *writer, const char *name)
{
    for (int i = 0; i < writer->columns; i++)
        if (strcmp(writer->names[i], name) == 0)
            return true;
    return false;
}

/* `name`, or with a number behind it where an earlier column is called so: an object has each name once. */
static char *name_make(const struct mgb_export *writer, const char *name)
{
    char *out = strdup(name);
    for (int number = 2; is_json(writer) && out && name_is_taken(writer, out); number++) {
        free(out);
        if (asprintf(&out, "%s_%d", name, number) < 0)
            out = NULL;
    }
    return out;
}

static void header_put(const struct mgb_export *writer)
{
    bool csv = writer->format == MGB_EXPORT_CSV;
    for (int i = 0; i < writer->columns; i++) {
        fputs(csv ? (i ? "," : "") : i ? " | " : "| ", writer->out);
        text_put(writer, writer->names[i], strlen(writer->names[i]));
    }
    fputs(csv ? "\r\n" : " |\n|", writer->out);
    for (int i = 0; !csv && i < writer->columns; i++)
        fputs(" --- |", writer->out);
    if (!csv)
        fputc('\n', writer->out);
}

static enum mgb_status columns_take(void *context, const char *const *names, int count)
{
    struct mgb_export *writer = context;
    if (count == 0)
        return mgb_fail(MGB_INVALID, "query: the statement gives no columns");
    writer->names = calloc((size_t)count, sizeof *writer->names);
    while (writer->names && writer->columns < count) {
        writer->names[writer->columns] = name_make(writer, names[writer->columns]);
        if (!writer->names[writer->columns])
            break;
        writer->columns++;
    }
    if (writer->columns < count)
        return mgb_fail(MGB_NO_MEMORY, "no memory for the names of %d columns", count);
    writer->begun = true;
    if (writer->format == MGB_EXPORT_JSON) {
        const char *program = writer->program ? writer->program : "";
        fprintf(writer->out, "{\"schema\":%d,\"program\":", mgb_schema_get()->version);
        mgb_json_put(writer->out, program, strlen(program));
        fputs(",\"rows\":[", writer->out);
    } else if (writer->format != MGB_EXPORT_JSONL) {
        header_put(writer);
    }
    return ferror(writer->out) ? mgb_export_fail(writer->name) : MGB_OK;
}

static void object_put(const struct mgb_export *writer, const struct mgb_value *values)
{
    for (int i = 0; i < writer->columns; i++) {
        fputc(i == 0 ? '{' : ',', writer->out);
        mgb_json_put(writer->out, writer->names[i], strlen(writer->names[i]));
        fputc(':', writer->out);
        value_put(writer, &values[i]);
    }
    fputc('}', writer->out);
}

static enum mgb_status row_take(void *context, const struct mgb_value *values, int count)
{
    struct mgb_export *writer = context;
    if (writer->stop && writer->stop(writer->context))
        return mgb_fail(MGB_INTERRUPTED, "stopped after %lld rows", (long long)writer->rows);
    switch (writer->format) {
    case MGB_EXPORT_JSON:
        fputs(writer->rows ? ",\n" : "\n", writer->out);
        object_put(writer, values);
        break;
    case MGB_EXPORT_JSONL:
        object_put(writer, values);
        fputc('\n', writer->out);
        break;
    case MGB_EXPORT_CSV:
    case MGB_EXPORT_MARKDOWN:
        for (int i = 0; i < count; i++) {
            bool csv = writer->format == MGB_EXPORT_CSV;
            fputs(csv ? (i ? "," : "") : i ? " | " : "| ", writer->out);
            value_put(writer, &values[i]);
        }
        fputs(writer->format == MGB_EXPORT_CSV ? "\r\n" : " |\n", writer->out);
        break;
    }
    writer->rows++;
    return ferror(writer->out) ? mgb_export_fail(writer->name) : MGB_OK;
}

struct mgb_query_sink mgb_export_sink(struct mgb_export *writer)
{
    return (struct mgb_query_sink){.context = writer, .columns = columns_take, .row = row_take};
}

enum mgb_status mgb_export_end(struct mgb_export *writer, bool complete)
{
    if (writer->begun && writer->format == MGB_EXPORT_JSON)
        fprintf(writer->out, "%s],\"complete\":%s}\n", writer->rows ? "\n" : "",
                complete ? "true" : "false");
    for (int i = 0; i < writer->columns; i++)
        free(writer->names[i]);
    free(writer->names);
    writer->names = NULL;
    writer->columns = 0;
    bool written = fflush(writer->out) == 0 && !ferror(writer->out);
    return written ? MGB_OK : mgb_export_fail(writer->name);
}
