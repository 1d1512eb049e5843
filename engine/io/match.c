/* See match.h. */
#include "engine/io/match.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/json.h"
#include <string.h>

#define NAMED 4 /* of many names as many are told */

void mgb_checkpoint_names_done(struct mgb_checkpoint_names *names)
{
    for (int i = 0; i < names->count; i++)
        mgb_release(names->at[i]);
    mgb_release(names->at);
    *names = (struct mgb_checkpoint_names){0};
}

static enum mgb_status no_memory(const struct mgb_match *match)
{
    return mgb_fail(MGB_NO_MEMORY, "no memory to load '%s'", match->file->path);
}

/* `names->at` has room. */
static enum mgb_status name_add(const struct mgb_match *match, struct mgb_checkpoint_names *names,
                                const char *name)
{
    char *copy = mgb_copy_string(name);
    if (!copy)
        return no_memory(match);
    names->at[names->count++] = copy;
    return MGB_OK;
}

static enum mgb_status tensor_check(const struct mgb_match *match, const char *name,
                                    const struct mgb_shape *shape, const struct mgb_stored *stored)
{
    char there[128], here[128];
    const char *model = mgb_graph_name(match->graph), *path = match->file->path;
    if (stored->rank != shape->rank || stored->rank > MGB_MAX_RANK ||
        memcmp(stored->dim, shape->dim, (size_t)shape->rank * sizeof *shape->dim) != 0)
        return mgb_fail(MGB_INVALID, "tensor '%s' is %s in '%s' and %s in model '%s'", name,
                        mgb_stored_shape(there, sizeof there, stored), path,
                        mgb_shape_format(here, sizeof here, shape), model);
    if (!mgb_stored_readable(stored))
        return mgb_fail(MGB_INVALID,
                        "tensor '%s' of '%s' is of type %s: F32 can be loaded, F16 and BF16 are "
                        "widened, others would lose or make up digits",
                        name, path, stored->type);
    return MGB_OK;
}

/* Finds what variable `v` has as `slot` (-1: the weight). */
static enum mgb_status tensor_match(struct mgb_match *match, bool *used, int v, int slot,
                                    bool wanted)
{
    struct mgb_variable_info info = mgb_graph_variable_at(match->graph, v);
    struct mgb_text text = {0};
    char *name;
    if (slot < 0)
        mgb_text_add(&text, "%s", info.name);
    else
        mgb_text_add(&text, "%s/%s", info.name, mgb_optimizer_slot_name(match->optimizer, slot));
    MGB_TRY(mgb_text_take(&name, &text));
    const struct mgb_stored *stored = mgb_tensor_file_find(match->file, name);
    enum mgb_status status = MGB_OK;
    if (stored)
        used[stored - match->file->tensors] = true;
    if (stored && wanted) {
        status = tensor_check(match, name, &info.shape, stored);
        match->stored[v * match->width + (slot < 0 ? 0 : slot)] = stored;
        match->found++;
        match->widened += strcmp(stored->type, "F32") != 0;
    } else if (wanted) {
        status = name_add(match, &match->missing, name);
    }
    mgb_release(name);
    return status;
}

static enum mgb_status variables_match(struct mgb_match *match, bool *used,
                                       const struct mgb_checkpoint_values *values)
{
    bool slots = match->optimizer != NULL;
    for (int v = 0; v < mgb_graph_variable_count(match->graph); v++) {
        if (mgb_graph_variable_at(match->graph, v).twin >= 0)
            continue;
        for (int k = 0; k < match->width; k++)
            MGB_TRY(tensor_match(match, used, v, slots ? k : -1,
                                 !slots || values->has(values->context, v, k)));
    }
    for (int i = 0; i < match->file->count; i++)
        if (!used[i])
            MGB_TRY(name_add(match, &match->unexpected, match->file->tensors[i].name));
    return MGB_OK;
}

enum mgb_status mgb_match_make(struct mgb_match *out, const struct mgb_tensor_file *file,
                               const struct mgb_graph *graph, const struct mgb_optimizer *optimizer,
                               const struct mgb_checkpoint_values *values)
{
    int width = optimizer ? mgb_optimizer_slots(optimizer) : 1;
    size_t most = (size_t)mgb_graph_variable_count(graph) * (size_t)width + 1;
    *out = (struct mgb_match){.file = file, .graph = graph, .optimizer = optimizer, .width = width};
    bool *used = mgb_alloc((size_t)file->count + 1);
    out->stored = mgb_alloc(most * sizeof(struct mgb_stored *));
    out->missing.at = mgb_alloc(most * sizeof(char *));
    out->unexpected.at = mgb_alloc(((size_t)file->count + 1) * sizeof(char *));
    enum mgb_status status = used && out->stored && out->missing.at && out->unexpected.at
                                 ? variables_match(out, used, values)
                                 : no_memory(out);
    mgb_release(used);
    if (status != MGB_OK)
        mgb_match_done(out);
    return status;
}

void mgb_match_done(struct mgb_match *match)
{
    mgb_checkpoint_names_done(&match->missing);
    mgb_checkpoint_names_done(&match->unexpected);
    mgb_release(match->stored);
    match->stored = NULL;
}

/* "'a', 'b' and 7 more" */
static void names_write(struct mgb_text *out, const struct mgb_checkpoint_names *names)
{
    char shown[MGB_JSON_SHOWN];
    int told = names->count <= NAMED + 1 ? names->count : NAMED;
    for (int i = 0; i < told; i++)
        mgb_text_add(out, "%s'%s'", i ? ", " : "", mgb_json_show(shown, names->at[i]));
    if (told < names->count)
        mgb_text_add(out, " and %d more", names->count - told);
}

static enum mgb_status one_sided_fail(const struct mgb_match *match)
{
    const struct mgb_checkpoint_names *missing = &match->missing, *more = &match->unexpected;
    bool none = !match->found;
    struct mgb_text text = {0};
    char *words;
    mgb_text_add(&text, none ? "no tensor of '%s' is of model '%s': " : "'%s' and model '%s': ",
                 match->file->path, mgb_graph_name(match->graph));
    if (missing->count)
        mgb_text_add(&text, "only the model has ");
    names_write(&text, missing);
    if (more->count)
        mgb_text_add(&text, "%sonly the file has ", missing->count ? "; " : "");
    names_write(&text, more);
    if (none && !missing->count && !more->count)
        mgb_text_add(&text, "there is none");
    if (!none)
        mgb_text_add(&text, " (strict = false or --partial leaves them out)");
    MGB_TRY(mgb_text_take(&words, &text));
    mgb_fail(MGB_MISSING, "%s", words);
    mgb_release(words);
    return none ? MGB_INVALID : MGB_MISSING;
}

enum mgb_status mgb_match_check(const struct mgb_match *match, bool partial)
{
    bool whole = match->missing.count == 0 && match->unexpected.count == 0;
    bool none = match->found == 0 && !match->optimizer;
    return none || (!whole && !partial) ? one_sided_fail(match) : MGB_OK;
}

int mgb_match_untrained(const struct mgb_match *match)
{
    for (int v = 0; v < mgb_graph_variable_count(match->graph); v++) {
        int known = 0;
        for (int k = 0; k < match->width; k++)
            known += match->stored[v * match->width + k] != NULL;
        if (known > 0 && known < match->width)
            return 0;
    }
    return match->unexpected.count == 0 ? match->missing.count / match->width : 0;
}
