/* Lists of steps as typed ("5-8", "-2", "3,7-9") against the steps that were traced. */
#ifndef MGB_APP_CLI_TRACE_STEPS_H
#define MGB_APP_CLI_TRACE_STEPS_H

#include "db/trace.h"

/* Leaves those that `text` names; NULL: all. MGB_INVALID: no such list; MGB_MISSING: one or all of them were not traced,
 * the message tells which were and how to trace. */
enum mgb_status mgb_cli_steps_choose(struct mgb_trace_list *list, const char *text, int64_t run);

/* "step 3", "steps -2, 5-8"; cut with "..." where it is long. */
void mgb_cli_steps_text(char *out, size_t size, const struct mgb_trace_list *list);

#endif
