/* Playing a program and asking afterwards where the time went. */
#ifndef MGB_EXEC_PLAY_H
#define MGB_EXEC_PLAY_H

#include "engine/exec/program.h"

struct mgb_play {
    int slot;   /* input slot, 0 or 1 */
    bool trace; /* record every task */
    bool hold;  /* the optimizer does not run: no gradients of an earlier step are kept yet */
    struct mgb_step_values values;
    int64_t timeout_ns; /* 0: none */
};
/* Enqueues the whole program and waits for its end. */
enum mgb_status mgb_program_play(struct mgb_program *program, const struct mgb_play *play);
/* Whether such a play is one that the backend keeps and replays; and that, which leaves *enqueued false and `replay` NO
 * where it cannot and need not be kept. */
bool mgb_program_replays(const struct mgb_program *program, const struct mgb_play *play);
enum mgb_status mgb_program_replay(struct mgb_program *program, const struct mgb_play *play,
                                   bool *enqueued);
/* The same task by task, with a wait after each and every arena that the task does not name inaccessible. `before` is
 * called ahead of each command with all arenas open (may be NULL). */
enum mgb_status mgb_program_play_guarded(
    struct mgb_program *program, const struct mgb_play *play,
    enum mgb_status (*before)(void *context, const struct mgb_command *command), void *context);
/* One command: waits, events, work. For the two players. */
enum mgb_status mgb_command_enqueue(struct mgb_program *program, const struct mgb_command *command,
                                    const struct mgb_play *play);

/* Where the time went, for each of plan->uses; `out` holds use_count entries. `start_ns` to `input_ns` was the wait for the
 * batch, `end_ns` the end of the step. After the program has been played. */
enum mgb_status mgb_program_times(struct mgb_program *program, struct mgb_device_times *out,
                                  int64_t start_ns, int64_t input_ns, int64_t end_ns);
/* Every task of a traced step; `out` holds program->count entries. */
enum mgb_status mgb_program_trace(struct mgb_program *program, struct mgb_task_time *out,
                                  int64_t start_ns);

#endif
