/* Checkpoints of a model whose values lie in memory: what is written, what comes back, and all that is refused. */
#include "tests/engine/io/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTIAL (&(struct mgb_checkpoint_options){.partial = true})
#define USE(how) (&(struct mgb_checkpoint_options){.use = MGB_CHECKPOINT_##how})

static struct io_model mlp(enum mgb_optimizer_kind kind, int seed)
{
    return io_model_make(model_mlp(), kind, seed);
}

static void weights_and_state_come_back(void **state)
{
    struct io_model a = mlp(MGB_ADAM, 1), b = mlp(MGB_ADAM, 2);
    struct mgb_checkpoint_loaded loaded;
    (void)state;
    b.state.progress = (struct mgb_progress){.rows = 20, .seed = 9};
    assert_ok(io_save(&a, io_path("w.safetensors")));
    assert_ok(io_load(&b, io_path("w.safetensors"), NULL, &loaded));
    io_assert_equal(&a, &b, true);
    assert_int_equal(loaded.tensors, 4);
    assert_int_equal(loaded.widened, 0);
    assert_true(loaded.resumed);
    assert_memory_equal(&loaded.progress, &a.state.progress, sizeof loaded.progress);
    assert_string_equal(loaded.remark, "");
    assert_int_equal(loaded.missing.count + loaded.unexpected.count, 0);
    mgb_checkpoint_loaded_done(&loaded);
    io_model_done(&a);
    io_model_done(&b);
}

/* Of f16; a power of two and a count, or the file is damaged. */
static void the_loss_scale_comes_back(void **state)
{
    static const char *const odd[] = {"3", "0", "-4", "0.75", "many"};
    struct io_model a = mlp(MGB_ADAM, 1), b = mlp(MGB_ADAM, 2);
    struct mgb_checkpoint_loaded loaded;
    size_t size;
    (void)state;
    a.state.progress.loss_scale = 0x1p-9f;
    a.state.progress.scale_steps = 77;
    assert_ok(io_save(&a, io_path("w.safetensors")));
    assert_ok(io_load(&b, io_path("w.safetensors"), USE(ALL), &loaded));
    assert_memory_equal(&loaded.progress, &a.state.progress, sizeof loaded.progress);
    mgb_checkpoint_loaded_done(&loaded);
    unsigned char *bytes = io_read(io_path("w.optimizer.safetensors"), &size);
    char *at = strstr((char *)bytes + 8, "\"loss_scale\":\"0.001953125\"");
    assert_non_null(at);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        char word[16];
        snprintf(word, sizeof word, "\"%s\"%11s", odd[i], "");
        memcpy(at + 13, word, 13); /* as long as before */
        io_write(io_path("w.optimizer.safetensors"), bytes, size);
        assert_status(io_load(&b, io_path("w.safetensors"), USE(ALL), NULL), MGB_CORRUPT);
        assert_message("'loss_scale' of its __metadata__ is");
    }
    free(bytes);
    io_model_done(&a);
    io_model_done(&b);
}

/* Read here by hand, from the words of the format. */
static void the_file_is_plain_and_aligned(void **state)
{
    struct io_model a = mlp(MGB_ADAM, 1);
    size_t size, state_size;
    (void)state;
    assert_ok(io_save(&a, io_path("w.safetensors")));
    unsigned char *bytes = io_read(io_path("w.safetensors"), &size);
    unsigned char *slots = io_read(io_path("w.optimizer.safetensors"), &state_size);
    uint64_t header = bytes[0] | (uint64_t)bytes[1] << 8;
    assert_int_equal((8 + header) % 64, 0);
    char *text = (char *)bytes + 8;
    assert_true(
        strncmp(text, "{\"__metadata__\":{\"mgbench\":\"weights 1\",\"model\":\"mlp\"},", 54) == 0);
    assert_non_null(strstr(text, "\"dense/kernel\":{\"dtype\":\"F32\",\"shape\":[12,8],"
                                 "\"data_offsets\":[0,384]}"));
    assert_int_equal(size, 8 + header + 4 * (12 * 8 + 8 + 8 * 3 + 3));
    assert_memory_equal(bytes + 8 + header, io_model_at(&a, "dense/kernel", -1), 384);
    assert_non_null(strstr((char *)slots + 8, "\"dense/kernel/m\":{\"dtype\":\"F32\""));
    assert_non_null(strstr((char *)slots + 8, "\"optimizer\":\"adam\""));
    assert_non_null(strstr((char *)slots + 8, "\"step\":\"50\",\"updates\":\"49\",\"epoch\":\"2\","
                                              "\"row\":\"7\",\"rows\":\"20\",\"seed\":\"9\""));
    assert_int_equal(io_count(), 2);
    free(bytes);
    free(slots);
    io_model_done(&a);
}

