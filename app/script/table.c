/* Tables in three forms. Cells keep their kind until they are printed, because each form words them differently. */
#include "app/script/table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum cell_kind { CELL_EMPTY, CELL_TEXT, CELL_INTEGER, CELL_NUMBER, CELL_BOOLEAN };

struct cell {
    enum cell_kind kind;
    union {
        char *text;
        long long integer;
        double number;
        bool boolean;
    };
};

struct mgb_table {
    int columns;
    char **names;
    struct cell *cells;
    size_t count, capacity;
    bool failed;
};

enum mgb_status mgb_table_make(struct mgb_table **out, int columns, const char *const *names)
{
    struct mgb_table *table = calloc(1, sizeof *table);
    *out = NULL;
    if (table)
        table->names = calloc((size_t)columns + 1, sizeof *table->names);
    bool good = table && table->names;
    for (int i = 0; good && i < columns; i++) {
        good = (table->names[i] = strdup(names[i])) != NULL;
        table->columns += good;
    }
    if (!good) {
        mgb_table_free(table);
        return mgb_fail(MGB_NO_MEMORY, "making a table of %d columns: memory is exhausted",
                        columns);
    }
    *out = table;
    return MGB_OK;
}

void mgb_table_free(struct mgb_table *table)
{
    if (!table)
        return;
    for (int i = 0; i < table->columns; i++)
        free(table->names[i]);
    for (size_t i = 0; i < table->count; i++)
        if (table->cells[i].kind == CELL_TEXT)
            free(table->cells[i].text);
    free(table->names);
    free(table->cells);
    free(table);
}

static void cell_add(struct mgb_table *table, struct cell cell)
{
    if (table->count == table->capacity) {
        size_t capacity = table->capacity ? table->capacity * 2 : 64;
        struct cell *cells = realloc(table->cells, capacity * sizeof *cells);
        if (!cells) {
            table->failed = true;
            if (cell.kind == CELL_TEXT)
                free(cell.text);
            return;
        }
        table->cells = cells;
        table->capacity = capacity;
    }
    table->cells[table->count++] = cell;
}

void mgb_table_add_text(struct mgb_table *table, const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    table->failed = table->failed || (text && !copy);
    cell_add(table, (struct cell){.kind = copy ? CELL_TEXT : CELL_EMPTY, .text = copy});
}

void mgb_table_add_integer(struct mgb_table *table, long long value)
{
    cell_add(table, (struct cell){.kind = CELL_INTEGER, .integer = value});
}

void mgb_table_add_number(struct mgb_table *table, double value)
{
    cell_add(table,
             (struct cell){.kind = isnan(value) ? CELL_EMPTY : CELL_NUMBER, .number = value});
}

void mgb_table_add_boolean(struct mgb_table *table, bool value)
{
    cell_add(table, (struct cell){.kind = CELL_BOOLEAN, .boolean = value});
}

void mgb_table_add_empty(struct mgb_table *table)
{
    cell_add(table, (struct cell){.kind = CELL_EMPTY});
}

/* Only LC_CTYPE is ever set in this program, so printf writes a point; the search mends it where a library did more. */
static void point_mend(char *text)
{
    char *comma = strchr(text, ',');
    if (comma)
        *comma = '.';
}

char *mgb_table_number(char out[40], double value, enum mgb_table_format format)
{
    if (format == MGB_TABLE_TEXT) {
        snprintf(out, 40, fabs(value) >= 1000 && fabs(value) < 1e15 ? "%.0f" : "%.4g", value);
    } else {
        for (int digits = 15; digits <= 17; digits++) {
            snprintf(out, 40, "%.*g", digits, value);
            if (strtod(out, NULL) == value)
                break;
        }
    }
    point_mend(out);
    return out;
}

/* The cell without quoting, in `small` or borrowed. */
static const char *cell_text(const struct cell *cell, enum mgb_table_format format, char small[40])
{
    switch (cell->kind) {
    case CELL_EMPTY:
        return format == MGB_TABLE_TEXT ? "-" : format == MGB_TABLE_CSV ? "" : "null";
    case CELL_TEXT:
        return cell->text;
    case CELL_INTEGER:
        snprintf(small, 40, "%lld", cell->integer);
        return small;
    case CELL_NUMBER:
        if (format == MGB_TABLE_JSON && isinf(cell->number))
            return "null"; /* JSON has no infinity */
        return mgb_table_number(small, cell->number, format);
    case CELL_BOOLEAN:
        if (format == MGB_TABLE_TEXT)
            return cell->boolean ? "yes" : "no";
        return cell->boolean ? "true" : "false";
    }
    return "";
}

static const struct cell *cell_at(const struct mgb_table *table, size_t row, int column)
{
    static const struct cell empty = {.kind = CELL_EMPTY};
    size_t at = row * (size_t)table->columns + (size_t)column;
    return at < table->count ? &table->cells[at] : &empty;
}

static size_t row_count(const struct mgb_table *table)
{
    size_t columns = table->columns > 0 ? (size_t)table->columns : 1;
    return (table->count + columns - 1) / columns;
}

