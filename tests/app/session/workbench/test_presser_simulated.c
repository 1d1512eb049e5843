/* What would be, were a toggle pressed, where steps are simulated: its time is known before it is pressed. */
#include "app/session/preview.h"
#include "app/session/workbench/presser.h"
#include "app/session/workbench/workbench.h"
#include "tests/app/session/simulated.h"
#include "tests/support/model.h"
#include "tests/support/training.h"

#include <math.h>
#include <mgb/virtual.h>
#include <string.h>

struct scene {
    struct mgb_machine *machine;
    struct mgb_graph *graph;
    struct script_open_request request;
    struct mgb_preview *preview;
    struct mgb_facts *facts;
    struct mgb_presser *presser;
};

static void scene_make(struct scene *scene, const char *options)
{
    *scene = (struct scene){.machine = simulated_machine("dgx1-p100"), .graph = model_mlp()};
    scene->request = (struct script_open_request){.graph = scene->graph,
                                                  .model = "mlp",
                                                  .model_options = "{}",
                                                  .data = "",
                                                  .optimizer = training_sgd(0.1f, 0.9f),
                                                  .seed = 1,
                                                  .backend = "sim",
                                                  .machine = scene->machine};
    mgb_placement_init(&scene->request.placement);
    placement_apply(&scene->request.placement, options);
    assert_ok(mgb_session_preview(&scene->preview, &scene->request));
    struct mgb_facts_request of = {.model = "mlp",
                                   .data = "",
                                   .backend = mgb_preview_backend(scene->preview),
                                   .remark = "",
                                   .graph = scene->graph,
                                   .topology = mgb_preview_topology(scene->preview),
                                   .asked = &scene->request.placement,
                                   .effective = mgb_preview_effective(scene->preview),
                                   .plan = mgb_preview_plan(scene->preview)};
    assert_ok(mgb_facts_make(&scene->facts, &of));
    assert_ok(mgb_presser_make(&scene->presser, NULL));
    mgb_presser_begin(scene->presser, scene->facts, &scene->request, 0);
}

static void scene_done(struct scene *scene)
{
    mgb_presser_free(scene->presser);
    mgb_shared_drop(scene->facts);
    mgb_preview_free(scene->preview);
    mgb_graph_free(scene->graph);
    mgb_machine_free(scene->machine);
}

/* Milliseconds of a step with the toggle's value. */
static double played_ms(const struct scene *scene, const struct mgb_pressed_row *row)
{
    struct script_open_request request = scene->request;
    struct mgb_preview *preview;
    struct mgb_virtual_step step;
    enum mgb_option_id twin = mgb_toggle_twin(row->option);
    if (twin != MGB_OPTION_COUNT)
        assert_ok(mgb_placement_set(&request.placement, mgb_placement_options()[twin].name, "nil"));
    assert_ok(mgb_placement_set(&request.placement, mgb_placement_options()[row->option].name,
                                row->value));
    request.fresh = UINT64_C(1) << row->option;
    assert_ok(mgb_session_preview(&preview, &request));
    assert_ok(mgb_preview_play(preview, &step));
    double ms = (double)step.wall_ns / 1e6;
    mgb_preview_free(preview);
    return ms;
}

static void every_toggle_that_can_be_has_the_time_that_its_plan_takes(void **state)
{
    (void)state;
    struct scene scene;
    struct mgb_virtual_step step;
    bool fresh;
    int predicted = 0;
    scene_make(&scene, "gpus=2 batch=4");
    assert_true(scene.facts->simulated);
    assert_string_equal(scene.facts->machine, "dgx1-p100");
    assert_ok(mgb_preview_play(scene.preview, &step));
    double now = (double)step.wall_ns / 1e6;
    while (mgb_presser_work(scene.presser))
        ;
    const struct mgb_pressed *pressed = mgb_presser_look(scene.presser, &fresh);
    for (int i = 0; i < pressed->count; i++) {
        const struct mgb_pressed_row *row = &pressed->rows[i];
        assert_int_not_equal(row->from, MGB_PRESSED_PLANNED);
        assert_int_not_equal(row->from, MGB_PRESSED_MEASURED);
        if (row->from != MGB_PRESSED_PREDICTED)
            continue;
        predicted++;
        double next = played_ms(&scene, row);
        bool more = row->option == MGB_OPTION_GPUS || row->option == MGB_OPTION_BATCH ||
                    row->option == MGB_OPTION_GLOBAL_BATCH;
        assert_float_equal(row->ms, next, 0);
        if (!more)
            assert_float_equal(row->ratio, next / now, 1e-9);
        const char *verdict = row->ratio < 1 ? "faster" : row->ratio > 1 ? "slower" : "same";
        assert_string_equal(row->verdict, verdict);
    }
    assert_true(predicted >= 10);
    const struct mgb_pressed_row *batch = mgb_pressed_find(pressed, MGB_OPTION_BATCH, 1);
    assert_float_equal(batch->ratio, batch->ms / now / 2, 1e-9); /* of an example */
    mgb_shared_drop(pressed);
    scene_done(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_toggle_that_can_be_has_the_time_that_its_plan_takes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
