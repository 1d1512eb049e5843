/* Inside of the workbench: what its thread keeps. What other threads touch is behind `lock` or atomic; everything else
 * belongs to the thread alone. */
#ifndef APP_SESSION_WORKBENCH_DRIVER_H
#define APP_SESSION_WORKBENCH_DRIVER_H

#include "app/script/state.h"
#include "app/session/workbench/live.h"
#include "app/session/workbench/presser.h"
#include "app/session/workbench/statements.h"
#include "app/session/workbench/workbench.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MGB_UNDO_MOST = 100 };

struct mgb_assignment { /* of a placement option, as mgb_placement_set takes it; "nil" unsets */
    enum mgb_option_id option;
    char value[512];
};

struct mgb_queued { /* a wish that waits */
    struct mgb_queued *next;
    enum mgb_wish_kind kind;
    char *text; /* owned; NULL */
    uint64_t serial;
    int count; /* placement wishes: what they set */
    struct mgb_assignment at[MGB_OPTION_COUNT];
};

struct mgb_undo { /* what was asked before a change */
    uint64_t serial;
    struct mgb_placement before;
};

struct mgb_workbench {
    struct mgb_workbench_options options;
    char *model, *backend, *machine, *output_dir; /* owned copies of options */

    pthread_mutex_t lock;
    pthread_cond_t wake, gone_cond;
    pthread_t thread;
    /* Behind the lock: */
    struct mgb_queued *first, *last;
    uint64_t serials;
    int stops; /* of the wishes that wait, those to stop */
    bool starting, quit, gone, woken;
    struct mgb_placement wanted; /* in force, and all that waits */
    struct mgb_undo undo[MGB_UNDO_MOST];
    int undo_count;
    const struct mgb_snapshot *snapshot;
    struct mgb_placement in_force; /* a copy for who asks */
    bool log_incomplete;
    char log_message[256];

    atomic_bool leaving; /* hub and script may be gone */
    atomic_bool cut;     /* a signal ends it: the run was interrupted */
    atomic_bool interrupt, feeding; /* feeding: the session steps, and no other one */

    /* Of the thread: */
    struct mgb_hub *hub;
    struct script_services services; /* the hub's with some in front */
    struct script_services inner;    /* the hub's */
    struct mgb_script *script;
    struct mgb_live *live;
    struct mgb_judge_desk *desk;
    struct mgb_presser *presser;
    struct mgb_statements *statements;
    struct mgb_snapshot *draft; /* the next to be published */
    enum mgb_bench_state state;
    struct mgb_placement asked; /* in force */
    struct script_session *session; /* open; NULL */
    struct script_open_request request; /* what it is opened with; texts and graph are Lua's */
    struct { /* by a preview, not in force yet */
        struct mgb_facts *facts;
        struct script_open_request request;
    } offered;
    enum { MGB_OPEN_PREVIEW, MGB_OPEN_MAIN, MGB_OPEN_OTHER } opening;
    struct script_figures figures; /* of the newest step call of the session */
    bool stepped;                  /* the segment in force has a step */
    bool trace_next, point_due;
    struct { /* the segment before the one in force, while number > 0 */
        int number;
        struct mgb_placement asked;
        enum mgb_strategy strategy;
    } previous;
    int segment; /* number of the one in force */
    bool resumed; /* the model is that of options.resume */
    int64_t piece_steps, memory_at_ns, published_at_ns, history_steps;
    struct mgb_bench_sweep *sweep; /* being filled */
    bool moved;                    /* the placement, by the call in progress */
};

/* wishes.c */
enum mgb_status mgb_bench_ask(struct mgb_workbench *bench, const struct mgb_wish *wish);
void mgb_bench_pending(struct mgb_workbench *bench, struct mgb_pending *out); /* locked */
/* The next wish, to be freed with mgb_bench_wish_free; placement wishes that follow each other come as a list. NULL: none.
 * Takes interrupts back. */
struct mgb_queued *mgb_bench_take(struct mgb_workbench *bench);
void mgb_bench_wish_free(struct mgb_queued *wishes); /* a list; NULL is allowed */
/* A taken placement wish was refused: it is no change to be undone. */
void mgb_bench_refused(struct mgb_workbench *bench, const struct mgb_queued *wish);
/* What is in force has changed, or a wish was refused: `wanted` is made anew. `before`: an expression changed it, which can
 * be undone; NULL otherwise. */
void mgb_bench_in_force(struct mgb_workbench *bench, const struct mgb_placement *before);

/* driver.c */
void *mgb_bench_main(void *bench);
void mgb_bench_say(struct mgb_workbench *bench, enum mgb_line_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Shown until something succeeds, and told to the log. */
void mgb_bench_complain(struct mgb_workbench *bench, const char *message);

/* commands.c: what is done for a wish, by its kind; readers of the draft follow by a publish. */
void mgb_bench_run(struct mgb_workbench *bench);
void mgb_bench_pause(struct mgb_workbench *bench);
/* Ready on that placement, or refused and nothing changes. */
enum mgb_status mgb_bench_look(struct mgb_workbench *bench, const struct mgb_placement *asked);
void mgb_bench_look_again(struct mgb_workbench *bench); /* after its session has ended */
void mgb_bench_offer(struct mgb_workbench *bench, const char *kind, const char *text);
void mgb_bench_end(struct mgb_workbench *bench, const char *why);
void mgb_bench_piece(struct mgb_workbench *bench);
/* What was given at the start: its placement, before there is a thread; the model, on it. */
void mgb_bench_prepare(struct mgb_workbench *bench);
void mgb_bench_start(struct mgb_workbench *bench);

/* placing.c */
void mgb_bench_place(struct mgb_workbench *bench, struct mgb_queued *wishes);

/* errands.c: long ones */
void mgb_bench_verify(struct mgb_workbench *bench);
void mgb_bench_eval(struct mgb_workbench *bench, const char *text);
void mgb_bench_save(struct mgb_workbench *bench, const char *path);
void mgb_bench_tag(struct mgb_workbench *bench, const char *text);
void mgb_bench_note(struct mgb_workbench *bench, const char *text);

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

/* publish.c */
void mgb_bench_publish(struct mgb_workbench *bench);
void mgb_bench_set_state(struct mgb_workbench *bench, enum mgb_bench_state state,
                         const char *doing);
/* The facts in force from now on; they become the draft's. `number`: of the segment that begins, 0: none. */
void mgb_bench_adopt(struct mgb_workbench *bench, struct mgb_facts *facts, int number);
void mgb_bench_measure(struct mgb_workbench *bench, bool at_once); /* memory, once a second */
int64_t mgb_bench_clock_ns(void);

#endif
