/* Machines drawn within their uncertainty: alike for the same number, whole, and the machine they are drawn of untouched. */
#include "tests/engine/sim/rigged.h"
#include "tests/support/check.h"
#include <math.h>

static const struct mgb_sim_doubt doubt = {0.1, 0.2, 0.3};

static void a_draw_leaves_its_machine_alone_and_repeats(void **state)
{
    (void)state;
    struct mgb_machine *machine = rigged_machine(3), *a, *b, *c;
    assert_ok(mgb_machine_check(machine));
    uint64_t before = mgb_machine_digest(machine);
    assert_ok(mgb_sim_vary(&a, machine, &doubt, 1, 5));
    assert_ok(mgb_sim_vary(&b, machine, &doubt, 1, 5));
    assert_ok(mgb_sim_vary(&c, machine, &doubt, 1, 6));
    assert_int_equal(mgb_machine_digest(machine), before);
    assert_int_equal(mgb_machine_digest(a), mgb_machine_digest(b));
    assert_int_not_equal(mgb_machine_digest(a), mgb_machine_digest(c));
    mgb_sim_vary_end(a);
    mgb_sim_vary_end(b);
    mgb_sim_vary_end(c);
    mgb_machine_free(machine);
}

static void what_is_of_a_kind_is_drawn_together(void **state)
{
    (void)state;
    struct mgb_machine *machine = rigged_machine(3), *drawn;
    assert_ok(mgb_machine_check(machine));
    assert_ok(mgb_sim_vary(&drawn, machine, &doubt, 1, 2));
    for (int d = 2; d <= 3; d++)
        assert_true(drawn->devices[d].speed == drawn->devices[1].speed);
    for (int w = 1; w < drawn->wire_count; w++)
        assert_true(drawn->wires[w].gbps / machine->wires[w].gbps ==
                    drawn->wires[0].gbps / machine->wires[0].gbps);
    mgb_sim_vary_end(drawn);
    mgb_machine_free(machine);
}

static void draws_scatter_as_they_are_asked_to(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    struct mgb_machine *machine = rigged_machine(1), *drawn;
    double sum = 0, squares = 0;
    assert_ok(mgb_machine_check(machine));
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_ok(mgb_sim_vary(&drawn, machine, &doubt, 1, i));
        double speed = drawn->devices[1].speed;
        sum += speed;
        squares += speed * speed;
        mgb_sim_vary_end(drawn);
    }
    double mean = sum / COUNT, deviation = sqrt(squares / COUNT - mean * mean);
    assert_true(fabs(mean - 1) < 0.01);
    assert_true(fabs(deviation - 0.1) < 0.01);
    mgb_machine_free(machine);
}

static void no_doubt_is_the_machine_itself(void **state)
{
    (void)state;
    struct mgb_machine *machine = rigged_machine(2), *drawn;
    struct mgb_sim_doubt none = {0, 0, 0};
    assert_ok(mgb_machine_check(machine));
    assert_ok(mgb_sim_vary(&drawn, machine, &none, 1, 3));
    assert_true(drawn->devices[1].speed == 1);
    assert_true(drawn->wires[0].gbps == machine->wires[0].gbps);
    mgb_sim_vary_end(drawn);
    mgb_sim_vary_end(NULL);
    mgb_machine_free(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_draw_leaves_its_machine_alone_and_repeats),
        cmocka_unit_test(what_is_of_a_kind_is_drawn_together),
        cmocka_unit_test(draws_scatter_as_they_are_asked_to),
        cmocka_unit_test(no_doubt_is_the_machine_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
