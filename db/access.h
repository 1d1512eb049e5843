/* Whether this user may write to a results file: asked before SQLite is, whose words for it are about something else. */
#ifndef MGB_DB_ACCESS_H
#define MGB_DB_ACCESS_H

#include <mgb/status.h>

/* MGB_IO: the file, one that must be beside it, or the folder may only be read; the message names it and its owner. MGB_OK
 * also where that cannot be told. */
enum mgb_status mgb_access_check(const char *path);

#endif
