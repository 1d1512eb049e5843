/* Lifetimes and offsets. Lasting buffers lie one behind the other in order of creation, so that every plan of a placement
 * lays them out alike. Step buffers are placed largest first, each in the smallest gap between those that live at the same
 * time (greedy by size; Pisarchyk and Lee, 2020, arXiv:2001.03288). */
#include "engine/plan/build.h"

#include <stdlib.h>
#include <string.h>

int mgb_plan_group_count(const struct mgb_planner *planner)
{
    return planner->plan->topology->device_count + planner->plan->class_count;
}

int mgb_plan_group_of(const struct mgb_planner *planner, int class, int place)
{
    int device = mgb_plan_device(planner, class, place);
    return planner->rooted[device] ? device : planner->plan->topology->device_count + class;
}

int mgb_plan_group(const struct mgb_planner *planner, int buffer)
{
    return mgb_plan_group_of(planner, planner->buffers.at[buffer].class,
                             planner->buffers.at[buffer].device);
}

int64_t mgb_plan_extent(const struct mgb_planner *planner, int buffer)
{
    const struct mgb_buffer *b = &planner->buffers.at[buffer];
    int64_t one = mgb_plan_align(b->bytes) + b->flip;
    return b->stride > 0 ? b->stride * planner->plan->classes[b->class].tower_count : one;
}

static void lifetime_extend(struct mgb_buffer *buffer, int task)
{
    if (buffer->first < 0 || task < buffer->first)
        buffer->first = task;
    if (task > buffer->last)
        buffer->last = task;
}

/* Under a loss scale the host asks whether the factor was a skip. */
static void factors_keep(struct mgb_planner *planner, int end)
{
    for (int i = 0; i < planner->tasks.count; i++)
        if (planner->tasks.at[i].kind == MGB_TASK_CLIP &&
            planner->plan->precision == MGB_PRECISION_F16)
            planner->drafts.at[planner->operands.at[planner->tasks.at[i].operand_begin].buffer]
                .keep = end;
}

/* The host reads results after the step; those of towers stay as well, lest backward wait for so small a copy. */
static void results_keep(struct mgb_planner *planner, int end)
{
    for (int i = 0; i < planner->results.count; i++)
        planner->drafts.at[planner->results.at[i].part.buffer].keep = end;
    for (int c = 0; c < planner->plan->class_count; c++)
        if (planner->stages[c].results >= 0)
            planner->drafts.at[planner->stages[c].results].keep = end;
    if (planner->root.results >= 0)
        planner->drafts.at[planner->root.results].keep = end;
}

enum mgb_status mgb_plan_lifetimes(struct mgb_planner *planner)
{
    for (int i = 0; i < planner->tasks.count; i++) {
        const struct mgb_task *task = &planner->tasks.at[i];
        for (int k = 0; k < task->operand_count; k++)
            lifetime_extend(
                &planner->buffers.at[planner->operands.at[task->operand_begin + k].buffer], i);
    }
    int end = planner->tasks.count - 1;
    results_keep(planner, end);
    factors_keep(planner, end);
    for (int b = 0; b < planner->buffers.count; b++) {
        struct mgb_buffer *buffer = &planner->buffers.at[b];
        if (planner->drafts.at[b].keep >= 0)
            lifetime_extend(buffer, planner->drafts.at[b].keep);
        if (buffer->arena == MGB_ARENA_LASTING || buffer->first < 0) {
            buffer->first = 0;
            buffer->last = buffer->arena == MGB_ARENA_LASTING ? (end > 0 ? end : 0) : 0;
        }
    }
    return MGB_OK;
}

struct
    piece { /* a step buffer of a group; offset and lifetime stand here too, for all are looked at for each */
    int buffer, first, last;
    int64_t extent, offset;
};

static int piece_compare(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->extent != y->extent)
        return x->extent > y->extent ? -1 : 1;
    return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

