/* See sweep_grid.h. */
#include "app/tui/sweep_grid.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 64, VALUE = 160 };

static const int64_t most_cells = 100000; /* as mgb.sweep has it */

struct value {
    char given[VALUE], read[VALUE]; /* as typed; as the placement has it, "" : unset */
};

/* The next value of a list; commas in braces are its own. False: there is none. */
static bool value_next(char *out, size_t size, const char **list)
{
    const char *at = *list + strspn(*list, " ");
    int braces = 0;
    size_t length = 0;
    if (!*at)
        return false;
    for (; at[length] && (braces > 0 || at[length] != ','); length++)
        braces +=
            (at[length] == '{' || at[length] == '[') - (at[length] == '}' || at[length] == ']');
    *list = at + length + (at[length] == ',');
    while (length > 0 && at[length - 1] == ' ')
        length--;
    snprintf(out, size, "%.*s", (int)length, at);
    return true;
}

static enum mgb_status value_read(struct value *out, enum mgb_option_id option)
{
    struct mgb_placement scratch;
    const char *name = mgb_placement_options()[option].name;
    mgb_placement_init(&scratch);
    if (!*out->given)
        return mgb_fail(MGB_INVALID, "%s: nothing stands between two commas", name);
    MGB_TRY(mgb_placement_set(&scratch, name, out->given));
    mgb_placement_get_text(out->read, sizeof out->read, &scratch, option);
    return MGB_OK;
}

static enum mgb_status values_read(struct value *out, int *count, enum mgb_option_id option,
                                   const char *list)
{
    const char *name = mgb_placement_options()[option].name;
    *count = 0;
    while (value_next(out[*count].given, VALUE, &list)) {
        MGB_TRY(value_read(&out[*count], option));
        for (int i = 0; i < *count; i++)
            if (strcmp(out[i].read, out[*count].read) == 0)
                return mgb_fail(MGB_INVALID,
                                "%s: %s is listed twice; repeats are a row of their own", name,
                                out[*count].given);
        if (++*count == MOST_VALUES)
            return mgb_fail(MGB_INVALID, "%s: at most %d values", name, MOST_VALUES - 1);
    }
    return MGB_OK;
}

enum mgb_status sweep_grid_check(int *count, enum mgb_option_id option, const char *values)
{
    struct value read[MOST_VALUES];
    int found;
    MGB_TRY(values_read(read, &found, option, values));
    if (count)
        *count = found;
    return MGB_OK;
}

int64_t sweep_grid_cells(const struct sweep_grid *grid)
{
    int64_t cells = 0;
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        int count = 0;
        if (!grid->values[i][0] ||
            sweep_grid_check(&count, (enum mgb_option_id)i, grid->values[i]) != MGB_OK || count < 1)
            continue;
        cells = (cells ? cells : 1) * count;
        if (cells > most_cells * MOST_VALUES) /* beyond what is run; no sum of counts gets here */
            return cells;
    }
    return cells;
}

/* A text as Lua reads it, whatever is in it. */
static void quoted_write(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < 0x20 || *text == 0x7f)
            fprintf(out, "\\%03d", (unsigned char)*text);
        else
            fputc(*text, out);
    fputc('"', out);
}

/* "2,0,3" and "{0}": ids; a list of one keeps its braces in either form. */
static void ids_write(FILE *out, const char *text)
{
    bool braces = *text == '{';
    fprintf(out, braces ? "%s" : "{%s}", text);
}

static void value_write(FILE *out, const struct value *value, enum mgb_option_kind kind)
{
    const char *text = value->read;
    bool word = strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    if (!*text) {
        quoted_write(out, value->given);
        return;
    }
    switch (kind) {
    case MGB_KIND_BOOL:
    case MGB_KIND_INT:
    case MGB_KIND_NUMBER:
        fputs(text, out);
        return;
    case MGB_KIND_CHOICE:
        if (word)
            fputs(text, out);
        else
            quoted_write(out, text);
        return;
    case MGB_KIND_GPUS:
        if (strpbrk(text, ",{"))
            ids_write(out, text);
        else
            fputs(text, out);
        return;
    case MGB_KIND_ENUM:
    case MGB_KIND_DEVICE:
        quoted_write(out, text);
        return;
    case MGB_KIND_BYTES: /* labels of cells say "4GiB", as it was typed */
        quoted_write(out, value->given);
        return;
    }
}

static enum mgb_status option_write(FILE *out, const struct sweep_grid *grid,
                                    enum mgb_option_id option)
{
    const struct mgb_option *o = &mgb_placement_options()[option];
    struct value values[MOST_VALUES];
    int count;
    MGB_TRY(values_read(values, &count, option, grid->values[option]));
    if (count == 0)
        return MGB_OK;
    fprintf(out, "%s = {", o->name);
    for (int i = 0; i < count; i++) {
        fputs(i ? ", " : "", out);
        value_write(out, &values[i], o->kind);
    }
    fputs("}, ", out);
    return MGB_OK;
}

static enum mgb_status grid_check(const struct sweep_grid *grid)
{
    int64_t cells = sweep_grid_cells(grid);
    if (!*grid->name)
        return mgb_fail(MGB_INVALID, "the sweep has no name: e on its row gives it one");
    if (cells == 0)
        return mgb_fail(MGB_INVALID, "nothing varies yet: e gives the option in hand its values");
    if (cells > most_cells)
        return mgb_fail(MGB_INVALID, "%lld cells are more than the %lld that a sweep may have",
                        (long long)cells, (long long)most_cells);
    if (grid->values[MGB_OPTION_BATCH][0] && grid->values[MGB_OPTION_GLOBAL_BATCH][0])
        return mgb_fail(MGB_INVALID, "batch and global_batch exclude each other: let one vary");
    return MGB_OK;
}

enum mgb_status sweep_grid_write(char **out, const struct sweep_grid *grid)
{
    char *text = NULL;
    size_t size;
    enum mgb_status status = MGB_OK;
    MGB_TRY(grid_check(grid));
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return mgb_fail(MGB_NO_MEMORY, "no memory for a sweep");
    fputs("{ name = ", file);
    quoted_write(file, grid->name);
    fprintf(file, ", steps = %d, repeats = %d, resume = true, grid = { ", grid->steps,
            grid->repeats);
    for (int i = 0; i < MGB_OPTION_COUNT && status == MGB_OK; i++)
        status = option_write(file, grid, (enum mgb_option_id)i);
    fputs("} }", file);
    if (fclose(file) != 0 && status == MGB_OK)
        status = mgb_fail(MGB_NO_MEMORY, "no memory for a sweep");
    if (status != MGB_OK) {
        free(text);
        return status;
    }
    *out = text;
    return MGB_OK;
}
