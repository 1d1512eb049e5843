/* Whether other programs use the processors, and what a noise floor measured meanwhile is worth. */
#ifndef APP_CLI_BUSY_H
#define APP_CLI_BUSY_H

#include <stdbool.h>
#include <stddef.h>

#include "db/compare.h"

/* Times so far; `known` is false where the system does not tell. */
struct mgb_busy {
    bool known;
    double busy_s, all_s, own_s; /* all processors; own: this process, of busy_s */
};
void mgb_busy_look(struct mgb_busy *out);

/* Percent of all processors' time that others took between the two; 0: not known. */
int mgb_busy_percent(const struct mgb_busy *from, const struct mgb_busy *to);

enum { MGB_BUSY_PERCENT = 20 }; /* from here on others disturb */

/* Why a floor is not worth keeping, "the machine was busy ..."; "" when it is. A simulated machine is never busy. */
void mgb_floor_doubt(char *out, size_t size, int busy_percent, double floor, bool simulated);

/* The same of how it was found: too short, from too few comparisons, or with some that were refused. */
void mgb_floor_doubt_count(char *out, size_t size, bool quick, int decided, int refused);

#endif
