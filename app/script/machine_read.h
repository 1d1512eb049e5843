/* Between machine.c and machine_read.c. */
#ifndef MGB_APP_SCRIPT_MACHINE_READ_H
#define MGB_APP_SCRIPT_MACHINE_READ_H

#include "app/script/bind.h"
#include <mgb/machine.h>

/* Fills an empty machine from the table at `index`, which scripts/lib/machine.lua made. Raises; what it has by then is still
 * the machine's. */
void mgb_script_fill_machine(lua_State *L, int index, struct mgb_machine *machine);

#endif
