/* What happens to bytes. Races: of two tasks that touch the same bytes, one of them writing, one must end before the other
 * starts. Contents: followed in issue order (which then is the order that any run has), a read must find its buffer's own
 * bytes, written in this step unless they last. */
#include "engine/plan/verify.h"

#include <stdlib.h>
#include <string.h>

static enum mgb_status no_memory(void)
{
    return mgb_fail(MGB_NO_MEMORY, "verifying a step plan: the host's memory is exhausted");
}

static int arena_compare(const struct mgb_verify_access *a, const struct mgb_verify_access *b)
{
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->arena > b->arena) - (a->arena < b->arena);
}

static int begin_compare(const void *left, const void *right)
{
    const struct mgb_verify_access *a = left, *b = right;
    int order = arena_compare(a, b);
    if (order != 0)
        return order;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->flat > b->flat) - (a->flat < b->flat);
}

static enum mgb_status pair_check(const struct mgb_verifier *v, const struct mgb_verify_access *a,
                                  const struct mgb_verify_access *b)
{
    if ((!a->write && !b->write) || a->flat == b->flat)
        return MGB_OK;
    const struct mgb_verify_access *first = a->flat < b->flat ? a : b,
                                   *second = a->flat < b->flat ? b : a;
    if (mgb_verify_before(v, first->flat, second->flat))
        return MGB_OK;
    char one[160], two[160];
    return mgb_fail(
        MGB_CORRUPT, "plan: a wait is missing: %s %s buffer b%d '%s' and %s does not wait for it",
        mgb_verify_name(one, v, first->flat), first->write ? "writes" : "reads", first->buffer,
        v->plan->buffers[first->buffer].name, mgb_verify_name(two, v, second->flat));
}

enum mgb_status mgb_verify_races(struct mgb_verifier *v)
{
    int count = v->accesses.count;
    struct mgb_verify_access *sorted = mgb_alloc(((size_t)count + 1) * sizeof *sorted);
    if (!sorted)
        return no_memory();
    enum mgb_status status = MGB_OK;
    if (count > 0) {
        memcpy(sorted, v->accesses.at, (size_t)count * sizeof *sorted);
        qsort(sorted, (size_t)count, sizeof *sorted, begin_compare);
    }
    for (int i = 0; i < count; i++)
        for (int k = i + 1;
             k < count && status == MGB_OK && arena_compare(&sorted[i], &sorted[k]) == 0 &&
             sorted[k].begin < sorted[i].end;
             k++)
            status = pair_check(v, &sorted[i], &sorted[k]);
    mgb_release(sorted);
    return status;
}

struct owned { /* bytes of an arena that a buffer's instance has written last */
    int64_t begin, end;
    int buffer, tower;
};

struct arena {
    int device;
    enum mgb_arena_kind kind;
    mgb_vector(struct owned) owned; /* sorted, apart */
};

struct contents {
    struct mgb_verifier *v;
    mgb_vector(struct arena) arenas;
    int newest;
};

/* Index of the arena of an access, made when it is new; -1 when memory is exhausted. */
static int arena_find(struct contents *c, const struct mgb_verify_access *a)
{
    for (int i = 0; i < c->arenas.count; i++) {
        int k = (c->newest + i) % c->arenas.count;
        if (c->arenas.at[k].device == a->device && c->arenas.at[k].kind == a->arena)
            return c->newest = k;
    }
    if (!mgb_vector_push(&c->arenas, ((struct arena){.device = a->device, .kind = a->arena})))
        return -1;
    return c->newest = c->arenas.count - 1;
}

