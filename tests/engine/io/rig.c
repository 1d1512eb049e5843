/* See rig.h. */
#include "tests/engine/io/rig.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char io_folder[64];

int io_folder_make(void **state)
{
    (void)state;
    snprintf(io_folder, sizeof io_folder, "%s/mgb-test-io-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"); /* many small files */
    return mkdtemp(io_folder) ? 0 : 1;
}

static int entries_each(bool remove_them)
{
    DIR *folder = opendir(io_folder);
    int count = 0;
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (entry->d_name[0] == '.')
            continue;
        count++;
        if (remove_them)
            remove(io_path(entry->d_name));
    }
    closedir(folder);
    return count;
}

int io_folder_remove(void **state)
{
    (void)state;
    entries_each(true);
    return rmdir(io_folder);
}

int io_count(void)
{
    return entries_each(false);
}

const char *io_path(const char *name)
{
    static char paths[4][400];
    static int next;
    next = (next + 1) % 4;
    snprintf(paths[next], sizeof paths[next], "%s/%s", io_folder, name);
    return paths[next];
}

void io_write(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

unsigned char *io_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    bytes[*size] = '\0';
    fclose(file);
    return bytes;
}

void io_write_tensors(const char *path, const char *header, const void *values, size_t size)
{
    uint64_t length = strlen(header);
    unsigned char *bytes = calloc(1, 8 + length + size);
    assert_non_null(bytes);
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, header, length);
    if (values)
        memcpy(bytes + 8 + length, values, size);
    io_write(path, bytes, 8 + length + size);
    free(bytes);
}

static float *slot_at(struct io_model *model, int variable, int slot)
{
    return model->at[variable * (1 + model->slots) + 1 + slot];
}

static bool model_has(void *context, int variable, int slot)
{
    struct io_model *model = context;
    return slot < 0 || mgb_graph_variable_at(model->graph, variable).trainable;
}

static enum mgb_status model_read(void *context, float *out, int variable, int slot)
{
    struct io_model *model = context;
    if (++model->reads == model->fail_read_at)
        return mgb_fail(MGB_DEVICE, "a device went away");
    memcpy(out, slot_at(model, variable, slot),
           (size_t)mgb_graph_variable_at(model->graph, variable).bytes);
    return MGB_OK;
}

static enum mgb_status model_write(void *context, const float *values, int variable, int slot)
{
    struct io_model *model = context;
    model->writes++;
    memcpy(slot_at(model, variable, slot), values,
           (size_t)mgb_graph_variable_at(model->graph, variable).bytes);
    return MGB_OK;
}

struct io_model io_model_make(struct mgb_graph *graph, enum mgb_optimizer_kind kind, int seed)
{
    struct io_model model = {
        .graph = graph,
        .state =
            {.optimizer = mgb_optimizer_default(kind),
             .progress = {.step = 50, .updates = 49, .epoch = 2, .row = 7, .rows = 20, .seed = 9}},
        .values = {.has = model_has, .read = model_read, .write = model_write}};
    model.slots = mgb_optimizer_slots(&model.state.optimizer);
    int count = mgb_graph_variable_count(graph) * (1 + model.slots);
    model.at = calloc((size_t)count + 1, sizeof *model.at);
    for (int i = 0; i < count; i++) {
        int64_t values = mgb_graph_variable_at(graph, i / (1 + model.slots)).count;
        model.at[i] = calloc((size_t)values, sizeof **model.at);
        for (int64_t k = 0; k < values; k++)
            model.at[i][k] = (float)(1000 * (i + 1) + seed) + (float)k / 4096.0f;
    }
    return model;
}

void io_model_done(struct io_model *model)
{
    int count = mgb_graph_variable_count(model->graph) * (1 + model->slots);
    for (int i = 0; i < count; i++)
        free(model->at[i]);
    free(model->at);
    mgb_graph_free(model->graph);
}

float *io_model_at(const struct io_model *model, const char *variable, int slot)
{
    for (int v = 0; v < mgb_graph_variable_count(model->graph); v++)
        if (strcmp(mgb_graph_variable_at(model->graph, v).name, variable) == 0)
            return model->at[v * (1 + model->slots) + 1 + slot];
    fail_msg("no variable '%s'", variable);
    return NULL;
}

enum mgb_status io_save(struct io_model *model, const char *path)
{
    model->values.context = model;
    model->reads = 0;
    return mgb_checkpoint_save(path, model->graph, &model->state, &model->values);
}

enum mgb_status io_load(struct io_model *model, const char *path,
                        const struct mgb_checkpoint_options *options,
                        struct mgb_checkpoint_loaded *loaded)
{
    struct mgb_checkpoint_loaded dropped;
    struct mgb_checkpoint_options usual = {0};
    model->values.context = model;
    enum mgb_status status =
        mgb_checkpoint_load(loaded ? loaded : &dropped, path, model->graph, &model->state,
                            &model->values, options ? options : &usual);
    if (!loaded)
        mgb_checkpoint_loaded_done(&dropped);
    return status;
}

void io_assert_equal(const struct io_model *a, const struct io_model *b, bool slots)
{
    for (int v = 0; v < mgb_graph_variable_count(a->graph); v++)
        for (int slot = -1; slot < (slots ? a->slots : 0); slot++)
            assert_memory_equal(a->at[v * (1 + a->slots) + 1 + slot],
                                b->at[v * (1 + b->slots) + 1 + slot],
                                mgb_graph_variable_at(a->graph, v).bytes);
}
