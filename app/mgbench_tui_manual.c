/* What there is to say of mgbench-tui: its options, and its keys as app/tui/action.h has them. */
#include "app/mgbench_tui_manual.h"
#include "app/cli/commands.h"
#include "app/cli/flags.h"
#include "app/cli/settings.h"
#include "app/tui/action.h"

#include <string.h>

#define SCREENS "bench|devices|variables|plan|runs|sweep|log|help"

static const struct mgb_flag own_flags[] = {
    {"--run", NULL, "runs at once; else nothing is held on a device before space is pressed",
     false},
    {"--screen", SCREENS, "the screen to begin with (default: as saved, else bench)", false},
    {"--keys", "KEYS", "keys pressed at the start, such as Space,r,Ctrl-L", false},
    {"--readonly", NULL, "for looking only: nothing is run, stored or deleted", false},
    {"--keep-running", NULL, "a closed terminal ends the screen, not the run in progress", false},
    {"--ascii", NULL, "no character beyond ASCII (default: as the locale says)", false},
    {"--no-mouse", NULL, "the mouse is left to the terminal", false},
    {"--seed", "N", "from 0: of initial values, data order and dropout (default: 1)", false},
    MGB_CLI_DATA_FLAG,
    MGB_CLI_OPTIMIZER_FLAGS,
    MGB_CLI_MODEL_FLAGS,
    {NULL, NULL, NULL, false}};

static const struct mgb_flag flags[] = {
    MGB_CLI_PLACE_FLAGS,
    MGB_CLI_REMARK_FLAGS,
    {"--no-color", NULL, "no colour (also: NO_COLOR, or a terminal that has none)", false},
    MGB_CLI_HELP_FLAGS,
    {NULL, NULL, NULL, false}};

static const struct mgb_example examples[] = {
    {"mgbench-tui", "choose a model by M; the database is on screen 5"},
    {"mgbench-tui mlp --backend host --gpus 2",
     "two CPU devices; space runs it, r moves the weights"},
    {"mgbench-tui digits_cnn --data digits --run", "real data, running at once"},
    {"mgbench-tui inception_v3 --machine p100-pcie-4 --gpus 4",
     "on a machine that is not there: a simulation of it"},
    {"mgbench-tui --readonly --screen runs", "look at the results, change nothing"},
    {NULL, NULL}};

static const struct mgb_manual_row environment[] = {
    {"MGBENCH_DB", "results database, unless --db is given"},
    {"MGBENCH_STEP_TIMEOUT",
     "seconds after which a step without progress is given up (default: 600); 0: never"},
    {"MGBENCH_CPU_DEVICES", "how many CPU devices play GPUs where there is none, from 1 to 16"},
    {"TERM", "the terminal; it must be one that terminfo knows and that can place the cursor"},
    {"LINES, COLUMNS", "size of a terminal that does not tell its own"},
    {"LC_ALL, LC_CTYPE, LANG", "whether characters beyond ASCII can be drawn"},
    {"NO_COLOR", "no colour, if it is not empty"},
    {"XDG_CONFIG_HOME", "folder of mgbench/tui.conf (default: ~/.config)"},
    {"XDG_STATE_HOME",
     "folder of mgbench/tui-history and mgbench/tui.log (default: ~/.local/state)"},
    {NULL, NULL}};

static const struct mgb_manual_row exits[] = {
    {"0", "left"},
    {"1", "a fault ended it, or something was not recorded"},
    {"2", "wrong words or options"},
    {"4", "no terminal, or one that terminfo does not know; a backend that is not there"},
    {"130",
     "ended by a signal, or by Ctrl-C twice while something did not answer; what was recorded "
     "is kept"},
    {NULL, NULL}};

static const struct mgb_manual_row signal_rows[] = {
    {"SIGINT", "as Ctrl-C: stops a command or an expression, else after the step that runs; twice "
               "within 2 s: leaves, the run being interrupted if something does not answer"},
    {"SIGTERM", "ends the run as interrupted, gives the terminal back and leaves"},
    {"SIGHUP",
     "the same; with --keep-running what runs goes on without a screen, until it is done or "
     "SIGTERM comes"},
    {"SIGTSTP", "as Ctrl-Z: to the shell, paused meanwhile; fg comes back"},
    {NULL, NULL}};

