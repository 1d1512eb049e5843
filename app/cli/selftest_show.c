/* What mgbench selftest found, in words and as a row; see selftest.h. */
#include "app/cli/selftest.h"
#include "app/script/table.h"
#include <mgb/text.h>
#include <stdio.h>

/* The chance of so many false verdicts or more when each comes with 5 %. */
static double chance_of(int count, int of)
{
    double term = 1, below = 0;
    for (int i = 0; i < of; i++)
        term *= 0.95;
    for (int i = 0; i < count; i++) {
        below += term;
        term *= (double)(of - i) / (i + 1) * 0.05 / 0.95;
    }
    return 1 - below;
}

bool mgb_selftest_is_stored(const struct mgb_selftest *t)
{
    return !*t->doubt || t->keep;
}

void mgb_selftest_print_text(const struct mgb_selftest *t, const char *database)
{
    char percent[40];
    bool many = chance_of(t->false_verdicts, t->comparisons) < 0.01;
    printf("engine          4 placements of %s train the same, to the last bit\n", t->model);
    printf("compared        %d times %s with itself: %d runs of %d steps a side, interleaved\n",
           t->comparisons, t->model, t->repetitions, t->steps);
    printf("false verdicts  %d of %d (near 5 %% or fewer is right)%s\n", t->false_verdicts,
           t->comparisons,
           many ? ": more than chance gives; runs that follow each other differ here" : "");
    printf("noise floor     %s %% on %s, backend %s%s\n",
           mgb_format_figure(percent, 100 * t->floor), t->machine, t->backend,
           mgb_selftest_is_stored(t) ? ": smaller differences count as none" : "");
    if (*t->doubt)
        printf("doubtful        %s\n", t->doubt);
    if (mgb_selftest_is_stored(t))
        printf("stored in       %s; compare and sweep go by it\n", database);
    else
        puts("not stored      measure again on an idle machine, without --quick, or store it with "
             "--keep");
    if (t->refused > 0)
        printf("in %d of them step times never settled, so that no verdict is given: the machine "
               "is not quiet\n",
               t->refused);
}

enum mgb_status mgb_selftest_print_row(const struct mgb_selftest *t)
{
    static const char *const names[] = {"machine",     "backend",        "model",
                                        "comparisons", "false_verdicts", "refused",
                                        "floor",       "engine",         "stored"};
    struct mgb_table *table;
    MGB_TRY(mgb_table_make(&table, 9, names));
    mgb_table_add_text(table, t->machine);
    mgb_table_add_text(table, t->backend);
    mgb_table_add_text(table, t->model);
    mgb_table_add_integer(table, t->comparisons);
    mgb_table_add_integer(table, t->false_verdicts);
    mgb_table_add_integer(table, t->refused);
    mgb_table_add_number(table, t->floor);
    mgb_table_add_text(table, "ok"); /* else there would be no figures */
    mgb_table_add_boolean(table, mgb_selftest_is_stored(t));
    enum mgb_status status = mgb_table_print(table, t->in->format, stdout);
    mgb_table_free(table);
    return status;
}
