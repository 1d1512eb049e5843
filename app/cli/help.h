/* Help texts, generated from the command records. */
#ifndef MGB_APP_CLI_HELP_H
#define MGB_APP_CLI_HELP_H

#include "app/cli/cli.h"

void mgb_help_print_all(FILE *out, const struct mgb_manual *manual, bool with_flags);
void mgb_help_print_command(FILE *out, const struct mgb_manual *manual,
                            const struct mgb_command *command);
void mgb_help_print_flags(FILE *out, const struct mgb_flag *flags);

#endif
