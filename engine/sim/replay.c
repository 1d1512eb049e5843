/* Replay: where nothing is shared a task ends when the last of what it waits for has ended and its time is over, so one
 * sweep in issue order gives all ends. No queue of events (shared/reference/simulation.md 3.2, tier A). */
#include "engine/sim/program.h"

/* Its members' ends hold when each was ready. */
static void meet_end(const struct mgb_sim_program *program, const struct mgb_sim_meet *meet)
{
    int64_t *ends = program->ends, ready = 0;
    for (int i = meet->begin; i < meet->end; i++)
        ready = ends[i] > ready ? ends[i] : ready;
    for (int i = meet->begin; i < meet->end; i++)
        ends[i] = ready + meet->ns;
}

static inline void sweep(const struct mgb_sim_program *program, const int64_t *restrict ns,
                         bool submitted)
{
    const struct mgb_sim_task *tasks = program->tasks;
    const int *waits = program->waits;
    int64_t *ends = program->ends;
    ends[-1] = program->step_ns; /* what the first task of a queue finds before it */
    for (int i = 0, k = 0; i < program->count; i++) {
        int64_t ready = ends[tasks[i].before];
        for (int last = tasks[i + 1].wait_begin; k < last; k++)
            ready = ends[waits[k]] > ready ? ends[waits[k]] : ready;
        if (submitted) {
            int64_t issued = mgb_sim_issued(program, i);
            ready = issued > ready ? issued : ready;
        }
        if (tasks[i].meet < 0) {
            ends[i] = ready + ns[i];
            continue;
        }
        const struct mgb_sim_meet *meet = &program->meets[tasks[i].meet];
        ends[i] = ready;
        if (i + 1 == meet->end)
            meet_end(program, meet);
    }
}

void mgb_sim_replay(struct mgb_sim_program *program, const int64_t *ns)
{
    if (program->submit_ns > 0)
        sweep(program, ns, true);
    else
        sweep(program, ns, false);
    program->events = program->count;
    program->solves = 0;
}
