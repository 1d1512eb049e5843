/* Philox4x32-10 and the digest against their published vectors. */
#include "tests/support/check.h"

#include "engine/base/hash.h"
#include "engine/base/random.h"
#include <string.h>

/* Random123 (Salmon et al.), tests/kat_vectors, "philox4x32 10". */
static void philox_gives_the_published_vectors(void **state)
{
    (void)state;
    static const struct {
        uint64_t key, low, high;
        uint32_t want[4];
    } vectors[] = {
        {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {0x299f31d0a4093822,
         0x85a308d3243f6a88,
         0x0370734413198a2e,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (int i = 0; i < 3; i++) {
        struct mgb_random4 got = mgb_random_at(vectors[i].key, vectors[i].low, vectors[i].high);
        for (int j = 0; j < 4; j++)
            assert_int_equal(got.v[j], vectors[i].want[j]);
    }
}

static void units_stay_below_one(void **state)
{
    (void)state;
    assert_true(mgb_random_unit(0) == 0.0f);
    assert_true(mgb_random_unit(UINT32_MAX) < 1.0f);
    assert_true(mgb_random_unit(1u << 31) == 0.5f);
}

static void integers_below_n_cover_the_range(void **state)
{
    (void)state;
    int seen[10] = {0};
    for (uint64_t i = 0; i < 1000; i++) {
        uint32_t value = mgb_random_below(mgb_random_at(1, i, 0).v[0], 10);
        assert_in_range(value, 0, 9);
        seen[value]++;
    }
    for (int i = 0; i < 10; i++)
        assert_in_range(seen[i], 60, 140);
    assert_int_equal(mgb_random_below(UINT32_MAX, 1), 0);
}

/* XXH64 of the xxHash repository and of python-xxhash's documentation. */
static void the_digest_gives_the_published_values(void **state)
{
    (void)state;
    const char *spam = "Nobody inspects the spammish repetition";
    assert_int_equal(mgb_hash(0, "", 0), 0xef46db3751d8e999ULL);
    assert_int_equal(mgb_hash(0, "a", 1), 0xd24ec4f1a98c6e5bULL);
    assert_int_equal(mgb_hash(0, "abc", 3), 0x44bc2cf5ad770999ULL);
    assert_int_equal(mgb_hash(0, spam, strlen(spam)), 0xfbcea83c8a378bf1ULL);
}

static void the_digest_sees_every_byte_and_the_order_of_parts(void **state)
{
    (void)state;
    unsigned char data[100] = {0};
    uint64_t plain = mgb_hash(0, data, sizeof data);
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = 1;
        assert_true(mgb_hash(0, data, sizeof data) != plain);
        data[i] = 0;
    }
    uint64_t ab = mgb_hash(mgb_hash(0, "a", 1), "b", 1), ba = mgb_hash(mgb_hash(0, "b", 1), "a", 1);
    assert_true(ab != ba);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_vectors),
        cmocka_unit_test(units_stay_below_one),
        cmocka_unit_test(integers_below_n_cover_the_range),
        cmocka_unit_test(the_digest_gives_the_published_values),
        cmocka_unit_test(the_digest_sees_every_byte_and_the_order_of_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
