/* The option table, and options from text and back. */
#include "tests/support/check.h"

#include <mgb/placement.h>
#include <stdio.h>
#include <string.h>

static void the_table_is_complete_and_in_order(void **state)
{
    (void)state;
    static const char *const names[] = {
#define X(id, name) name,
        MGB_PLACEMENT_OPTIONS(X)
#undef X
    };
    const struct mgb_option *options = mgb_placement_options();
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        assert_int_equal(options[i].id, i);
        assert_string_equal(options[i].name, names[i]);
        assert_true(strlen(options[i].help) > 10);
        assert_true(options[i].strategies != 0);
        assert_int_equal(options[i].values != NULL, options[i].kind == MGB_KIND_ENUM);
        assert_ptr_equal(mgb_placement_find_option(names[i]), &options[i]);
    }
}

static void fallbacks_are_what_init_sets(void **state)
{
    (void)state;
    struct mgb_placement p, fresh;
    mgb_placement_init(&fresh);
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        const struct mgb_option *option = &mgb_placement_options()[i];
        mgb_placement_init(&p);
        assert_ok(mgb_placement_set(&p, option->name, option->fallback));
        p.given = 0;
        p.batch = fresh.batch;
        assert_memory_equal(&p, &fresh, sizeof p);
    }
}

static void dashes_count_as_underscores(void **state)
{
    (void)state;
    assert_int_equal(mgb_placement_find_option("cpu-merge")->id, MGB_OPTION_CPU_MERGE);
    assert_int_equal(mgb_placement_find_option("bucket_mib")->id, MGB_OPTION_BUCKET_MIB);
    assert_null(mgb_placement_find_option("cpu"));
    assert_null(mgb_placement_find_option("cpu_merge_"));
    assert_null(mgb_placement_find_option(""));
}

static void values_come_back_as_text(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"gpus", "4", "4"},
        {"gpus", "2,0,3", "2,0,3"},
        {"gpus", "{2, 0, 3}", "2,0,3"},
        {"gpus", "{2}", "{2}"},
        {"gpus", "[5]", "{5}"},
        {"gpus", "0", "0"},
        {"batch", "64", "64"},
        {"global_batch", "96", "96"},
        {"cpu_merge", "no", "false"},
        {"cpu_relocation", "ON", "true"},
        {"strategy", "AllReduce", "allreduce"},
        {"like", "tf_ps", "tf_ps"},
        {"weights_at", "GPU:1", "/gpu:1"},
        {"weights_at", "spread", "spread"},
        {"sum_at", "spread", "spread"},
        {"join_at", "/device:CPU:0", "/cpu:0"},
        {"bucket_mib", "0.5", "0.5"},
        {"bucket_mib", "25.123456789", "25.123456789"},
        {"bucket_mib", "0.1", "0.1"},
        {"bucket_mib", "0.00002", "2e-05"},
        {"bucket_mib", "0.30000000000000004", "0.30000000000000004"},
        {"gpu_memory", "4GiB", "4294967296"},
        {"gpu_memory", "1.5 MiB", "1572864"},
        {"gpu_memory", "2gb", "2000000000"},
        {"gpu_memory", "4096", "4096"},
        {"peer_access", "yes", "true"},
        {"pinned", "auto", "auto"},
        {"graph", "off", "false"},
        {"precision", "bf16", "bf16"},
        {"threads", "3", "3"},
        {"hosts", "2", "2"},
        {"relocation", "clone", "clone"},
        {"recompute", "block", "block"},
        {"update_at", "gpu:0", "/gpu:0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mgb_placement p, again;
        char text[64];
        enum mgb_option_id id = mgb_placement_find_option(cases[i][0])->id;
        mgb_placement_init(&p);
        assert_string_equal(mgb_placement_get_text(text, sizeof text, &p, id), "");
        assert_ok(mgb_placement_set(&p, cases[i][0], cases[i][1]));
        assert_string_equal(mgb_placement_get_text(text, sizeof text, &p, id), cases[i][2]);
        mgb_placement_init(&again);
        assert_ok(mgb_placement_set(&again, cases[i][0], text));
        assert_memory_equal(&p, &again, sizeof p);
        assert_ok(mgb_placement_set(&p, cases[i][0], "nil"));
        assert_string_equal(mgb_placement_get_text(text, sizeof text, &p, id), "");
    }
}

