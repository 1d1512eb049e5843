/* Loading: everything is read and compared first, then written. */
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/io/match.h"
#include "engine/io/replace.h"
#include "engine/io/state.h"
#include <string.h>
#include <unistd.h>

struct loading {
    const struct mgb_graph *graph;
    const struct mgb_checkpoint_state *state; /* of the run */
    const struct mgb_checkpoint_values *values;
    const struct mgb_checkpoint_options *options;
    struct mgb_tensor_file weights, slots;
    struct mgb_match weights_match, slots_match;
    struct mgb_checkpoint_state stored;
    float *scratch;
    bool resumes;
};

/* Room for any variable, and for any tensor of a file of ours. */
static enum mgb_status scratch_make(struct loading *l)
{
    int64_t most = 1;
    for (int v = 0; v < mgb_graph_variable_count(l->graph); v++) {
        int64_t count = mgb_graph_variable_at(l->graph, v).count;
        most = count > most ? count : most;
    }
    for (int i = 0; i < l->weights.count; i++) {
        int64_t count = l->weights.tensors[i].bytes / (int64_t)sizeof(float);
        most = count > most ? count : most;
    }
    l->scratch = mgb_alloc((size_t)most * sizeof *l->scratch);
    return l->scratch ? MGB_OK : mgb_fail(MGB_NO_MEMORY, "no memory to load '%s'", l->weights.path);
}

/* *digest: of the weights' file; 0 when it is none of ours. */
static enum mgb_status weights_digest(struct loading *l, uint64_t *digest)
{
    *digest = 0;
    for (int i = 0; i < l->weights.count; i++)
        if (strcmp(l->weights.tensors[i].type, "F32") != 0)
            return MGB_OK;
    for (int i = 0; i < l->weights.count; i++) {
        const struct mgb_stored *stored = &l->weights.tensors[i];
        MGB_TRY(mgb_tensor_file_read(l->scratch, &l->weights, stored));
        *digest += mgb_stored_digest(stored->name, l->scratch, stored->count);
    }
    return MGB_OK;
}

/* Another optimizer than before is no error unless its state was asked for. */
static enum mgb_status state_misfit(struct loading *l, struct mgb_checkpoint_loaded *out)
{
    const struct mgb_optimizer *now = &l->state->optimizer, *before = &l->stored.optimizer;
    char words[160];
    mgb_format(words, sizeof words,
               "'%s' is the state of %s with %d slots, this run has %s with %d", l->slots.path,
               mgb_optimizer_name(before->kind), mgb_optimizer_slots(before),
               mgb_optimizer_name(now->kind), mgb_optimizer_slots(now));
    if (l->options->use == MGB_CHECKPOINT_ALL)
        return mgb_fail(MGB_INVALID, "%s", words);
    mgb_format(out->remark, sizeof out->remark, "the optimizer starts anew: %s", words);
    return MGB_OK;
}

/* Whoever was killed between the two renamings of a save left the optimizer's file under another name; see replace.h. */
static bool next_open(struct loading *l, const char *path, uint64_t weights)
{
    struct mgb_checkpoint_state stored;
    struct mgb_tensor_file file;
    struct mgb_text name = {0};
    uint64_t expected;
    char *next;
    mgb_text_add(&name, "%s" MGB_REPLACE_NEXT, path);
    if (mgb_text_take(&next, &name) != MGB_OK)
        return false;
    bool opened = access(next, F_OK) == 0 && mgb_tensor_file_open(&file, next) == MGB_OK;
    mgb_release(next);
    if (!opened)
        return false;
    if (mgb_state_read(&stored, &expected, &file) != MGB_OK || expected != weights) {
        mgb_tensor_file_close(&file);
        return false;
    }
    mgb_tensor_file_close(&l->slots);
    l->slots = file;
    return true;
}

/* Who was frozen when the file was saved may be trained now. */
static void untrained_tell(struct mgb_checkpoint_loaded *out, const struct loading *l, int count)
{
    if (count == 0)
        return;
    const char *slot = l->slots_match.missing.at[0];
    size_t used = strlen(out->remark), size = sizeof out->remark;
    mgb_format(out->remark + used, size - used, "%sslots of '%.*s'", used ? "; " : "",
               (int)(strrchr(slot, '/') - slot), slot);
    used = strlen(out->remark);
    if (count > 1)
        mgb_format(out->remark + used, size - used, " and %d more", count - 1);
    used = strlen(out->remark);
    mgb_format(out->remark + used, size - used, " begin as 0: not trained when the file was saved");
}

