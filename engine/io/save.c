/* Saving: the weights, then the optimizer's file, which names them by their digest; both take their places at the end. */
#include "engine/base/memory.h"
#include "engine/io/state.h"

static int64_t largest_count(const struct mgb_graph *graph)
{
    int64_t most = 1;
    for (int v = 0; v < mgb_graph_variable_count(graph); v++) {
        int64_t count = mgb_graph_variable_at(graph, v).count;
        most = count > most ? count : most;
    }
    return most;
}

/* Of what every tower made for itself, only tower 0's is the user's model. */
static void weights_list(struct mgb_writer *out, const struct mgb_graph *graph,
                         const char *statistics)
{
    bool moving = false;
    mgb_writer_add_word(out, "mgbench", "weights 1");
    mgb_writer_add_word(out, "model", "%s", mgb_graph_name(graph));
    for (int v = 0; v < mgb_graph_variable_count(graph); v++) {
        struct mgb_variable_info info = mgb_graph_variable_at(graph, v);
        moving = moving || info.state;
        if (info.twin < 0)
            mgb_writer_add(out, &info, v, -1, NULL);
    }
    if (moving && statistics)
        mgb_writer_add_word(out, "moving_statistics", "%s", statistics);
}

static void slots_list(struct mgb_writer *out, const struct mgb_graph *graph,
                       const struct mgb_checkpoint_state *state,
                       const struct mgb_checkpoint_values *values)
{
    for (int v = 0; v < mgb_graph_variable_count(graph); v++) {
        struct mgb_variable_info info = mgb_graph_variable_at(graph, v);
        for (int slot = 0; info.twin < 0 && slot < mgb_optimizer_slots(&state->optimizer); slot++)
            if (values->has(values->context, v, slot))
                mgb_writer_add(out, &info, v, slot,
                               mgb_optimizer_slot_name(&state->optimizer, slot));
    }
}

static enum mgb_status file_write(struct mgb_replace *file, const char *path,
                                  struct mgb_writer *writer,
                                  const struct mgb_checkpoint_values *values, float *scratch,
                                  uint64_t *digest)
{
    MGB_TRY(mgb_writer_make_header(writer));
    MGB_TRY(mgb_replace_open(file, path, mgb_writer_bytes(writer)));
    return mgb_writer_write(file, writer, values, scratch, digest);
}

struct saving {
    char *state_path;
    float *scratch;
    struct mgb_writer weights, slots;
    struct mgb_replace weights_file, slots_file;
};

static enum mgb_status files_write(struct saving *s, const char *path,
                                   const struct mgb_graph *graph,
                                   const struct mgb_checkpoint_state *state,
                                   const struct mgb_checkpoint_values *values)
{
    uint64_t digest, unused;
    s->state_path = mgb_state_path(path);
    s->scratch = mgb_alloc((size_t)largest_count(graph) * sizeof *s->scratch);
    if (!s->state_path || !s->scratch)
        return mgb_fail(MGB_NO_MEMORY, "no memory to save '%s'", path);
    MGB_TRY(mgb_replace_check(s->state_path));
    weights_list(&s->weights, graph, state->statistics);
    MGB_TRY(file_write(&s->weights_file, path, &s->weights, values, s->scratch, &digest));
    mgb_state_write(&s->slots, state, digest);
    slots_list(&s->slots, graph, state, values);
    MGB_TRY(file_write(&s->slots_file, s->state_path, &s->slots, values, s->scratch, &unused));
    return mgb_replace_commit_pair(&s->weights_file, &s->slots_file);
}

enum mgb_status mgb_checkpoint_save(const char *path, const struct mgb_graph *graph,
                                    const struct mgb_checkpoint_state *state,
                                    const struct mgb_checkpoint_values *values)
{
    struct saving saving = {.weights_file = {.fd = -1}, .slots_file = {.fd = -1}};
    enum mgb_status status = files_write(&saving, path, graph, state, values);
    mgb_replace_abandon(&saving.weights_file);
    mgb_replace_abandon(&saving.slots_file);
    mgb_writer_done(&saving.weights);
    mgb_writer_done(&saving.slots);
    mgb_release(saving.scratch);
    mgb_release(saving.state_path);
    return status == MGB_OK ? MGB_OK : mgb_fail_in(status, "save");
}

enum mgb_status mgb_checkpoint_check(const char *path)
{
    char *state_path = mgb_state_path(path);
    if (!state_path)
        return mgb_fail(MGB_NO_MEMORY, "no memory to save '%s'", path);
    enum mgb_status status = mgb_replace_check(path);
    if (status == MGB_OK)
        status = mgb_replace_check(state_path);
    mgb_release(state_path);
    return status == MGB_OK ? MGB_OK : mgb_fail_in(status, "save");
}
