/* Prose on a terminal: lines of standard output that are wider than it are broken at blanks, under the words that they go
 * on. Pipes and files get lines as they are. */
#ifndef MGB_APP_CLI_WRAP_H
#define MGB_APP_CLI_WRAP_H

#include <stdbool.h>
#include <stdio.h>

/* From here to the end `stdout` breaks its lines where it is a terminal. Not nested. */
void mgb_wrap_begin(void);
void mgb_wrap_end(void);
bool mgb_wrap_is_on(void);

/* A stream that breaks its lines at `width` columns and writes them to `under`, which stays open when it is closed; NULL
 * when memory is out. */
FILE *mgb_wrap_open(FILE *under, int width);

#endif
