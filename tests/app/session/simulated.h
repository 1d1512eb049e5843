/* A machine of mgbench's own, for sessions that are simulated. */
#ifndef TESTS_APP_SESSION_SIMULATED_H
#define TESTS_APP_SESSION_SIMULATED_H

#include "app/script/machine.h"
#include "tests/support/check.h"
#include <stdio.h>
#include <stdlib.h>

/* To be freed with mgb_machine_free. */
static inline struct mgb_machine *simulated_machine(const char *name)
{
    char folder[4096];
    const char *source = getenv("MGB_SOURCE_DIR"), *const paths[] = {folder};
    struct mgb_script_settings settings = {.lua_path = paths, .lua_path_count = 1};
    struct mgb_script *script;
    struct mgb_machine *machine;
    snprintf(folder, sizeof folder, "%s/scripts", source ? source : ".");
    assert_ok(mgb_script_make(&script, &settings));
    assert_ok(mgb_script_read_machine(script, &machine, name));
    mgb_script_free(script);
    return machine;
}

#endif
