/* How wide texts and terminals are, in columns of the screen. */
#ifndef MGB_APP_SCRIPT_TERMINAL_H
#define MGB_APP_SCRIPT_TERMINAL_H

/* Columns of the terminal behind `fd`; 80 when it does not say; 0: no terminal, any width. */
int mgb_terminal_width(int fd);

/* Columns that `text` takes; a byte that is no character counts as one. */
int mgb_text_width(const char *text);
/* How many bytes of `text` fit into `width` columns; whole characters. */
int mgb_text_fit(const char *text, int width);

#endif
