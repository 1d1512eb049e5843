/* What would be, were a toggle pressed, is what is when it is pressed: bytes, peaks, refusals, and stored times. */
#include "app/session/workbench/presser.h"
#include "app/session/workbench/workbench.h"
#include "tests/app/session/work.h"

#include "app/session/preview.h"
#include "tests/app/session/workbench/stored.h"
#include "tests/support/training.h"
#include <math.h>
#include <stdlib.h>

struct scene {
    struct mgb_graph *graph;
    struct script_open_request request;
    struct mgb_preview *preview;
    struct mgb_facts *facts;
    struct mgb_presser *presser;
};

static struct mgb_facts *facts_make(const struct script_open_request *request,
                                    const struct mgb_topology *topology,
                                    const struct mgb_effective *effective,
                                    const struct mgb_plan *plan, struct mgb_hub *hub)
{
    struct mgb_facts *facts;
    struct mgb_facts_request of = {.model = request->model,
                                   .data = request->data,
                                   .backend = "host",
                                   .remark = "",
                                   .graph = request->graph,
                                   .topology = topology,
                                   .asked = &request->placement,
                                   .effective = effective,
                                   .plan = plan,
                                   .hub = hub};
    assert_ok(mgb_facts_make(&facts, &of));
    return facts;
}

static struct mgb_facts *facts_of(const struct script_open_request *request,
                                  const struct mgb_preview *preview)
{
    return facts_make(request, mgb_preview_topology(preview), mgb_preview_effective(preview),
                      mgb_preview_plan(preview), NULL);
}

/* `options`: "gpus=2 batch=4". */
static struct scene scene_make(const char *options)
{
    struct scene scene = {.graph = model_mlp()};
    scene.request = (struct script_open_request){.graph = scene.graph,
                                                 .model = "mlp",
                                                 .model_options = "{}",
                                                 .data = "",
                                                 .optimizer = training_sgd(0.1f, 0.9f),
                                                 .seed = 1,
                                                 .backend = "host"};
    mgb_placement_init(&scene.request.placement);
    placement_apply(&scene.request.placement, options);
    assert_ok(mgb_session_preview(&scene.preview, &scene.request));
    scene.facts = facts_of(&scene.request, scene.preview);
    assert_ok(mgb_presser_make(&scene.presser, NULL));
    mgb_presser_begin(scene.presser, scene.facts, &scene.request, 0);
    return scene;
}

static void scene_done(struct scene *scene)
{
    mgb_presser_free(scene->presser);
    mgb_shared_drop(scene->facts);
    mgb_preview_free(scene->preview);
    mgb_graph_free(scene->graph);
}

/* To the end; counts the pieces. */
static const struct mgb_pressed *pressed_find_out(struct mgb_presser *presser, int *pieces)
{
    bool fresh;
    int count = 0;
    while (mgb_presser_work(presser))
        count++;
    if (pieces)
        *pieces = count;
    const struct mgb_pressed *pressed = mgb_presser_look(presser, &fresh);
    assert_non_null(pressed);
    return pressed;
}

/* And until the times of stored runs are known, which the desk's thread tells of. */
static const struct mgb_pressed *pressed_complete(struct mgb_presser *presser, struct news *news)
{
    bool fresh;
    const struct mgb_pressed *pressed = pressed_find_out(presser, NULL);
    while (!pressed->complete) {
        mgb_shared_drop(pressed);
        news_await(news);
        pressed = mgb_presser_look(presser, &fresh);
    }
    return pressed;
}

static int64_t peak_of(const struct mgb_facts *facts, bool cpu)
{
    int64_t most = 0;
    for (int d = 0; d < facts->device_count; d++)
        if ((strcmp(facts->devices[d].name, "/cpu:0") == 0) == cpu &&
            facts->devices[d].planned_bytes > most)
            most = facts->devices[d].planned_bytes;
    return most;
}

