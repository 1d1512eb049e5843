/* Copies: how long they take by hand, alone and beside others. The rigged machine has a wire of 10 GB/s to each GPU, so a
 * megabyte takes 100 us. */
#include "engine/sim/program.h"
#include "tests/engine/sim/rigged.h"
#include "tests/support/check.h"
#include <string.h>

#define MB 1000000
#define COPY(to, of, ...)                                                                          \
    {                                                                                              \
        .kind = MGB_TASK_COPY, .device = (to), .from = (of), .bytes = MB, __VA_ARGS__              \
    }
#define WORK(on, ...)                                                                              \
    {                                                                                              \
        .kind = MGB_TASK_FILL, .device = (on), .from = -1, .bytes = MB, __VA_ARGS__                \
    }

struct played {
    int64_t wall_ns, start[8], end[8];
};

/* Frees the machine. The choices: peer access and pinned memory. */
static struct played play_as(struct mgb_machine *machine, const struct hand_task *tasks, int count,
                             enum mgb_choice peer, enum mgb_choice pinned)
{
    struct hand_plan hand;
    struct played played = {0};
    struct mgb_sim *sim = rigged_open(machine, MGB_SIM_AUTO);
    hand_plan_make(&hand, machine->device_count - 1, tasks, count);
    hand.placement.peer_access = peer;
    hand.placement.pinned = pinned;
    struct mgb_virtual_step step = rigged_play(sim, &hand.plan, &hand.placement);
    played.wall_ns = step.wall_ns;
    assert_int_equal(step.task_count, count);
    for (int i = 0; i < count && i < 8; i++) {
        played.start[i] = step.tasks[i].start_ns;
        played.end[i] = step.tasks[i].start_ns + step.tasks[i].duration_ns;
    }
    mgb_sim_close(sim);
    hand_plan_done(&hand);
    mgb_machine_free(machine);
    return played;
}

static struct played play(struct mgb_machine *machine, const struct hand_task *tasks, int count)
{
    return play_as(machine, tasks, count, MGB_CHOICE_AUTO, MGB_CHOICE_AUTO);
}

static void a_copy_takes_its_latency_and_its_bytes(void **state)
{
    (void)state;
    const struct hand_task tasks[] = {COPY(1, 0)};
    struct mgb_machine *machine = rigged_machine(1);
    machine->devices[1].launch_us = 3;
    machine->wires[0].latency_us = 2;
    assert_int_equal(play(machine, tasks, 1).wall_ns, 3000 + 2000 + 100000);
}

static void both_ways_of_a_wire_have_their_own_rate(void **state)
{
    (void)state;
    const struct hand_task tasks[] = {COPY(1, 0), COPY(0, 1)};
    struct mgb_machine *machine = rigged_machine(1);
    machine->wires[0].back_gbps = 5;
    struct played played = play(machine, tasks, 2);
    assert_int_equal(played.end[0], 100000);
    assert_int_equal(played.end[1], 200000);
}

static void peer_access_off_goes_by_way_of_the_host(void **state)
{
    (void)state;
    const struct hand_task tasks[] = {COPY(2, 1)};
    struct mgb_machine *machine = rigged_machine(2);
    rigged_pair(machine, 1, 2, 20, 4);
    rigged_wire(machine, 1, 2, 25);
    assert_int_equal(play_as(machine, tasks, 1, MGB_CHOICE_YES, MGB_CHOICE_AUTO).wall_ns, 50000);
    machine = rigged_machine(2);
    rigged_pair(machine, 1, 2, 20, 4);
    rigged_wire(machine, 1, 2, 25);
    assert_int_equal(play_as(machine, tasks, 1, MGB_CHOICE_NO, MGB_CHOICE_AUTO).wall_ns, 250000);
    /* No figure of the pair: the narrower half of the way. */
    machine = rigged_machine(2);
    machine->wires[1].gbps = 8;
    machine->wires[1].back_gbps = 3;
    assert_int_equal(play_as(machine, tasks, 1, MGB_CHOICE_NO, MGB_CHOICE_AUTO).wall_ns, 125000);
    /* The memory of the host is passed twice. */
    machine = rigged_machine(2);
    machine->host.memory_gbps = 4;
    assert_int_equal(play_as(machine, tasks, 1, MGB_CHOICE_NO, MGB_CHOICE_AUTO).wall_ns, 500000);
}

static void peer_access_auto_takes_the_faster_way(void **state)
{
    (void)state;
    const struct hand_task tasks[] = {COPY(2, 1)};
    struct mgb_machine *machine = rigged_machine(2);
    rigged_wire(machine, 1, 2, 25);
    rigged_pair(machine, 1, 2, 5,
                8); /* as measured on a box of six GPUs: slower with peer access */
    assert_int_equal(play(machine, tasks, 1).wall_ns, 125000);
    machine = rigged_machine(2);
    rigged_wire(machine, 1, 2, 25);
    rigged_pair(machine, 1, 2, 20, 8);
    machine->pairs[0].no_peer = true;
    assert_int_equal(play(machine, tasks, 1).wall_ns, 125000);
}

static void pageable_memory_is_copied_once_more(void **state)
{
    (void)state;
    const struct hand_task tasks[] = {COPY(1, 0), COPY(2, 1, .waits = {1})};
    struct mgb_machine *machine = rigged_machine(2);
    machine->host.pageable_gbps = 10; /* 1/B = 1/10 + 1/10 */
    rigged_wire(machine, 1, 2, 10);
    struct played played = play_as(machine, tasks, 2, MGB_CHOICE_YES, MGB_CHOICE_NO);
    assert_int_equal(played.end[0], 200000);
    assert_int_equal(played.end[1], 300000); /* peers see no memory of the host */
}