static void wrong_values_are_refused_with_what_is_possible(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"gpus", "--1", "gpus = --1: give a count from 0, or ids in merge order, as 2,0,3"},
        {"gpus", "1.500000", "gpus = 1.5: give a count"},
        {"gpus", "2,-1", "gpus = 2,-1: give a count"},
        {"gpus", "{}", "gpus = {}: give at least one id"},
        {"gpus", "[ ]", "at least one id"},
        {"gpus", "{1,2", "give a count"},
        {"gpus", "1,2}", "give a count"},
        {"gpus", "1,", "give a count"},
        {"gpus", "two", "give a count"},
        {"gpus", "99999999999", "give a count"},
        {"batch", "0", "batch = 0: give a whole number from 1 to 2147483647"},
        {"batch", "2147483648", "batch = 2147483648: give a whole number from 1 to 2147483647"},
        {"batch", "-4", "batch = -4"},
        {"batch", "1.5", "batch = 1.5"},
        {"cpu_merge", "maybe", "cpu_merge = maybe: give true or false"},
        {"strategy", "towers",
         "strategy = towers: give one of outputs, gradients, allreduce, independent"},
        {"weights_at", "xla_gpu:0",
         "weights_at = xla_gpu:0: give a device (/cpu:0, /gpu:1) or spread"},
        {"join_at", "spread", "join_at = spread: give one device"},
        {"merge_at", "spread", "one device"},
        {"bucket_mib", "0", "bucket_mib = 0: give a size in MiB, above 0 and at most 1000000"},
        {"bucket_mib", "-1", "above 0"},
        {"bucket_mib", "1,5", "above 0"},
        {"gpu_memory", "0", "gpu_memory = 0: give bytes, as 4GiB or 512MiB"},
        {"gpu_memory", "4GiBs", "gpu_memory = 4GiBs"},
        {"gpu_memory", "lots", "gpu_memory = lots"},
        {"peer_access", "perhaps", "peer_access = perhaps: give auto, true or false"},
        {"hosts", "0", "hosts = 0"},
        {"cpu_mrege", "true",
         "there is no placement option 'cpu_mrege'; did you mean 'cpu_merge'?"},
        {"zzzzz", "1", "there is no placement option 'zzzzz'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mgb_placement p, before;
        mgb_placement_init(&p);
        before = p;
        assert_status(mgb_placement_set(&p, cases[i][0], cases[i][1]), MGB_INVALID);
        assert_message(cases[i][2]);
        assert_memory_equal(&p, &before, sizeof p);
    }
}

static void batch_and_global_batch_clear_each_other(void **state)
{
    (void)state;
    struct mgb_placement p;
    char text[32];
    mgb_placement_init(&p);
    assert_ok(mgb_placement_set(&p, "batch", "16"));
    assert_ok(mgb_placement_set(&p, "global_batch", "100"));
    assert_string_equal(mgb_placement_get_text(text, sizeof text, &p, MGB_OPTION_BATCH), "");
    assert_string_equal(mgb_placement_get_text(text, sizeof text, &p, MGB_OPTION_GLOBAL_BATCH),
                        "100");
    assert_ok(mgb_placement_set(&p, "batch", "8"));
    assert_string_equal(mgb_placement_get_text(text, sizeof text, &p, MGB_OPTION_GLOBAL_BATCH), "");
    assert_int_equal(p.batch, 8);
}

static void a_list_has_at_most_64_ids(void **state)
{
    (void)state;
    struct mgb_placement p;
    char list[512] = "0";
    for (int i = 1; i < 64; i++)
        sprintf(list + strlen(list), ",%d", i);
    mgb_placement_init(&p);
    assert_ok(mgb_placement_set(&p, "gpus", list));
    assert_int_equal(p.listed, 64);
    strcat(list, ",64");
    assert_status(mgb_placement_set(&p, "gpus", list), MGB_INVALID);
    assert_message("at most 64 ids");
    assert_int_equal(p.listed, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_complete_and_in_order),
        cmocka_unit_test(fallbacks_are_what_init_sets),
        cmocka_unit_test(dashes_count_as_underscores),
        cmocka_unit_test(values_come_back_as_text),
        cmocka_unit_test(wrong_values_are_refused_with_what_is_possible),
        cmocka_unit_test(batch_and_global_batch_clear_each_other),
        cmocka_unit_test(a_list_has_at_most_64_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
