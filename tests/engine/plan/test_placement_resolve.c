/* Placements in effect: the table of lua-api.md row by row, precedence, presets, devices, parking. */
#include "engine/graph/graph.h"
#include "tests/support/check.h"
#include "tests/support/model.h"

#include "engine/base/memory.h"
#include <mgb/placement.h>
#include <stdio.h>
#include <string.h>

#define GPUS 16
static struct mgb_device devices[1 + GPUS];
static struct mgb_topology topology = {.device_count = 1 + GPUS, .devices = devices};
static struct mgb_graph *graph;

static int setup(void **state)
{
    (void)state;
    devices[0] = (struct mgb_device){.name = {MGB_DEVICE_CPU, 0, 0}, .class = MGB_CLASS_CPU};
    for (int i = 0; i < GPUS; i++)
        devices[1 + i] = (struct mgb_device){
            .name = {MGB_DEVICE_GPU, i, 0}, .class = MGB_CLASS_CPU, .physical = i};
    topology.device_count = 1 + GPUS;
    graph = model_mlp();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mgb_graph_free(graph);
    return 0;
}

/* "gpus=4 batch=8 cpu_merge=false": sets them on `p`; returns their bits. */
static uint64_t set_all(struct mgb_placement *p, const char *options)
{
    char copy[512], *rest = copy;
    uint64_t fresh = 0;
    strcpy(copy, options);
    for (char *pair = strsep(&rest, " "); pair; pair = strsep(&rest, " ")) {
        char *value = strchr(pair, '=');
        if (!value)
            continue;
        *value = '\0';
        assert_ok(mgb_placement_set(p, pair, value + 1));
        fresh |= UINT64_C(1) << mgb_placement_find_option(pair)->id;
    }
    return fresh;
}

static struct mgb_effective resolve(const char *options)
{
    struct mgb_placement p;
    struct mgb_effective e;
    mgb_placement_init(&p);
    uint64_t fresh = set_all(&p, options);
    assert_ok(mgb_placement_resolve(&e, &p, fresh, graph, &topology, 8));
    return e;
}

static void refused(const char *options, enum mgb_status status, const char *words)
{
    struct mgb_placement p;
    struct mgb_effective e = {.global_batch = 77};
    mgb_placement_init(&p);
    uint64_t fresh = set_all(&p, options);
    assert_status(mgb_placement_resolve(&e, &p, fresh, graph, &topology, 8), status);
    assert_message(words);
    assert_int_equal(e.global_batch, 77);
}

/* What is in effect, as "weights join loss sum update allreduce bucket". */
static char *places(char out[256], const char *options)
{
    static const enum mgb_option_id ids[] = {
        MGB_OPTION_WEIGHTS_AT, MGB_OPTION_JOIN_AT,   MGB_OPTION_LOSS_AT,   MGB_OPTION_SUM_AT,
        MGB_OPTION_UPDATE_AT,  MGB_OPTION_ALLREDUCE, MGB_OPTION_BUCKET_MIB};
    struct mgb_effective e = resolve(options);
    out[0] = '\0';
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        char text[64];
        mgb_effective_get_text(text, sizeof text, &e, &topology, ids[i]);
        sprintf(out + strlen(out), "%s%s", i > 0 ? " " : "", text[0] ? text : "-");
    }
    mgb_effective_done(&e);
    return out;
}

static void the_table_of_what_is_in_effect(void **state)
{
    (void)state;
    char text[256];
    assert_string_equal(places(text, "gpus=2 strategy=outputs"),
                        "/gpu:0 /cpu:0 /cpu:0 /cpu:0 /gpu:0 - -");
    assert_string_equal(places(text, "gpus=2 strategy=gradients"), "/gpu:0 - - /cpu:0 /gpu:0 - 25");
    assert_string_equal(places(text, "gpus=2 strategy=allreduce"), "- - - - - ring 25");
    assert_string_equal(places(text, "gpus=2 strategy=independent"), "- - - - - - -");
}

static void mirrored_weights_have_no_home(void **state)
{
    (void)state;
    struct mgb_effective e = resolve("gpus=2 strategy=allreduce");
    assert_null(e.home);
    assert_null(e.update);
    assert_null(e.sum);
    assert_int_equal(e.weights_at, -1);
    assert_int_equal(e.join_at, -1);
    assert_false(e.relocated);
    mgb_effective_done(&e);
}

