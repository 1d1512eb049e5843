/* Moves weights and slots between placements by playing a move plan: new lasting arenas beside the old ones, copies, then
 * the old ones go. A device whose lasting arena would look the same keeps it. */
#include "engine/exec/move.h"

#include "engine/base/clock.h"
#include <stdlib.h>
#include <string.h>

static int64_t lasting_bytes(const struct mgb_plan *plan, int device)
{
    for (int i = 0; i < plan->use_count; i++)
        if (plan->uses[i].device == device)
            return plan->uses[i].lasting_bytes;
    return 0;
}

/* What lies at a place of a device's lasting arena. */
struct occupant {
    int variable, role, slot; /* variable -1: an input slot, its number in `slot` */
    int64_t offset, bytes;
};

static int occupant_order(const void *a, const void *b)
{
    const struct occupant *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    if (x->variable != y->variable)
        return x->variable < y->variable ? -1 : 1;
    return x->role - y->role;
}

/* Mirrored weights name tower 0's storage twice, as master and among the replicas: one occupant each. */
static int occupants_list(const struct mgb_plan *plan, int device, struct occupant *out)
{
    int count = 0;
    for (int i = 0; i < plan->storage_count; i++) {
        const struct mgb_storage *storage = &plan->storages[i];
        bool each = storage->tower == MGB_EACH_TOWER;
        for (int t = each ? 0 : storage->tower; t < (each ? plan->tower_count : storage->tower + 1);
             t++) {
            if (each && plan->towers[t].class != plan->buffers[storage->buffer].class)
                continue;
            struct mgb_place place = mgb_plan_place(plan, storage->buffer, t);
            if (place.device == device)
                out[count++] =
                    (struct occupant){storage->variable, (int)storage->role, storage->slot,
                                      place.offset + storage->offset, storage->bytes};
        }
    }
    for (int i = 0; i < mgb_graph_input_count(plan->graph); i++) {
        const struct mgb_buffer *buffer = &plan->buffers[plan->input_buffer[i]];
        if (buffer->device == device)
            out[count++] = (struct occupant){-1, 0, i, buffer->offset, buffer->flip};
    }
    qsort(out, (size_t)count, sizeof *out, occupant_order);
    return count;
}

/* Values that change where they lie must not be lost when the move fails: slots of another optimizer start as zero,
 * independent towers go back to one set of values. */
static bool values_change(const struct mgb_plan *a, const struct mgb_plan *b)
{
    return a->optimizer.kind != b->optimizer.kind ||
           (a->strategy == MGB_INDEPENDENT && b->strategy != MGB_INDEPENDENT);
}

static bool device_same(const struct mgb_plan *a, const struct mgb_plan *b, int device,
                        struct occupant *room, int half)
{
    if (values_change(a, b) || lasting_bytes(a, device) != lasting_bytes(b, device))
        return false;
    int n = occupants_list(a, device, room), m = occupants_list(b, device, room + half);
    for (int i = 0; i < n && n == m; i++) {
        const struct occupant *x = &room[i], *y = &room[half + i];
        if (x->variable != y->variable || x->role != y->role || x->slot != y->slot ||
            x->offset != y->offset || x->bytes != y->bytes)
            return false;
    }
    return n == m;
}

/* New lasting arenas; `same`: devices that keep theirs. The present ones become old. */
static enum mgb_status arenas_make(struct mgb_run *run, const struct mgb_plan *to, const bool *same)
{
    struct mgb_site *site = run->site;
    mgb_site_swap_lasting(site);
    for (int device = 0; device < run->topology.device_count; device++)
        if (same[device])
            *mgb_site_arena(site, MGB_ARENA_LASTING, device) =
                *mgb_site_arena(site, MGB_ARENA_OLD, device);
    for (int device = 0; device < run->topology.device_count; device++)
        if (!same[device])
            MGB_TRY(mgb_site_resize(site, MGB_ARENA_LASTING, device, lasting_bytes(to, device)));
    return MGB_OK;
}

/* Frees one side of the move, except what both sides share. */
static void side_free(struct mgb_run *run, enum mgb_arena_kind kind, const bool *same)
{
    for (int device = 0; device < run->topology.device_count; device++) {
        if (same[device])
            *mgb_site_arena(run->site, kind, device) = (struct mgb_arena){0};
        else
            (void)mgb_site_resize(run->site, kind, device, 0);
    }
}

static void step_free(struct mgb_run *run)
{
    for (int device = 0; device < run->topology.device_count; device++)
        (void)mgb_site_resize(run->site, MGB_ARENA_STEP, device, 0);
}

