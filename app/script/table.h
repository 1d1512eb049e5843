/* The one table printer: aligned text for people, CSV (RFC 4180) and JSON lines for programs. No Lua here. Numbers print
 * with a point in any locale; what is not there is "-", an empty field or null. People see controls and bytes that are no
 * UTF-8 as \x1b; CSV keeps a text exactly, JSON all but such bytes. */
#ifndef MGB_APP_SCRIPT_TABLE_H
#define MGB_APP_SCRIPT_TABLE_H

#include <mgb/status.h>
#include <stdbool.h>
#include <stdio.h>

enum mgb_table_format { MGB_TABLE_TEXT, MGB_TABLE_CSV, MGB_TABLE_JSON };

struct mgb_table;

/* Columns by name; names are copied. MGB_NO_MEMORY otherwise. */
enum mgb_status mgb_table_make(struct mgb_table **out, int columns, const char *const *names);
void mgb_table_free(struct mgb_table *table);  /* NULL is fine */
void mgb_table_clear(struct mgb_table *table); /* takes all rows out, keeps the columns */

/* Each adds the next cell, row by row from the left. Texts are copied; NULL is an empty cell. Memory running out is
 * remembered and told by mgb_table_print. */
void mgb_table_add_text(struct mgb_table *table, const char *text);
void mgb_table_add_bytes(struct mgb_table *table, const char *text,
                         size_t size); /* a text that may have zeros inside */
void mgb_table_add_figure(struct mgb_table *table,
                          const char *text); /* aligned as a number, printed as it is */
void mgb_table_add_integer(struct mgb_table *table, long long value);
void mgb_table_add_number(struct mgb_table *table,
                          double value); /* not-a-number is an empty cell */
void mgb_table_add_boolean(struct mgb_table *table, bool value);
void mgb_table_add_empty(struct mgb_table *table);

/* Prints header and rows (JSON: one object a line). MGB_IO when `out` takes no more. */
enum mgb_status mgb_table_print(const struct mgb_table *table, enum mgb_table_format format,
                                FILE *out);

/* The same as text for a screen of `width` columns; 0: as wide as it comes, which mgb_table_print takes for what is no
 * terminal. */
enum mgb_status mgb_table_print_within(const struct mgb_table *table, int width, FILE *out);

#endif