static void the_flags_move_weights_and_merge(void **state)
{
    (void)state;
    char text[256];
    assert_string_equal(places(text, "gpus=2 cpu_merge=true cpu_relocation=true"),
                        "/cpu:0 /cpu:0 /cpu:0 /cpu:0 /cpu:0 - -");
    assert_string_equal(places(text, "gpus=2 cpu_merge=false cpu_relocation=true"),
                        "/cpu:0 /gpu:0 /gpu:0 /gpu:0 /cpu:0 - -");
    assert_string_equal(places(text, "gpus=2 cpu_merge=false cpu_relocation=false"),
                        "/gpu:0 /gpu:0 /gpu:0 /gpu:0 /gpu:0 - -");
    assert_string_equal(places(text, "gpus=3,1 cpu_merge=false"),
                        "/gpu:3 /gpu:3 /gpu:3 /gpu:3 /gpu:3 - -");
}

static void an_explicit_place_beats_merge_at_beats_flags_beats_like(void **state)
{
    (void)state;
    char text[256];
    assert_string_equal(places(text, "gpus=4 merge_at=/gpu:2 join_at=/gpu:3"),
                        "/gpu:0 /gpu:3 /gpu:2 /gpu:2 /gpu:0 - -");
    assert_string_equal(places(text, "gpus=4 cpu_merge=true sum_at=/gpu:1 update_at=/gpu:2"),
                        "/gpu:0 /cpu:0 /cpu:0 /gpu:1 /gpu:2 - -");
    assert_string_equal(places(text, "gpus=4 like=deep_qa cpu_merge=false cpu_relocation=false"),
                        "/gpu:0 - - /gpu:0 /gpu:0 - 25");
    assert_string_equal(places(text, "gpus=4 like=deep_qa weights_at=/gpu:1"),
                        "/gpu:1 - - /cpu:0 /gpu:1 - 25");
    assert_string_equal(places(text, "gpus=4 like=keras strategy=gradients"),
                        "/gpu:0 - - /gpu:0 /gpu:0 - 25");
    assert_string_equal(places(text, "gpus=4 like=keras merge_at=/gpu:1"),
                        "/gpu:0 /gpu:1 /gpu:1 /gpu:1 /gpu:0 - -");
}

static void like_sets_places_as_that_system_does(void **state)
{
    (void)state;
    char text[256];
    assert_string_equal(places(text, "gpus=4 like=keras"),
                        "/gpu:0 /cpu:0 /gpu:0 /gpu:0 /gpu:0 - -");
    assert_string_equal(places(text, "gpus=4 like=keras cpu_merge=false"),
                        "/gpu:0 /gpu:0 /gpu:0 /gpu:0 /gpu:0 - -");
    assert_string_equal(places(text, "gpus=4 like=keras cpu_relocation=true"),
                        "/cpu:0 /cpu:0 /gpu:0 /gpu:0 /gpu:0 - -");
    assert_string_equal(places(text, "gpus=4 like=deep_qa"), "/cpu:0 - - /cpu:0 /cpu:0 - 25");
    assert_string_equal(places(text, "gpus=4 like=tf_ps"), "spread - - spread spread - 25");
    assert_string_equal(places(text, "gpus=4 like=tf_replicated"), "- - - - - ring 25");
    assert_string_equal(places(text, "gpus=4 like=ddp"), "- - - - - ring 25");
    struct mgb_effective e = resolve("gpus=2 like=keras cpu_relocation=true");
    assert_int_equal(e.relocation, MGB_CLONE);
    mgb_effective_done(&e);
    e = resolve("gpus=2 like=keras cpu_relocation=true relocation=move");
    assert_int_equal(e.relocation, MGB_MOVE);
    mgb_effective_done(&e);
}

static void contradictions_are_refused(void **state)
{
    (void)state;
    refused("gpus=2 cpu_relocation=true weights_at=/gpu:0", MGB_INVALID,
            "cpu_relocation = true puts the weights on /cpu:0 and weights_at = /gpu:0 elsewhere");
    refused("gpus=2 cpu_relocation=true weights_at=spread", MGB_INVALID, "weights_at = spread");
    refused("gpus=2 cpu_merge=true merge_at=/gpu:0", MGB_INVALID,
            "cpu_merge = true merges on /cpu:0 and merge_at = /gpu:0 elsewhere");
    refused("gpus=1,0 cpu_merge=false merge_at=/gpu:0", MGB_INVALID,
            "cpu_merge = false merges on /gpu:1");
    char text[256];
    places(text, "gpus=2 cpu_relocation=true weights_at=/cpu:0");
    places(text, "gpus=1,0 cpu_merge=false merge_at=/gpu:1");
    places(text, "gpus=2 cpu_relocation=false weights_at=/cpu:0");
}

