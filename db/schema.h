/* The schema as versions: what a new file gets, and how an older one comes forward. A struct, so that the mechanism is
 * tested with schemas of its own. Internal to db/. */
#ifndef MGB_DB_SCHEMA_H
#define MGB_DB_SCHEMA_H

#include "db/sql.h"

#define MGB_APPLICATION_ID 0x6d676221 /* "mgb!", in the file's header */

struct mgb_schema {
    int version;        /* of `create` */
    const char *create; /* tables of a new file */
    const char *views;  /* made anew whenever the version changes */
    const char *const
        *migrations; /* append-only; [i] brings version i + 1 to i + 2; version - 1 of them */
};

/* This program's. */
const struct mgb_schema *mgb_schema_get(void);

enum mgb_schema_state {
    MGB_SCHEMA_EMPTY, /* no tables: a new file */
    MGB_SCHEMA_OLDER, /* ours, to be migrated */
    MGB_SCHEMA_CURRENT,
};
/* Only reads. MGB_CORRUPT: not a results file, or one that lacks tables; MGB_UNSUPPORTED: of a newer program. */
enum mgb_status mgb_schema_look(enum mgb_schema_state *out, struct mgb_sql *sql,
                                const struct mgb_schema *schema);

/* The views as this program knows them, for this connection only: what the file has under their names is not asked. */
enum mgb_status mgb_schema_shadow_views(struct mgb_sql *sql, const struct mgb_schema *schema);

/* Makes or migrates in one transaction that looks again first, so that of several starters one does the work. */
enum mgb_status mgb_schema_bring(struct mgb_sql *sql, const struct mgb_schema *schema);

#endif
