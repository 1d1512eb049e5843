/* What the files of keep share. Internal to db/. */
#ifndef MGB_DB_KEEP_PRIVATE_H
#define MGB_DB_KEEP_PRIVATE_H

#include "db/keep.h"
#include "db/sql.h"

/* A file that is there, with the writer lock held. */
enum mgb_status mgb_keep_open(struct mgb_store **out, const char *path,
                              const struct mgb_keep_options *options);
/* Gives the lock back; returns `status` with its message. */
enum mgb_status mgb_keep_close(struct mgb_store *store, enum mgb_status status);

/* MGB_IO when the disk of `path` lacks `needed` bytes: "`what` `path` takes ...: make room, or `advice`". */
enum mgb_status mgb_keep_room(const char *what, const char *path, int64_t needed,
                              const char *advice, const struct mgb_keep_options *options);
/* Has SQLite ask, while it works, whether to stop. `options` is borrowed while the connection is open. */
void mgb_keep_watch(struct mgb_sql *sql, const struct mgb_keep_options *options);
char *mgb_keep_folder(const char *path); /* to be freed */

#endif
