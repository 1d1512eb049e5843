/* Texts on a screen: how wide they are, and printing them so that nothing in them does more than stand there. Texts come
 * from results files of others too, so whatever prints one to people prints it by these. */
#ifndef MGB_APP_SCRIPT_TERMINAL_H
#define MGB_APP_SCRIPT_TERMINAL_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* Columns of the terminal behind `fd`; 80 when it does not say; 0: no terminal, any width. */
int mgb_terminal_width(int fd);

/* Columns that `text` takes when mgb_bytes_print prints it. */
int mgb_text_width(const char *text);
int mgb_bytes_width(const char *text, size_t size);
/* How many bytes of `text` fit into `width` columns; whole characters. */
int mgb_text_fit(const char *text, int width);

/* Prints in one line: a line's end and a tab are blanks, other controls and bytes that are no UTF-8 are \x1b and such. */
void mgb_bytes_print(FILE *out, const char *text, size_t size);
/* The same with line's ends and tabs as they are. */
void mgb_line_print(FILE *out, const char *text, size_t size);
/* printf by mgb_line_print. */
void mgb_say(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void mgb_say_list(FILE *out, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* A word, quoted for a shell where it has to be. */
void mgb_shell_print(FILE *out, const char *word);

#endif
