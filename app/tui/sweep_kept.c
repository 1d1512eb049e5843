/* The values of a grid as one setting, "gpus=1, 2; batch=32, 64", so that what does not vary any more is gone from it. */
#include "app/tui/sweep_grid.h"

#include <stdio.h>
#include <string.h>

void sweep_grid_save(char *out, size_t size, const struct sweep_grid *grid)
{
    size_t used = 0;
    *out = '\0';
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        const char *name = mgb_placement_options()[i].name, *values = grid->values[i];
        if (*values && used + strlen(name) + strlen(values) + 4 < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s=%s", used ? "; " : "", name,
                                     values);
    }
}

/* "name=values" of the list at *list, which becomes the rest; false: it is none. */
static bool values_load(struct sweep_grid *grid, const char **list)
{
    char part[256];
    const char *at = *list + strspn(*list, " ");
    size_t length = strcspn(at, ";");
    *list = at + length + (at[length] == ';');
    snprintf(part, sizeof part, "%.*s", (int)length, at);
    char *values = strchr(part, '=');
    if (!values)
        return false;
    *values++ = '\0';
    const struct mgb_option *option = mgb_placement_find_option(part);
    if (!option || strlen(values) >= SWEEP_VALUES ||
        sweep_grid_check(NULL, option->id, values) != MGB_OK)
        return false;
    strcpy(grid->values[option->id], values);
    return true;
}

bool sweep_grid_load(struct sweep_grid *grid, const char *list)
{
    bool good = true;
    memset(grid->values, 0, sizeof grid->values);
    while (*list)
        good &= values_load(grid, &list);
    return good;
}