static bool lifetimes_meet(const struct piece *a, const struct piece *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* `placed` is sorted by offset. Returns where `piece` goes. */
static int64_t gap_find(const struct piece *placed, int count, struct piece piece)
{
    int64_t end = 0, best = -1, best_gap = INT64_MAX;
    for (int i = 0; i < count; i++) {
        const struct piece *other = &placed[i];
        if (!lifetimes_meet(&piece, other))
            continue;
        int64_t gap = other->offset - end;
        if (gap >= piece.extent && gap < best_gap) {
            best = end;
            best_gap = gap;
        }
        if (other->offset + other->extent > end)
            end = other->offset + other->extent;
    }
    return best >= 0 ? best : end;
}

static void piece_insert(struct piece *placed, int count, struct piece piece)
{
    int low = 0, high = count; /* behind those that begin no later */
    while (low < high) {
        int middle = (low + high) / 2;
        if (placed[middle].offset > piece.offset)
            high = middle;
        else
            low = middle + 1;
    }
    memmove(placed + low + 1, placed + low, (size_t)(count - low) * sizeof *placed);
    placed[low] = piece;
}

/* Places `count` pieces; `placed` is room for as many. Returns the size of the arena. */
static int64_t group_place(struct mgb_planner *planner, struct piece *pieces, struct piece *placed,
                           int count)
{
    int64_t size = 0;
    qsort(pieces, (size_t)count, sizeof *pieces, piece_compare);
    for (int i = 0; i < count; i++) {
        int64_t offset = pieces[i].offset = gap_find(placed, i, pieces[i]);
        planner->buffers.at[pieces[i].buffer].offset = offset;
        piece_insert(placed, i, pieces[i]);
        if (offset + pieces[i].extent > size)
            size = offset + pieces[i].extent;
    }
    return size;
}

/* Step buffers sorted by group: begin[g] .. begin[g + 1] of `pieces`. Lasting ones get their offsets here. */
static void groups_gather(struct mgb_planner *planner, struct piece *pieces, int *begin)
{
    int groups = mgb_plan_group_count(planner);
    for (int b = 0; b < planner->buffers.count; b++) {
        struct mgb_buffer *buffer = &planner->buffers.at[b];
        int group = mgb_plan_group(planner, b);
        if (buffer->arena == MGB_ARENA_LASTING) {
            buffer->offset = planner->arenas[group].lasting;
            planner->arenas[group].lasting += mgb_plan_extent(planner, b);
        } else {
            begin[group + 1]++;
        }
    }
    for (int g = 0; g < groups; g++)
        begin[g + 1] += begin[g];
    for (int b = planner->buffers.count - 1; b >= 0; b--)
        if (planner->buffers.at[b].arena != MGB_ARENA_LASTING)
            pieces[--begin[mgb_plan_group(planner, b) + 1]] =
                (struct piece){.buffer = b,
                               .first = planner->buffers.at[b].first,
                               .last = planner->buffers.at[b].last,
                               .extent = mgb_plan_extent(planner, b)};
    for (int g = 0; g < groups; g++) /* begin[g + 1] is now the begin of g: shift back */
        begin[g] = begin[g + 1];
}

enum mgb_status mgb_plan_layout(struct mgb_planner *planner)
{
    int groups = mgb_plan_group_count(planner);
    size_t count = (size_t)planner->buffers.count + 1;
    planner->arenas = mgb_plan_alloc(planner, (size_t)groups, sizeof *planner->arenas);
    int *begin = mgb_alloc(((size_t)groups + 2) * sizeof *begin);
    struct piece *pieces = mgb_alloc(2 * count * sizeof *pieces);
    if (!planner->arenas || !begin || !pieces) {
        planner->failed = true;
    } else {
        groups_gather(planner, pieces, begin);
        int end = 0;
        for (int b = 0; b < planner->buffers.count; b++)
            end += planner->buffers.at[b].arena != MGB_ARENA_LASTING;
        begin[groups] = end;
        for (int g = 0; g < groups; g++)
            planner->arenas[g].step =
                group_place(planner, pieces + begin[g], pieces + count, begin[g + 1] - begin[g]);
    }
    mgb_release(begin);
    mgb_release(pieces);
    return MGB_OK;
}
