/* Tables in three forms. Cells keep their kind until they are printed, because each form words them differently. */
#include "app/script/table_private.h"
#include "app/script/terminal.h"
#include <math.h>
#include <mgb/text.h>
#include <stdlib.h>
#include <string.h>

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

void mgb_table_clear(struct mgb_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->cells[i].kind == CELL_TEXT || table->cells[i].kind == CELL_FIGURE)
            free(table->cells[i].text);
    table->count = 0;
}

void mgb_table_free(struct mgb_table *table)
{
    if (!table)
        return;
    for (int i = 0; i < table->columns; i++)
        free(table->names[i]);
    mgb_table_clear(table);
    free(table->names);
    free(table->cells);
    free(table);
}

static void cell_add(struct mgb_table *table, struct table_cell cell)
{
    if (table->count == table->capacity) {
        size_t capacity = table->capacity ? table->capacity * 2 : 64;
        struct table_cell *cells = realloc(table->cells, capacity * sizeof *cells);
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

void mgb_table_add_bytes(struct mgb_table *table, const char *text, size_t size)
{
    char *copy = text ? malloc(size + 1) : NULL;
    table->failed = table->failed || (text && !copy);
    if (copy) {
        memcpy(copy, text, size);
        copy[size] = '\0';
    }
    cell_add(table, (struct table_cell){
                        .kind = copy ? CELL_TEXT : CELL_EMPTY, .text = copy, .size = size});
}

void mgb_table_add_text(struct mgb_table *table, const char *text)
{
    mgb_table_add_bytes(table, text, text ? strlen(text) : 0);
}

void mgb_table_add_figure(struct mgb_table *table, const char *text)
{
    mgb_table_add_text(table, text);
    if (text && table->count > 0 && table->cells[table->count - 1].kind == CELL_TEXT)
        table->cells[table->count - 1].kind = CELL_FIGURE;
}

void mgb_table_add_integer(struct mgb_table *table, long long value)
{
    cell_add(table, (struct table_cell){.kind = CELL_INTEGER, .integer = value});
}

void mgb_table_add_number(struct mgb_table *table, double value)
{
    cell_add(table,
             (struct table_cell){.kind = isnan(value) ? CELL_EMPTY : CELL_NUMBER, .number = value});
}

void mgb_table_add_boolean(struct mgb_table *table, bool value)
{
    cell_add(table, (struct table_cell){.kind = CELL_BOOLEAN, .boolean = value});
}

void mgb_table_add_empty(struct mgb_table *table)
{
    cell_add(table, (struct table_cell){.kind = CELL_EMPTY});
}

static const char *cell_word(const struct table_cell *cell, enum mgb_table_format format,
                             char small[MGB_FIGURE])
{
    switch (cell->kind) {
    case CELL_EMPTY:
        return format == MGB_TABLE_TEXT ? "-" : format == MGB_TABLE_CSV ? "" : "null";
    case CELL_TEXT:
    case CELL_FIGURE:
        return cell->text;
    case CELL_INTEGER:
        snprintf(small, 40, "%lld", cell->integer);
        return small;
    case CELL_NUMBER:
        if (format == MGB_TABLE_JSON && isinf(cell->number))
            return "null"; /* JSON has no infinity */
        return format == MGB_TABLE_TEXT ? mgb_format_figure(small, cell->number)
                                        : mgb_format_exact(small, cell->number);
    case CELL_BOOLEAN:
        if (format == MGB_TABLE_TEXT)
            return cell->boolean ? "yes" : "no";
        return cell->boolean ? "true" : "false";
    }
    return "";
}

static bool cell_is_text(const struct table_cell *cell)
{
    return cell->kind == CELL_TEXT || cell->kind == CELL_FIGURE;
}

const char *mgb_table_cell_text(const struct table_cell *cell, enum mgb_table_format format,
                                char small[MGB_FIGURE], size_t *size)
{
    const char *text = cell_word(cell, format, small);
    *size = cell_is_text(cell) ? cell->size : strlen(text);
    return text;
}

const struct table_cell *mgb_table_cell_at(const struct mgb_table *table, size_t row, int column)
{
    static const struct table_cell empty = {.kind = CELL_EMPTY};
    size_t at = row * (size_t)table->columns + (size_t)column;
    return at < table->count ? &table->cells[at] : &empty;
}

size_t mgb_table_row_count(const struct mgb_table *table)
{
    size_t columns = table->columns > 0 ? (size_t)table->columns : 1;
    return (table->count + columns - 1) / columns;
}

static void csv_field_print(FILE *out, const char *text, size_t size, bool first)
{
    if (!first)
        fputc(',', out);
    mgb_csv_put(out, text, size, false);
}

static void csv_print(const struct mgb_table *table, FILE *out)
{
    for (int i = 0; i < table->columns; i++)
        csv_field_print(out, table->names[i], strlen(table->names[i]), i == 0);
    fputs("\r\n", out);
    for (size_t row = 0; row < mgb_table_row_count(table); row++) {
        char small[MGB_FIGURE];
        for (int i = 0; i < table->columns; i++) {
            size_t size;
            const char *text =
                mgb_table_cell_text(mgb_table_cell_at(table, row, i), MGB_TABLE_CSV, small, &size);
            csv_field_print(out, text, size, i == 0);
        }
        fputs("\r\n", out);
    }
}

static void json_print(const struct mgb_table *table, FILE *out)
{
    for (size_t row = 0; row < mgb_table_row_count(table); row++) {
        char small[MGB_FIGURE];
        for (int i = 0; i < table->columns; i++) {
            const struct table_cell *cell = mgb_table_cell_at(table, row, i);
            size_t size;
            fputc(i == 0 ? '{' : ',', out);
            mgb_json_put(out, table->names[i], strlen(table->names[i]));
            fputc(':', out);
            const char *text = mgb_table_cell_text(cell, MGB_TABLE_JSON, small, &size);
            if (cell_is_text(cell))
                mgb_json_put(out, text, size);
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
                        mgb_table_row_count(table));
    switch (format) {
    case MGB_TABLE_TEXT:
        MGB_TRY(mgb_table_print_within(table, mgb_terminal_width(fileno(out)), out));
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
