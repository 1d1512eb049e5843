/* What the shim needs of oneDNN in either version: descriptions of memory, and the layouts that convolutions ask for. */
#include "engine/host/dnnl_api.h"
#include "engine/host/host.h"
#include "engine/host/layout.h"
#include "tests/support/check.h"
#include <stdio.h>
#include <string.h>

static void the_library_loaded_is_of_the_version_compiled_for(void **state)
{
    (void)state;
    char versions[256], ours[64];
    mgb_host_versions(versions, sizeof versions);
    snprintf(ours, sizeof ours, "\"oneDNN\":\"%d.", DNNL_VERSION_MAJOR);
    assert_non_null(strstr(versions, ours));
}

static void two_descriptions_of_one_order_are_equal_and_of_two_orders_are_not(void **state)
{
    (void)state;
    const dnnl_dims_t dims = {2, 3, 4, 5}, strides = {60, 1, 15, 3};
    struct mgb_dnnl_md *plain, *same, *planar;
    assert_int_equal(mgb_dnnl_md_make(&plain, 4, dims, dnnl_nhwc), dnnl_success);
    assert_int_equal(mgb_dnnl_md_make_strides(&same, 4, dims, strides), dnnl_success);
    assert_int_equal(mgb_dnnl_md_make(&planar, 4, dims, dnnl_nchw), dnnl_success);
    assert_true(mgb_dnnl_md_equal(plain, same));
    assert_false(mgb_dnnl_md_equal(plain, planar));
    mgb_dnnl_md_free(plain);
    mgb_dnnl_md_free(same);
    mgb_dnnl_md_free(planar);
}

static void bytes_count_the_filling_of_blocks_and_whole_cache_lines(void **state)
{
    (void)state;
    const dnnl_dims_t dims = {2, 3, 4, 5};
    struct mgb_dnnl_md *plain, *blocked;
    assert_int_equal(mgb_dnnl_md_make(&plain, 4, dims, dnnl_nhwc), dnnl_success);
    assert_int_equal(mgb_dnnl_md_make(&blocked, 4, dims, dnnl_nChw16c), dnnl_success);
    assert_int_equal(mgb_dnnl_md_bytes(plain), 512); /* 480 */
    assert_int_equal(mgb_dnnl_md_bytes(blocked), 2 * 16 * 4 * 5 * 4);
    mgb_dnnl_md_free(plain);
    mgb_dnnl_md_free(blocked);
}

static void a_description_of_nothing_sensible_is_refused(void **state)
{
    (void)state;
    const dnnl_dims_t dims = {2, -3, 4, 5};
    struct mgb_dnnl_md *md;
    assert_int_not_equal(mgb_dnnl_md_make(&md, 4, dims, dnnl_nhwc), dnnl_success);
    assert_null(md);
}

static struct mgb_dnnl_conv conv_of(enum mgb_dnnl_pass pass, int64_t in, int64_t out)
{
    return (struct mgb_dnnl_conv){
        .pass = pass,
        .rows = 2,
        .groups = 1,
        .in = in,
        .height = 14,
        .width = 14,
        .out = out,
        .out_height = 14,
        .out_width = 14,
        .kernel = {3, 3},
        .stride = {1, 1},
        .dilation = {1, 1},
        .pad_before = {1, 1},
        .pad_after = {1, 1},
        .bias = true,
        .activation = MGB_RELU6,
    };
}

static void layouts_of(struct mgb_dnnl_needs *needs, struct mgb_dnnl_conv conv)
{
    struct mgb_dnnl *primitive;
    assert_ok(mgb_dnnl_conv_make(&primitive, needs, &conv));
    mgb_dnnl_free(primitive);
}

/* Were a layout not recognised, the shim would ask for plain ones and be slow, but right: no other test would see it. */
static void the_blocks_that_wide_convolutions_ask_for_are_recognised(void **state)
{
    (void)state;
#ifdef __x86_64__
    if (!__builtin_cpu_supports("avx2"))
        skip();
    bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
    int wanted = wide ? MGB_LAYOUT_BLOCK16 : MGB_LAYOUT_BLOCK8;
    for (int pass = MGB_DNNL_FORWARD; pass <= MGB_DNNL_WEIGHTS; pass++) {
        struct mgb_dnnl_needs needs;
        layouts_of(&needs, conv_of(pass, 64, 64));
        assert_int_equal(needs.x_layout, wanted);
        assert_int_equal(needs.y_layout, wanted);
    }
#else
    skip();
#endif
}

static void one_channel_is_plain_and_not_planar(void **state)
{
    (void)state;
    struct mgb_dnnl_needs needs;
    layouts_of(&needs, conv_of(MGB_DNNL_FORWARD, 1, 32));
    assert_int_equal(needs.x_layout, MGB_LAYOUT_PLAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_library_loaded_is_of_the_version_compiled_for),
        cmocka_unit_test(two_descriptions_of_one_order_are_equal_and_of_two_orders_are_not),
        cmocka_unit_test(bytes_count_the_filling_of_blocks_and_whole_cache_lines),
        cmocka_unit_test(a_description_of_nothing_sensible_is_refused),
        cmocka_unit_test(the_blocks_that_wide_convolutions_ask_for_are_recognised),
        cmocka_unit_test(one_channel_is_plain_and_not_planar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
