/* Variables of the environment that hold numbers: what is none is refused at the start, by both programs and whatever the command
 * uses, rather than taken for the default. */
#ifndef MGB_APP_CLI_VARIABLES_H
#define MGB_APP_CLI_VARIABLES_H

#include <mgb/status.h>

/* MGB_INVALID names the variable, quotes it and says what it may be. */
enum mgb_status mgb_cli_variables_check(void);
/* Seconds that one of them holds, `usual` where it is not set; after the check. */
double mgb_cli_variable_seconds(const char *name, double usual);

#endif