static void two_copies_share_an_uplink(void **state)
{
    (void)state;
    /* Two GPUs behind a switch. */
    const struct hand_task tasks[] = {COPY(1, 0), COPY(2, 0), COPY(1, 0)};
    struct mgb_machine *machine = rigged_machine(2);
    char(*switches)[32] = mgb_alloc(sizeof *switches);
    memcpy(switches[0], "switch", 7);
    machine->switches = switches;
    machine->switch_count = 1;
    machine->wires[0].a = machine->wires[1].a = 3;
    rigged_wire(machine, 0, 3, 10);
    struct played played = play(machine, tasks, 3);
    assert_int_equal(played.end[0], 200000);
    assert_int_equal(played.end[1], 200000);
    assert_int_equal(played.start[2], 200000);
    assert_int_equal(played.end[2], 300000);
}

static void what_a_narrow_copy_leaves_is_the_others(void **state)
{
    (void)state;
    /* Of the host's 10 GB/s the first takes the 2 of its own wire, the others 4 each: max-min. */
    const struct hand_task tasks[] = {COPY(1, 0), COPY(2, 0), COPY(3, 0)};
    struct mgb_machine *machine = rigged_machine(3);
    machine->wires[0].gbps = 2;
    machine->host.memory_gbps = 10;
    struct played played = play(machine, tasks, 3);
    assert_int_equal(played.end[1], 250000);
    assert_int_equal(played.end[2], 250000);
    assert_int_equal(played.end[0], 500000);
}

static void one_copy_engine_serves_both_directions_in_turn(void **state)
{
    (void)state;
    const struct hand_task tasks[] = {COPY(1, 0), COPY(0, 1), COPY(2, 1)};
    struct mgb_machine *machine = rigged_machine(2);
    machine->devices[1].one_engine = true;
    rigged_wire(machine, 1, 2, 10);
    struct played played = play(machine, tasks, 3);
    assert_int_equal(played.end[0], 100000);
    assert_int_equal(played.start[1], 100000);
    assert_int_equal(played.start[2], 200000);
    assert_int_equal(played.wall_ns, 300000);
}

static void an_engine_serves_who_was_ready_first(void **state)
{
    (void)state;
    /* The third is issued last but ready before the second, which waits for work of 150 us. */
    const struct hand_task tasks[] = {
        {.kind = MGB_TASK_FILL, .device = 3, .from = -1, .bytes = 15 * MB},
        {.kind = MGB_TASK_FILL, .device = 2, .from = -1, .bytes = 10 * MB},
        {.kind = MGB_TASK_COPY, .device = 0, .from = 1, .bytes = 2 * MB},
        COPY(3, 1, .waits = {1}),
        COPY(2, 1, .waits = {2}),
    };
    struct mgb_machine *machine = rigged_machine(3);
    rigged_wire(machine, 1, 2, 10);
    rigged_wire(machine, 1, 3, 10);
    struct played played = play(machine, tasks, 5);
    assert_int_equal(played.end[2], 200000);
    assert_int_equal(played.start[4], 200000);
    assert_int_equal(played.start[3], 300000);
}

static void copies_between_gpus_wait_for_compute_where_the_machine_says_so(void **state)
{
    (void)state;
    static const int64_t starts[] = {0, 10000, 20000};
    const struct hand_task tasks[] = {
        WORK(1),
        {.kind = MGB_TASK_FILL, .device = 2, .from = -1, .bytes = 2 * MB},
        COPY(2, 1),
        COPY(1, 0)};
    for (int waits = MGB_COPY_WAITS_NONE; waits <= MGB_COPY_WAITS_BOTH; waits++) {
        struct mgb_machine *machine = rigged_machine(2);
        machine->host.copy_waits = (enum mgb_copy_wait)waits;
        rigged_wire(machine, 1, 2, 10);
        machine->devices[1].copies_in = 2;
        struct played played = play(machine, tasks, 4);
        assert_int_equal(played.start[2], starts[waits]);
        assert_int_equal(played.start[3], 0);
    }
}

static void a_copy_inside_a_device_reads_and_writes_its_memory(void **state)
{
    (void)state;
    const struct hand_task tasks[] = {COPY(1, -1)};
    assert_int_equal(play(rigged_machine(1), tasks, 1).wall_ns, 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_takes_its_latency_and_its_bytes),
        cmocka_unit_test(both_ways_of_a_wire_have_their_own_rate),
        cmocka_unit_test(peer_access_off_goes_by_way_of_the_host),
        cmocka_unit_test(peer_access_auto_takes_the_faster_way),
        cmocka_unit_test(pageable_memory_is_copied_once_more),
        cmocka_unit_test(two_copies_share_an_uplink),
        cmocka_unit_test(what_a_narrow_copy_leaves_is_the_others),
        cmocka_unit_test(one_copy_engine_serves_both_directions_in_turn),
        cmocka_unit_test(an_engine_serves_who_was_ready_first),
        cmocka_unit_test(copies_between_gpus_wait_for_compute_where_the_machine_says_so),
        cmocka_unit_test(a_copy_inside_a_device_reads_and_writes_its_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