static void an_option_without_meaning_is_refused_beside_its_strategy(void **state)
{
    (void)state;
    static const char *const meaningless[][2] = {
        {"strategy=outputs", "allreduce=ring"},
        {"strategy=outputs", "bucket_mib=1"},
        {"strategy=outputs", "overlap=false"},
        {"strategy=gradients", "join_at=/cpu:0"},
        {"strategy=gradients", "loss_at=/cpu:0"},
        {"strategy=gradients", "allreduce=ring"},
        {"strategy=allreduce", "weights_at=/cpu:0"},
        {"strategy=allreduce", "join_at=/cpu:0"},
        {"strategy=allreduce", "loss_at=/cpu:0"},
        {"strategy=allreduce", "sum_at=/cpu:0"},
        {"strategy=allreduce", "update_at=/cpu:0"},
        {"strategy=allreduce", "cpu_merge=true"},
        {"strategy=allreduce", "cpu_relocation=true"},
        {"strategy=allreduce", "merge_at=/cpu:0"},
        {"strategy=allreduce", "relocation=clone"},
        {"strategy=independent", "allreduce=ring"},
        {"strategy=independent", "bucket_mib=1"},
        {"strategy=independent", "weights_at=/cpu:0"},
        {"strategy=independent", "wire_type=f16"},
        {"like=ddp", "cpu_merge=true"},
    };
    for (size_t i = 0; i < sizeof meaningless / sizeof meaningless[0]; i++) {
        char options[128], words[64];
        sprintf(options, "gpus=2 %s %s", meaningless[i][0], meaningless[i][1]);
        sprintf(words, "%.*s has no meaning under %.8s", (int)strcspn(meaningless[i][1], "="),
                meaningless[i][1], meaningless[i][0]);
        words[strcspn(words, "=")] = '\0';
        refused(options, MGB_INVALID, words);
    }
    refused("gpus=2 strategy=allreduce join_at=/cpu:0", MGB_INVALID,
            "join_at has no meaning under strategy = allreduce: each tower takes its own loss");
    refused("gpus=2 strategy=independent bn=sync", MGB_INVALID,
            "bn = sync has no meaning under strategy = independent: every GPU trains by itself");
}

static void an_option_is_parked_and_comes_back(void **state)
{
    (void)state;
    struct mgb_placement p;
    struct mgb_effective e;
    char text[64];
    mgb_placement_init(&p);
    set_all(&p, "gpus=2 join_at=/gpu:1 weights_at=/cpu:0");
    uint64_t fresh = set_all(&p, "strategy=allreduce");
    assert_ok(mgb_placement_resolve(&e, &p, fresh, graph, &topology, 8));
    assert_string_equal(
        mgb_effective_get_text(text, sizeof text, &e, &topology, MGB_OPTION_JOIN_AT), "");
    assert_string_equal(mgb_placement_get_text(text, sizeof text, &p, MGB_OPTION_JOIN_AT),
                        "/gpu:1");
    mgb_effective_done(&e);
    fresh = set_all(&p, "bucket_mib=4");
    assert_ok(mgb_placement_resolve(&e, &p, fresh, graph, &topology, 8));
    assert_int_equal(e.bucket_bytes, 4 << 20);
    mgb_effective_done(&e);
    fresh = set_all(&p, "strategy=outputs");
    assert_ok(mgb_placement_resolve(&e, &p, fresh, graph, &topology, 8));
    assert_string_equal(
        mgb_effective_get_text(text, sizeof text, &e, &topology, MGB_OPTION_JOIN_AT), "/gpu:1");
    assert_string_equal(
        mgb_effective_get_text(text, sizeof text, &e, &topology, MGB_OPTION_WEIGHTS_AT), "/cpu:0");
    assert_string_equal(
        mgb_effective_get_text(text, sizeof text, &e, &topology, MGB_OPTION_BUCKET_MIB), "");
    mgb_effective_done(&e);
}