/* The row's value, set by hand. */
static struct mgb_facts *facts_next(const struct scene *scene, const struct mgb_pressed_row *row)
{
    struct script_open_request request = scene->request;
    struct mgb_preview *preview;
    enum mgb_option_id twin = mgb_toggle_twin(row->option);
    if (twin != MGB_OPTION_COUNT)
        assert_ok(mgb_placement_set(&request.placement, mgb_placement_options()[twin].name, "nil"));
    assert_ok(mgb_placement_set(&request.placement, mgb_placement_options()[row->option].name,
                                row->value));
    assert_ok(mgb_session_preview(&preview, &request));
    struct mgb_facts *facts = facts_of(&request, preview);
    mgb_preview_free(preview);
    return facts;
}

static void row_check(const struct scene *scene, const struct mgb_pressed_row *row)
{
    if (row->from != MGB_PRESSED_PLANNED && row->from != MGB_PRESSED_SAME) {
        assert_true(strlen(row->reason) > 0);
        return;
    }
    struct mgb_facts *next = facts_next(scene, row);
    assert_int_equal(row->traffic_change, next->traffic_bytes - scene->facts->traffic_bytes);
    assert_int_equal(row->gpu_change, peak_of(next, false) - peak_of(scene->facts, false));
    assert_int_equal(row->cpu_change, peak_of(next, true) - peak_of(scene->facts, true));
    assert_true(isnan(row->ratio));
    assert_true(strlen(row->next) > 0);
    mgb_shared_drop(next);
}

static void changes_are_those_of_a_preview_made_by_hand(void **state)
{
    static const char *const places[] = {
        "gpus=2 batch=4",
        "gpus=4 global_batch=12 weights_at=/cpu:0 merge_at=/gpu:1",
        "gpus=3 batch=5 strategy=gradients bucket_mib=0.0001 cpu_relocation=true",
        "gpus=4 batch=2 strategy=allreduce",
        "gpus=1 batch=8 strategy=independent",
        "gpus=0 batch=8",
        "gpus=2,0 batch=4 weights_at=spread sum_at=spread relocation=clone"};
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct scene scene = scene_make(places[i]);
        int planned = 0, pieces;
        const struct mgb_pressed *pressed = pressed_find_out(scene.presser, &pieces);
        assert_true(pressed->complete);
        assert_int_equal(pieces, pressed->count + 1); /* one candidate a piece, and what is */
        for (int r = 0; r < pressed->count; r++) {
            row_check(&scene, &pressed->rows[r]);
            planned += pressed->rows[r].from == MGB_PRESSED_PLANNED;
        }
        assert_true(planned >= 3);
        assert_int_equal(pressed->largest_batch, 0); /* nothing limits it */
        mgb_shared_drop(pressed);
        scene_done(&scene);
    }
}

static void rows_come_in_the_order_of_the_keys_and_say_what_is_and_what_would_be(void **state)
{
    (void)state;
    struct scene scene = scene_make("gpus=2 batch=4 peer_access=true");
    const struct mgb_pressed *pressed = pressed_find_out(scene.presser, NULL);
    static const struct {
        enum mgb_option_id option;
        int direction;
        const char *now, *next;
    } wanted[] = {{MGB_OPTION_CPU_RELOCATION, 1, "gpu:0", "cpu:0"},
                  {MGB_OPTION_CPU_MERGE, 1, "cpu:0", "gpu:0"},
                  {MGB_OPTION_STRATEGY, 1, "outputs", "gradients"},
                  {MGB_OPTION_GPUS, -1, "2", "1"},
                  {MGB_OPTION_GPUS, 1, "2", "4"},
                  {MGB_OPTION_BATCH, -1, "4", "2"},
                  {MGB_OPTION_BATCH, 1, "4", "8"}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct mgb_pressed_row *row = &pressed->rows[i];
        assert_int_equal(row->option, wanted[i].option);
        assert_int_equal(row->direction, wanted[i].direction);
        assert_string_equal(row->now, wanted[i].now);
        assert_string_equal(row->next, wanted[i].next);
        assert_int_equal(row->from, MGB_PRESSED_PLANNED);
        assert_ptr_equal(mgb_pressed_find(pressed, wanted[i].option, wanted[i].direction), row);
    }
    assert_string_equal(pressed->rows[7].now, "on");
    assert_null(mgb_pressed_find(pressed, MGB_OPTION_STRATEGY, -1));
    assert_null(mgb_pressed_find(NULL, MGB_OPTION_STRATEGY, 1));
    const struct mgb_pressed_row *parked = mgb_pressed_find(pressed, MGB_OPTION_ALLREDUCE, 1);
    assert_int_equal(parked->from, MGB_PRESSED_PARKED);
    assert_string_equal(parked->reason, "n/a under outputs");
    mgb_shared_drop(pressed);
    scene_done(&scene);
}

