/* Names made twice: `add, nested, nested` becomes `add, nested_1, nested_2`
 * (reference/ancestors.md, K10). */
#include "engine/graph/names.h"

#include "engine/base/text.h"
#include <string.h>

static bool clash(const struct mgb_unique_name *a, const struct mgb_unique_name *b)
{
    return a->parent == b->parent && strcmp(a->raw, b->raw) == 0;
}

/* Is `name` somebody's own or already handed out? */
static bool is_taken(const struct mgb_unique_name *names, int count, int parent, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (names[i].parent != parent)
            continue;
        if (strcmp(names[i].raw, name) == 0 || (names[i].name && strcmp(names[i].name, name) == 0))
            return true;
    }
    return false;
}

static bool is_alone(const struct mgb_unique_name *names, int count, int index)
{
    for (int i = 0; i < count; i++)
        if (i != index && clash(&names[i], &names[index]))
            return false;
    return true;
}

static enum mgb_status suffix_names(struct mgb_pool *pool, struct mgb_unique_name *names, int count,
                                    int first)
{
    char text[192];
    int suffix = 0;
    for (int i = first; i < count; i++) {
        if (names[i].name || !clash(&names[i], &names[first]))
            continue;
        do
            mgb_format(text, sizeof text, "%s_%d", names[i].raw, ++suffix);
        while (is_taken(names, count, names[i].parent, text));
        names[i].name = mgb_pool_copy(pool, text);
        if (!names[i].name)
            return mgb_fail(MGB_NO_MEMORY, "making names unique: out of memory");
    }
    return MGB_OK;
}

enum mgb_status mgb_names_make_unique(struct mgb_pool *pool, struct mgb_unique_name *names,
                                      int count)
{
    for (int i = 0; i < count; i++)
        names[i].name = names[i].fixed || is_alone(names, count, i) ? names[i].raw : NULL;
    for (int i = 0; i < count; i++)
        if (!names[i].name)
            MGB_TRY(suffix_names(pool, names, count, i));
    return MGB_OK;
}
