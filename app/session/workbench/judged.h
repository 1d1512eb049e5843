/* Comparisons that the workbench shows beside its figures, made from the results database on a thread of their own: the
 * segment in force against the one before, the speed-up against one GPU, and what stored segments say of a placement that
 * might be pressed. */
#ifndef APP_SESSION_WORKBENCH_JUDGED_H
#define APP_SESSION_WORKBENCH_JUDGED_H

#include "app/session/workbench/snapshot.h"

struct mgb_judge_desk;

/* `changed` is called from its thread and must not block. `path` NULL: nothing is ever judged. */
enum mgb_status mgb_judge_desk_open(struct mgb_judge_desk **out, const char *path,
                                    void (*changed)(void *context), void *context);
void mgb_judge_desk_close(struct mgb_judge_desk *desk); /* NULL is allowed */

/* What to judge from now on: two segments of a run (0: none). Asked often; work is done at once when the segments change,
 * else when there are a sixteenth more steps, at most once a second and for at most a hundredth of the time. Segments of
 * the run with the same placement in effect count as repetitions of either side. Never waits. */
void mgb_judge_desk_ask(struct mgb_judge_desk *desk, int64_t run, int64_t now, int64_t before,
                        int64_t steps);
/* The same where no more steps are coming: unless the answer covers all of them it is made anew at once. */
void mgb_judge_desk_ask_all(struct mgb_judge_desk *desk, int64_t run, int64_t now, int64_t before,
                            int64_t steps);
/* The newest answer for these segments; false: none yet. Without a segment before (0) `there` is false and only the speed-up
 * is told; a failure is told by `there` false and a reason. Never waits for work. */
bool mgb_judge_desk_look(struct mgb_judge_desk *desk, struct mgb_bench_answer *out, int64_t now,
                         int64_t before);

/* A placement in effect, to be looked up among stored segments of the same model, options, data, backend and machine. */
struct mgb_lookup {
    int id; /* the caller's */
    char model[64], backend[16];
    char columns
        [24][2]
        [96]; /* name and value of columns of segment that tell placements apart; value "" : NULL; of booleans "true" is 1 */
    int column_count;
};
/* What was not run yet, as the newest stored and finished segment of the same would be: what that has in its columns. */
struct mgb_stand_in {
    char options[600], digest[24], data[96], machine[24], optimizer[128];
    struct mgb_lookup at; /* the placement in effect */
};
struct mgb_looked_up {
    int id;
    int64_t base_run; /* `ratio` is against this stored run; 0: against the segment in force */
    int64_t segments; /* 0: none is stored */
    double ratio, low,
        high; /* of time an example against the segment in force; NaN: that has no figures */
    char verdict[16]; /* one segment a side is taken for enough; "" : no ratio */
};
/* Replaces what was asked before. Each is answered, also without a database. Those whose ratio is NaN since the segment in
 * force (one that mgb_judge_desk_ask names) has no figures are answered again, with the same id, when it has. */
void mgb_judge_desk_look_up(struct mgb_judge_desk *desk, int64_t now,
                            const struct mgb_lookup *lookups, int count);
/* What look-ups whose `now` is 0 are held against, of those asked from now on; without one nothing is found for them. */
void mgb_judge_desk_stand_in(struct mgb_judge_desk *desk, const struct mgb_stand_in *stand_in);
/* Takes up to `most` answers that are ready; returns how many. */
int mgb_judge_desk_take(struct mgb_judge_desk *desk, struct mgb_looked_up *out, int most);

#endif
