/* The newest steps for displays: step times, where the time went by device and phase, the newest traced step. Fed on the
 * engine's thread after every step, read on the workbench's between calls or during one: it has a lock of its own, held
 * for no longer than a copy. */
#ifndef APP_SESSION_WORKBENCH_LIVE_H
#define APP_SESSION_WORKBENCH_LIVE_H

#include "app/session/workbench/snapshot.h"

#include <mgb/run.h>

struct mgb_live;

enum mgb_status mgb_live_make(struct mgb_live **out);
void mgb_live_free(struct mgb_live *live); /* NULL is allowed */

/* A run begins: everything is forgotten. */
void mgb_live_begin_run(struct mgb_live *live);
/* A segment begins: phases and trace are forgotten. `facts` name its devices and are held; `warmup`: steps at its start
 * that are marked as such. */
void mgb_live_begin_segment(struct mgb_live *live, int number, const struct mgb_facts *facts,
                            int64_t warmup);
/* After every step, on the engine's thread. Allocates only for traced steps. */
void mgb_live_step(struct mgb_live *live, const struct mgb_step_result *result);
/* Of the segment, how many of its first steps are warm-up as the figures have it now: marks them so. */
void mgb_live_warmup(struct mgb_live *live, int64_t steps);

/* Copies for a snapshot. History and traced: NULL when there is nothing or no memory; dropped by the holder. Phases are
 * means over the newest timed steps, about a second of them and at least one. */
struct mgb_bench_history *mgb_live_history(struct mgb_live *live);
void mgb_live_phases(struct mgb_live *live, struct mgb_bench_phases *out);
const struct mgb_bench_traced *mgb_live_traced(struct mgb_live *live);
int64_t mgb_live_steps(struct mgb_live *live); /* of this run */

#endif
