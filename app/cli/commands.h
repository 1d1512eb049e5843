/* The subcommands, one a file. */
#ifndef MGB_APP_CLI_COMMANDS_H
#define MGB_APP_CLI_COMMANDS_H

#include "app/cli/cli.h"

extern const struct mgb_command mgb_command_script, mgb_command_run, mgb_command_plan,
    mgb_command_check, mgb_command_verify, mgb_command_devices, mgb_command_models,
    mgb_command_machines, mgb_command_query, mgb_command_info, mgb_command_sweep,
    mgb_command_selftest, mgb_command_export, mgb_command_merge, mgb_command_rm, mgb_command_vacuum,
    mgb_command_seal, mgb_command_doctor, mgb_command_trace;
extern const struct mgb_command mgb_command_runs, mgb_command_show, mgb_command_compare,
    mgb_command_scaling, mgb_command_baseline, mgb_command_tag, mgb_command_note;
extern const struct mgb_command mgb_command_plot, mgb_command_report;
extern const struct mgb_command mgb_command_explain, mgb_command_predict;
extern const struct mgb_command mgb_command_generate;

#endif
