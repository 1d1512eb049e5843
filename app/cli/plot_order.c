/* In which order cells are drawn, and what they take over from each other; see plot_cells.h. */
#include "app/cli/plot_cells.h"
#include <stdlib.h>
#include <string.h>

static int order_of(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Weak before strong scaling, then by batch, GPUs, strategy and places. */
static int cell_compare(const void *one, const void *other)
{
    const struct plot_cell *a = one, *b = other;
    bool weak = strcmp(a->values[PLOT_BATCH_MODE], "weak") == 0;
    int order = -strcmp(a->values[PLOT_BATCH_MODE], b->values[PLOT_BATCH_MODE]);
    if (order == 0)
        order = weak ? order_of(a->batch_per_gpu, b->batch_per_gpu)
                     : order_of(a->global_batch, b->global_batch);
    if (order == 0)
        order = order_of(a->gpus, b->gpus);
    if (order == 0)
        order = strcmp(b->values[PLOT_STRATEGY], a->values[PLOT_STRATEGY]);
    if (order == 0)
        order = strcmp(a->values[PLOT_PLACES], b->values[PLOT_PLACES]);
    return order ? order : order_of(a->segments[0], b->segments[0]);
}

/* A run that did not fit was refused before "auto" was settled: it belongs to what else ran of its model there. */
static bool backend_settle(const struct plot_cells *cells, struct plot_cell *cell)
{
    for (size_t i = 0; i < cells->count; i++) {
        const struct plot_cell *other = &cells->all[i];
        if (other->oom || !plot_same(other, cell, PLOT_MODEL) ||
            !plot_same(other, cell, PLOT_MACHINE))
            continue;
        char *copy = strdup(other->values[PLOT_BACKEND]);
        if (!copy)
            return false;
        free(cell->values[PLOT_BACKEND]);
        cell->values[PLOT_BACKEND] = copy;
        cell->simulated = other->simulated;
        return true;
    }
    return true;
}

bool plot_cells_settle(struct plot_cells *cells)
{
    bool good = true;
    for (size_t i = 0; i < cells->count; i++)
        if (cells->all[i].oom && strcmp(cells->all[i].values[PLOT_BACKEND], "auto") == 0)
            good = good && backend_settle(cells, &cells->all[i]);
    qsort(cells->all, cells->count, sizeof *cells->all, cell_compare);
    return good;
}
