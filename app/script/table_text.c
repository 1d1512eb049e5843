/* Tables for people: aligned columns. One that is too wide for its terminal is told in fewer columns: what is the same in
 * every row goes to a line above, and what still does not fit to a second block below. */
#include "app/script/table_private.h"
#include "app/script/terminal.h"
#include <stdlib.h>
#include <string.h>

struct layout {
    const struct mgb_table *table;
    int *widths, *shown; /* of each column; the columns that are left, in order */
    bool *right;
    int count;
    int gap; /* blanks between columns */
};

struct shown { /* of a cell or a name; it may have zeros inside */
    const char *text;
    size_t size;
};

static struct shown text_at(const struct mgb_table *table, size_t row, int column, char small[40])
{
    struct shown shown;
    shown.text = mgb_table_cell_text(mgb_table_cell_at(table, row, column), MGB_TABLE_TEXT, small,
                                     &shown.size);
    return shown;
}

static struct shown name_at(const struct mgb_table *table, int column)
{
    return (struct shown){table->names[column], strlen(table->names[column])};
}

static int shown_width(struct shown shown)
{
    return mgb_bytes_width(shown.text, shown.size);
}

static bool column_is_numeric(const struct mgb_table *table, int column)
{
    for (size_t row = 0; row < mgb_table_row_count(table); row++) {
        enum table_cell_kind kind = mgb_table_cell_at(table, row, column)->kind;
        if (kind == CELL_TEXT || kind == CELL_BOOLEAN)
            return false;
    }
    return true;
}

static int column_width(const struct mgb_table *table, int column)
{
    char small[40];
    int width = shown_width(name_at(table, column));
    for (size_t row = 0; row < mgb_table_row_count(table); row++) {
        int w = shown_width(text_at(table, row, column, small));
        width = w > width ? w : width;
    }
    return width;
}

static bool column_is_constant(const struct mgb_table *table, int column)
{
    char first[40], small[40];
    struct shown wanted = text_at(table, 0, column, first);
    for (size_t row = 1; row < mgb_table_row_count(table); row++) {
        struct shown other = text_at(table, row, column, small);
        if (other.size != wanted.size || memcmp(other.text, wanted.text, wanted.size) != 0)
            return false;
    }
    return true;
}

/* One cell with `gap` blanks before it; nothing after the last one, so that lines have no trailing blanks. */
static void padded_print(FILE *out, struct shown shown, int width, bool right, int gap, bool last)
{
    int pad = width - shown_width(shown);
    fprintf(out, "%*s", gap + (right ? pad : 0), "");
    mgb_bytes_print(out, shown.text, shown.size);
    if (!right && !last)
        fprintf(out, "%*s", pad, "");
}

/* The columns shown[first .. end - 1], after shown[0] again where `named`. */
static void block_print(const struct layout *l, int first, int end, bool named, FILE *out)
{
    char small[40];
    for (size_t line = 0; line <= mgb_table_row_count(l->table); line++) {
        for (int i = named ? -1 : first; i < end; i = i < 0 ? first : i + 1) {
            int column = l->shown[i < 0 ? 0 : i];
            struct shown shown =
                line == 0 ? name_at(l->table, column) : text_at(l->table, line - 1, column, small);
            padded_print(out, shown, l->widths[column], l->right[column],
                         (named ? i < 0 : i == first) ? 0 : l->gap, i + 1 == end);
        }
        fputc('\n', out);
    }
}

static int total_width(const struct layout *l)
{
    int width = -l->gap;
    for (int i = 0; i < l->count; i++)
        width += l->widths[l->shown[i]] + l->gap;
    return width;
}

/* Takes the columns that are the same in every row out of the table, into "name value" above it. */
static void constants_print(struct layout *l, int width, FILE *out)
{
    int kept = 0, used = 0;
    for (int i = 0; i < l->count; i++) {
        char small[40];
        int column = l->shown[i];
        if (!column_is_constant(l->table, column)) {
            l->shown[kept++] = column;
            continue;
        }
        struct shown name = name_at(l->table, column), shown = text_at(l->table, 0, column, small);
        int own = shown_width(name) + 1 + shown_width(shown);
        bool fits = used == 0 || used + 2 + own <= width;
        fputs(used == 0 ? "" : fits ? ", " : ",\n", out);
        mgb_bytes_print(out, name.text, name.size);
        fputc(' ', out);
        mgb_bytes_print(out, shown.text, shown.size);
        used = used == 0 || !fits ? own : used + 2 + own;
    }
    if (used > 0)
        fputc('\n', out);
    l->count = kept;
}

static void blocks_print(struct layout *l, int width, FILE *out)
{
    bool many = mgb_table_row_count(l->table) > 1;
    for (int first = 0; first < l->count;) {
        /* The rows of a second block say whose they are, where there is room for it. */
        bool named = many && first > 0 &&
                     l->widths[l->shown[0]] + l->gap + l->widths[l->shown[first]] <= width;
        int used = named ? l->widths[l->shown[0]] : -l->gap, end = first;
        while (end < l->count &&
               (end == first || used + l->gap + l->widths[l->shown[end]] <= width))
            used += l->gap + l->widths[l->shown[end++]];
        if (first > 0)
            fputc('\n', out);
        block_print(l, first, end, named, out);
        first = end;
    }
}

enum mgb_status mgb_table_print_within(const struct mgb_table *table, int width, FILE *out)
{
    size_t columns = (size_t)table->columns + 1;
    struct layout l = {.table = table,
                       .widths = calloc(columns, sizeof *l.widths),
                       .shown = calloc(columns, sizeof *l.shown),
                       .right = calloc(columns, sizeof *l.right),
                       .count = table->columns,
                       .gap = 2};
    enum mgb_status status = MGB_OK;
    if (!l.widths || !l.shown || !l.right)
        status = mgb_fail(MGB_NO_MEMORY, "printing a table: memory is exhausted");
    for (int i = 0; status == MGB_OK && i < table->columns; i++) {
        l.shown[i] = i;
        l.widths[i] = column_width(table, i);
        l.right[i] = column_is_numeric(table, i);
    }
    if (status == MGB_OK) {
        bool wide = width > 0 && total_width(&l) > width;
        if (wide && mgb_table_row_count(table) > 1)
            constants_print(&l, width, out);
        if (wide && total_width(&l) - (l.count - 1) <= width)
            l.gap = 1 + (total_width(&l) <= width); /* rather narrow than torn apart */
        blocks_print(&l, wide ? width : total_width(&l), out);
    }
    free(l.widths);
    free(l.shown);
    free(l.right);
    return status;
}
