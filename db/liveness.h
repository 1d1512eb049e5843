/* Reading a run's process identity from its row. Internal to db/. */
#ifndef MGB_DB_LIVENESS_H
#define MGB_DB_LIVENESS_H

#include "db/identity.h"
#include "db/sql.h"

#define MGB_LIVENESS_COLUMNS "pid, pid_namespace, process_started, boot_id, host"

/* From the MGB_LIVENESS_COLUMNS of a statement's row, the first of which is `column`. */
void mgb_liveness_read(struct mgb_identity *out, const struct mgb_statement *statement, int column);

#endif
