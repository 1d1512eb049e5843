/* Commands that the documentation names and this version does not have: known, so that nobody looks for a misspelling, and
 * each with what does its work until then. */
#include "app/cli/later.h"
#include <string.h>

const struct mgb_later_command mgb_later_commands[] = {
    {"predict", "mgbench plan, which counts memory and bytes"},
    {NULL, NULL}};

const struct mgb_later_command *mgb_later_find(const struct mgb_later_command *list,
                                               const char *name)
{
    for (const struct mgb_later_command *c = list; c && c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}
