/* Inside of the workbench: what its thread keeps. What other threads touch is behind `lock` or atomic; everything else
 * belongs to the thread alone. */
#ifndef APP_SESSION_WORKBENCH_DRIVER_H
#define APP_SESSION_WORKBENCH_DRIVER_H

#include "app/script/state.h"
#include "app/session/workbench/live.h"
#include "app/session/workbench/observer.h"
#include "app/session/workbench/presser.h"
#include "app/session/workbench/statements.h"
#include "app/session/workbench/wishes.h"
#include "app/session/workbench/workbench.h"

#include <pthread.h>
#include <stdatomic.h>

struct mgb_workbench {
    struct mgb_workbench_options options;
    char *model, *backend, *machine, *output_dir; /* owned copies of options */

    pthread_mutex_t lock;
    pthread_cond_t wake, gone_cond;
    pthread_t thread;
    /* Behind the lock: */
    struct mgb_queued *first, *last;
    uint64_t serials;
    int doing; /* wishes that were taken and are not shown as done yet */
    int busy;  /* of those, what takes long */
    int stops; /* of the wishes that wait, those to stop */
    bool starting, quit, gone, woken;
    bool closing;                /* the hub is: it ends by itself */
    struct mgb_placement wanted; /* in force, and all that waits */
    struct mgb_undo undo[MGB_UNDO_MOST];
    int undo_count;
    const struct mgb_snapshot *snapshot;
    struct mgb_placement in_force; /* a copy for who asks */
    char *models;                  /* as they were last looked at */
    bool models_due;               /* they are to be looked at again */
    bool log_incomplete;
    char log_message[256];

    atomic_bool cut;     /* a signal ends it: the run was interrupted */
    atomic_bool blocked; /* rows wait for another program */
    atomic_bool feeding; /* the session steps, and no other one */

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
    struct mgb_placement asked;         /* in force */
    struct script_session *session;     /* open; NULL */
    struct script_open_request request; /* what it is opened with; texts and graph are Lua's */
    struct {                            /* by a preview, not in force yet */
        struct mgb_facts *facts;
        struct mgb_preview *preview; /* owned; NULL: handed on */
        struct script_open_request request;
        char misfit[400]; /* why its plan does not fit into memory; "" */
    } offered;
    enum { MGB_OPEN_PREVIEW, MGB_OPEN_MAIN, MGB_OPEN_OTHER } opening;
    struct script_figures figures; /* of the newest step call of the session */
    bool stepped;                  /* the segment in force has a step */
    struct {                       /* of simulated steps, on the engine's thread */
        int64_t virtual_ns, real_ns;
    } pace;
    bool trace_next, point_due;
    bool settled; /* what was taken is done: the next snapshot shows it */
    struct {      /* the segment before the one in force, while number > 0 */
        int number;
        struct mgb_placement asked;
        enum mgb_strategy strategy;
        int global_batch;
    } previous;
    struct { /* the machine: "" while it is not */
        char text[64];
        int64_t at_ns, run; /* run: the one of which it was told */
    } crowd;
    struct { /* of a timed step, unasked, in the segment in force */
        int tries;
        bool done;
    } trace;
    struct { /* between two placements: total 0: none */
        int done, total;
    } turns;
    int segment;  /* number of the one in force */
    bool resumed; /* the model is that of options.resume */
    int64_t piece_steps, memory_at_ns, published_at_ns, history_steps, segment_at_ns;
    bool in_piece;                 /* a wish ends the call in progress after its step */
    bool pressing;                 /* there are rows of `presser` to be worked out between pieces */
    struct mgb_bench_sweep *sweep; /* being filled */
    struct {                       /* what the expression in progress has printed */
        int lines;
        char first[300];
    } printed;
    bool moved; /* the placement, by the call in progress */
    int spared; /* wishes to stop that an expression has answered: the run goes on */
    struct mgb_observer observer;
};

#endif