static void a_global_batch_stands_where_the_keys_of_the_batch_are(void **state)
{
    (void)state;
    struct scene scene = scene_make("gpus=2 global_batch=12");
    const struct mgb_pressed *pressed = pressed_find_out(scene.presser, NULL);
    assert_int_equal(pressed->rows[6].option, MGB_OPTION_GLOBAL_BATCH);
    assert_string_equal(pressed->rows[6].now, "12");
    assert_string_equal(pressed->rows[6].next, "24");
    assert_non_null(mgb_pressed_find(pressed, MGB_OPTION_BATCH, -1));
    mgb_shared_drop(pressed);
    scene_done(&scene);
}

static void what_cannot_be_says_why_and_what_does_not_fit_names_the_device(void **state)
{
    (void)state;
    struct scene scene = scene_make("gpus=2 batch=512");
    char options[96];
    int64_t peak = peak_of(scene.facts, false);
    scene_done(&scene);
    snprintf(options, sizeof options, "gpus=2 batch=512 gpu_memory=%lld", (long long)peak + 4096);
    scene = scene_make(options);
    const struct mgb_pressed *pressed = pressed_find_out(scene.presser, NULL);
    const struct mgb_pressed_row *more = mgb_pressed_find(pressed, MGB_OPTION_BATCH, 1);
    assert_int_equal(more->from, MGB_PRESSED_OOM);
    assert_non_null(strstr(more->reason, "/gpu:"));
    assert_true(more->gpu_change > 4096);
    assert_int_equal(mgb_pressed_find(pressed, MGB_OPTION_BATCH, -1)->from, MGB_PRESSED_PLANNED);
    const struct mgb_pressed_row *wide = mgb_pressed_find(pressed, MGB_OPTION_PRECISION, 1);
    assert_int_equal(wide->from, MGB_PRESSED_REFUSED);
    assert_non_null(strstr(wide->reason, "needs GPUs"));
    int64_t largest;
    assert_ok(mgb_preview_largest_batch(scene.preview, &largest));
    assert_true(largest >= 512 && largest < 1024);
    assert_int_equal(pressed->largest_batch, largest);
    mgb_shared_drop(pressed);
    scene_done(&scene);
}

static void a_toggle_without_effect_says_so(void **state)
{
    (void)state;
    struct scene scene = scene_make("gpus=2 batch=4 join_at=/cpu:0 loss_at=/cpu:0 sum_at=/cpu:0");
    const struct mgb_pressed *pressed = pressed_find_out(scene.presser, NULL);
    const struct mgb_pressed_row *row = mgb_pressed_find(pressed, MGB_OPTION_CPU_MERGE, 1);
    assert_int_equal(row->from, MGB_PRESSED_SAME);
    assert_string_equal(row->now, "cpu:0");
    assert_string_equal(row->next, "cpu:0");
    assert_int_equal(row->traffic_change, 0);
    assert_int_equal(row->gpu_change, 0);
    row = mgb_pressed_find(pressed, MGB_OPTION_LOGICAL, 1); /* no GPU is listed twice */
    assert_int_equal(row->from, MGB_PRESSED_SAME);
    assert_string_equal(row->next, "on");
    mgb_shared_drop(pressed);
    scene_done(&scene);
}

