/* The one list of what a user can do: the key, what to call it, where it works. The key map, the help screen, the man page
 * and the README's table follow from it; every action's key must have fired in the test of random keys. */
#ifndef APP_TUI_ACTION_H
#define APP_TUI_ACTION_H

#include "app/tui/key.h"

/* Screens, as bits. */
enum tui_place {
    TUI_ON_BENCH = 1,
    TUI_ON_DEVICES = 2,
    TUI_ON_VARIABLES = 4,
    TUI_ON_PLAN = 8,
    TUI_ON_RUNS = 16,
    TUI_ON_SWEEP = 32,
    TUI_ON_LOG = 64,
    TUI_ON_HELP = 128,
    TUI_ON_OUTPUT = 256,
    TUI_EVERYWHERE = 511
};
#define TUI_ON_LISTS (TUI_EVERYWHERE & ~TUI_ON_BENCH)

/* X(id, name, key, other key, where, help). Names are words of the `:` line too. Of two actions with one key the first that
 * works on the screen counts. Keys: a character, or a name as "Tab", "Up", "PgDn", "Ctrl-L", "F5". */
/* clang-format off */
#define TUI_ACTIONS(X) \
    X(RUN, "run", "Space", "", TUI_EVERYWHERE, "run or pause; nothing is held on a device before the first run") \
    X(WEIGHTS, "weights", "r", "", TUI_ON_BENCH, "relocate the weights: CPU, or a GPU") \
    X(MERGE, "merge", "m", "", TUI_ON_BENCH, "where the towers meet: CPU, or the first GPU") \
    X(STRATEGY, "strategy", "s", "", TUI_ON_BENCH, "the next strategy: outputs, gradients, allreduce, independent") \
    X(FEWER_GPUS, "gpus-", "g", "", TUI_ON_BENCH, "one GPU less") \
    X(MORE_GPUS, "gpus+", "G", "", TUI_ON_BENCH, "one GPU more") \
    X(SMALLER_BATCH, "batch-", "b", "", TUI_ON_BENCH, "half the batch") \
    X(LARGER_BATCH, "batch+", "B", "", TUI_ON_BENCH, "twice the batch") \
    X(PEER, "peer", "p", "", TUI_ON_BENCH, "peer access: auto, on, off") \
    X(OPTIONS, "options", "o", "", TUI_ON_BENCH, "every placement option: choose, toggle or type a value") \
    X(UNDO, "undo", "u", "", TUI_ON_BENCH, "back to the placement before the last change") \
    X(VERIFY, "verify", "v", "", TUI_ON_BENCH, "prove that this placement trains the same as the one before") \
    X(TURNS, "turns", "T", "", TUI_ON_BENCH, "this placement and the one before take turns, 5 each: a verdict") \
    X(COMPARE_SEGMENTS, "compare", "c", "", TUI_ON_BENCH, "compare this segment with the one before") \
    X(EXPLAIN, "explain", "e", "", TUI_ON_BENCH | TUI_ON_PLAN, "what bounds the step, and which toggle may help") \
    X(WHAT_IF, "what-if", "w", "", TUI_ON_BENCH, "all toggles with what is known of them: measured, or from the plan")\
    X(TRACE, "trace", "t", "", TUI_ON_BENCH | TUI_ON_PLAN, "trace the next step, task by task") \
    X(CHOOSE_MODEL, "models", "M", "", TUI_ON_BENCH, "another model: a new run") \
    X(CHOOSE_DATA, "datasets", "D", "", TUI_ON_BENCH, "other data: a new run") \
    X(CHOOSE_BACKEND, "backends", "K", "", TUI_ON_BENCH, "another backend or machine: a new run") \
    X(RECORD, "record", "R", "", TUI_ON_BENCH, "write the session so far as a Lua script that repeats it") \
    X(END, "end", "x", "", TUI_ON_BENCH, "end the run and give the devices back") \
    X(STOP, "stop", "Ctrl-C", "", TUI_EVERYWHERE, "stop what runs; twice within 2 s: quit") \
    X(ZOOM_IN, "zoom-in", "+", "=", TUI_ON_PLAN, "show less time on the timeline; Left and Right move it") \
    X(ZOOM_OUT, "zoom-out", "-", "_", TUI_ON_PLAN, "show more time on the timeline") \
    X(MARK, "mark", "m", "", TUI_ON_RUNS, "mark a run; two can be compared") \
    X(COMPARE_MARKED, "compare-marked", "c", "", TUI_ON_RUNS, "compare the two marked runs: only what differs") \
    X(SORT, "sort", "s", "", TUI_ON_RUNS | TUI_ON_VARIABLES, "sort by the next column") \
    X(REVERSE, "reverse", "S", "", TUI_ON_RUNS | TUI_ON_VARIABLES, "turn the order round") \
    X(TAG, "tag", "t", "", TUI_ON_RUNS, "give the run a tag") \
    X(NOTE, "note", "n", "", TUI_ON_RUNS, "write a note to the run") \
    X(BASELINE, "baseline", "b", "", TUI_ON_RUNS, "pin it as the baseline that lists show ratios to") \
    X(DELETE, "delete", "d", "", TUI_ON_RUNS, "delete the run, after asking") \
    X(USE, "use", "u", "", TUI_ON_RUNS, "take its model and placement to the bench") \
    X(RELOAD, "reload", "F5", "Ctrl-R", TUI_ON_RUNS, "read the database again") \
    X(EDIT_GRID, "grid", "e", "", TUI_ON_SWEEP, "edit the values of the option in hand") \
    X(START_SWEEP, "start", "s", "", TUI_ON_SWEEP, "start the sweep, or go on with it") \
    X(FOLLOW, "follow", "f", "", TUI_ON_LOG, "follow the end") \
    X(OPEN, "open", "Enter", "", TUI_ON_LISTS, "open or choose what is in hand") \
    X(UP, "up", "Up", "k", TUI_EVERYWHERE, "") \
    X(DOWN, "down", "Down", "j", TUI_EVERYWHERE, "") \
    X(LEFT, "left", "Left", "h", TUI_EVERYWHERE, "") \
    X(RIGHT, "right", "Right", "l", TUI_EVERYWHERE, "") \
    X(PAGE_UP, "page-up", "PgUp", "Ctrl-B", TUI_EVERYWHERE, "") \
    X(PAGE_DOWN, "page-down", "PgDn", "Ctrl-F", TUI_EVERYWHERE, "") \
    X(FIRST, "first", "Home", "g", TUI_ON_LISTS, "") \
    X(LAST, "last", "End", "G", TUI_ON_LISTS, "") \
    X(FILTER, "filter", "/", "", TUI_ON_LISTS, "show only what has these words") \
    X(COMMAND, "command", ":", "", TUI_EVERYWHERE, "a command of mgbench, a setting, or a Lua expression") \
    X(HELP, "help", "?", "F1", TUI_EVERYWHERE, "what can be pressed here; / searches, Enter runs it") \
    X(BENCH, "bench", "1", "", TUI_EVERYWHERE, "the bench") \
    X(DEVICES, "devices", "2", "", TUI_EVERYWHERE, "devices, memory, links") \
    X(VARIABLES, "variables", "3", "", TUI_EVERYWHERE, "every variable and where it is stored") \
    X(PLAN, "plan", "4", "", TUI_EVERYWHERE, "the step plan and the newest traced step") \
    X(RUNS, "runs", "5", "", TUI_EVERYWHERE, "the results database") \
    X(SWEEP, "sweep", "6", "", TUI_EVERYWHERE, "many runs over a grid") \
    X(LOG, "log", "7", "", TUI_EVERYWHERE, "what was done, and what libraries said") \
    X(NEXT_SCREEN, "next", "Tab", "", TUI_EVERYWHERE, "the next screen") \
    X(PREVIOUS_SCREEN, "previous", "Shift-Tab", "", TUI_EVERYWHERE, "the screen before") \
    X(BACK, "back", "Esc", "", TUI_EVERYWHERE, "close what is open; end a filter") \
    X(REDRAW, "redraw", "Ctrl-L", "", TUI_EVERYWHERE, "draw the screen anew") \
    X(SAVE_LAYOUT, "save-layout", "F12", "W", TUI_EVERYWHERE, "keep screen, sort orders and settings for next time") \
    X(SUSPEND, "suspend", "Ctrl-Z", "", TUI_EVERYWHERE, "to the shell; fg comes back") \
    X(QUIT, "quit", "q", "F10", TUI_EVERYWHERE, "end the run and leave")
/* clang-format on */

enum tui_action {
#define X(id, name, key, other, where, help) TUI_ACT_##id,
    TUI_ACTIONS(X)
#undef X
        TUI_ACT_COUNT,
    TUI_ACT_NONE = -1
};

struct tui_action_info {
    const char *name, *key, *other, *help; /* other "": none; help "": moves only */
    unsigned where;
};
extern const struct tui_action_info tui_actions[TUI_ACT_COUNT];

/* What a key does on the screens `where`, TUI_ACT_NONE: nothing. */
enum tui_action tui_action_of_key(int key, unsigned where);
enum tui_action tui_action_find(const char *name);

#endif
