/* Real runs: what was saved on one placement goes on on any other as if nothing had been stopped. */
#include "tests/engine/io/rig.h"
#include "tests/support/draws.h"
#include "tests/support/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BEFORE = 50, AFTER = 12 };

static bool value_has(void *run, int variable, int slot)
{
    return mgb_run_has(run, variable, slot);
}

static enum mgb_status value_read(void *run, float *out, int variable, int slot)
{
    return mgb_run_read(run, out, variable, slot);
}

static enum mgb_status value_write(void *run, const float *values, int variable, int slot)
{
    return mgb_run_write(run, values, variable, slot);
}

static struct mgb_checkpoint_state state_of(const struct mgb_run *run)
{
    return (struct mgb_checkpoint_state){.optimizer = *mgb_run_optimizer(run),
                                         .progress = mgb_run_progress(run)};
}

static void run_save(struct mgb_run *run, const char *path)
{
    struct mgb_checkpoint_values values = {run, value_has, value_read, value_write};
    struct mgb_checkpoint_state state = state_of(run);
    assert_ok(mgb_checkpoint_save(path, mgb_run_plan(run)->graph, &state, &values));
}

static void run_load(struct mgb_run *run, const char *path)
{
    struct mgb_checkpoint_values values = {run, value_has, value_read, value_write};
    struct mgb_checkpoint_state state = state_of(run);
    struct mgb_checkpoint_loaded loaded;
    assert_ok(mgb_checkpoint_load(&loaded, path, mgb_run_plan(run)->graph, &state, &values,
                                  &(struct mgb_checkpoint_options){.use = MGB_CHECKPOINT_ALL}));
    assert_true(loaded.resumed);
    assert_ok(mgb_run_set_progress(run, &loaded.progress));
    mgb_checkpoint_loaded_done(&loaded);
}

struct world { /* a model with dropout, an epoch that batches do not fill, Adam */
    struct mgb_graph *graph;
    struct training_data data;
    struct training training;
};

static void world_make(struct world *world)
{
    world->graph = draw_model(1);
    world->data = training_data_make(world->graph, 37, true, 3);
    world->training = (struct training){.graph = world->graph,
                                        .source = &world->data.source,
                                        .optimizer = mgb_optimizer_default(MGB_ADAM),
                                        .options = "gpus=2 global_batch=8",
                                        .seed = 11};
    world->training.optimizer.decay = 0.01f;
    world->training.optimizer.clip_norm = 2.0f;
}

static void world_done(struct world *world)
{
    training_data_done(&world->data);
    mgb_graph_free(world->graph);
}

static struct mgb_run *run_under(const struct world *world, const char *options)
{
    struct training training = world->training;
    training.options = options;
    return training_open(&training);
}

static void assert_losses(const double *a, const double *b, double tolerance)
{
    for (int i = 0; i < AFTER; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance * fabs(a[i])))
            fail_msg("step %d: loss %.17g, uninterrupted %.17g", BEFORE + i, b[i], a[i]);
}

static void a_stopped_training_goes_on_on_other_devices(void **state)
{
    static const struct {
        const char *options;
        bool same; /* two towers, outputs: to the bit */
    } others[] = {
        {"gpus=2 global_batch=8", true},
        {"gpus=2 global_batch=8 cpu_merge=false", true},
        {"gpus=2 global_batch=8 cpu_relocation=true", true},
        {"gpus=3,1 global_batch=8 weights_at=spread update_at=/cpu:0", true},
        {"gpus=1 global_batch=8", false},
        {"gpus=3 global_batch=8", false},
        {"gpus=2 global_batch=8 strategy=gradients", false},
        {"gpus=4 global_batch=8 strategy=allreduce", false},
    };
    struct world world;
    double whole[AFTER], again[AFTER];
    (void)state;
    world_make(&world);
    struct mgb_run *run = run_under(&world, "gpus=2 global_batch=8");
    training_step(run, BEFORE, NULL);
    run_save(run, io_path("w.safetensors"));
    uint64_t saved = training_digest(run);
    struct mgb_progress progress = mgb_run_progress(run);
    training_step(run, AFTER, whole);
    uint64_t end = training_digest(run);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct mgb_run *other = run_under(&world, others[i].options);
        training_step(other, (int)i, NULL); /* what it did before is of no matter */
        run_load(other, io_path("w.safetensors"));
        struct mgb_progress now = mgb_run_progress(other);
        assert_memory_equal(&now, &progress, sizeof now);
        assert_true(training_digest(other) == saved);
        training_step(other, AFTER, again);
        assert_losses(whole, again, others[i].same ? 0.0 : 1e-5);
        if (others[i].same)
            assert_true(training_digest(other) == end);
        assert_int_equal(mgb_run_step_index(other), BEFORE + AFTER);
        mgb_run_close(other);
    }
    mgb_run_close(run);
    world_done(&world);
}