static void without_the_strategy_in_the_call_an_option_is_only_parked(void **state)
{
    (void)state;
    struct mgb_effective e = resolve("gpus=2 allreduce=ring wire_type=f32");
    assert_int_equal(e.strategy, MGB_OUTPUTS);
    mgb_effective_done(&e);
    /* Unsupported values wait as well. */
    e = resolve("gpus=2 allreduce=tree");
    mgb_effective_done(&e);
}

static void every_count_from_1_to_16_has_its_towers(void **state)
{
    (void)state;
    for (int n = 1; n <= GPUS; n++) {
        char options[64], text[32], wanted[32];
        sprintf(options, "gpus=%d batch=4", n);
        struct mgb_effective e = resolve(options);
        assert_int_equal(e.tower_count, n);
        for (int t = 0; t < n; t++)
            assert_int_equal(e.tower_device[t], 1 + t);
        assert_int_equal(e.global_batch, 4 * n);
        sprintf(wanted, "%d", n);
        assert_string_equal(
            mgb_effective_get_text(text, sizeof text, &e, &topology, MGB_OPTION_GPUS), wanted);
        assert_int_equal(e.threads, 8 / n > 1 ? 8 / n : 1);
        assert_int_equal(e.oversubscribed, n > 8);
        assert_int_equal(e.cpu_threads, 8);
        mgb_effective_done(&e);
    }
}

static void no_gpu_is_one_tower_on_the_cpu(void **state)
{
    (void)state;
    char text[256];
    struct mgb_effective e = resolve("gpus=0");
    assert_int_equal(e.tower_count, 1);
    assert_int_equal(e.tower_device[0], 0);
    assert_int_equal(e.threads, 8);
    mgb_effective_done(&e);
    assert_string_equal(places(text, "gpus=0 cpu_merge=false"),
                        "/cpu:0 /cpu:0 /cpu:0 /cpu:0 /cpu:0 - -");
    assert_string_equal(places(text, "gpus=0 like=tf_ps"), "/cpu:0 - - /cpu:0 /cpu:0 - 25");
}

static void a_missing_device_is_named_with_those_present(void **state)
{
    (void)state;
    refused(
        "gpus=17", MGB_MISSING,
        "gpus: wanted /gpu:0 ... /gpu:16, present /cpu:0 /gpu:0 ... /gpu:15; there is no /gpu:16");
    refused("gpus=500000", MGB_MISSING, "there is no /gpu:16");
    refused("gpus=2,16", MGB_MISSING,
            "gpus: wanted /gpu:2 /gpu:16, present /cpu:0 /gpu:0 ... /gpu:15; there is no /gpu:16");
    refused("gpus=2 join_at=/gpu:16", MGB_MISSING,
            "join_at: wanted /gpu:16, present /cpu:0 /gpu:0 ... /gpu:15");
    refused("gpus=2 merge_at=/gpu:20", MGB_MISSING, "merge_at: wanted /gpu:20");
    refused("gpus=2 weights_at=/gpu:99", MGB_MISSING, "weights_at: wanted /gpu:99");
    refused("gpus=2 update_at=/host:1/gpu:0", MGB_MISSING, "update_at: wanted /host:1/gpu:0");
}

static void the_first_listed_id_is_the_merge_gpu(void **state)
{
    (void)state;
    char text[64];
    struct mgb_effective e = resolve("gpus=2,0,3 cpu_merge=false batch=2");
    assert_int_equal(e.tower_count, 3);
    assert_int_equal(e.tower_device[0], 3);
    assert_int_equal(e.tower_device[1], 1);
    assert_int_equal(e.tower_device[2], 4);
    assert_int_equal(e.join_at, 3);
    assert_int_equal(e.home[0], 3);
    assert_string_equal(mgb_effective_get_text(text, sizeof text, &e, &topology, MGB_OPTION_GPUS),
                        "2,0,3");
    mgb_effective_done(&e);
    e = resolve("gpus={2}");
    assert_string_equal(mgb_effective_get_text(text, sizeof text, &e, &topology, MGB_OPTION_GPUS),
                        "{2}");
    mgb_effective_done(&e);
}

