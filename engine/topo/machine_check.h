/* Between the files that check machines. */
#ifndef MGB_TOPO_MACHINE_CHECK_H
#define MGB_TOPO_MACHINE_CHECK_H

#include "engine/topo/machine.h"

#define MGB_MACHINE_MOST 1e18 /* of bytes and of operations */

struct mgb_machine_bound {
    const char *field; /* NULL ends a list */
    double value, least, most;
};
/* MGB_INVALID: the value is no number within the bounds. `where` is the device or the table it stands in. */
enum mgb_status mgb_machine_check_number(const struct mgb_machine *machine, const char *where,
                                         const char *field, double value, double least,
                                         double most);
enum mgb_status mgb_machine_check_numbers(const struct mgb_machine *machine, const char *where,
                                          const struct mgb_machine_bound *bounds);
/* For qsort: numbers of 64 bits. */
int mgb_machine_key_order(const void *a, const void *b);
/* Switches, wires and pairs of a machine whose devices are good; makes ends and numbers nodes. */
enum mgb_status mgb_machine_check_ways(struct mgb_machine *machine);

#endif