/* First entry that ends after `offset`. */
static int owned_find(const struct arena *arena, int64_t offset)
{
    int low = 0, high = arena->owned.count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (arena->owned.at[middle].end > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static enum mgb_status bytes_write(struct arena *arena, const struct mgb_verify_access *a)
{
    if (!mgb_vector_reserve(&arena->owned, 2))
        return no_memory();
    struct owned *at = arena->owned.at;
    int first = owned_find(arena, a->begin), last = first;
    while (last < arena->owned.count && at[last].begin < a->end)
        last++;
    struct owned pieces[3];
    int count = 0;
    if (last > first && at[first].begin < a->begin)
        pieces[count++] =
            (struct owned){at[first].begin, a->begin, at[first].buffer, at[first].tower};
    pieces[count++] = (struct owned){a->begin, a->end, a->buffer, a->tower};
    if (last > first && at[last - 1].end > a->end)
        pieces[count++] =
            (struct owned){a->end, at[last - 1].end, at[last - 1].buffer, at[last - 1].tower};
    memmove(at + first + count, at + last, (size_t)(arena->owned.count - last) * sizeof *at);
    memcpy(at + first, pieces, (size_t)count * sizeof *at);
    arena->owned.count += count - (last - first);
    return MGB_OK;
}

static bool gap_is_padding(int64_t begin, int64_t end)
{
    return end % MGB_VERIFY_PADDING == 0 && end - begin < MGB_VERIFY_PADDING;
}

static enum mgb_status bytes_undefined(const struct mgb_verifier *v,
                                       const struct mgb_verify_access *a)
{
    char name[160];
    return mgb_fail(MGB_CORRUPT, "plan: %s reads buffer b%d '%s' before it is defined",
                    mgb_verify_name(name, v, a->flat), a->buffer, v->plan->buffers[a->buffer].name);
}

static enum mgb_status bytes_foreign(const struct mgb_verifier *v,
                                     const struct mgb_verify_access *a, const struct owned *o)
{
    char name[160];
    return mgb_fail(MGB_CORRUPT,
                    "plan: buffers overlap while both live: %s reads b%d '%s', whose bytes b%d "
                    "'%s' has overwritten",
                    mgb_verify_name(name, v, a->flat), a->buffer, v->plan->buffers[a->buffer].name,
                    o->buffer, v->plan->buffers[o->buffer].name);
}

/* Walks from one own part to the next; what lies between may only be padding, whatever it holds. */
static enum mgb_status bytes_read(const struct mgb_verifier *v, const struct arena *arena,
                                  const struct mgb_verify_access *a)
{
    int64_t at = a->begin; /* own bytes reach up to here */
    const struct owned *foreign = NULL;
    if (v->gathered[a->buffer])
        return MGB_OK;
    for (int i = owned_find(arena, a->begin); at < a->end; i++) {
        const struct owned *o = i < arena->owned.count ? &arena->owned.at[i] : NULL;
        bool beyond = !o || o->begin >= a->end;
        if (!beyond && (o->buffer != a->buffer || o->tower != a->tower)) {
            foreign = foreign ? foreign : o;
            continue;
        }
        int64_t begin = beyond ? a->end : o->begin > at ? o->begin : at;
        if (begin > at && (beyond || !gap_is_padding(at, begin)))
            return foreign ? bytes_foreign(v, a, foreign) : bytes_undefined(v, a);
        foreign = NULL;
        at = beyond ? a->end : o->end;
    }
    return MGB_OK;
}

static enum mgb_status contents_follow(struct contents *c)
{
    struct mgb_verifier *v = c->v;
    for (int i = 0; i < v->accesses.count; i++) {
        const struct mgb_verify_access *a = &v->accesses.at[i];
        if (a->arena != MGB_ARENA_STEP)
            continue;
        int arena = arena_find(c, a);
        if (arena < 0)
            return no_memory();
        MGB_TRY(a->write ? bytes_write(&c->arenas.at[arena], a)
                         : bytes_read(v, &c->arenas.at[arena], a));
    }
    return MGB_OK;
}

/* What the host reads after the step lies on /cpu:0 and is still there. */
static enum mgb_status results_check(struct contents *c)
{
    const struct mgb_plan *plan = c->v->plan;
    for (int i = 0; i < plan->result_count; i++) {
        const struct mgb_operand *o = &plan->results[i].part;
        const struct mgb_buffer *b = &plan->buffers[o->buffer];
        int device = b->device != MGB_SELF ? b->device : plan->classes[b->class].lead;
        if (device != 0)
            return mgb_fail(MGB_CORRUPT, "plan: result %d lies on device %d, not on /cpu:0", i,
                            device);
        int64_t begin = b->offset + o->offset;
        struct mgb_verify_access access = {
            .buffer = o->buffer,
            .device = 0,
            .arena = b->arena,
            .begin = begin,
            .end = begin + o->bytes,
            .tower = b->class == MGB_ROOT ? -1 : plan->classes[b->class].first_tower};
        int arena = arena_find(c, &access),
            k = arena < 0 ? 0 : owned_find(&c->arenas.at[arena], begin);
        const struct owned *owned = arena < 0 || k >= c->arenas.at[arena].owned.count
                                        ? NULL
                                        : &c->arenas.at[arena].owned.at[k];
        if (!owned || owned->begin > begin || owned->buffer != o->buffer ||
            owned->tower != access.tower)
            return mgb_fail(MGB_CORRUPT,
                            "plan: result %d in buffer b%d '%s' is not there at the end", i,
                            o->buffer, b->name);
    }
    return MGB_OK;
}

enum mgb_status mgb_verify_contents(struct mgb_verifier *v)
{
    struct contents c = {.v = v};
    enum mgb_status status = contents_follow(&c);
    if (status == MGB_OK)
        status = results_check(&c);
    for (int i = 0; i < c.arenas.count; i++)
        mgb_vector_done(&c.arenas.at[i].owned);
    mgb_vector_done(&c.arenas);
    return status;
}
