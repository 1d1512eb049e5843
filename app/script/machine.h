/* Machine files of the simulator: see mgb/machine.h for what a machine is. */
#ifndef MGB_APP_SCRIPT_MACHINE_H
#define MGB_APP_SCRIPT_MACHINE_H

#include "app/script/state.h"
#include <mgb/machine.h>

/* The machine of a name ("dgx1-p100": machines/dgx1-p100.lua where require looks) or of a file (a slash, or .lua at its end),
 * checked. The caller frees it; it outlives the state. Fails as mgb_script_run_text, which tells the rest. */
enum mgb_status mgb_script_read_machine(struct mgb_script *script, struct mgb_machine **out,
                                        const char *name);

#endif
