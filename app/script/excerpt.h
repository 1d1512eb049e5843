/* What of a script's source an error shows. Inside of app/script; knows nothing of what went wrong. */
#ifndef MGB_APP_SCRIPT_EXCERPT_H
#define MGB_APP_SCRIPT_EXCERPT_H

#include "app/script/host.h"
#include <stdio.h>

/* The lines of `chunk` around number `wanted`, and a caret under the word that `message` quotes. Long lines are cut. */
void mgb_script_print_excerpt(FILE *out, const struct mgb_script_chunk *chunk, int wanted,
                              const char *message);

/* A copy of the message, to be freed, cut between characters to 4 KiB; NULL when memory is out. */
char *mgb_script_cut_message(const char *message);

#endif