/* Every copy of a weight gets the file's value, and the run itself can go back. */
static void loading_between_steps_reaches_every_copy(void **state)
{
    static const char *const places[] = {"strategy=allreduce", "strategy=outputs staged=true",
                                         "strategy=gradients cpu_relocation=true", "stale=true"};
    struct world world;
    (void)state;
    world_make(&world);
    struct mgb_run *run = run_under(&world, "gpus=3 global_batch=9");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct mgb_check check;
        training_set(run, places[i]);
        training_step(run, 3, NULL);
        run_save(run, io_path("w"));
        uint64_t saved = training_digest(run);
        training_step(run, 4, NULL);
        uint64_t first = training_digest(run);
        run_load(run, io_path("w"));
        assert_true(training_digest(run) == saved);
        assert_ok(mgb_run_check(run, &check));
        mgb_check_done(&check);
        training_step(run, 4, NULL);
        if (i < 3) /* stale: gradients that were on their way are gone */
            assert_true(training_digest(run) == first);
    }
    mgb_run_close(run);
    world_done(&world);
}

/* The same weights make the same bytes, wherever they are and however many devices there are. */
static void files_know_no_placement(void **state)
{
    static const char *const places[] = {"gpus=1 global_batch=8", "gpus=3 global_batch=9",
                                         "gpus=4 batch=2 strategy=allreduce",
                                         "gpus=2 global_batch=8 cpu_relocation=true"};
    struct world world;
    unsigned char *first = NULL;
    size_t first_size = 0;
    (void)state;
    world_make(&world);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        size_t size;
        struct mgb_run *run = run_under(&world, places[i]);
        run_save(run, io_path("w"));
        unsigned char *bytes = io_read(io_path("w"), &size);
        if (first) {
            assert_int_equal(size, first_size);
            assert_memory_equal(bytes, first, size);
            free(bytes);
        } else {
            first = bytes;
            first_size = size;
        }
        mgb_run_close(run);
    }
    free(first);
    world_done(&world);
}

static void progress_that_cannot_be_is_refused(void **state)
{
    static const struct mgb_progress odd[] = {
        {.step = -1}, {.updates = -1}, {.epoch = -1}, {.row = -1}};
    struct world world;
    (void)state;
    world_make(&world);
    struct mgb_run *run = run_under(&world, "gpus=1 global_batch=8");
    for (size_t i = 0; i < 4; i++)
        assert_status(mgb_run_set_progress(run, &odd[i]), MGB_INVALID);
    /* In data of another size the epoch begins anew. */
    assert_ok(mgb_run_set_progress(run, &(struct mgb_progress){.epoch = 4, .row = 30, .rows = 50}));
    assert_int_equal(mgb_run_progress(run).row, 0);
    assert_int_equal(mgb_run_epoch(run), 4);
    training_step(run, 6, NULL);
    assert_int_equal(mgb_run_epoch(run), 5);
    mgb_run_close(run);
    world_done(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stopped_training_goes_on_on_other_devices),
        cmocka_unit_test(loading_between_steps_reaches_every_copy),
        cmocka_unit_test(files_know_no_placement),
        cmocka_unit_test(progress_that_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, io_folder_make, io_folder_remove);
}
