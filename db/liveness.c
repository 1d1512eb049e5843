/* Reading a run's process identity from its row; see liveness.h. */
#include "db/liveness.h"

#include <stdio.h>

void mgb_liveness_read(struct mgb_identity *out, const struct mgb_statement *statement, int column)
{
    out->pid = mgb_column_int(statement, column);
    out->pid_namespace = mgb_column_maybe_int(statement, column + 1);
    out->started = mgb_column_maybe_int(statement, column + 2);
    snprintf(out->boot_id, sizeof out->boot_id, "%s", mgb_column_text(statement, column + 3));
    snprintf(out->host, sizeof out->host, "%s", mgb_column_text(statement, column + 4));
}
