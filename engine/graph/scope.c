/* Scopes of names and of devices, and what a name may look like. */
#include "engine/base/text.h"
#include "engine/graph/build.h"

#include <string.h>

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

/* Bytes of the UTF-8 character at `c`, 0 if it is none (RFC 3629: no longer form than needed, no surrogates). */
static int character_size(const unsigned char *c)
{
    static const struct {
        unsigned char from, to, next_from, next_to;
        int size;
    } rows[] = {
        {0x00, 0x7f, 0, 0xff, 1},    {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (*c < rows[i].from || *c > rows[i].to)
            continue;
        if (rows[i].size > 1 && (c[1] < rows[i].next_from || c[1] > rows[i].next_to))
            return 0;
        for (int at = 2; at < rows[i].size; at++)
            if ((c[at] & 0xc0) != 0x80)
                return 0;
        return rows[i].size;
    }
    return 0;
}

/* U+0000 to U+001F, U+007F to U+009F. */
static bool is_control(const unsigned char *c)
{
    return *c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0);
}

enum mgb_status mgb_graph_check_text(const char *what, const char *name)
{
    const unsigned char *text = (const unsigned char *)name;
    int size = 1;
    for (const unsigned char *c = text; *c; c += size) {
        size = character_size(c);
        if (size > 0 && !is_control(c))
            continue;
        return mgb_fail(MGB_INVALID,
                        "%s: the name has %s (0x%02x at byte %d); it will be shown and stored, "
                        "give it characters that can be",
                        what, size ? "a control character" : "a byte that is no UTF-8", *c,
                        (int)(c - text) + 1);
    }
    return MGB_OK;
}

/* '/' separates scopes; ".grad" and ".read" are ours, so that full names never clash. */
enum mgb_status mgb_graph_check_name(const char *what, const char *name)
{
    if (!name || name[0] == '\0')
        return mgb_fail(MGB_INVALID, "%s: the name is empty", what);
    if (strlen(name) > MGB_NAME_MOST)
        return mgb_fail(MGB_INVALID, "%s: the name '%.40s...' has more than %d characters", what,
                        name, MGB_NAME_MOST);
    MGB_TRY(mgb_graph_check_text(what, name));
    for (const char *c = name; *c; c++)
        if (*c == '/' || *c == ' ')
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
