/* Opening a results file only to read it: never blocks a writer, never checkpoints, works in folders that cannot be written.
 * Internal to db/. */
#ifndef MGB_DB_SOURCE_H
#define MGB_DB_SOURCE_H

#include "db/schema.h"
#include "db/sql.h"

/* `state` is told, not judged. MGB_MISSING: no such file. */
enum mgb_status mgb_source_open(struct mgb_sql *out, enum mgb_schema_state *state,
                                const char *path);

#endif
