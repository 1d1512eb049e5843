/* The subcommands, one a file. */
#ifndef MGB_APP_CLI_COMMANDS_H
#define MGB_APP_CLI_COMMANDS_H

#include "app/cli/cli.h"

extern const struct mgb_command mgb_command_script, mgb_command_devices, mgb_command_models,
    mgb_command_query, mgb_command_info;

#endif
