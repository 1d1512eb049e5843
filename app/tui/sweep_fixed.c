/* What the grid of a sweep says of options that do not vary, and how long it will take: see sweep_grid.h. */
#include "app/session/workbench/workbench.h"
#include "app/tui/sweep_grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void sweep_grid_choices(char *out, size_t size, enum mgb_option_id option)
{
    static const char *const truth[] = {"false", "true", NULL}, *const choice[] = {"auto", "false",
                                                                                   "true", NULL};
    const struct mgb_option *o = &mgb_placement_options()[option];
    const char *const *values = o->kind == MGB_KIND_ENUM     ? o->values
                                : o->kind == MGB_KIND_BOOL   ? truth
                                : o->kind == MGB_KIND_CHOICE ? choice
                                                             : NULL;
    size_t used = 0;
    *out = '\0';
    for (; values && *values && used < size; values++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", *values);
}

/* The option that takes the place of this one, where it is in the grid. */
static enum mgb_option_id twin_of(enum mgb_option_id option)
{
    if (option == MGB_OPTION_BATCH)
        return MGB_OPTION_GLOBAL_BATCH;
    return option == MGB_OPTION_GLOBAL_BATCH ? MGB_OPTION_BATCH : mgb_toggle_twin(option);
}

static bool varies(const struct sweep_grid *grid, enum mgb_option_id option)
{
    return option != MGB_OPTION_COUNT && *grid->values[option];
}

/* Which of batch and global batch is what the other says. */
static bool is_derived(const struct mgb_facts *facts, enum mgb_option_id option)
{
    bool together = facts->batch_mode == MGB_BATCH_GLOBAL;
    return option == (together ? MGB_OPTION_BATCH : MGB_OPTION_GLOBAL_BATCH);
}

/* Whether it would have no meaning in some cells, which cannot be told which before they are run. */
static bool like_decides(const struct sweep_grid *grid, const struct mgb_facts *facts,
                         const struct mgb_option *option)
{
    const unsigned all =
        1u << MGB_OUTPUTS | 1u << MGB_GRADIENTS | 1u << MGB_ALLREDUCE | 1u << MGB_INDEPENDENT;
    return varies(grid, MGB_OPTION_LIKE) && !varies(grid, MGB_OPTION_STRATEGY) &&
           !*facts->options[MGB_OPTION_STRATEGY].asked && (option->strategies & all) != all;
}

/* What it comes to on the bench, which did not ask for it: another cell may have another one. */
static void unasked_write(char *out, size_t size, const struct mgb_facts *facts,
                          enum mgb_option_id option)
{
    const char *effective = facts->options[option].effective;
    bool batch = option == MGB_OPTION_BATCH || option == MGB_OPTION_GLOBAL_BATCH;
    if (batch && is_derived(facts, option))
        snprintf(out, size, "n/a: follows from %s (on the bench %s)",
                 mgb_placement_options()[twin_of(option)].name, effective);
    else
        snprintf(out, size, "%s%snot asked for", effective, *effective ? ", " : "");
}

void sweep_grid_fixed(char *out, size_t size, const struct sweep_grid *grid,
                      const struct mgb_facts *facts, enum mgb_option_id option)
{
    const struct mgb_option *o = &mgb_placement_options()[option];
    enum mgb_option_id twin = twin_of(option);
    bool batch = option == MGB_OPTION_BATCH || option == MGB_OPTION_GLOBAL_BATCH;
    const char *asked = facts ? facts->options[option].asked : "";
    if (batch && varies(grid, twin))
        snprintf(out, size, "n/a: follows from %s", mgb_placement_options()[twin].name);
    else if (!facts)
        snprintf(out, size, "%s", *o->fallback ? o->fallback : "-");
    else if (*asked && varies(grid, twin))
        snprintf(out, size, "left out: %s varies (on the bench %s)",
                 mgb_placement_options()[twin].name, asked);
    else if (*asked && like_decides(grid, facts, o))
        snprintf(out, size, "left out: like decides the strategy (on the bench %s)", asked);
    else if (*asked && varies(grid, MGB_OPTION_STRATEGY))
        snprintf(out, size, "%s, where the strategy has it", asked);
    else if (!(o->strategies >> facts->strategy & 1))
        snprintf(out, size, "n/a");
    else if (*asked)
        snprintf(out, size, "%s", asked);
    else
        unasked_write(out, size, facts, option);
}

const char *sweep_time_write(char *out, size_t size, const struct sweep_grid *grid,
                             const struct mgb_snapshot *snapshot)
{
    double ms = snapshot->now.figures.median_ms;
    double runs = (double)sweep_grid_cells(grid) * grid->repeats;
    double seconds = runs * grid->steps * ms / 1000;
    *out = '\0';
    if (!(snapshot->now.figures.steps > 0) || !(seconds > 0) || seconds > 1e8)
        return out;
    long long s = (long long)ceil(seconds);
    if (s >= 3600)
        snprintf(out, size, ", %lld:%02lld h at this pace", s / 3600, s / 60 % 60);
    else if (s >= 60)
        snprintf(out, size, ", %lld min at this pace", s / 60);
    else
        snprintf(out, size, ", %lld s at this pace", s);
    return out;
}
