/* What a table holds, for the printers. */
#ifndef MGB_APP_SCRIPT_TABLE_PRIVATE_H
#define MGB_APP_SCRIPT_TABLE_PRIVATE_H

#include "app/script/table.h"
#include <mgb/text.h>

/* CELL_FIGURE: a number that is worded already. */
enum table_cell_kind {
    CELL_EMPTY,
    CELL_TEXT,
    CELL_FIGURE,
    CELL_INTEGER,
    CELL_NUMBER,
    CELL_BOOLEAN
};

struct table_cell {
    enum table_cell_kind kind;
    union {
        char *text;
        long long integer;
        double number;
        bool boolean;
    };
    size_t size; /* bytes of `text` */
};

struct mgb_table {
    int columns;
    char **names;
    struct table_cell *cells;
    size_t count, capacity;
    bool failed;
};

size_t mgb_table_row_count(const struct mgb_table *table);
const struct table_cell *mgb_table_cell_at(const struct mgb_table *table, size_t row, int column);
/* The cell without quoting, in `small` or borrowed; it may have zeros inside. */
const char *mgb_table_cell_text(const struct table_cell *cell, enum mgb_table_format format,
                                char small[MGB_FIGURE], size_t *size);

#endif