static void a_duplicate_is_refused_by_name_unless_logical(void **state)
{
    (void)state;
    graph->towers_built = 4;
    refused("gpus=2", MGB_INVALID,
            "was built for 4 towers (build = \"tower\"), not 2; its builder ");
    assert_message("open a new session or run with gpus = 2");
    graph->towers_built = 0;
    refused("gpus=0,0", MGB_INVALID, "wanted /gpu:0 /gpu:0, present /cpu:0 /gpu:0");
    refused("gpus=0,0", MGB_INVALID, "/gpu:0 is listed twice; give logical = true");
    refused("gpus=-1", MGB_INVALID,
            "gpus = -1: wanted a count from 0, or ids in merge order, as 2,0,3; present /cpu:0 ");
    refused("gpus=3,1,3", MGB_INVALID, "/gpu:3 is listed twice");
    refused("gpus=0,0 logical=true", MGB_MISSING, "listed more often than it has logical devices");
    devices[2].physical = 0; /* /gpu:1 is a second logical device on it */
    struct mgb_effective e = resolve("gpus=0,0 logical=true");
    assert_int_equal(e.tower_device[0], 1);
    assert_int_equal(e.tower_device[1], 2);
    mgb_effective_done(&e);
    devices[1].class = devices[2].class = MGB_CLASS_CUDA;
    refused("gpus=2", MGB_INVALID, "/gpu:0 and /gpu:1 are the same physical GPU");
    e = resolve("gpus=2 logical=true strategy=allreduce allreduce=nccl");
    assert_int_equal(e.allreduce, MGB_ALLREDUCE_RING);
    assert_string_equal(e.gave_way,
                        "allreduce = nccl: /gpu:1 shares its GPU with another tower; ring serves");
    mgb_effective_done(&e);
}

static void nccl_gives_way_where_it_cannot_serve(void **state)
{
    (void)state;
    struct mgb_effective e = resolve("gpus=2 strategy=allreduce allreduce=nccl");
    assert_int_equal(e.allreduce, MGB_ALLREDUCE_RING);
    assert_string_equal(e.gave_way, "allreduce = nccl: /gpu:0 is a CPU device; ring serves");
    mgb_effective_done(&e);
    e = resolve("gpus=2 strategy=allreduce");
    assert_int_equal(e.allreduce, MGB_ALLREDUCE_RING);
    assert_string_equal(e.gave_way, "");
    mgb_effective_done(&e);
    devices[1].class = devices[2].class = MGB_CLASS_CUDA;
    e = resolve("gpus=2 strategy=allreduce");
    assert_int_equal(e.allreduce, MGB_ALLREDUCE_NCCL);
    mgb_effective_done(&e);
    e = resolve("gpus=2 strategy=allreduce peer_access=false");
    assert_int_equal(e.allreduce, MGB_ALLREDUCE_RING);
    assert_string_equal(e.gave_way, "");
    mgb_effective_done(&e);
    e = resolve("gpus=2 strategy=allreduce peer_access=false allreduce=nccl");
    assert_string_equal(e.gave_way, "allreduce = nccl: it would copy from GPU to GPU by itself "
                                    "(peer_access = false); ring serves");
    mgb_effective_done(&e);
}

static void the_batch_is_per_gpu_or_global(void **state)
{
    (void)state;
    struct mgb_effective e = resolve("gpus=4 global_batch=10");
    assert_int_equal(e.batch_mode, MGB_BATCH_GLOBAL);
    assert_int_equal(e.global_batch, 10);
    assert_int_equal(e.batch_per_gpu, 3);
    mgb_effective_done(&e);
    e = resolve("gpus=8 global_batch=3");
    assert_int_equal(e.batch_per_gpu, 1);
    mgb_effective_done(&e);
    refused("gpus=2 batch=2000000000", MGB_INVALID, "batch = 2000000000 on 2 GPUs");
    struct mgb_placement p;
    mgb_placement_init(&p);
    p.batch = 0;
    assert_status(mgb_placement_resolve(&e, &p, 0, graph, &topology, 8), MGB_INVALID);
    assert_message("batch = 0: give at least 1");
    mgb_placement_init(&p);
    p.gpus = -1;
    assert_status(mgb_placement_resolve(&e, &p, 0, graph, &topology, 8), MGB_INVALID);
    assert_message("gpus = -1");
}

static void spread_gives_each_variable_to_the_emptiest_gpu(void **state)
{
    (void)state;
    /* 384, 32, 96, 12 bytes. */
    struct mgb_effective e = resolve("gpus=2 strategy=gradients weights_at=spread sum_at=spread");
    int wanted[] = {1, 2, 2, 2};
    assert_memory_equal(e.home, wanted, sizeof wanted);
    assert_memory_equal(e.sum, wanted, sizeof wanted);
    assert_memory_equal(e.update, wanted, sizeof wanted);
    assert_int_equal(e.weights_at, -2);
    assert_true(e.relocated);
    mgb_effective_done(&e);
    e = resolve("gpus=3 weights_at=spread");
    int wanted3[] = {1, 2, 3, 2};
    assert_memory_equal(e.home, wanted3, sizeof wanted3);
    mgb_effective_done(&e);
}

