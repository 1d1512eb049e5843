/* Which noise floors are worth keeping. */
#include "tests/support/check.h"

#include "app/cli/busy.h"
#include <string.h>

static void others_are_all_but_idle_and_own(void **state)
{
    const struct mgb_busy from = {true, 10, 100, 1}, to = {true, 60, 200, 31};
    struct mgb_busy unknown = {0}, now, later;
    (void)state;
    assert_int_equal(mgb_busy_percent(&from, &to), 20);
    assert_int_equal(mgb_busy_percent(&from, &from), 0);
    assert_int_equal(mgb_busy_percent(&unknown, &to), 0);
    mgb_busy_look(&now);
    mgb_busy_look(&later);
    int percent = mgb_busy_percent(&now, &later);
    assert_true(percent >= 0 && percent <= 100);
}

static void doubt(const char *part, int percent, double floor, bool simulated)
{
    char text[200];
    mgb_floor_doubt(text, sizeof text, percent, floor, simulated);
    if (part ? !strstr(text, part) : *text)
        fail_msg("busy %d %%, floor %g: '%s'", percent, floor, text);
}

static void a_busy_machine_or_a_wide_floor_is_doubted(void **state)
{
    (void)state;
    doubt(NULL, 0, 0.01, false);
    doubt(NULL, 19, 0.1, false);
    doubt("the machine was busy: other programs took 20 % of its processors", 20, 0.01, false);
    doubt("68 % is more than a quiet machine has", 0, 0.68, false);
    doubt("the machine was busy", 90, 0.68, false);
    doubt(NULL, 90, 0.01, true);
}

static void doubt_count(const char *part, bool quick, int decided, int refused)
{
    char text[200];
    mgb_floor_doubt_count(text, sizeof text, quick, decided, refused);
    if (part ? !strstr(text, part) : *text)
        fail_msg("%d decided, %d refused: '%s'", decided, refused, text);
}

static void a_floor_of_few_or_refused_comparisons_is_doubted(void **state)
{
    (void)state;
    doubt_count(NULL, false, 10, 0);
    doubt_count("9 comparisons are too few: a floor is of 10 or more", false, 9, 0);
    doubt_count("1 comparison is too few", false, 1, 0);
    doubt_count("step times never settled in 1 comparison:", false, 19, 1);
    doubt_count("--quick is too short", true, 20, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_are_all_but_idle_and_own),
        cmocka_unit_test(a_busy_machine_or_a_wide_floor_is_doubted),
        cmocka_unit_test(a_floor_of_few_or_refused_comparisons_is_doubted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