static enum mgb_status state_match(struct loading *l, struct mgb_checkpoint_loaded *out)
{
    uint64_t expected, digest;
    enum mgb_status status = mgb_state_read(&l->stored, &expected, &l->slots);
    if (status != MGB_OK)
        return mgb_fail_in(status, "checkpoint '%s'", l->slots.path);
    MGB_TRY(weights_digest(l, &digest));
    if (digest != expected && next_open(l, l->slots.path, digest))
        return state_match(l, out);
    if (digest != expected)
        return mgb_fail(MGB_INVALID,
                        "'%s' is the state of other weights than '%s' has: one of them was "
                        "exchanged or changed (optimizer = false or --weights-only loads the "
                        "weights and starts the optimizer anew)",
                        l->slots.path, l->weights.path);
    if (!mgb_state_fits(&l->stored, l->state))
        return state_misfit(l, out);
    MGB_TRY(mgb_match_make(&l->slots_match, &l->slots, l->graph, &l->state->optimizer, l->values));
    int untrained =
        mgb_optimizer_slots(&l->state->optimizer) > 0 ? mgb_match_untrained(&l->slots_match) : 0;
    if (untrained == 0 || l->options->use != MGB_CHECKPOINT_FITTING)
        MGB_TRY(mgb_match_check(&l->slots_match, l->options->partial));
    mgb_state_differ(out->remark, sizeof out->remark, &l->stored, l->state);
    untrained_tell(out, l, untrained);
    l->resumes = true;
    return MGB_OK;
}

static enum mgb_status state_open(struct loading *l, struct mgb_checkpoint_loaded *out)
{
    char *path = mgb_state_path(l->weights.path);
    if (!path)
        return mgb_fail(MGB_NO_MEMORY, "no memory to load '%s'", l->weights.path);
    enum mgb_status status = mgb_tensor_file_open(&l->slots, path);
    uint64_t digest;
    if (status == MGB_MISSING && weights_digest(l, &digest) == MGB_OK && next_open(l, path, digest))
        status = MGB_OK;
    if (status == MGB_MISSING && l->options->use == MGB_CHECKPOINT_FITTING) {
        mgb_format(out->remark, sizeof out->remark, "the optimizer starts anew: there is no '%s'",
                   path);
        mgb_release(path);
        return MGB_OK;
    }
    mgb_release(path);
    return status == MGB_OK ? state_match(l, out) : status;
}

static enum mgb_status tensor_load(struct loading *l, const struct mgb_match *match, int v,
                                   int slot)
{
    int twin = mgb_graph_variable_at(l->graph, v).twin, of = twin < 0 ? v : twin;
    const struct mgb_stored *stored =
        match->stored ? match->stored[of * match->width + (slot < 0 ? 0 : slot)] : NULL;
    if (!stored && slot < 0)
        return MGB_OK; /* a partial load leaves it as it is */
    if (stored)
        MGB_TRY(mgb_tensor_file_read(l->scratch, match->file, stored));
    else
        memset(l->scratch, 0,
               (size_t)mgb_graph_variable_at(l->graph, v).count * sizeof *l->scratch);
    return l->values->write(l->values->context, l->scratch, v, slot);
}

static enum mgb_status values_load(struct loading *l)
{
    for (int v = 0; v < mgb_graph_variable_count(l->graph); v++) {
        for (int slot = -1; slot < mgb_optimizer_slots(&l->state->optimizer); slot++) {
            if (!l->values->has(l->values->context, v, slot))
                continue;
            enum mgb_status status =
                tensor_load(l, slot < 0 ? &l->weights_match : &l->slots_match, v, slot);
            if (status != MGB_OK)
                return mgb_fail_in(status, "half loaded, up to variable '%s'; load again",
                                   mgb_graph_variable_at(l->graph, v).name);
        }
    }
    return MGB_OK;
}

static enum mgb_status files_load(struct loading *l, struct mgb_checkpoint_loaded *out,
                                  const char *path)
{
    MGB_TRY(mgb_tensor_file_open(&l->weights, path));
    MGB_TRY(mgb_match_make(&l->weights_match, &l->weights, l->graph, NULL, l->values));
    MGB_TRY(mgb_match_check(&l->weights_match, l->options->partial));
    MGB_TRY(scratch_make(l));
    if (l->options->use != MGB_CHECKPOINT_WEIGHTS)
        MGB_TRY(state_open(l, out));
    return values_load(l);
}

enum mgb_status mgb_checkpoint_load(struct mgb_checkpoint_loaded *out, const char *path,
                                    const struct mgb_graph *graph,
                                    const struct mgb_checkpoint_state *state,
                                    const struct mgb_checkpoint_values *values,
                                    const struct mgb_checkpoint_options *options)
{
    struct loading loading = {.graph = graph,
                              .state = state,
                              .values = values,
                              .options = options,
                              .weights = {.fd = -1},
                              .slots = {.fd = -1}};
    *out = (struct mgb_checkpoint_loaded){0};
    enum mgb_status status = files_load(&loading, out, path);
    if (status == MGB_OK) {
        out->tensors = loading.weights_match.found;
        out->widened = loading.weights_match.widened;
        out->missing = loading.weights_match.missing;
        out->unexpected = loading.weights_match.unexpected;
        loading.weights_match.missing = loading.weights_match.unexpected =
            (struct mgb_checkpoint_names){0};
        out->resumed = loading.resumes;
        out->progress = loading.stored.progress;
    }
    mgb_match_done(&loading.weights_match);
    mgb_match_done(&loading.slots_match);
    mgb_tensor_file_close(&loading.weights);
    mgb_tensor_file_close(&loading.slots);
    mgb_release(loading.scratch);
    return status == MGB_OK ? MGB_OK : mgb_fail_in(status, "load");
}

void mgb_checkpoint_loaded_done(struct mgb_checkpoint_loaded *loaded)
{
    mgb_checkpoint_names_done(&loaded->missing);
    mgb_checkpoint_names_done(&loaded->unexpected);
}
