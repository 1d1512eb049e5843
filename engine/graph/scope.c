/* Scopes of names and of devices, and what a name may look like. */
#include "engine/base/text.h"
#include "engine/graph/build.h"

#include <ctype.h>
#include <string.h>

#define NAME_MOST 120

enum mgb_status mgb_graph_check_open(const struct mgb_graph *graph, const char *what)
{
    if (!graph->finished)
        return MGB_OK;
    return mgb_fail(MGB_STATE, "%s: model '%s' is finished and can no longer be changed", what,
                    graph->name);
}

enum mgb_status mgb_graph_no_memory(const struct mgb_graph *graph)
{
    return mgb_fail(MGB_NO_MEMORY, "building model '%s': out of memory", graph->name);
}

/* '/' separates scopes; ".grad" and ".read" are ours, so that full names never clash. */
enum mgb_status mgb_graph_check_name(const char *what, const char *name)
{
    if (!name || name[0] == '\0')
        return mgb_fail(MGB_INVALID, "%s: the name is empty", what);
    if (strlen(name) > NAME_MOST)
        return mgb_fail(MGB_INVALID, "%s: the name '%.40s...' has more than %d characters", what,
                        name, NAME_MOST);
    for (const char *c = name; *c; c++)
        if (*c == '/' || isspace((unsigned char)*c) || iscntrl((unsigned char)*c))
            return mgb_fail(MGB_INVALID,
                            "%s '%s': a name has no blanks and no '/' (use a scope for paths)",
                            what, name);
    if (strstr(name, ".grad") || strstr(name, ".read"))
        return mgb_fail(MGB_INVALID, "%s '%s': names with \".grad\" or \".read\" are reserved",
                        what, name);
    return MGB_OK;
}

enum mgb_status mgb_graph_begin_scope(struct mgb_graph *graph, const char *name)
{
    struct mgb_graph_builder *builder = graph->builder;
    MGB_TRY(mgb_graph_check_open(graph, "begin_scope"));
    MGB_TRY(mgb_graph_check_name("scope", name));
    const char *raw = mgb_pool_copy(&builder->pool, name);
    struct mgb_scope scope = {.parent = builder->scope, .raw = raw};
    if (!raw || !mgb_vector_push(&builder->scopes, scope))
        return mgb_graph_no_memory(graph);
    builder->scope = builder->scopes.count - 1;
    return MGB_OK;
}

void mgb_graph_end_scope(struct mgb_graph *graph)
{
    struct mgb_graph_builder *builder = graph->builder;
    if (builder->scope < 0)
        builder->unbalanced = true;
    else
        builder->scope = builder->scopes.at[builder->scope].parent;
}

void mgb_graph_use_scope(struct mgb_graph *graph, int scope)
{
    struct mgb_scope *scopes = graph->builder->scopes.at;
    for (; scope >= 0 && !scopes[scope].used; scope = scopes[scope].parent)
        scopes[scope].used = true;
}

enum mgb_status mgb_graph_begin_device(struct mgb_graph *graph, struct mgb_device_name device)
{
    MGB_TRY(mgb_graph_check_open(graph, "begin_device"));
    if (device.kind == MGB_DEVICE_SPREAD)
        return mgb_fail(MGB_INVALID,
                        "device scope: \"spread\" is no device; give it as weights_at");
    if (!mgb_vector_push(&graph->builder->devices, device))
        return mgb_graph_no_memory(graph);
    return MGB_OK;
}

void mgb_graph_end_device(struct mgb_graph *graph)
{
    if (graph->builder->devices.count == 0)
        graph->builder->unbalanced = true;
    else
        graph->builder->devices.count--;
}

/* Writes the scopes outermost first; returns the characters used. */
static size_t path_add_scopes(char *out, size_t size, const struct mgb_scope *scopes, int scope)
{
    if (scope < 0)
        return 0;
    size_t used = path_add_scopes(out, size, scopes, scopes[scope].parent);
    if (used < size)
        used += (size_t)mgb_format(out + used, size - used, "%s/", scopes[scope].raw);
    return used;
}

char *mgb_graph_path(char *out, size_t size, const struct mgb_graph *graph, int scope,
                     const char *raw)
{
    size_t used = path_add_scopes(out, size, graph->builder->scopes.at, scope);
    if (used < size)
        mgb_format(out + used, size - used, "%s", raw);
    return out;
}
