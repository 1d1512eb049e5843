/* Placements at random while the program steps, one after the other and several at once: each is taken, or refused with the
 * one before in force; memory that does not suffice is no end either. */
#include "tests/screens/storm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MODEL ":model mlp hidden=16!"

static const char *const options[][6] = {
    {"strategy", "outputs", "gradients", "allreduce", "independent", "none"},
    {"gpus", "0", "1", "2", "4", "3,1"},
    {"batch", "1", "3", "8", "16", "33"},
    {"global_batch", "2", "7", "16", "24", ""},
    {"weights_at", "/cpu:0", "/gpu:0", "/gpu:1", "spread", "/gpu:7"},
    {"merge_at", "/cpu:0", "/gpu:0", "/gpu:1", "/cpu:1", ""},
    {"join_at", "/cpu:0", "/gpu:0", "/gpu:1", "", "spread"},
    {"loss_at", "/cpu:0", "/gpu:0", "/gpu:1", "", "x"},
    {"sum_at", "/cpu:0", "/gpu:1", "spread", "", "/gpu:0"},
    {"update_at", "/cpu:0", "/gpu:0", "spread", "", "/gpu:1"},
    {"cpu_relocation", "true", "false", "", "1", "yes"},
    {"cpu_merge", "true", "false", "", "0", "no"},
    {"relocation", "move", "clone", "", "copy", "move"},
    {"allreduce", "auto", "ring", "tree", "nccl", "hierarchical"},
    {"bucket_mib", "0.0001", "0.01", "25", "0", "-1"},
    {"overlap", "true", "false", "", "true", "false"},
    {"wire_type", "f32", "f16", "bf16", "", "f64"},
    {"staged", "true", "false", "", "true", "false"},
    {"stale", "true", "false", "", "true", "false"},
    {"peer_access", "auto", "true", "false", "", "no"},
    {"pinned", "auto", "true", "false", "", "no"},
    {"bn", "tower", "sync", "", "tower", ""},
    {"precision", "f32", "bf16", "f16", "", "f32"},
    {"recompute", "none", "block", "", "none", ""},
    {"graph", "auto", "false", "true", "", "auto"},
    {"logical", "true", "false", "", "true", "false"},
    {"gpu_memory", "1KiB", "100KiB", "1GiB", "", ""},
    {"threads", "1", "2", "", "0", "1"},
    {"like", "none", "keras", "deep_qa", "tf_ps", "ddp"},
    {"hosts", "1", "2", "", "1", "1"},
};
enum { OPTIONS = sizeof options / sizeof *options };

/* One pair, or a few. */
static void line_write(struct storm *storm, char *line, size_t size)
{
    int pairs = storm_draw(storm, 3) ? 1 : 1 + (int)storm_draw(storm, 4);
    size_t used = (size_t)snprintf(line, size, ":set");
    for (int i = 0; i < pairs; i++) {
        const char *const *option = options[storm_draw(storm, OPTIONS)];
        used += (size_t)snprintf(line + used, size - used, " %s=%s", option[0],
                                 option[1 + storm_draw(storm, 5)]);
    }
}

static void change(struct storm *storm)
{
    static const char *const keys[] = {"u", "r", "m", "s", "g", "G", "b", "B", "v", "t", "x"};
    char line[400];
    uint32_t pick = storm_draw(storm, 30);
    if (pick < sizeof keys / sizeof *keys) {
        terminal_press(storm->terminal, keys[pick]);
    } else {
        line_write(storm, line, sizeof line);
        if (pick == 29) /* what cannot run is not there for long */
            strcpy(line, MODEL);
        terminal_type(storm->terminal, line);
        terminal_press(storm->terminal, "Enter");
    }
    storm_pass(storm, (int)storm_draw(storm, 250));
    if (terminal_has(storm->terminal, "PAUSED") || terminal_has(storm->terminal, "READY"))
        terminal_press(storm->terminal, "Space");
}

static void placements_at_random(void **state)
{
    struct storm *storm = *state;
    int count = storm_count(60, 1500);
    struct terminal *t = storm_start(storm, 24, 80);
    storm_run(storm);
    for (int i = 0; i < count; i++)
        change(storm);
    storm_calm(storm);
    terminal_type(t, MODEL);
    terminal_press(t, "Enter");
    terminal_await_match(t, "run [0-9]+ seg 1 +RUNNING +[1-9]|READY");
    if (terminal_has(t, "READY"))
        storm_run(storm);
    storm_pass(storm, 100);
    storm_quit(storm);
    assert_int_equal(storm->begun, 1);
    assert_string_equal(database_text(storm->program, "SELECT count(*) FROM run WHERE outcome IN "
                                                      "('crashed', 'error', 'timeout')"),
                        "0");
    print_message("%s segments\n", database_text(storm->program, "SELECT count(*) FROM segment"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(placements_at_random, storm_begin, storm_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
