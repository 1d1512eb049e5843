/* Keys at random while the program steps: every action of the table fires, nothing falls over, no row is lost. */
#include "app/tui/action.h"
#include "tests/screens/storm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

struct action {
    const char *name, *key, *other;
    unsigned where;
};

#define X(id, name, key, other, where, help) {name, key, other, where},
static const struct action actions[] = {TUI_ACTIONS(X)};
#undef X
enum { ACTIONS = sizeof actions / sizeof *actions };

static const char *const others[] = {"Esc",    "Esc",   "Esc", "Enter", "Enter",  "Backspace",
                                     "Delete", "Space", "a",   "z",     "0",      "9",
                                     "-",      "=",     "(",   "\\",    "Insert", "F2"};
enum { OTHERS = sizeof others / sizeof *others };

static bool is_left_out(const struct action *action)
{
    return strcmp(action->name, "quit") == 0 || strcmp(action->name, "suspend") == 0;
}

/* Twice within two seconds of the program, which may lag behind, it would be an end. */
static bool may_stop(void)
{
    static time_t last;
    time_t now = time(NULL);
    if (now - last < 4)
        return false;
    last = now;
    return true;
}

static int press(struct storm *storm, const char *key)
{
    if (strcmp(key, "Ctrl-C") == 0 && !may_stop())
        return 0;
    terminal_press(storm->terminal, key);
    if (storm_draw(storm, 4) == 0)
        storm_look(storm, (int)storm_draw(storm, 40));
    else
        storm_look(storm, 0);
    return 1;
}

static int press_any(struct storm *storm)
{
    uint32_t pick = storm_draw(storm, ACTIONS + OTHERS);
    if (pick >= ACTIONS)
        return press(storm, others[pick - ACTIONS]);
    const struct action *action = &actions[pick];
    if (is_left_out(action))
        return 0;
    bool other = *action->other && storm_draw(storm, 2) == 0;
    return press(storm, other ? action->other : action->key);
}

/* Closes what is open, goes where the action works, and presses its key. */
static int press_this(struct storm *storm, const struct action *action)
{
    int count = 0;
    char screen[2] = "1";
    for (int i = 0; i < 3; i++) {
        count += press(storm, "Esc");
        storm_look(storm, 30); /* else it is the begin of another key */
    }
    while (!(action->where & 1u << (screen[0] - '1')))
        screen[0]++;
    count += press(storm, screen);
    count += press(storm, action->key);
    if (strcmp(action->name, "models") == 0) /* others may be large */
        count += press(storm, storm_draw(storm, 2) ? "Enter" : "Esc");
    return count;
}

/* A large model would take its time. */
static void model_keep(struct storm *storm)
{
    const char *line = terminal_line(storm->terminal, 0);
    if (strstr(line, "data:") && !strstr(line, "mlp")) {
        storm_calm(storm);
        terminal_type(storm->terminal, ":model mlp hidden=16 height=8 width=8!");
        terminal_press(storm->terminal, "Enter");
        terminal_await(storm->terminal, "mlp");
    }
}

/* Every action in turn, in an order of its own each time round, and keys at random between. */
static void round_press(struct storm *storm, int *left)
{
    int order[ACTIONS];
    for (int i = 0; i < ACTIONS; i++) {
        int k = (int)storm_draw(storm, (uint32_t)i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    for (int i = 0; i < ACTIONS; i++) {
        if (!is_left_out(&actions[order[i]]))
            *left -= press_this(storm, &actions[order[i]]);
        for (uint32_t more = storm_draw(storm, 16); more > 0; more--)
            *left -= press_any(storm);
        storm_revive(storm);
        model_keep(storm);
    }
}

static void keys_at_random(void **state)
{
    struct storm *storm = *state;
    int left = storm_count(1000, 10000), all = left;
    storm_start(storm, 24, 80);
    storm_run(storm);
    while (left > 0)
        round_press(storm, &left);
    storm_calm(storm);
    storm_quit(storm);
    print_message("%d keys, %d starts, %s runs\n", all - left, storm->begun,
                  database_text(storm->program, "SELECT count(*) FROM run"));
    for (int i = 0; i < ACTIONS; i++)
        if (!is_left_out(&actions[i]) && storm_fired(storm, actions[i].name) == 0)
            fail_msg("'%s' (%s) never fired", actions[i].name, actions[i].key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keys_at_random, storm_begin, storm_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
