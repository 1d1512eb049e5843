/* A grid of placements as it is edited: a list of values for each option, checked, counted, and written as the table that
 * mgb.sweep takes. Knows no screen. */
#ifndef APP_TUI_SWEEP_GRID_H
#define APP_TUI_SWEEP_GRID_H

#include "app/session/workbench/snapshot.h"

#include <mgb/name.h>
#include <mgb/placement.h>
#include <mgb/status.h>
#include <stddef.h>
#include <stdint.h>

enum { SWEEP_VALUES = 200, SWEEP_MOST_STEPS = 1000000, SWEEP_MOST_REPEATS = 1000 };

struct sweep_grid {
    char name[MGB_NAME_BYTES + 1];
    int steps, repeats;
    char values[MGB_OPTION_COUNT][SWEEP_VALUES]; /* "1, 2, 4"; "" : does not vary */
};

/* Every value of a list checked; MGB_INVALID says which one cannot be, or is there twice. *count (may be NULL): of values;
 * ids in braces are one, as {2,0}. */
enum mgb_status sweep_grid_check(int *count, enum mgb_option_id option, const char *values);
/* How many cells, 0: nothing varies. What is in it was checked. */
int64_t sweep_grid_cells(const struct sweep_grid *grid);
/* "false, true": the values of an option that has a few; "" of others. */
void sweep_grid_choices(char *out, size_t size, enum mgb_option_id option);
/* What an option that does not vary is in every cell: the bench's, as it was asked for; and what it is when that cannot be
 * or was not asked for. `facts` may be NULL. */
void sweep_grid_fixed(char *out, size_t size, const struct sweep_grid *grid,
                      const struct mgb_facts *facts, enum mgb_option_id option);
/* ", 2:10 h at this pace" of all runs, the bench's step time by their steps; "" where that is not known. Returns `out`. */
const char *sweep_time_write(char *out, size_t size, const struct sweep_grid *grid,
                             const struct mgb_snapshot *snapshot);
/* sweep_kept.c: what varies, as a setting, and back; false: something in it is no list of values. */
void sweep_grid_save(char *out, size_t size, const struct sweep_grid *grid);
bool sweep_grid_load(struct sweep_grid *grid, const char *list);
/* The options of mgb.sweep as a Lua table constructor, to be freed. What the grid does not say is the workbench's: model,
 * data, backend, the other options. MGB_INVALID: nothing varies, or what varies excludes each other. */
enum mgb_status sweep_grid_write(char **out, const struct sweep_grid *grid);

#endif
