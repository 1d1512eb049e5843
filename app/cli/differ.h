/* What two sides of a comparison were run with, and on: names and values, so that only what differs need be shown. */
#ifndef MGB_APP_CLI_DIFFER_H
#define MGB_APP_CLI_DIFFER_H

#include "db/select.h"
#include <stdio.h>

enum { MGB_DIFFER_VALUE = 96 }; /* bytes of a value; longer ones are cut */

struct mgb_differ_row {
    bool environment; /* else a setting */
    char name[64];
    char values
        [2]
        [MGB_DIFFER_VALUE]; /* of A and B; several with ", " between; "n/a" has no meaning there, "" is unknown */
};

struct mgb_differ {
    struct mgb_differ_row *rows; /* settings and environment, in the order of being found */
    int count;
};

enum mgb_status mgb_differ_make(struct mgb_differ *out, struct mgb_reader *reader,
                                const struct mgb_selection *a, const struct mgb_selection *b);
void mgb_differ_done(struct mgb_differ *differ);

/* Two tables, of settings and of the environment: what differs, or `all`; says so where nothing does. */
enum mgb_status mgb_differ_print(const struct mgb_differ *differ, bool all, FILE *out);

/* "cpu_merge: 1 | 0; gpus: 1 | 2": what differs, on one line of at most `size`. */
void mgb_differ_line(char *out, size_t size, const struct mgb_differ *differ);

#endif
