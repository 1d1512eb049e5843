/* Gradients that travel as the rows they touch: every tower makes a table's gradient once, whole or as rows; rows are
 * copied and then made whole by the operator that belongs to them, for as many rows of the batch, and nothing takes them for
 * the gradient itself; what comes of them is used. */
#include "engine/plan/verify.h"

struct place { /* part of a buffer's instance */
    int buffer, tower;
    int64_t begin, end;
};

struct rows {
    const struct mgb_verifier *v;
    mgb_vector(struct place) places; /* where one tower's rows lie, one copy after another */
    int made, unpack;                /* flat tasks; unpack -1: none yet */
};

static const struct mgb_node *node_of(const struct mgb_verifier *v, int flat)
{
    const struct mgb_task *task = &v->plan->tasks[v->flats[flat].task];
    return task->kind == MGB_TASK_COMPUTE ? &v->plan->graph->nodes[task->node] : NULL;
}

static bool place_read(const struct rows *r, const struct mgb_verify_access *a, bool *whole)
{
    for (int i = 0; i < r->places.count; i++) {
        const struct place *p = &r->places.at[i];
        if (a->buffer != p->buffer || a->tower != p->tower || a->begin >= p->end ||
            a->end <= p->begin)
            continue;
        *whole = a->begin == p->begin && a->end == p->end;
        return true;
    }
    return false;
}

static enum mgb_status place_add(struct rows *r, const struct mgb_verify_access *a)
{
    struct place place = {a->buffer, a->tower, a->begin, a->end};
    return mgb_vector_push(&r->places, place)
               ? MGB_OK
               : mgb_fail(MGB_NO_MEMORY, "verifying a step plan: the host's memory is exhausted");
}

static enum mgb_status rows_misread(const struct rows *r, const struct mgb_verify_access *a)
{
    char one[160], two[160];
    return mgb_fail(MGB_CORRUPT, "plan: %s takes the rows that %s made for something else",
                    mgb_verify_name(one, r->v, a->flat), mgb_verify_name(two, r->v, r->made));
}

/* Accesses before and after `i` of the same task: its reads come before its writes. */
static enum mgb_status read_follow(struct rows *r, int i)
{
    const struct mgb_verifier *v = r->v;
    const struct mgb_verify_access *a = &v->accesses.at[i];
    const struct mgb_task *task = &v->plan->tasks[v->flats[a->flat].task];
    const struct mgb_node *node = node_of(v, a->flat), *maker = node_of(v, r->made);
    bool last = i + 1 == v->accesses.count || v->accesses.at[i + 1].flat != a->flat;
    if (task->kind == MGB_TASK_COPY && !last)
        return place_add(r, &v->accesses.at[i + 1]);
    if (!node || node->kind != MGB_OP_EMBEDDING_UNPACK || node->inputs[0] != maker->outputs[0] ||
        task->rows != v->plan->tasks[v->flats[r->made].task].rows || r->unpack >= 0 || last)
        return rows_misread(r, a);
    r->unpack = a->flat;
    return MGB_OK;
}

/* Something reads what flat task `flat` writes first. */
static bool result_used(const struct mgb_verifier *v, int flat)
{
    const struct mgb_verify_access *made = NULL;
    for (int i = 0; i < v->accesses.count; i++) {
        const struct mgb_verify_access *a = &v->accesses.at[i];
        if (a->flat == flat && a->write && !made)
            made = a;
        if (made && a->flat > flat && !a->write && a->buffer == made->buffer &&
            a->tower == made->tower && a->begin < made->end && made->begin < a->end)
            return true;
    }
    return false;
}

/* From the write that made the rows on. */
static enum mgb_status rows_follow(struct rows *r, int from)
{
    const struct mgb_verifier *v = r->v;
    char name[160];
    bool whole = false;
    r->places.count = 0;
    r->unpack = -1;
    MGB_TRY(place_add(r, &v->accesses.at[from]));
    for (int i = from + 1; i < v->accesses.count; i++) {
        const struct mgb_verify_access *a = &v->accesses.at[i];
        if (a->write || !place_read(r, a, &whole))
            continue;
        MGB_TRY(whole ? read_follow(r, i) : rows_misread(r, a));
    }
    if (r->unpack >= 0 && result_used(v, r->unpack))
        return MGB_OK;
    return mgb_fail(MGB_CORRUPT, "plan: what %s made is used by nothing",
                    mgb_verify_name(name, v, r->unpack >= 0 ? r->unpack : r->made));
}

static bool gradient_wanted(const struct mgb_graph *graph, int tensor)
{
    for (int v = 0; v < graph->variable_count; v++)
        if (graph->variables[v].gradient == tensor && graph->variables[v].info.trainable)
            return true;
    return false;
}

/* Every kept tower with rows makes the gradient of each such table once. */
static enum mgb_status towers_check(const struct mgb_verifier *v, const struct mgb_variable *table)
{
    const struct mgb_graph *graph = v->plan->graph;
    int whole = graph->tensors[table->gradient].node, rows = graph->tensors[table->packed].node;
    for (int t = 0; t < v->plan->tower_count; t++) {
        int count = 0;
        if (!v->kept[t] || v->plan->towers[t].rows == 0)
            continue;
        for (int i = 0; i < v->flat_count; i++) {
            const struct mgb_task *task = &v->plan->tasks[v->flats[i].task];
            count += v->flats[i].tower == t && task->kind == MGB_TASK_COMPUTE &&
                     (task->node == whole || task->node == rows);
        }
        if (count != 1)
            return mgb_fail(MGB_CORRUPT, "plan: tower %d makes the gradient of '%s' %d times", t,
                            table->info.name, count);
    }
    return MGB_OK;
}

enum mgb_status mgb_verify_rows(const struct mgb_verifier *v)
{
    const struct mgb_graph *graph = v->plan->graph;
    struct rows r = {.v = v};
    enum mgb_status status = MGB_OK;
    if (v->plan->kind != MGB_PLAN_TRAIN)
        return MGB_OK;
    for (int i = 0; i < graph->variable_count && status == MGB_OK; i++)
        if (graph->variables[i].packed >= 0 && gradient_wanted(graph, graph->variables[i].gradient))
            status = towers_check(v, &graph->variables[i]);
    for (int i = 0; i < v->accesses.count && status == MGB_OK; i++) {
        const struct mgb_verify_access *a = &v->accesses.at[i];
        const struct mgb_node *node = node_of(v, a->flat);
        bool first =
            i == 0 || !v->accesses.at[i - 1].write || v->accesses.at[i - 1].flat != a->flat;
        if (!node || node->kind != MGB_OP_EMBEDDING_ROWS || !a->write || !first)
            continue;
        r.made = a->flat;
        status = rows_follow(&r, i);
    }
    mgb_vector_done(&r.places);
    return status;
}