static void what_is_known_is_given_out_once_and_kept_for_the_same_placement(void **state)
{
    (void)state;
    struct scene scene = scene_make("gpus=2 batch=4");
    bool fresh;
    const struct mgb_pressed *first = mgb_presser_look(scene.presser, &fresh);
    assert_true(fresh);
    assert_false(first->complete);
    assert_int_equal(first->rows[0].from, MGB_PRESSED_NONE);
    mgb_shared_drop(first);
    const struct mgb_pressed *full = pressed_find_out(scene.presser, NULL);
    const struct mgb_pressed *again = mgb_presser_look(scene.presser, &fresh);
    assert_false(fresh);
    assert_ptr_equal(again, full);
    struct mgb_facts *copy = facts_of(&scene.request, scene.preview);
    mgb_presser_begin(scene.presser, copy, &scene.request, 5); /* opened: the same placement */
    assert_false(mgb_presser_work(scene.presser));
    placement_apply(&scene.request.placement, "batch=8");
    struct mgb_preview *other;
    assert_ok(mgb_session_preview(&other, &scene.request));
    mgb_shared_drop(copy);
    copy = facts_of(&scene.request, other);
    mgb_presser_begin(scene.presser, copy, &scene.request, 6);
    assert_true(mgb_presser_work(scene.presser));
    mgb_preview_free(other);
    mgb_shared_drop(copy);
    mgb_shared_drop(again);
    mgb_shared_drop(full);
    scene_done(&scene);
}

/* ---- with a session and its file ---- */

static int64_t plan_traffic_sum(const struct mgb_plan *plan)
{
    int64_t bytes = 0;
    for (int i = 0; i < plan->traffic_count; i++)
        bytes += plan->traffic[i].bytes;
    return bytes;
}

static void session_toggle(struct work *work, struct script_session *session,
                           struct script_open_request *request, const char *name, const char *value)
{
    struct mgb_change change;
    assert_ok(mgb_placement_set(&request->placement, name, value));
    request->fresh = 0;
    assert_ok(work->services.set(session, &change, &request->placement, 0));
    assert_true(change.changed);
}

/* The session measured those its first placement uses. */
static int measured_links(const struct mgb_facts *facts)
{
    int count = 0;
    for (int i = 0; i < facts->link_count; i++) {
        count += facts->links[i].gbps > 0;
        assert_true(facts->links[i].gbps > 0 || facts->links[i].latency_us == 0);
    }
    return count;
}

static void pressing_gives_what_was_told_and_then_its_time_is_known(void **state)
{
    struct work work = {0};
    struct script_session *session;
    struct script_figures figures;
    struct news news;
    struct mgb_judge_desk *desk;
    struct mgb_presser *presser;
    work_open(&work, *state);
    struct script_open_request request = work_request(&work, TWO_GPUS);
    assert_ok(work.services.open(work.hub, &session, &request));
    assert_ok(work_step(&work, session, 40, &figures));
    int64_t before = plan_traffic_sum(mgb_run_plan(work.services.engine(session)));
    session_toggle(&work, session, &request, "cpu_relocation", "true");
    assert_ok(work_step(&work, session, 40, &figures));
    int64_t relocated = plan_traffic_sum(mgb_run_plan(work.services.engine(session)));
    session_toggle(&work, session, &request, "cpu_relocation", "false");
    assert_ok(work_step(&work, session, 40, &figures));
    struct mgb_run *run = work.services.engine(session);
    struct mgb_facts *facts = facts_make(&request, mgb_run_topology(run), mgb_run_effective(run),
                                         mgb_run_plan(run), work.hub);
    assert_true(measured_links(facts) > 0);
    news_init(&news);
    assert_ok(mgb_judge_desk_open(&desk, *state, news_tell, &news));
    assert_ok(mgb_presser_make(&presser, desk));
    mgb_presser_begin(presser, facts, &request, figures.segment_id);
    const struct mgb_pressed *pressed = pressed_complete(presser, &news);
    const struct mgb_pressed_row *row = mgb_pressed_find(pressed, MGB_OPTION_CPU_RELOCATION, 1);
    assert_int_equal(row->from, MGB_PRESSED_MEASURED);
    assert_int_equal(row->segments, 1);
    assert_true(row->ratio > 0 && row->low <= row->ratio && row->ratio <= row->high);
    assert_true(strlen(row->verdict) > 0);
    assert_int_equal(row->traffic_change, relocated - before);
    row = mgb_pressed_find(pressed, MGB_OPTION_STRATEGY, 1);
    assert_int_equal(row->from, MGB_PRESSED_PLANNED);
    assert_int_equal(row->segments, 0);
    mgb_shared_drop(pressed);
    mgb_presser_free(presser);
    mgb_judge_desk_close(desk);
    mgb_shared_drop(facts);
    work_close(&work);
}

