/* mgbench sweep: a script of sweeps, or a table that describes one, run with finished cells skipped; or shown on paper. */
#include "app/cli/commands.h"
#include "app/cli/progress.h"
#include "app/cli/script.h"
#include "app/script/mgb_lua_sweep_file.h"
#include "app/script/terminal.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <mgb/text.h>

struct sweep_job {
    const struct mgb_invocation *in;
    bool dry, lines; /* a line a cell, where no terminal shows the progress */
    int sweeps, cells, ok, oom, failed, before;
    long long ended, total; /* of the sweep that goes on */
    struct mgb_table
        *table; /* of its cells that ended, should it be interrupted; NULL: no memory */
};

/* Services carry the hub as their context, and a process runs one command. */
static struct sweep_job *watching;

static void __attribute__((format(printf, 2, 3)))
line_tell(const struct sweep_job *job, const char *format, ...)
{
    va_list args;
    if (job->in->quiet)
        return;
    mgb_cli_progress_clear();
    fflush(stdout);
    mgb_say(stderr, "%s: ", job->in->program);
    va_start(args, format);
    mgb_say_list(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

static bool is(const struct script_cell *cell, const char *outcome)
{
    return strcmp(cell->outcome, outcome) == 0;
}

static void outcome_count(struct sweep_job *job, const struct script_cell *cell)
{
    job->cells++;
    job->before += cell->resumed;
    if (is(cell, "ok"))
        job->ok++;
    else if (is(cell, "oom"))
        job->oom++;
    else
        job->failed++;
}

static void cell_keep(struct sweep_job *job, const struct script_cell *cell)
{
    job->ended++;
    if (!job->table)
        return;
    mgb_table_add_text(job->table, cell->point);
    mgb_table_add_number(job->table, cell->step_ms);
    mgb_table_add_text(job->table, cell->outcome);
}

static const char *outcome_text(const struct script_cell *cell)
{
    return is(cell, "oom") ? "out of memory" : is(cell, "error") ? "failed" : cell->outcome;
}

/* "sweep t, cell 3 of 12: gpus=2: ok, 1.234 ms a step; 41 s elapsed, 60 s left" */
static void cell_tell(const struct sweep_job *job, const struct script_cell *cell)
{
    char end[160] = "", times[80] = "", number[40];
    if (!isnan(cell->step_ms) && is(cell, "ok"))
        snprintf(end, sizeof end, ", %s ms a step", mgb_format_figure(number, cell->step_ms));
    if (*cell->phase)
        snprintf(end, sizeof end, " while %s", cell->phase);
    if (!isnan(cell->elapsed_s))
        snprintf(times, sizeof times, "; %.0f s elapsed", cell->elapsed_s);
    if (!isnan(cell->left_s))
        snprintf(times + strlen(times), sizeof times - strlen(times), ", %.0f s left",
                 cell->left_s);
    line_tell(job, "sweep %s, cell %lld of %lld: %s: %s%s%s%s%s%s", cell->sweep,
              (long long)cell->position, (long long)cell->total, cell->point,
              cell->resumed ? "done before, " : "", outcome_text(cell), end,
              *cell->message ? ": " : "", cell->message, times);
}

/* Before a crash these were told already, but for the one in which it happened. */
static bool was_told(const struct sweep_job *job, const struct script_cell *cell)
{
    char point[256];
    if (job->in->host.restarts == 0 || !cell->resumed || !job->in->host.point)
        return false;
    snprintf(point, sizeof point, "sweep %s, point %lld of %lld", cell->sweep,
             (long long)cell->position, (long long)cell->total);
    return strncmp(point, job->in->host.point, strlen(job->in->host.point)) !=
           0; /* it may be cut */
}

static void cell_take(void *context, const struct script_cell *cell)
{
    struct sweep_job *job = watching;
    (void)context;
    job->total = cell->total;
    switch (cell->what) {
    case SCRIPT_SWEEP_BEGINS:
        job->sweeps++;
        job->ended = 0;
        if (job->table)
            mgb_table_clear(job->table);
        break;
    case SCRIPT_CELL_ENDS:
        outcome_count(job, cell);
        cell_keep(job, cell);
        if (!job->dry && (job->lines || !is(cell, "ok")) && !was_told(job, cell))
            cell_tell(job, cell);
        break;
    case SCRIPT_CELL_BEGINS:
    case SCRIPT_SWEEP_ENDS:
        break;
    }
}

static enum mgb_status dry_open(void *context, struct script_session **out,
                                const struct script_open_request *request)
{
    (void)context;
    (void)request;
    *out = NULL;
    return mgb_fail(MGB_STATE, "a dry run shows what mgb.sweep would do and runs nothing; this is "
                               "not part of a sweep");
}

static void job_prepare(void *context, struct mgb_cli_hub *hub)
{
    struct sweep_job *job = context;
    bool fresh = mgb_cli_find_flag(job->in, "--fresh");
    hub->services.cell = cell_take;
    hub->services.sweep_mode = job->dry ? SCRIPT_SWEEP_DRY
                               : fresh  ? SCRIPT_SWEEP_FRESH
                                        : SCRIPT_SWEEP_RESUME;
    if (job->dry)
        hub->services.open = dry_open;
}

/* What there is so far, and how the rest is done. */
static void interrupted_tell(const struct sweep_job *job)
{
    const char *again = mgb_cli_find_flag(job->in, "--fresh") ? "without --fresh the same command"
                                                              : "the same command";
    if (job->ended > 0 && job->table && job->in->format == MGB_TABLE_TEXT)
        mgb_table_print(job->table, MGB_TABLE_TEXT, stdout);
    fflush(stdout);
    line_tell(job, "interrupted: %lld of %lld cells done; %s goes on with the other %lld",
              job->ended, job->total, again, job->total - job->ended);
}

static int job_finish(void *context, const struct mgb_invocation *in, int code)
{
    const struct sweep_job *job = context;
    if (in->help)
        return code;
    if (code == MGB_EXIT_INTERRUPTED && (job->dry || job->total == 0))
        line_tell(job, "interrupted");
    else if (code == MGB_EXIT_INTERRUPTED)
        interrupted_tell(job);
    if (code == MGB_EXIT_INTERRUPTED)
        return code;
    if (code == MGB_EXIT_OK && job->sweeps == 0)
        return mgb_cli_complain(in, MGB_EXIT_USAGE,
                                "'%s' is no sweep: it calls no mgb.sweep and gives back no table "
                                "{ name =, model =, grid = }; a script is run by mgbench -e",
                                in->words[0]);
    char before[40] = ""; /* after a crash the cells of this very sweep are among them */
    if (in->host.restarts == 0)
        snprintf(before, sizeof before, "; %d of them done before", job->before);
    if (!job->dry && job->cells > 0)
        line_tell(job, "%d cell%s: %d ok, %d out of memory, %d failed%s", job->cells,
                  job->cells == 1 ? "" : "s", job->ok, job->oom, job->failed, before);
    return code == MGB_EXIT_OK && job->failed > 0 ? MGB_EXIT_FAILED : code;
}

static int sweep_run(struct mgb_invocation *in)
{
    struct sweep_job job = {
        .in = in, .dry = mgb_cli_find_flag(in, "--dry-run"), .lines = !isatty(STDERR_FILENO)};
    if (job.dry && mgb_cli_find_flag(in, "--fresh"))
        return mgb_cli_complain(in, MGB_EXIT_USAGE,
                                "--dry-run and --fresh exclude each other: a dry run tells which "
                                "cells were done before");
    static const char *const columns[] = {"cell", "step_ms", "outcome"};
    watching = &job;
    if (mgb_table_make(&job.table, 3, columns) != MGB_OK)
        job.table = NULL;
    int code = mgb_cli_script_run(in, &(struct mgb_cli_script_use){.then = mgb_lua_sweep_file,
                                                                   .prepare = job_prepare,
                                                                   .finish = job_finish,
                                                                   .context = &job,
                                                                   .tells_interruption = true});
    mgb_table_free(job.table);
    return code;
}

static const struct mgb_flag sweep_flags[] = {
    {"--dry-run", NULL, "show the cells, their memory and time; run nothing, store nothing", false},
    {"--fresh", NULL, "run every cell, those that were finished before too", false},
    {NULL, NULL, NULL, false}};

static const struct mgb_example sweep_examples[] = {
    {"mgbench sweep grid.lua --dry-run", "which cells there are, whether they fit, how long"},
    {"mgbench sweep grid.lua", "runs them; again: goes on where it was interrupted"},
    {"mgbench sweep grid.lua --fresh --csv", "all over again, as CSV"},
    {NULL, NULL}};

const struct mgb_command mgb_command_sweep = {
    .name = "sweep",
    .usage = "FILE [--dry-run] [--fresh] [options of the script] [-- words]",
    .summary = "a grid of runs: skips what is finished, passes over what fails",
    .help =
        "FILE is a script that calls mgb.sweep, or gives back the table that mgb.sweep takes:\n"
        "\n"
        "  return { name = \"grid\", model = \"digits_cnn\", steps = 50, repeats = 5,\n"
        "           grid = { gpus = { 1, 2 }, cpu_merge = { true, false } } }\n"
        "\n"
        "Such a table is run 5 times a cell unless it says repeats, interleaved, each repetition "
        "in "
        "a random\n"
        "order from a stored seed (order = \"grid\", order_seed = 1); a script's mgb.sweep runs "
        "once a cell\n"
        "unless it says repeats. Printed are step time with its interval, speed-up against one "
        "GPU of the\n"
        "same batch, and a verdict, corrected for the number of cells (Holm).\n"
        "\n"
        "Finished cells of the same name and settings are taken from the results file, and those "
        "whose loss\n"
        "diverged, for it would again; cells that were interrupted, crashed or failed otherwise "
        "are run again.\n"
        "Out of memory is a result. A cell that crashes or hangs ends the\n"
        "program; it starts again with the next cell. Where standard error is no terminal, each "
        "cell is a line\n"
        "there.\n"
        "\n"
        "exit codes: 0 done, 1 a cell failed or the file has a mistake (a wrong grid is refused "
        "before its first\n"
        "cell), 2 the file is no sweep or the command line is wrong, 130 interrupted (the same "
        "command goes on)\n",
    .examples = sweep_examples,
    .flags = sweep_flags,
    .least_words = 1,
    .most_words = 1,
    .takes_any_flag = true,
    .run = sweep_run,
};
