/* Replay and the event engine are one clock: on plans of random models under random placements, on machines where nothing
 * is shared, they give the same nanosecond for every task. */
#include "engine/sim/program.h"
#include "tests/engine/sim/drawn.h"
#include "tests/engine/sim/rigged.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include <string.h>

static void steps_equal(const struct mgb_virtual_step *a, const struct mgb_virtual_step *b,
                        int devices)
{
    assert_int_equal(a->wall_ns, b->wall_ns);
    assert_int_equal(a->task_count, b->task_count);
    assert_memory_equal(a->tasks, b->tasks, (size_t)a->task_count * sizeof *a->tasks);
    assert_memory_equal(a->devices, b->devices, (size_t)devices * sizeof *a->devices);
}

static void replay_and_events_agree_where_nothing_is_shared(void **state)
{
    (void)state;
    int played = 0;
    for (int number = 0; number < draw_count(40, 400); number++) {
        int gpus = 1 + number / 4 % 4;
        struct mgb_machine *machine = drawn_machine(gpus);
        struct mgb_sim *replay = rigged_open(machine, MGB_SIM_REPLAY),
                       *events = rigged_open(machine, MGB_SIM_EVENTS);
        struct drawn drawn;
        if (drawn_make(&drawn, mgb_sim_virtual(replay)->topology, gpus, number)) {
            struct mgb_virtual_step a = rigged_play(replay, drawn.plan, &drawn.placement),
                                    b = rigged_play(events, drawn.plan, &drawn.placement);
            steps_equal(&a, &b, drawn.plan->use_count);
            assert_true(a.wall_ns > 11000);
            drawn_done(&drawn);
            played++;
        }
        mgb_sim_close(replay);
        mgb_sim_close(events);
        mgb_machine_free(machine);
    }
    assert_true(played > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replay_and_events_agree_where_nothing_is_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
