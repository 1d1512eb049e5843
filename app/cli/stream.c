/* See stream.h. */
#include "app/cli/stream.h"
#include "app/cli/interrupt.h"

bool mgb_cli_stream_stop(void *context)
{
    (void)context;
    return mgb_interrupt_asked() || mgb_interrupt_pipe_closed();
}

enum mgb_status mgb_cli_stream(const char *database, const char *sql,
                               const struct mgb_query_sink *sink)
{
    struct mgb_reader *reader;
    MGB_TRY(mgb_reader_open(&reader, database));
    mgb_reader_watch(reader, mgb_cli_stream_stop, NULL);
    enum mgb_status status = mgb_query_run(reader, sql, NULL, 0, sink);
    mgb_reader_close(reader);
    return status;
}

int mgb_cli_stream_exit(const struct mgb_invocation *in, enum mgb_status status)
{
    if (status == MGB_OK)
        return MGB_EXIT_OK;
    if (mgb_interrupt_pipe_closed()) /* whoever read it had enough */
        return MGB_EXIT_FAILED;
    if (status == MGB_IO && ferror(stdout)) /* told for every command, see mgb_cli_run */
        return MGB_EXIT_FAILED;
    return mgb_cli_complain(in, mgb_cli_refusal_code(status), "%s", mgb_message_get());
}