static const struct mgb_manual_row files[] = {
    {"~/.config/mgbench/tui.conf",
     "screen, sort orders and settings, written on request; names that are not known are kept"},
    {"~/.local/state/mgbench/tui-history", "lines typed after a colon"},
    {"~/.local/state/mgbench/tui.log", "the log, as screen 7 shows it"},
    {"~/.local/share/mgbench/results.db", "the results, without --db and MGBENCH_DB"},
    {NULL, NULL}};

enum { KEY_SIZE = 24, WHAT_SIZE = 160 };

/* " (bench, plan)": where an action works, unless it is everywhere. */
static void places_write(char *out, size_t size, unsigned where)
{
    static const char *const names[] = {"bench", "devices", "variables", "plan",  "runs",
                                        "sweep", "log",     "help",      "output"};
    size_t used = 0;
    *out = '\0';
    if (where == TUI_EVERYWHERE)
        return;
    if (where == TUI_ON_LISTS) {
        snprintf(out, size, " (lists)");
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (where >> i & 1 && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : " (", names[i]);
    if (used < size)
        snprintf(out + used, size - used, ")");
}

static const struct mgb_manual_row *keys_make(void)
{
    static struct mgb_manual_row rows[TUI_ACT_COUNT + 1];
    static char keys[TUI_ACT_COUNT][KEY_SIZE], whats[TUI_ACT_COUNT][WHAT_SIZE];
    int count = 0;
    for (int i = 0; i < TUI_ACT_COUNT; i++) {
        const struct tui_action_info *action = &tui_actions[i];
        char places[80];
        if (!*action->help)
            continue;
        places_write(places, sizeof places, action->where);
        snprintf(keys[count], sizeof keys[count], "%s%s%s", action->key, *action->other ? ", " : "",
                 action->other);
        snprintf(whats[count], sizeof whats[count], "%s%s", action->help, places);
        rows[count] = (struct mgb_manual_row){keys[count], whats[count]};
        count++;
    }
    return rows;
}

static struct mgb_manual_section sections[] = {
    {"KEYS",
     "Arrows or h j k l, PgUp, PgDn, Home and End move; a letter does what it says on the screens "
     "in brackets.\n"
     "What a key is called stands after the colon too, and so do settings, commands of mgbench on "
     "the same results and\n"
     "Lua, in which s is the session: :undo, :set batch=64 gpus=2, :show last, :s:digest().\n",
     NULL},
    {"SIGNALS", NULL, signal_rows},
    {"EXIT STATUS", NULL, exits},
    {"ENVIRONMENT", NULL, environment},
    {"FILES", NULL, files},
    {NULL, NULL, NULL}};

static struct mgb_command itself = {
    .name = "mgbench-tui",
    .usage = "[MODEL] [options] [placement options]",
    .summary =
        "toggle where weights live and towers meet while the model trains, and watch it answer",
    .help = MGB_CLI_MODEL_HELP
    "\n"
    "It opens paused: no device is touched and no run is stored before space is pressed or --run "
    "is "
    "given. Every\n"
    "toggle is a segment of the run in the results database, which mgbench looks "
    "at.\n" MGB_CLI_DATA_HELP,
    .examples = examples,
    .flags = own_flags,
    .more_flags = mgb_cli_placement_flags,
    .most_words = 1,
};

static const struct mgb_command *const commands[] = {&mgb_command_generate, NULL};

static const struct mgb_manual manual = {
    .program = "mgbench-tui",
    .version = MGB_VERSION,
    .date = "2026-11-30", /* of that version */
    .summary = "where weights live and towers meet, toggled live in a terminal",
    .description =
        "mgbench-tui trains a model in a terminal and lets its placement be toggled between two "
        "steps: the old figures\n"
        "stay on the screen beside the new ones, with a verdict.\n",
    .commands = commands,
    .itself = &itself,
    .flags = flags,
    .sections = sections,
    .warnings = mgb_remarks,
    .see_also = "mgbench(1)",
};

const struct mgb_manual *mgb_manual_tui(int (*run)(struct mgb_invocation *in))
{
    itself.run = run;
    sections[0].rows = keys_make();
    return &manual;
}
