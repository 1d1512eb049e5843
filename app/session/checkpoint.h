/* Inside of app/session: saving and loading. */
#ifndef APP_SESSION_CHECKPOINT_H
#define APP_SESSION_CHECKPOINT_H

#include "app/script/services.h"

/* As in services.h. */
enum mgb_status mgb_session_save(struct script_session *session, const char *path);
enum mgb_status mgb_session_load(struct script_session *session, const struct script_load *load);

/* The two halves of loading, for a session that begins with it: before its run has a row, and after. */
enum mgb_status mgb_session_read_checkpoint(struct script_session *session,
                                            const struct script_load *load);
void mgb_session_note_checkpoint(struct script_session *session, const struct script_load *load);

#endif