static void an_optimizer_without_slots_keeps_its_place(void **state)
{
    struct io_model a = mlp(MGB_SGD, 1), b = mlp(MGB_SGD, 2);
    struct mgb_checkpoint_loaded loaded;
    (void)state;
    assert_ok(io_save(&a, io_path("plain")));
    assert_ok(io_load(&b, io_path("plain"), USE(ALL), &loaded));
    io_assert_equal(&a, &b, true);
    assert_true(loaded.resumed);
    assert_int_equal(loaded.progress.step, 50);
    size_t size;
    free(io_read(io_path("plain.optimizer.safetensors"), &size));
    mgb_checkpoint_loaded_done(&loaded);
    io_model_done(&a);
    io_model_done(&b);
}

static void assert_zero_slots(const struct io_model *model)
{
    for (int v = 0; v < mgb_graph_variable_count(model->graph); v++)
        for (int slot = 0; slot < model->slots; slot++)
            for (int64_t i = 0; i < mgb_graph_variable_at(model->graph, v).count; i++)
                assert_true(model->at[v * (1 + model->slots) + 1 + slot][i] == 0.0f);
}

static void without_its_state_the_optimizer_starts_anew(void **state)
{
    struct io_model a = mlp(MGB_ADAM, 1), b = mlp(MGB_ADAM, 2), c = mlp(MGB_RMSPROP, 3);
    struct mgb_checkpoint_loaded loaded;
    (void)state;
    assert_ok(io_save(&a, io_path("w.safetensors")));
    assert_ok(io_load(&b, io_path("w.safetensors"), USE(WEIGHTS), &loaded));
    assert_false(loaded.resumed);
    mgb_checkpoint_loaded_done(&loaded);
    io_assert_equal(&a, &b, false);
    assert_zero_slots(&b);
    assert_ok(io_load(&c, io_path("w.safetensors"), NULL, &loaded)); /* of another optimizer */
    assert_false(loaded.resumed);
    assert_non_null(
        strstr(loaded.remark, "state of adam with 2 slots, this run has rmsprop with 1"));
    mgb_checkpoint_loaded_done(&loaded);
    assert_zero_slots(&c);
    assert_status(io_load(&c, io_path("w.safetensors"), USE(ALL), NULL), MGB_INVALID);
    assert_int_equal(remove(io_path("w.optimizer.safetensors")), 0);
    assert_ok(io_load(&b, io_path("w.safetensors"), NULL, &loaded));
    assert_non_null(strstr(loaded.remark, "there is no"));
    mgb_checkpoint_loaded_done(&loaded);
    assert_status(io_load(&b, io_path("w.safetensors"), USE(ALL), NULL), MGB_MISSING);
    io_model_done(&a);
    io_model_done(&b);
    io_model_done(&c);
}

static void what_differs_is_told(void **state)
{
    struct io_model a = mlp(MGB_ADAM, 1), b = mlp(MGB_ADAM, 2);
    struct mgb_checkpoint_loaded loaded;
    (void)state;
    b.state.progress.seed = 4;
    b.state.progress.rows = 100;
    b.state.optimizer.lr = 0.5f;
    assert_ok(io_save(&a, io_path("w")));
    assert_ok(io_load(&b, io_path("w"), NULL, &loaded));
    assert_true(loaded.resumed);
    assert_string_equal(loaded.remark,
                        "seed 4 now, 9 before; data of 100 rows now, 20 before: the epoch begins "
                        "anew; lr 0.5 now, 0.001 before");
    mgb_checkpoint_loaded_done(&loaded);
    io_model_done(&a);
    io_model_done(&b);
}

/* As after a power cut between the two renamings, or a weights' file from elsewhere. */
static void the_state_of_other_weights_is_refused(void **state)
{
    struct io_model a = mlp(MGB_ADAM, 1), b = mlp(MGB_ADAM, 2);
    size_t size;
    (void)state;
    assert_ok(io_save(&a, io_path("w.safetensors")));
    unsigned char *old = io_read(io_path("w.safetensors"), &size);
    assert_ok(io_save(&b, io_path("w.safetensors")));
    io_write(io_path("w.safetensors"), old, size);
    free(old);
    b.writes = 0;
    assert_status(io_load(&b, io_path("w.safetensors"), NULL, NULL), MGB_INVALID);
    assert_message("is the state of other weights than");
    assert_int_equal(b.writes, 0);
    assert_ok(io_load(&b, io_path("w.safetensors"), USE(WEIGHTS), NULL));
    io_assert_equal(&a, &b, false);
    io_model_done(&a);
    io_model_done(&b);
}

