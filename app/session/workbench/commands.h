/* Inside of the workbench: what its thread does, file by file. */
#ifndef APP_SESSION_WORKBENCH_COMMANDS_H
#define APP_SESSION_WORKBENCH_COMMANDS_H

#include "app/session/clock.h"
#include "app/session/workbench/driver.h"

/* driver.c */
void *mgb_bench_main(void *bench);
void mgb_bench_say(struct mgb_workbench *bench, enum mgb_line_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A note of what was asked for, which is shown for a while as well. */
void mgb_bench_tell(struct mgb_workbench *bench, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Shown until something succeeds, and told to the log. */
void mgb_bench_complain(struct mgb_workbench *bench, const char *message);

/* commands.c: what is done for a wish, by its kind; readers of the draft follow by a publish. */
void mgb_bench_run(struct mgb_workbench *bench);
void mgb_bench_pause(struct mgb_workbench *bench);
/* Ready on that placement, or refused and nothing changes. */
enum mgb_status mgb_bench_look(struct mgb_workbench *bench, const struct mgb_placement *asked);
void mgb_bench_look_again(struct mgb_workbench *bench); /* after its session has ended */
void mgb_bench_offer(struct mgb_workbench *bench, const char *kind, const char *text);
/* `why`: how the line of the log goes on, ", its devices are given back". */
void mgb_bench_end(struct mgb_workbench *bench, const char *why);
void mgb_bench_piece(struct mgb_workbench *bench);
/* What was given at the start: its placement, before there is a thread; the model, on it. */
void mgb_bench_prepare(struct mgb_workbench *bench);
void mgb_bench_start(struct mgb_workbench *bench);

/* models.c: looks at them again, where somebody has asked for them. */
void mgb_bench_models(struct mgb_workbench *bench);

/* placing.c */
void mgb_bench_place(struct mgb_workbench *bench, struct mgb_queued *wishes);

/* turning.c: begins them, of so many of either placement ("": as many as are worth it); goes on after a piece; ends them. */
void mgb_bench_turns(struct mgb_workbench *bench, const char *text);
void mgb_bench_turns_go(struct mgb_workbench *bench);
void mgb_bench_turns_stop(struct mgb_workbench *bench);

/* errands.c: long ones */
void mgb_bench_verify(struct mgb_workbench *bench);
void mgb_bench_eval(struct mgb_workbench *bench, const char *text);
void mgb_bench_save(struct mgb_workbench *bench, const char *path);

/* labels.c: of a run, 0: of the bench's own */
void mgb_bench_tag(struct mgb_workbench *bench, int64_t run, const char *text);
void mgb_bench_note(struct mgb_workbench *bench, int64_t run, const char *text);

/* sweeping.c */
void mgb_bench_sweep(struct mgb_workbench *bench, const char *text);
void mgb_bench_cell(void *hub, const struct script_cell *cell);

/* services.c */
void mgb_bench_services(struct mgb_workbench *bench);
/* Notes what was asked for and has no meaning under the strategy: it is given by a statement of its own. */
void mgb_bench_parked_note(struct mgb_workbench *bench, enum mgb_strategy strategy);
/* Calls a function of scripts/lib/workbench.lua; `words` ends with NULL; `out` may be NULL. */
enum mgb_status mgb_bench_call(struct mgb_workbench *bench, struct mgb_script_answer *out,
                               const char *name, const char *const *words);
/* `prefix` and "name=value" of the options that were asked for: all, or those that have a meaning under `strategy`, or have
 * none. Ended by NULL, to be freed with mgb_bench_words_free. NULL: no memory. */
enum mgb_bench_which { MGB_WORDS_ALL, MGB_WORDS_IN_EFFECT, MGB_WORDS_PARKED };
char **mgb_bench_words(const struct mgb_placement *asked, enum mgb_bench_which which,
                       enum mgb_strategy strategy, const char *prefix);
void mgb_bench_words_free(char **words);

/* services.c: what a preview left is not wanted. */
void mgb_bench_offered_drop(struct mgb_workbench *bench);

/* publish.c */
void mgb_bench_publish(struct mgb_workbench *bench);
void mgb_bench_set_state(struct mgb_workbench *bench, enum mgb_bench_state state,
                         const char *doing);
/* The facts in force from now on; they become the draft's. `number`: of the segment that begins, 0: none. */
void mgb_bench_adopt(struct mgb_workbench *bench, struct mgb_facts *facts, int number);
void mgb_bench_disown(struct mgb_workbench *bench);                /* there is no model any more */
void mgb_bench_measure(struct mgb_workbench *bench, bool at_once); /* memory, once a second */
/* Figures and memory of all steps of the segment in force, while figures of a piece may be judged by some steps less: before
 * it pauses, or ends. */
void mgb_bench_settle(struct mgb_workbench *bench);

/* fault.c: that the process before this one died, and why, as it stored that with its run. */
void mgb_bench_say_fault(struct mgb_workbench *bench);

#endif
