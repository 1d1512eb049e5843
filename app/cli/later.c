/* Commands that the documentation names and this version does not have: known, so that nobody looks for a misspelling, and
 * each with what does its work until then. */
#include "app/cli/later.h"
#include <string.h>

const struct mgb_later_command mgb_later_commands[] = {
    {"runs", "mgbench query 'select * from run_summary'"},
    {"show", "mgbench query 'select * from run_summary where run_id = 1'"},
    {"compare", "mgbench query over run_summary, with the two runs' ids"},
    {"scaling", "mgbench query 'select * from scaling', or mgbench -e scaling.lua"},
    {"report", "mgbench query over run_summary, phase_share and placement"},
    {"selftest", "mgbench verify, and the tests of the source tree: scripts/test"},
    {"predict", "mgbench plan, which counts memory and bytes"},
    {"machines", "mgbench devices"},
    {"baseline", "the option baseline of mgb.sweep"},
    {"tag", "sqlite3 with INSERT INTO tag"},
    {"note", "sqlite3 with INSERT INTO note"},
    {"doctor", "mgbench info and mgbench devices"},
    {NULL, NULL}};

const struct mgb_later_command *mgb_later_find(const char *name)
{
    for (const struct mgb_later_command *c = mgb_later_commands; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}