/* Columns on the screen; a byte that is no character counts as one. */
static int text_width(const char *text)
{
    int width = 0;
    mbstate_t state = {0};
    for (size_t left = strlen(text), used; left > 0; text += used, left -= used) {
        wchar_t c;
        used = mbrtowc(&c, text, left, &state);
        if (used == (size_t)-1 || used == (size_t)-2 || used == 0) {
            memset(&state, 0, sizeof state);
            used = 1;
            width++;
        } else {
            width += wcwidth(c) > 0 ? wcwidth(c) : 0;
        }
    }
    return width;
}

static bool column_is_numeric(const struct mgb_table *table, int column)
{
    for (size_t row = 0; row < row_count(table); row++) {
        enum cell_kind kind = cell_at(table, row, column)->kind;
        if (kind == CELL_TEXT || kind == CELL_BOOLEAN)
            return false;
    }
    return true;
}

static int column_width(const struct mgb_table *table, int column)
{
    char small[40];
    int width = text_width(table->names[column]);
    for (size_t row = 0; row < row_count(table); row++) {
        int w = text_width(cell_text(cell_at(table, row, column), MGB_TABLE_TEXT, small));
        width = w > width ? w : width;
    }
    return width;
}

/* One cell with the gap before it; nothing after the last one, so that lines have no trailing blanks. */
static void padded_print(FILE *out, const char *text, int width, bool right, bool first, bool last)
{
    int pad = width - text_width(text);
    fprintf(out, "%s%*s", first ? "" : "  ", right ? pad : 0, "");
    for (const char *c = text; *c; c++)
        fputc(*c == '\n' || *c == '\r' || *c == '\t' ? ' ' : *c, out);
    if (!right && !last)
        fprintf(out, "%*s", pad, "");
}

static void text_print(const struct mgb_table *table, FILE *out)
{
    int last = table->columns - 1;
    int *widths = calloc((size_t)table->columns + 1, sizeof *widths);
    bool *right = calloc((size_t)table->columns + 1, sizeof *right);
    for (int i = 0; widths && right && i <= last; i++) {
        widths[i] = column_width(table, i);
        right[i] = column_is_numeric(table, i);
        padded_print(out, table->names[i], widths[i], right[i], i == 0, i == last);
    }
    fputc('\n', out);
    for (size_t row = 0; widths && right && row < row_count(table); row++) {
        char small[40];
        for (int i = 0; i <= last; i++)
            padded_print(out, cell_text(cell_at(table, row, i), MGB_TABLE_TEXT, small), widths[i],
                         right[i], i == 0, i == last);
        fputc('\n', out);
    }
    free(widths);
    free(right);
}

static void csv_field_print(FILE *out, const char *text, bool first)
{
    if (!first)
        fputc(',', out);
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (const char *c = text; *c; c++) {
        if (*c == '"')
            fputc('"', out);
        fputc(*c, out);
    }
    fputc('"', out);
}

static void csv_print(const struct mgb_table *table, FILE *out)
{
    for (int i = 0; i < table->columns; i++)
        csv_field_print(out, table->names[i], i == 0);
    fputs("\r\n", out);
    for (size_t row = 0; row < row_count(table); row++) {
        char small[40];
        for (int i = 0; i < table->columns; i++)
            csv_field_print(out, cell_text(cell_at(table, row, i), MGB_TABLE_CSV, small), i == 0);
        fputs("\r\n", out);
    }
}

static void json_string_print(FILE *out, const char *text)
{
    static const char escapes[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        const char *escape = strchr(escapes, *c);
        if (escape)
            fprintf(out, "\\%c", letters[escape - escapes]);
        else if (*c < 0x20)
            fprintf(out, "\\u%04x", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

static void json_print(const struct mgb_table *table, FILE *out)
{
    for (size_t row = 0; row < row_count(table); row++) {
        char small[40];
        for (int i = 0; i < table->columns; i++) {
            const struct cell *cell = cell_at(table, row, i);
            fputc(i == 0 ? '{' : ',', out);
            json_string_print(out, table->names[i]);
            fputc(':', out);
            const char *text = cell_text(cell, MGB_TABLE_JSON, small);
            if (cell->kind == CELL_TEXT)
                json_string_print(out, text);
            else
                fputs(text, out);
        }
        fputs("}\n", out);
    }
}

enum mgb_status mgb_table_print(const struct mgb_table *table, enum mgb_table_format format,
                                FILE *out)
{
    if (table->failed)
        return mgb_fail(MGB_NO_MEMORY, "printing a table of %zu rows: memory is exhausted",
                        row_count(table));
    switch (format) {
    case MGB_TABLE_TEXT:
        text_print(table, out);
        break;
    case MGB_TABLE_CSV:
        csv_print(table, out);
        break;
    case MGB_TABLE_JSON:
        json_print(table, out);
        break;
    }
    if (fflush(out) != 0 || ferror(out))
        return mgb_fail(MGB_IO, "printing a table: %m");
    return MGB_OK;
}
