/* From the words of `mgbench export` to the statement whose rows are written. */
#ifndef MGB_APP_CLI_EXPORT_H
#define MGB_APP_CLI_EXPORT_H

#include "app/cli/cli.h"

/* *sql is the caller's (free). `brief`: of the runs only the main columns. MGB_INVALID: words that exclude each other;
 * MGB_MISSING: no such run, table or database. */
enum mgb_status mgb_cli_export_settle(char **sql, const struct mgb_invocation *in,
                                      const char *database, bool brief);

/* The file is the results database itself, or belongs to it. */
bool mgb_cli_export_is_database(const char *file, const char *database);

#endif
