/* The list of subcommands in the order of --help, and running one. */
#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "app/cli/wrap.h"
#include "app/plot/gnuplot.h"
#include <fcntl.h>
#include <locale.h>
#include <unistd.h>

const struct mgb_command *const mgb_commands[] = {
    &mgb_command_script,   &mgb_command_run,     &mgb_command_plan,     &mgb_command_check,
    &mgb_command_verify,   &mgb_command_predict, &mgb_command_devices,  &mgb_command_models,
    &mgb_command_machines, &mgb_command_sweep,   &mgb_command_selftest, &mgb_command_runs,
    &mgb_command_show,     &mgb_command_compare, &mgb_command_scaling,  &mgb_command_baseline,
    &mgb_command_tag,      &mgb_command_note,    &mgb_command_query,    &mgb_command_export,
    &mgb_command_merge,    &mgb_command_rm,      &mgb_command_vacuum,   &mgb_command_seal,
    &mgb_command_doctor,   &mgb_command_trace,   &mgb_command_explain,  &mgb_command_plot,
    &mgb_command_report,   &mgb_command_info,    &mgb_command_generate, NULL};

int mgb_cli_exit_code(enum mgb_status status)
{
    switch (status) {
    case MGB_OK:
        return MGB_EXIT_OK;
    case MGB_INTERRUPTED:
        return MGB_EXIT_INTERRUPTED;
    case MGB_MISSING:
    case MGB_UNSUPPORTED:
        return MGB_EXIT_UNAVAILABLE;
    case MGB_INVALID:
    case MGB_NO_MEMORY:
    case MGB_OOM:
    case MGB_DEVICE:
    case MGB_IO:
    case MGB_CORRUPT:
    case MGB_BUSY:
    case MGB_TIMEOUT:
    case MGB_STATE:
        return MGB_EXIT_FAILED;
    }
    return MGB_EXIT_FAILED;
}

int mgb_cli_refusal_code(enum mgb_status status)
{
    return status == MGB_INVALID ? MGB_EXIT_USAGE : mgb_cli_exit_code(status);
}

/* Standard output that the shell closed is open for reading only since the program's start: see standard_open. */
static bool output_is_closed(void)
{
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    return flags < 0 || (flags & O_ACCMODE) == O_RDONLY;
}

int mgb_cli_output_end(const struct mgb_invocation *in, int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    if (mgb_interrupt_pipe_closed()) /* the reader had enough: not a failure */
        return code == MGB_EXIT_FAILED ? MGB_EXIT_OK : code;
    return mgb_cli_complain(in, MGB_EXIT_FAILED,
                            output_is_closed()
                                ? "standard output is closed: give it a file, or /dev/null"
                                : "writing to standard output failed (is the disk full?)");
}

/* What programs read, and what people's own scripts print, is left as it is. */
static bool says_prose(const struct mgb_invocation *in)
{
    const struct mgb_command *const not [] = {&mgb_command_script, &mgb_command_query,
                                              &mgb_command_export, &mgb_command_trace,
                                              &mgb_command_generate};
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        if (in->command == not [i])
            return false;
    return in->format == MGB_TABLE_TEXT;
}

int mgb_cli_run(struct mgb_invocation *in)
{
    setlocale(LC_CTYPE, ""); /* only that: a comma locale must not reach the numbers */
    mgb_interrupt_take(in->quiet);
    mgb_gnuplot_watch(mgb_interrupt_asked);
    if (says_prose(in))
        mgb_wrap_begin();
    int code = in->command->run(in);
    mgb_wrap_end();
    return mgb_cli_output_end(in, code);
}
