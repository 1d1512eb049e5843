/* A plan's figures as people read them: a line of tasks, a line a device, a line a device that sends. */
#ifndef MGB_APP_CLI_PLAN_TEXT_H
#define MGB_APP_CLI_PLAN_TEXT_H

#include <mgb/plan.h>

enum { MGB_CLI_TASK_KINDS = MGB_TASK_MERGE + 1 };

/* Tasks as they are played, once for each tower of a class; returns by `all` how many there are. */
enum mgb_status mgb_cli_plan_count(int64_t counts[MGB_CLI_TASK_KINDS], int64_t *all,
                                   const struct mgb_plan *plan);

/* To standard output, sizes in MiB. `largest`: batch of a GPU, or -1: not asked for. */
enum mgb_status mgb_cli_plan_print(const struct mgb_plan *plan, int64_t largest);

#endif
