/* Words of HTML for the report: every text is escaped here. */
#ifndef MGB_APP_CLI_REPORT_HTML_H
#define MGB_APP_CLI_REPORT_HTML_H

#include <stdio.h>

/* Text between tags, or in quotes. Control characters that HTML forbids become blanks. */
void report_text(FILE *out, const char *text);
/* <TAG>text</TAG>; `format` as printf's. */
void report_element(FILE *out, const char *tag, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A table's begin with its head, the NULL-ended names; and its end. */
void report_table_begin(FILE *out, const char *const *columns);
void report_table_end(FILE *out);
/* A cell; numbers are to the right. NULL is a dash. */
void report_cell(FILE *out, const char *text);
void report_figure(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Head with the style, up to the beginning of the body; and the end. */
void report_page_begin(FILE *out, const char *title);
void report_page_end(FILE *out);

#endif