static void device_scopes_are_homes_until_relocated(void **state)
{
    (void)state;
    struct mgb_graph *scoped = model_make("scoped");
    int x = model_input(scoped, "x", SHAPE(1, 4)), label = model_label(scoped, "label");
    assert_ok(mgb_graph_begin_device(scoped, (struct mgb_device_name){MGB_DEVICE_GPU, 7, 0}));
    x = model_dense(scoped, "far", x, 4, MGB_RELU);
    mgb_graph_end_device(scoped);
    model_classify(scoped, model_dense(scoped, "near", x, 3, MGB_LINEAR), label);
    mgb_graph_free(graph);
    graph = scoped;
    struct mgb_effective e = resolve("gpus=2");
    int wanted[] = {8, 8, 1, 1}, cpu[] = {0, 0, 0, 0};
    char text[64];
    assert_memory_equal(e.home, wanted, sizeof wanted);
    assert_memory_equal(e.update, wanted, sizeof wanted);
    assert_false(e.relocated);
    assert_string_equal(
        mgb_effective_get_text(text, sizeof text, &e, &topology, MGB_OPTION_WEIGHTS_AT), "several");
    mgb_effective_done(&e);
    e = resolve("gpus=2 cpu_relocation=true");
    assert_memory_equal(e.home, cpu, sizeof cpu);
    assert_memory_equal(e.original, wanted, sizeof wanted);
    assert_true(e.relocated);
    mgb_effective_done(&e);
    topology.device_count = 3;
    refused("gpus=2", MGB_MISSING,
            "device scope of variable 'far/kernel': wanted /gpu:7, present /cpu:0 /gpu:0 /gpu:1");
}

static void what_this_version_lacks_is_said(void **state)
{
    (void)state;
    static const char *const lacking[] = {"hosts=2"};
    for (size_t i = 0; i < sizeof lacking / sizeof lacking[0]; i++) {
        char options[64], words[64];
        size_t name = strcspn(lacking[i], "=");
        sprintf(options, "gpus=2 %s", lacking[i]);
        sprintf(words, "%.*s = %s is not supported in this version", (int)name, lacking[i],
                lacking[i] + name + 1);
        refused(options, MGB_UNSUPPORTED, words);
    }
    refused("gpus=2 strategy=allreduce allreduce=hierarchical", MGB_UNSUPPORTED,
            "allreduce = hierarchical is not supported in this version; it sums in each of several "
            "machines first");
}

static void graph_in_effect(const char *options, const char *wanted, const char *gave_way)
{
    char text[32];
    struct mgb_effective e = resolve(options);
    assert_string_equal(mgb_effective_get_text(text, sizeof text, &e, &topology, MGB_OPTION_GRAPH),
                        wanted);
    assert_string_equal(e.gave_way, gave_way);
    mgb_effective_done(&e);
}

static void steps_are_replayed_on_gpus_that_nccl_does_not_join(void **state)
{
    (void)state;
    refused("gpus=2 graph=true", MGB_UNSUPPORTED,
            "graph = true: a step that is replayed needs GPUs");
    graph_in_effect("gpus=2", "false", "");
    graph_in_effect("gpus=2 graph=auto", "false",
                    "graph = auto: a step that is replayed needs GPUs");
    for (int i = 1; i <= GPUS; i++)
        devices[i].class = MGB_CLASS_CUDA;
    graph_in_effect("gpus=2 strategy=gradients", "true", "");
    graph_in_effect("gpus=2 strategy=gradients graph=true", "true", "");
    graph_in_effect("gpus=2 strategy=gradients graph=false", "false", "");
    graph_in_effect("gpus=1 strategy=allreduce", "true", "");
    graph_in_effect("gpus=2 strategy=independent", "true", "");
    graph_in_effect("gpus=2 strategy=allreduce", "false", "");
    refused("gpus=2 strategy=allreduce graph=true", MGB_UNSUPPORTED, "a collective of NCCL");
    graph_in_effect("gpus=2 strategy=allreduce graph=true peer_access=false", "true", "");
    refused("gpus=1 pinned=false graph=true", MGB_UNSUPPORTED, "pinned = false");
    devices[2].physical = devices[1].physical;
    graph_in_effect("gpus=2 strategy=allreduce logical=true graph=true", "true", "");
}

