/* How a stored run was asked for, in the words that ask for it again. */
#include "tests/app/session/workbench/stored.h"

#include "app/session/workbench/archive_private.h"
#include "db/store_private.h"
#include "tests/support/results.h"

#include <mgb/placement.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void change(const char *path, const char *sql)
{
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, path, NULL));
    assert_ok(mgb_sql_run(&store->sql, sql));
    mgb_store_close(store);
}

/* The newest row, as the archive reads it; to be dropped. */
static struct mgb_list *newest(const char *path)
{
    struct mgb_list_request request = {.sort = MGB_LIST_RUN, .most = 1};
    struct mgb_list *list = mgb_archive_list_make(&request);
    struct mgb_reader *reader;
    assert_non_null(list);
    assert_ok(mgb_reader_open(&reader, path));
    assert_ok(mgb_archive_list_fill(list, reader, &request));
    mgb_reader_close(reader);
    assert_int_equal(list->count, 1);
    return list;
}

static void every_option_that_was_asked_for_is_told(void **state)
{
    static const char *const values[MGB_OPTION_COUNT] = {
        [MGB_OPTION_GPUS] = "4",           [MGB_OPTION_CPU_RELOCATION] = "true",
        [MGB_OPTION_CPU_MERGE] = "false",  [MGB_OPTION_STRATEGY] = "gradients",
        [MGB_OPTION_LIKE] = "keras",       [MGB_OPTION_WEIGHTS_AT] = "/gpu:1",
        [MGB_OPTION_MERGE_AT] = "/cpu:0",  [MGB_OPTION_JOIN_AT] = "/gpu:0",
        [MGB_OPTION_LOSS_AT] = "/gpu:0",   [MGB_OPTION_SUM_AT] = "spread",
        [MGB_OPTION_BATCH] = "64",         [MGB_OPTION_UPDATE_AT] = "/cpu:0",
        [MGB_OPTION_RELOCATION] = "clone", [MGB_OPTION_ALLREDUCE] = "ring",
        [MGB_OPTION_BUCKET_MIB] = "0.5",   [MGB_OPTION_OVERLAP] = "false",
        [MGB_OPTION_WIRE_TYPE] = "f16",    [MGB_OPTION_STAGED] = "true",
        [MGB_OPTION_STALE] = "true",       [MGB_OPTION_PEER_ACCESS] = "false",
        [MGB_OPTION_PINNED] = "true",      [MGB_OPTION_BN] = "sync",
        [MGB_OPTION_PRECISION] = "bf16",   [MGB_OPTION_RECOMPUTE] = "block",
        [MGB_OPTION_GRAPH] = "auto",       [MGB_OPTION_LOGICAL] = "true",
        [MGB_OPTION_GPU_MEMORY] = "4096",  [MGB_OPTION_THREADS] = "2",
        [MGB_OPTION_HOSTS] = "1"};
    char sql[4000] = "UPDATE segment SET asked_gpu_list = NULL, asked_global_batch = NULL";
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        const char *name = mgb_placement_options()[i].name, *value = values[i];
        bool word = value && mgb_placement_options()[i].kind == MGB_KIND_BOOL;
        if (!value)
            continue;
        snprintf(sql + strlen(sql), sizeof sql - strlen(sql), ", asked_%s = '%s'",
                 i == MGB_OPTION_BATCH        ? "batch_per_gpu"
                 : i == MGB_OPTION_GPU_MEMORY ? "gpu_memory_bytes"
                                              : name,
                 word ? (*value == 't' ? "1" : "0") : value);
    }
    change(*state, sql);
    struct mgb_list *list = newest(*state);
    struct mgb_placement placement;
    char name[64], text[64], again[64];
    int length = 0;
    mgb_placement_init(&placement);
    for (const char *at = list->rows[0].settings;
         sscanf(at, " %63[^= ]=%63[^ ]%n", name, text, &length) == 2; at += length)
        assert_ok(mgb_placement_set(&placement, name, text));
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        mgb_placement_get_text(again, sizeof again, &placement, (enum mgb_option_id)i);
        assert_string_equal(again, values[i] ? values[i] : "");
    }
    mgb_shared_drop(list);
}

static void listed_gpus_and_a_global_batch_are_told_as_such(void **state)
{
    change(*state, "UPDATE segment SET asked_gpu_list = '[\"/gpu:2\",\"/gpu:0\"]', asked_gpus = 2,"
                   " asked_batch_per_gpu = NULL, asked_global_batch = 96");
    struct mgb_list *list = newest(*state);
    assert_non_null(strstr(list->rows[0].settings, "gpus=[2,0] global_batch=96"));
    assert_null(strstr(list->rows[0].settings, " batch="));
    mgb_shared_drop(list);
}

static void a_model_is_told_with_its_options(void **state)
{
    static const struct {
        const char *options, *recipe;
    } models[] = {{"{}", "mlp"},
                  {"{\"bn\":true,\"depth\":50,\"kind\":\"v2\"}", "mlp bn=true depth=50 kind=v2"},
                  {"{\"sizes\":[1,2]}", NULL},
                  {"{\"kind\":\"a b\"}", NULL}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        char sql[200];
        snprintf(sql, sizeof sql,
                 "UPDATE model SET options = '%s' WHERE id = (SELECT model_id FROM "
                 "run ORDER BY id DESC LIMIT 1)",
                 models[i].options);
        change(*state, sql);
        struct mgb_list *list = newest(*state);
        if (models[i].recipe)
            assert_string_equal(list->rows[0].recipe, models[i].recipe);
        else
            assert_null(list->rows[0].recipe);
        mgb_shared_drop(list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_option_that_was_asked_for_is_told, results_setup,
                                        database_teardown),
        cmocka_unit_test_setup_teardown(listed_gpus_and_a_global_batch_are_told_as_such,
                                        results_setup, database_teardown),
        cmocka_unit_test_setup_teardown(a_model_is_told_with_its_options, results_setup,
                                        database_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
