/* Queries whose rows leave while they come, for query and export: Ctrl-C and a closed pipe end them between two rows. */
#ifndef MGB_APP_CLI_STREAM_H
#define MGB_APP_CLI_STREAM_H

#include "app/cli/cli.h"
#include "db/export.h"

/* Asked before each row: somebody wants it to end. The context is not used. */
bool mgb_cli_stream_stop(void *context);

/* mgb_query_run on a reader of its own. */
enum mgb_status mgb_cli_stream(const char *database, const char *sql,
                               const struct mgb_query_sink *sink);

/* Exit code and message for how it ended; `usage`: bad SQL is wrong usage. */
int mgb_cli_stream_exit(const struct mgb_invocation *in, enum mgb_status status);

#endif
