/* Finds out, one toggle at a time, what pressing it would change: see pressed.h. On the workbench's thread, between steps. */
#ifndef APP_SESSION_WORKBENCH_PRESSER_H
#define APP_SESSION_WORKBENCH_PRESSER_H

#include "app/script/services_run.h"
#include "app/session/workbench/judged.h"
#include "app/session/workbench/pressed.h"

#include <mgb/preview.h>

struct mgb_presser;

enum mgb_status mgb_presser_make(struct mgb_presser **out, struct mgb_judge_desk *desk);
void mgb_presser_free(struct mgb_presser *presser); /* NULL is allowed */

/* Starts over for the placement of `facts`, which are held; `request` (its graph and source are borrowed until the next
 * begin) is what a session of it is opened with; `segment`: the one in force, 0: none. Answers of the desk that are known
 * stay when only the segment changed. */
void mgb_presser_begin(struct mgb_presser *presser, const struct mgb_facts *facts,
                       const struct script_open_request *request, int64_t segment);
/* A preview of what was begun with, owned from here on, NULL is allowed: it need not be planned once more. */
void mgb_presser_take(struct mgb_presser *presser, struct mgb_preview *preview);
/* The graph goes: nothing more is planned until the next begin. What was found out is still told. */
void mgb_presser_forget(struct mgb_presser *presser);
/* Does one piece of work, a few ms; false: nothing is left to do. */
bool mgb_presser_work(struct mgb_presser *presser);
/* What is known so far, to be dropped; `*fresh`: it differs from what was given last. NULL: no memory. */
const struct mgb_pressed *mgb_presser_look(struct mgb_presser *presser, bool *fresh);

#endif