static void write_mlp(const char *kernel_shape, const char *type, const char *more)
{
    char header[800];
    size_t width = strcmp(type, "F64") == 0 ? 8 : strcmp(type, "F32") == 0 ? 4 : 2;
    snprintf(header, sizeof header,
             "{\"dense/kernel\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[0,%zu]}%s}", type,
             kernel_shape, 96 * width, more);
    io_write_tensors(io_path("made"), header, NULL, 96 * width + (*more ? 4 : 0));
}

static void files_of_other_models_are_refused_by_name(void **state)
{
    struct io_model a = mlp(MGB_ADAM, 1), b = io_model_make(model_mnist_cnn(), MGB_ADAM, 2);
    (void)state;
    assert_ok(io_save(&a, io_path("w")));
    assert_status(io_load(&b, io_path("w"), NULL, NULL), MGB_INVALID); /* some names are alike */
    assert_message("tensor 'dense/kernel' is 12x8 in '");
    assert_message("and 9216x128 in model 'mnist_cnn'");
    write_mlp("[12,8]", "F32", "");
    assert_status(io_load(&b, io_path("made"), NULL, NULL), MGB_INVALID);
    io_write_tensors(io_path("w"),
                     "{\"w\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", NULL, 4);
    assert_status(io_load(&b, io_path("w"), NULL, NULL), MGB_INVALID);
    assert_message("no tensor of '");
    assert_message(
        "is of model 'mnist_cnn': only the model has 'conv2d_1/kernel', 'conv2d_1/bias'");
    assert_message("only the file has 'w'");
    assert_status(io_load(&b, io_path("w"), PARTIAL, NULL), MGB_INVALID); /* nothing at all */
    assert_int_equal(b.writes, 0);
    io_model_done(&a);
    io_model_done(&b);
}

static void other_shapes_and_types_are_refused(void **state)
{
    struct io_model a = mlp(MGB_SGD, 1);
    (void)state;
    write_mlp("[8,12]", "F32", "");
    assert_status(io_load(&a, io_path("made"), PARTIAL, NULL), MGB_INVALID);
    assert_message("tensor 'dense/kernel' is 8x12 in '");
    assert_message("' and 12x8 in model 'mlp'");
    write_mlp("[96]", "F32", "");
    assert_status(io_load(&a, io_path("made"), PARTIAL, NULL), MGB_INVALID);
    write_mlp("[12,8,1,1,1,1,1,1]", "F32", "");
    assert_status(io_load(&a, io_path("made"), PARTIAL, NULL), MGB_INVALID);
    assert_message("of more than 6 axes");
    write_mlp("[12,8]", "F64", "");
    assert_status(io_load(&a, io_path("made"), PARTIAL, NULL), MGB_INVALID);
    assert_message("tensor 'dense/kernel' of '");
    assert_message("is of type F64");
    write_mlp("[12,8]", "I16", "");
    assert_status(io_load(&a, io_path("made"), PARTIAL, NULL), MGB_INVALID);
    assert_int_equal(a.writes, 0);
    io_model_done(&a);
}

static void partial_loads_tell_what_was_left(void **state)
{
    struct io_model a = mlp(MGB_SGD, 1), b = mlp(MGB_SGD, 1);
    struct mgb_checkpoint_loaded loaded;
    (void)state;
    write_mlp("[12,8]", "F16",
              ",\"extra\":{\"dtype\":\"I32\",\"shape\":[],\"data_offsets\":[192,196]}");
    assert_status(io_load(&a, io_path("made"), NULL, NULL), MGB_MISSING);
    assert_message("only the model has 'dense/bias', 'logits/kernel', 'logits/bias'; only the "
                   "file has 'extra' (strict = false");
    assert_ok(io_load(&a, io_path("made"), PARTIAL, &loaded));
    assert_int_equal(loaded.tensors, 1);
    assert_int_equal(loaded.widened, 1);
    assert_int_equal(loaded.missing.count, 3);
    assert_string_equal(loaded.missing.at[0], "dense/bias");
    assert_int_equal(loaded.unexpected.count, 1);
    assert_string_equal(loaded.unexpected.at[0], "extra");
    mgb_checkpoint_loaded_done(&loaded);
    assert_true(io_model_at(&a, "dense/kernel", -1)[95] == 0.0f);
    assert_memory_equal(io_model_at(&a, "logits/kernel", -1), io_model_at(&b, "logits/kernel", -1),
                        8 * 3 * 4);
    io_model_done(&a);
    io_model_done(&b);
}

