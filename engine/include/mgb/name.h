/* What people may call things by and write beside them: it is shown on screens, typed again in selectors (tag:NAME,sweep:NAME) and
 * carried to files of others. */
#ifndef MGB_NAME_H
#define MGB_NAME_H

#include <mgb/status.h>

#define MGB_NAME_BYTES 100
#define MGB_NOTE_BYTES 131072

/* A name of a tag, a baseline or a sweep: 1 to MGB_NAME_BYTES bytes of UTF-8 that can be shown, without commas and without blanks
 * at its ends. MGB_INVALID otherwise; `what` begins the message. */
enum mgb_status mgb_name_check(const char *what, const char *name);

/* A note: UTF-8 that is not blank, at most MGB_NOTE_BYTES bytes; lines and tabs are fine. */
enum mgb_status mgb_note_check(const char *what, const char *text);

#endif