static enum mgb_status copies_play(struct mgb_run *run, const struct mgb_plan *from,
                                   const struct mgb_plan *to, struct mgb_change *change)
{
    struct mgb_plan *plan;
    struct mgb_program *program;
    MGB_TRY(mgb_plan_make_move(&plan, from, to));
    MGB_TRY(mgb_program_make(&program, run->site, plan));
    struct mgb_play play = {.timeout_ns = run->step_timeout_ns};
    enum mgb_status status = mgb_program_bind(program, false);
    if (status == MGB_OK)
        status = run->guarded ? mgb_program_play_guarded(program, &play, NULL, NULL)
                              : mgb_program_play(program, &play);
    for (int i = 0; i < program->count; i++) {
        const struct mgb_command *command = &program->commands[i];
        void **at = program->addresses[0] + command->slot_begin;
        if (command->task->kind != MGB_TASK_COPY || at[0] == at[1])
            continue;
        change->copied_bytes += command->bytes;
        if (command->from != command->device)
            change->moved_bytes += command->task->queue == MGB_QUEUE_COPY ? command->bytes : 0;
    }
    mgb_program_free(program);
    return mgb_run_failed(run, status);
}

/* Up to the point where both sides hold the values. On failure the old side is back in place, without step arenas. */
static enum mgb_status values_move(struct mgb_run *run, const struct mgb_plan *from,
                                   const struct mgb_plan *to, const bool *same,
                                   struct mgb_change *change)
{
    enum mgb_status status = arenas_make(run, to, same);
    if (status == MGB_OOM) { /* step arenas hold nothing between steps */
        side_free(run, MGB_ARENA_LASTING, same);
        mgb_site_swap_lasting(run->site);
        step_free(run);
        status = arenas_make(run, to, same);
    }
    if (status == MGB_OK)
        status = copies_play(run, from, to, change);
    if (status == MGB_OK)
        return MGB_OK;
    side_free(run, MGB_ARENA_LASTING, same);
    mgb_site_swap_lasting(run->site);
    return status;
}

/* Going back after the old side is gone: the same move the other way round. */
static enum mgb_status values_return(struct mgb_run *run, const struct mgb_plan *from,
                                     const struct mgb_plan *to, const bool *same)
{
    struct mgb_change ignored = {0};
    step_free(run);
    MGB_TRY(values_move(run, from, to, same, &ignored));
    side_free(run, MGB_ARENA_OLD, same);
    return MGB_OK;
}

static enum mgb_status move_play(struct mgb_run *run, struct mgb_setting *from,
                                 struct mgb_setting *to, const bool *same,
                                 struct mgb_change *change)
{
    const struct mgb_plan *old = mgb_setting_plan(from), *new = mgb_setting_plan(to);
    MGB_TRY(values_move(run, old, new, same, change));
    enum mgb_status status = mgb_run_arrange_step(run, to);
    if (status == MGB_OOM) {
        side_free(run, MGB_ARENA_OLD, same);
        status = mgb_run_arrange_step(run, to);
        if (status != MGB_OK && values_return(run, new, old, same) != MGB_OK)
            run->dead = true;
        return status;
    }
    if (status == MGB_OK) {
        side_free(run, MGB_ARENA_OLD, same);
        return MGB_OK;
    }
    side_free(run, MGB_ARENA_LASTING, same);
    mgb_site_swap_lasting(run->site);
    return status;
}

enum mgb_status mgb_run_move(struct mgb_run *run, struct mgb_setting *from, struct mgb_setting *to,
                             struct mgb_change *change)
{
    const struct mgb_plan *old = mgb_setting_plan(from), *new = mgb_setting_plan(to);
    int64_t start = mgb_clock_ns();
    enum mgb_status status;
    if (mgb_plan_same_lasting(old, new)) {
        status = mgb_run_arrange_step(run, to);
    } else {
        size_t towers =
            (size_t)(old->tower_count > new->tower_count ? old->tower_count : new->tower_count) + 1;
        size_t half = ((size_t)old->storage_count + (size_t) new->storage_count) * towers +
                      (size_t)mgb_graph_input_count(run->graph);
        struct occupant *room = mgb_alloc((2 * half + 1) * sizeof *room);
        bool *same = mgb_alloc((size_t)run->topology.device_count * sizeof *same);
        for (int d = 0; room && same && d < run->topology.device_count; d++)
            same[d] = device_same(old, new, d, room, (int)half);
        if (same && !same[0])
            mgb_run_free_prefetch(run); /* the input slots go elsewhere */
        status = room && same ? move_play(run, from, to, same, change)
                              : mgb_fail(MGB_NO_MEMORY, "no memory to move the weights");
        mgb_release(room);
        mgb_release(same);
    }
    change->move_ns = mgb_clock_ns() - start;
    return status;
}