/* The program was opened again: stored runs of this and of another placement are all there is. */
static void before_anything_runs_times_are_those_of_stored_runs(void **state)
{
    struct work work = {0};
    struct script_session *session;
    struct script_figures figures;
    struct news news;
    struct mgb_judge_desk *desk;
    struct mgb_presser *presser;
    work_open(&work, *state);
    struct script_open_request request = work_request(&work, TWO_GPUS);
    assert_ok(work.services.open(work.hub, &session, &request));
    assert_ok(work_step(&work, session, 40, &figures));
    struct mgb_run *run = work.services.engine(session);
    struct mgb_facts *facts = facts_make(&request, mgb_run_topology(run), mgb_run_effective(run),
                                         mgb_run_plan(run), work.hub);
    session_toggle(&work, session, &request, "cpu_relocation", "true");
    assert_ok(work_step(&work, session, 40, &figures));
    work.services.close(session);
    request = work_request(&work, TWO_GPUS);
    news_init(&news);
    assert_ok(mgb_judge_desk_open(&desk, *state, news_tell, &news));
    assert_ok(mgb_presser_make(&presser, desk));
    mgb_presser_begin(presser, facts, &request, 0);
    const struct mgb_pressed *pressed = pressed_complete(presser, &news);
    const struct mgb_pressed_row *row = mgb_pressed_find(pressed, MGB_OPTION_CPU_RELOCATION, 1);
    assert_int_equal(row->from, MGB_PRESSED_MEASURED);
    assert_int_equal(row->base_run, 1);
    assert_true(row->ratio > 0);
    row = mgb_pressed_find(pressed, MGB_OPTION_STRATEGY, 1);
    assert_int_equal(row->from, MGB_PRESSED_PLANNED);
    mgb_shared_drop(pressed);
    request.optimizer.lr *= 2; /* another training: no stored run is of it */
    mgb_presser_forget(presser);
    mgb_presser_begin(presser, facts, &request, 0);
    pressed = pressed_complete(presser, &news);
    row = mgb_pressed_find(pressed, MGB_OPTION_CPU_RELOCATION, 1);
    assert_int_equal(row->from, MGB_PRESSED_PLANNED);
    mgb_shared_drop(pressed);
    mgb_presser_free(presser);
    mgb_judge_desk_close(desk);
    mgb_shared_drop(facts);
    work_close(&work);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_those_of_a_preview_made_by_hand),
        cmocka_unit_test(rows_come_in_the_order_of_the_keys_and_say_what_is_and_what_would_be),
        cmocka_unit_test(a_global_batch_stands_where_the_keys_of_the_batch_are),
        cmocka_unit_test(what_cannot_be_says_why_and_what_does_not_fit_names_the_device),
        cmocka_unit_test(a_toggle_without_effect_says_so),
        cmocka_unit_test(what_is_known_is_given_out_once_and_kept_for_the_same_placement),
        cmocka_unit_test_setup_teardown(before_anything_runs_times_are_those_of_stored_runs,
                                        database_setup, database_teardown),
        cmocka_unit_test_setup_teardown(pressing_gives_what_was_told_and_then_its_time_is_known,
                                        database_setup, database_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
