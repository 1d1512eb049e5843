/* Shared sub-models: their first use makes variables, later uses are handed the same ones.
 *
 * Variables are found again by their path inside the sub-model, in order, and not by a plain count:
 * a layer object made outside the sub-model asks for its variables the first time only. */
#include "engine/graph/reuse.h"

#include <string.h>

static struct mgb_open_share *share_current(struct mgb_graph *graph)
{
    struct mgb_graph_builder *builder = graph->builder;
    return builder->open_shares.count > 0 ? &builder->open_shares.at[builder->open_shares.count - 1]
                                          : NULL;
}

/* The path from the sub-model's scope to `name`, below the current scope. */
static char *share_path(char *out, size_t size, const struct mgb_graph *graph,
                        const struct mgb_open_share *open, const char *name)
{
    char base[512] = "";
    if (open->scope >= 0)
        mgb_graph_path(base, sizeof base, graph, open->scope, "");
    mgb_graph_path(out, size, graph, graph->builder->scope, name);
    size_t skip = strlen(base);
    if (strncmp(out, base, skip) == 0)
        memmove(out, out + skip, strlen(out + skip) + 1);
    return out;
}

static enum mgb_status item_add(struct mgb_graph *graph, struct mgb_share_item item,
                                const char *path)
{
    item.path = mgb_pool_copy(&graph->builder->pool, path);
    if (!item.path || !mgb_vector_push(&graph->builder->share_items, item))
        return mgb_graph_no_memory(graph);
    return MGB_OK;
}

/* The first item of `path` (variables) or the first sub-model (path NULL) that this use has not
 * taken; or NULL. */
static struct mgb_share_item *item_take(struct mgb_graph *graph, int share, const char *path)
{
    struct mgb_graph_builder *builder = graph->builder;
    int use = builder->share_uses.at[share - 1];
    for (int i = 0; i < builder->share_items.count; i++) {
        struct mgb_share_item *item = &builder->share_items.at[i];
        bool wanted = path ? item->inner == 0 && strcmp(item->path, path) == 0 : item->inner > 0;
        if (item->share == share && item->handed_out < use && wanted) {
            item->handed_out = use;
            return item;
        }
    }
    return NULL;
}

enum mgb_status mgb_share_find(struct mgb_graph *graph, int *variable, const char *name,
                               const struct mgb_shape *shape)
{
    const struct mgb_open_share *open = share_current(graph);
    char path[512], had[96], wanted[96];
    *variable = -1;
    if (!open || open->first)
        return MGB_OK;
    share_path(path, sizeof path, graph, open, name);
    const struct mgb_share_item *item = item_take(graph, open->share, path);
    if (!item)
        return mgb_fail(MGB_INVALID,
                        "variable '%s': a shared sub-model asks for it now but its first use did "
                        "not make it; a sub-model must make the same layers every time",
                        path);
    const struct mgb_shape *first = &graph->variables[item->variable].info.shape;
    if (first->rank != shape->rank ||
        memcmp(first->dim, shape->dim, (size_t)shape->rank * sizeof shape->dim[0]) != 0)
        return mgb_fail(MGB_INVALID,
                        "variable '%s': shared, made as %s and now wanted as %s; a sub-model's "
                        "inputs must have the same shape every time",
                        path, mgb_shape_format(had, sizeof had, first),
                        mgb_shape_format(wanted, sizeof wanted, shape));
    *variable = item->variable;
    return MGB_OK;
}

enum mgb_status mgb_share_note(struct mgb_graph *graph, int variable, const char *name)
{
    const struct mgb_open_share *open = share_current(graph);
    char path[512];
    if (!open)
        return MGB_OK;
    share_path(path, sizeof path, graph, open, name);
    return item_add(
        graph, (struct mgb_share_item){.share = open->share, .variable = variable, .handed_out = 1},
        path);
}

static enum mgb_status share_make(struct mgb_graph *graph, int *share)
{
    const struct mgb_open_share *outer = share_current(graph);
    int none = 0;
    if (!mgb_vector_push(&graph->builder->share_uses, none))
        return mgb_graph_no_memory(graph);
    int made = graph->builder->share_uses.count;
    if (outer)
        MGB_TRY(item_add(graph,
                         (struct mgb_share_item){
                             .share = outer->share, .variable = -1, .inner = made, .handed_out = 1},
                         ""));
    *share = made;
    return MGB_OK;
}

/* The sub-model came with its number: if the surrounding one lists it, that entry is taken. */
static void share_mark(struct mgb_graph *graph, int outer, int inner)
{
    struct mgb_graph_builder *builder = graph->builder;
    for (int i = 0; i < builder->share_items.count; i++)
        if (builder->share_items.at[i].share == outer && builder->share_items.at[i].inner == inner)
            builder->share_items.at[i].handed_out = builder->share_uses.at[outer - 1];
}

enum mgb_status mgb_graph_begin_shared(struct mgb_graph *graph, int *share)
{
    struct mgb_graph_builder *builder = graph->builder;
    MGB_TRY(mgb_graph_check_open(graph, "begin_shared"));
    if (*share < 0 || *share > builder->share_uses.count)
        return mgb_fail(MGB_INVALID, "begin_shared: %d is no sub-model of model '%s'", *share,
                        graph->name);
    const struct mgb_open_share *outer = share_current(graph);
    if (*share == 0 && outer && !outer->first) {
        const struct mgb_share_item *item = item_take(graph, outer->share, NULL);
        if (!item)
            return mgb_fail(MGB_INVALID, "a shared sub-model uses a sub-model now that its first "
                                         "use did not have");
        *share = item->inner;
    } else if (*share > 0 && outer && !outer->first) {
        share_mark(graph, outer->share, *share);
    }
    if (*share == 0)
        MGB_TRY(share_make(graph, share));
    int use = ++builder->share_uses.at[*share - 1];
    struct mgb_open_share open = {.share = *share, .scope = builder->scope, .first = use == 1};
    if (!mgb_vector_push(&builder->open_shares, open))
        return mgb_graph_no_memory(graph);
    return MGB_OK;
}

enum mgb_status mgb_graph_end_shared(struct mgb_graph *graph)
{
    if (graph->builder->open_shares.count == 0)
        return mgb_fail(MGB_STATE, "end_shared without begin_shared in model '%s'", graph->name);
    graph->builder->open_shares.count--;
    return MGB_OK;
}
