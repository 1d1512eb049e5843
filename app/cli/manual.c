/* What the manual of mgbench has beside its table of commands. */
#include "app/cli/manual.h"

const struct mgb_manual_row mgb_manual_exit_codes[] = {
    {"0", "done"},
    {"1", "a run or script failed, out of memory included; no verdict where one was asked for; a "
          "results file is damaged or of another program"},
    {"2", "wrong words or options, or a script that cannot be read"},
    {"3", "slower, of mgbench compare --fail-if-slower"},
    {"4", "hardware, configuration, file or run that is not there"},
    {"130", "interrupted; what was recorded is kept"},
    {NULL, NULL}};

static const struct mgb_manual_row runs[] = {
    {"12", "a run, by its number in mgbench runs: its last segment with figures"},
    {"12.2", "its second segment; a live change of placement begins a new one"},
    {"last", "the newest run"},
    {"last~1", "the one before it"},
    {"tag:NAME", "all runs with this tag, as repetitions of one side"},
    {"baseline:NAME", "the run, or runs, that mgbench baseline set gave this name"},
    {"sweep:NAME", "all points of a sweep"},
    {"sweep:NAME/3", "all repetitions of its fourth point, in the order of the grid"},
    {"sweep:NAME@7", "an older sweep of a name that was defined anew since, by its id"},
    {"1,3,5 or 5-9", "several: repetitions of one side"},
    {NULL, NULL}};

static const struct mgb_manual_row environment[] = {
    {"MGBENCH_DB", "results database, unless --db is given"},
    {"MGBENCH_STEP_TIMEOUT",
     "seconds after which a step without progress is given up (default: 600); 0: never"},
    {"MGBENCH_GNUPLOT_TIMEOUT", "seconds after which gnuplot is ended (default: 60); 0: never"},
    {"MGBENCH_CPU_DEVICES", "how many CPU devices play GPUs where there is none, from 1 to 16"},
    {"MGBENCH_PLUGIN_DIR", "folder in which the CUDA plugin is looked for first"},
    {"MGBENCH_CUDNN",
     "off, on or auto: whether cuDNN serves operators of GPUs (default: auto, where it is faster)"},
    {"MGBENCH_CUDNN_LIBRARY", "file of cuDNN (default: libcudnn.so of the version built for)"},
    {"MGBENCH_NVML", "library with the sensors of GPUs (default: libnvidia-ml.so.1)"},
    {"NO_COLOR", "no colour, if it is not empty"},
    {"XDG_DATA_HOME", "folder of mgbench/results.db and mgbench/lua (default: ~/.local/share)"},
    {"XDG_CONFIG_HOME, XDG_STATE_HOME",
     "folders of mgbench/tui.conf, and of the history and log of mgbench-tui"},
    {"CUDA_VISIBLE_DEVICES", "GPUs that CUDA shows"},
    {"OMP_WAIT_POLICY, GOMP_SPINCOUNT",
     "how long idle threads of CPU devices spin; unless given, mgbench sets a short time"},
    {NULL, NULL}};

static const struct mgb_manual_row files[] = {
    {"~/.local/share/mgbench/results.db", "the results, without --db and MGBENCH_DB"},
    {"FILE-wal, FILE-shm, FILE.lock", "beside a results database: its log and its lock"},
    {"~/.local/share/mgbench/lua/", "modules and models of the user, for require"},
    {"PREFIX/share/mgbench/", "shipped models, experiments and data; mgbench info tells where"},
    {NULL, NULL}};

static const struct mgb_manual_section sections[] = {
    {"RUNS",
     "Where a command says RUN it takes one of these words. A run that is a point of a sweep "
     "stands for that\nrun only.\n",
     runs},
    {"EXIT STATUS", NULL, mgb_manual_exit_codes},
    {"ENVIRONMENT", NULL, environment},
    {"FILES", NULL, files},
    {NULL, NULL, NULL}};

const struct mgb_manual mgb_manual_mgbench = {
    .program = "mgbench",
    .version = MGB_VERSION,
    .date = "2026-11-30", /* of that version */
    .summary = "where weights live, where towers meet, how many GPUs are worth it",
    .description =
        "mgbench measures data-parallel training on the GPUs of a machine, or on CPU devices where "
        "it has none. A\n"
        "model is a Lua script; placement, number of GPUs and batch are options that can be "
        "changed in the middle of\n"
        "a run; every step is stored in an SQLite file, which the other commands look at, compare "
        "and draw.\n"
        "mgbench-tui MODEL does the same live, in a terminal.\n"
        "\n"
        "Results go to standard output; progress, remarks and faults to standard error. Sizes in "
        "tables are in the\n"
        "unit that they name, numbers of --csv and --json in full.\n",
    .commands = mgb_commands,
    .flags = mgb_global_flags,
    .sections = sections,
    .warnings = mgb_remarks,
    .see_also = "mgbench-tui(1), sqlite3(1), gnuplot(1)",
    .also =
        "mgbench-tui MODEL trains in a terminal, where keys move weights and towers while it runs.",
};