static void threads_are_given_or_divided(void **state)
{
    (void)state;
    struct mgb_effective e = resolve("gpus=4 threads=3");
    assert_int_equal(e.threads, 3);
    assert_true(e.oversubscribed);
    mgb_effective_done(&e);
    e = resolve("gpus=4 threads=2");
    assert_false(e.oversubscribed);
    mgb_effective_done(&e);
    refused("gpus=4 threads=1000", MGB_INVALID,
            "threads = 1000: 4 towers with so many are 4000 threads on 8 cores");
}

static void a_heap_that_runs_out_is_reported(void **state)
{
    (void)state;
    struct mgb_placement p;
    struct mgb_effective e;
    enum mgb_status status = MGB_NO_MEMORY;
    mgb_placement_init(&p);
    set_all(&p, "gpus=2 weights_at=spread sum_at=spread");
    for (long long n = 1; status != MGB_OK; n++) {
        mgb_alloc_fail_at(n);
        status = mgb_placement_resolve(&e, &p, 0, graph, &topology, 8);
        mgb_alloc_fail_at(0);
        assert_true(status == MGB_OK || status == MGB_NO_MEMORY);
        assert_true(n < 100);
    }
    mgb_effective_done(&e);
}

static void every_option_has_a_text_or_none(void **state)
{
    (void)state;
    char text[64];
    struct mgb_effective e = resolve("gpus=2 cpu_relocation=true gpu_memory=1MiB");
    static const struct {
        enum mgb_option_id id;
        const char *text;
    } wanted[] = {{MGB_OPTION_BATCH, "32"},
                  {MGB_OPTION_GLOBAL_BATCH, "64"},
                  {MGB_OPTION_CPU_RELOCATION, "true"},
                  {MGB_OPTION_CPU_MERGE, "true"},
                  {MGB_OPTION_STRATEGY, "outputs"},
                  {MGB_OPTION_LIKE, ""},
                  {MGB_OPTION_MERGE_AT, ""},
                  {MGB_OPTION_RELOCATION, "move"},
                  {MGB_OPTION_ALLREDUCE, ""},
                  {MGB_OPTION_OVERLAP, ""},
                  {MGB_OPTION_WIRE_TYPE, "f32"},
                  {MGB_OPTION_PEER_ACCESS, "auto"},
                  {MGB_OPTION_GPU_MEMORY, "1048576"},
                  {MGB_OPTION_THREADS, "4"},
                  {MGB_OPTION_HOSTS, "1"},
                  {MGB_OPTION_GRAPH, "false"}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        assert_string_equal(mgb_effective_get_text(text, sizeof text, &e, &topology, wanted[i].id),
                            wanted[i].text);
    mgb_effective_done(&e);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_table_of_what_is_in_effect),
        TEST(mirrored_weights_have_no_home),
        TEST(the_flags_move_weights_and_merge),
        TEST(an_explicit_place_beats_merge_at_beats_flags_beats_like),
        TEST(like_sets_places_as_that_system_does),
        TEST(contradictions_are_refused),
        TEST(an_option_without_meaning_is_refused_beside_its_strategy),
        TEST(an_option_is_parked_and_comes_back),
        TEST(without_the_strategy_in_the_call_an_option_is_only_parked),
        TEST(every_count_from_1_to_16_has_its_towers),
        TEST(no_gpu_is_one_tower_on_the_cpu),
        TEST(a_missing_device_is_named_with_those_present),
        TEST(the_first_listed_id_is_the_merge_gpu),
        TEST(a_duplicate_is_refused_by_name_unless_logical),
        TEST(nccl_gives_way_where_it_cannot_serve),
        TEST(the_batch_is_per_gpu_or_global),
        TEST(spread_gives_each_variable_to_the_emptiest_gpu),
        TEST(device_scopes_are_homes_until_relocated),
        TEST(what_this_version_lacks_is_said),
        TEST(steps_are_replayed_on_gpus_that_nccl_does_not_join),
        TEST(threads_are_given_or_divided),
        TEST(a_heap_that_runs_out_is_reported),
        TEST(every_option_has_a_text_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
