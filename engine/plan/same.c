/* Do two plans agree on their lasting arenas, so that one can follow the other without a move? */
#include <mgb/plan.h>

static bool mirrors(const struct mgb_plan *plan)
{
    return plan->strategy == MGB_ALLREDUCE || plan->strategy == MGB_INDEPENDENT;
}

static bool sizes_equal(const struct mgb_plan *a, const struct mgb_plan *b)
{
    int i = 0, k = 0;
    for (;;) { /* devices without lasting bytes do not matter */
        while (i < a->use_count && a->uses[i].lasting_bytes == 0)
            i++;
        while (k < b->use_count && b->uses[k].lasting_bytes == 0)
            k++;
        if (i == a->use_count || k == b->use_count)
            return i == a->use_count && k == b->use_count;
        if (a->uses[i].device != b->uses[k].device ||
            a->uses[i].lasting_bytes != b->uses[k].lasting_bytes)
            return false;
        i++;
        k++;
    }
}

static bool towers_equal(const struct mgb_plan *a, const struct mgb_plan *b)
{
    if (a->tower_count != b->tower_count)
        return false;
    for (int t = 0; t < a->tower_count; t++)
        if (a->towers[t].device != b->towers[t].device)
            return false;
    return true;
}

/* The next storage that stands for one place; those of whole classes follow from tower 0's. */
static int storage_next(const struct mgb_plan *plan, int index)
{
    while (index < plan->storage_count && plan->storages[index].tower == MGB_EACH_TOWER)
        index++;
    return index;
}

static bool storage_equal(const struct mgb_plan *a, const struct mgb_storage *x,
                          const struct mgb_plan *b, const struct mgb_storage *y)
{
    struct mgb_place p = mgb_plan_place(a, x->buffer, x->tower),
                     q = mgb_plan_place(b, y->buffer, y->tower);
    return x->variable == y->variable && x->role == y->role && x->slot == y->slot &&
           x->bytes == y->bytes && x->offset == y->offset && p.device == q.device &&
           p.offset == q.offset;
}

static bool storages_equal(const struct mgb_plan *a, const struct mgb_plan *b)
{
    int i = storage_next(a, 0), k = storage_next(b, 0);
    while (i < a->storage_count && k < b->storage_count) {
        if (!storage_equal(a, &a->storages[i], b, &b->storages[k]))
            return false;
        i = storage_next(a, i + 1);
        k = storage_next(b, k + 1);
    }
    return i == a->storage_count && k == b->storage_count;
}

static bool inputs_equal(const struct mgb_plan *a, const struct mgb_plan *b)
{
    for (int i = 0; i < mgb_graph_input_count(a->graph); i++) {
        const struct mgb_buffer *x = &a->buffers[a->input_buffer[i]],
                                *y = &b->buffers[b->input_buffer[i]];
        if (x->offset != y->offset || x->bytes != y->bytes || x->flip != y->flip)
            return false;
    }
    return true;
}

bool mgb_plan_same_lasting(const struct mgb_plan *a, const struct mgb_plan *b)
{
    if (a->graph != b->graph || mirrors(a) != mirrors(b) || a->kind == MGB_PLAN_MOVE ||
        b->kind == MGB_PLAN_MOVE)
        return false;
    bool diverged = a->strategy == MGB_INDEPENDENT && b->strategy != MGB_INDEPENDENT;
    bool slots_differ =
        a->optimizer.kind != b->optimizer.kind && mgb_optimizer_slots(&a->optimizer) > 0;
    if (diverged || slots_differ || (mirrors(a) && !towers_equal(a, b)))
        return false;
    return sizes_equal(a, b) && storages_equal(a, b) && inputs_equal(a, b);
}