/* Frozen now, and when it was saved: then the slots begin anew, unless they were asked for. */
static void frozen_variables_are_saved_without_slots(void **state)
{
    struct io_model a = mlp(MGB_ADAM, 1), b = mlp(MGB_ADAM, 2);
    struct mgb_checkpoint_loaded loaded;
    (void)state;
    assert_ok(io_save(&a, io_path("all")));
    assert_ok(mgb_graph_freeze(b.graph, 0, true));
    assert_ok(io_load(&b, io_path("all"), NULL, NULL));
    io_assert_equal(&a, &b, false);
    assert_ok(io_save(&b, io_path("some")));
    assert_status(io_load(&a, io_path("some"), USE(ALL), NULL), MGB_MISSING);
    assert_message("only the model has 'dense/kernel/m', 'dense/kernel/v'");
    assert_ok(io_load(&a, io_path("some"), NULL, &loaded));
    assert_true(loaded.resumed);
    assert_string_equal(loaded.remark,
                        "slots of 'dense/kernel' begin as 0: not trained when the file was saved");
    mgb_checkpoint_loaded_done(&loaded);
    assert_true(io_model_at(&a, "dense/kernel", 1)[3] == 0.0f);
    assert_true(io_model_at(&a, "dense/bias", 1)[3] != 0.0f);
    assert_ok(io_load(&a, io_path("some"), PARTIAL, &loaded));
    assert_true(loaded.resumed);
    mgb_checkpoint_loaded_done(&loaded);
    assert_ok(mgb_graph_freeze(b.graph, 1, true));
    assert_ok(io_save(&b, io_path("some")));
    assert_ok(io_load(&a, io_path("some"), NULL, &loaded));
    assert_non_null(strstr(loaded.remark, "slots of 'dense/kernel' and 1 more begin as 0"));
    mgb_checkpoint_loaded_done(&loaded);
    io_model_done(&a);
    io_model_done(&b);
}

static void a_damaged_state_is_an_error(void **state)
{
    static const struct {
        const char *from, *to, *words;
    } damages[] = {{"\"step\":\"50\"", "\"step\":\"-5\"", "'step' of its __metadata__ is '-5'"},
                   {"\"row\":\"7\"", "\"rom\":\"7\"", "'row' of its __metadata__ is missing"},
                   {"\"rows\":\"20\"", "\"rows\":\"06\"", "'row' of its __metadata__ is '7'"},
                   {"\"seed\":\"9\"", "\"seed\":\"x\"", "'seed' of its __metadata__"},
                   {"\"adam\"", "\"odam\"", "'optimizer' of its __metadata__ is 'odam'"},
                   {"\"optimizer 1\"", "\"optimizer 9\"", "'mgbench' of its __metadata__"},
                   {"\"decay\":\"0\"", "\"decay\":\" \"", "'decay' of its __metadata__"},
                   {"kernel/m", "kernel/w", "'dense/kernel/m'"}};
    struct io_model a = mlp(MGB_ADAM, 1);
    size_t size;
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        assert_ok(io_save(&a, io_path("w")));
        unsigned char *bytes = io_read(io_path("w.optimizer.safetensors"), &size);
        unsigned char *at = memmem(bytes, size, damages[i].from, strlen(damages[i].from));
        assert_non_null(at);
        memcpy(at, damages[i].to, strlen(damages[i].to));
        io_write(io_path("w.optimizer.safetensors"), bytes, size);
        free(bytes);
        a.writes = 0;
        enum mgb_status status = io_load(&a, io_path("w"), NULL, NULL);
        assert_int_equal(status, i == 7 ? MGB_MISSING : MGB_CORRUPT);
        assert_message(damages[i].words);
        assert_int_equal(a.writes, 0);
    }
    io_model_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_and_state_come_back),
        cmocka_unit_test(the_loss_scale_comes_back),
        cmocka_unit_test(the_file_is_plain_and_aligned),
        cmocka_unit_test(an_optimizer_without_slots_keeps_its_place),
        cmocka_unit_test(without_its_state_the_optimizer_starts_anew),
        cmocka_unit_test(what_differs_is_told),
        cmocka_unit_test(the_state_of_other_weights_is_refused),
        cmocka_unit_test(files_of_other_models_are_refused_by_name),
        cmocka_unit_test(other_shapes_and_types_are_refused),
        cmocka_unit_test(partial_loads_tell_what_was_left),
        cmocka_unit_test(frozen_variables_are_saved_without_slots),
        cmocka_unit_test(a_damaged_state_is_an_error),
    };
    return cmocka_run_group_tests(tests, io_folder_make, io_folder_remove);
}
