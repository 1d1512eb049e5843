/* Every storage of every variable, and which of them the variable check finds too many. */
#include "app/session/stored.h"
#include "app/session/workbench/facts_private.h"

#include <stdlib.h>
#include <string.h>

struct row {
    const struct session_stored *stored;
    int rank, number; /* masters first; the order in the plan */
};

/* Masters first, and what is only there because of them after them. */
static int rank_of(enum mgb_variable_role role)
{
    static const int ranks[] = {[MGB_VARIABLE_MASTER] = 0,
                                [MGB_VARIABLE_DUPLICATE] = 1,
                                [MGB_VARIABLE_REPLICA] = 2,
                                [MGB_VARIABLE_SLOT] = 3,
                                [MGB_VARIABLE_LEFTOVER] = 4};
    return ranks[role];
}

static int by_rank(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int v = x->stored->storage->variable, w = y->stored->storage->variable;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (v != w)
        return v < w ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

struct texts { /* by variable, made when first asked for */
    const char **name, **shape;
};

static void texts_fill(struct facts_work *work, const struct texts *texts, int variable)
{
    char shape[64];
    struct mgb_variable_info info = mgb_graph_variable_at(work->request->graph, variable);
    if (texts->name[variable])
        return;
    texts->name[variable] = mgb_bench_pool_text(work->pool, info.name);
    texts->shape[variable] =
        mgb_bench_pool_text(work->pool, mgb_shape_format(shape, sizeof shape, &info.shape));
}

/* The finding that a storage belongs to; NULL: it is meant to be there. */
static const struct mgb_finding *finding_of(const struct mgb_check *check,
                                            const struct session_stored *stored)
{
    const struct mgb_storage *storage = stored->storage;
    bool leftover = storage->role == MGB_ROLE_LEFTOVER;
    if (!leftover && storage->tower == MGB_EACH_TOWER)
        return NULL; /* declared by the strategy */
    for (int i = 0; i < check->finding_count; i++) {
        const struct mgb_finding *finding = &check->findings[i];
        if (finding->variable == storage->variable && finding->device == stored->place.device &&
            finding->leftover == leftover)
            return finding;
    }
    return NULL;
}

static void check_fill(struct mgb_facts *facts, const struct mgb_check *check)
{
    facts->distinct_variables = check->variables;
    facts->variable_bytes = check->master_bytes;
    facts->duplicate_count = check->duplicate_count;
    facts->duplicate_bytes = check->duplicate_bytes;
    facts->leftover_count = check->leftover_count;
    facts->leftover_bytes = check->leftover_bytes;
}

static void rows_fill(struct facts_work *work, struct mgb_facts_variable *out,
                      const struct row *rows, int count, const struct mgb_check *check)
{
    size_t variables = (size_t)mgb_graph_variable_count(work->request->graph);
    struct texts texts = {mgb_bench_pool_get(work->pool, variables * sizeof *texts.name),
                          mgb_bench_pool_get(work->pool, variables * sizeof *texts.shape)};
    for (int i = 0; i < count && out && texts.name && texts.shape; i++) {
        const struct session_stored *stored = rows[i].stored;
        const struct mgb_finding *finding = finding_of(check, stored);
        int variable = stored->storage->variable;
        texts_fill(work, &texts, variable);
        out[i] = (struct mgb_facts_variable){
            .name = texts.name[variable],
            .shape = texts.shape[variable],
            .bytes = stored->storage->bytes,
            .device = stored->place.device,
            .role = mgb_variable_role_name(stored->role),
            .why = finding ? mgb_bench_pool_text(work->pool, finding->why) : NULL,
        };
    }
}

static enum mgb_status variables_fill(struct facts_work *work, const struct session_stored *list,
                                      int count)
{
    struct mgb_check check;
    MGB_TRY(mgb_check_make(&check, work->request->plan));
    struct row *rows = calloc((size_t)count + 1, sizeof *rows);
    struct mgb_facts_variable *out =
        mgb_bench_pool_get(work->pool, (size_t)count * sizeof *work->facts->variables);
    for (int i = 0; rows && i < count; i++)
        rows[i] = (struct row){&list[i], rank_of(list[i].role), i};
    if (rows && out) {
        qsort(rows, (size_t)count, sizeof *rows, by_rank);
        rows_fill(work, out, rows, count, &check);
        work->facts->variables = out;
        work->facts->variable_count = count;
    }
    check_fill(work->facts, &check);
    bool made = rows && out;
    free(rows);
    mgb_check_done(&check);
    return made ? MGB_OK : mgb_fail(MGB_NO_MEMORY, "listing variables: memory is exhausted");
}

enum mgb_status mgb_facts_add_variables(struct facts_work *work)
{
    struct session_stored *list;
    int count;
    MGB_TRY(mgb_session_stored_list(&list, &count, work->request->plan));
    enum mgb_status status = variables_fill(work, list, count);
    free(list);
    return status;
}
