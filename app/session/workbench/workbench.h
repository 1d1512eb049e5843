/* The workbench: a model in training whose placement is toggled while it runs, on a thread of its own. Faces ask for
 * things and look at snapshots; neither waits for a step. Every change is a statement of the script language, made in a
 * script state of the workbench's own, so that whatever a key does a script can do, and the session so far can be written
 * as a script that repeats it.
 *
 * Made and freed by one thread; ask and look may be called by any. */
#ifndef APP_SESSION_WORKBENCH_H
#define APP_SESSION_WORKBENCH_H

#include "app/session/hub.h"
#include "app/session/workbench/snapshot.h"

struct mgb_workbench;

enum { MGB_WORKBENCH_POINT = 1000 }; /* bytes of a point at most, as the supervisor keeps it */

enum mgb_line_kind {                   /* of the log */
                     MGB_LINE_NOTE,    /* what was done */
                     MGB_LINE_WARNING, /* a remark by name */
                     MGB_LINE_FAULT,   /* what was refused or failed */
                     MGB_LINE_OUTPUT   /* what a script, a library or a command printed */
};

struct mgb_workbench_options { /* texts are borrowed until close */
    struct mgb_hub_options
        hub; /* its callbacks and context are set by the workbench, but for `die` and `restartable` */
    const char *model;        /* a name or a file; NULL: none yet */
    const char *const *words; /* as app/cli/settings.h describes them, ended by NULL; NULL: none */
    const char *resume;       /* a point that `restartable` was told before a crash; NULL: none */
    const char *backend, *machine; /* NULL: "auto", none */
    const char *const *lua_path;
    int lua_path_count;
    const char *output_dir; /* where scripts may write; NULL: the working directory */
    bool readonly;          /* nothing is run or changed; wishes for that are refused */
    /* From the workbench's threads; must not block. `line` has no newline at its end. */
    void (*log)(void *context, enum mgb_line_kind kind, const char *line);
    /* There is a newer snapshot, or pending changed. */
    void (*changed)(void *context);
    void *context;
};

enum mgb_wish_kind {
    MGB_WISH_RUN,    /* opens if need be, and steps until paused */
    MGB_WISH_PAUSE,  /* after the step in progress */
    MGB_WISH_TOGGLE, /* option, direction: the next value */
    MGB_WISH_SET,    /* text: "name=value" pairs with blanks between; several are one change */
    MGB_WISH_UNDO,   /* the last change of placement */
    MGB_WISH_MODEL, /* text: a name or a file, "?" and options as "resnet depth=152" may follow: a new run */
    MGB_WISH_DATA,    /* text: "random", "mnist", ... : a new run */
    MGB_WISH_BACKEND, /* text: a new run */
    MGB_WISH_MACHINE, /* text: a new run */
    MGB_WISH_WARMUP,  /* text: steps, or "auto": a new run */
    MGB_WISH_TURNS, /* text: how often either placement, "" : 5; the one before and the one in force take turns */
    MGB_WISH_VERIFY, /* the placement in force against the one before, 20 steps from the seed */
    MGB_WISH_TRACE,  /* trace the next step */
    MGB_WISH_EVAL, /* text: Lua; `s` is the session, or nil; what it gives goes to the log as output */
    MGB_WISH_SAVE,  /* text: a path: the session so far as a script that repeats it */
    MGB_WISH_SWEEP, /* text: the options of mgb.sweep as a Lua table constructor */
    MGB_WISH_STOP,  /* ends verification, expression or sweep; pauses */
    MGB_WISH_END,   /* ends the run and gives the devices back */
    MGB_WISH_TAG,   /* text, run */
    MGB_WISH_NOTE   /* text, run */
};

struct mgb_wish {
    enum mgb_wish_kind kind;
    enum mgb_option_id option; /* TOGGLE */
    int direction;             /* TOGGLE: +1, -1 */
    const char *text;          /* borrowed for the call */
    int64_t run;               /* TAG, NOTE: of the results file; 0: the bench's own */
};

/* Asked for and not yet in force. */
struct mgb_pending {
    uint64_t options;                 /* bits of enum mgb_option_id */
    char value[MGB_OPTION_COUNT][64]; /* of those; "" : back to what was not given */
    int wishes; /* that wait or are being done, of any kind; 0: the newest snapshot shows all */
    int busy;   /* of these, what takes long and is being done: `doing` of the snapshot says what */
    bool blocked; /* rows wait for another program that writes to the results file; none is lost */
};

/* Starts the thread; models are built on it. */
enum mgb_status mgb_workbench_open(struct mgb_workbench **out,
                                   const struct mgb_workbench_options *options);
/* Ends what runs after its step, stores what is left, joins. NULL is allowed. Within `limit_ms`, 0 being no limit; false:
 * the engine did not come back in time and everything is left as it is, to be ended with the process. */
bool mgb_workbench_close(struct mgb_workbench *workbench, int64_t limit_ms);

/* The first half of it: everything is ended and stored, and can still be asked about. `interrupted`: a signal is the reason,
 * and the run's outcome. */
bool mgb_workbench_leave(struct mgb_workbench *workbench, int64_t limit_ms, bool interrupted);

/* Where it did not leave in time: as mgb_hub_seal. Nothing may be asked of it after that. */
void mgb_workbench_seal(struct mgb_workbench *workbench, int64_t limit_ms);

/* Never waits for work. MGB_INVALID at once for what can be refused without looking (readonly, no model, values that are
 * none); what is refused later is the snapshot's message and in the log. */
enum mgb_status mgb_workbench_ask(struct mgb_workbench *workbench, const struct mgb_wish *wish);

/* The newest snapshot, to be dropped with mgb_shared_drop; `pending` may be NULL. */
const struct mgb_snapshot *mgb_workbench_look(struct mgb_workbench *workbench,
                                              struct mgb_pending *pending);

/* False when something was not recorded; `message` says why. After the thread is idle or gone. */
bool mgb_workbench_log_complete(struct mgb_workbench *workbench, char *message, size_t size);

/* Names of the models there are, one a line, sorted; to be freed. NULL: no memory. As they were last looked at, which is
 * never done here; `again`: the workbench looks once more when it can, and tells `changed` where they are others now. */
char *mgb_workbench_models(struct mgb_workbench *workbench, bool again);

/* toggle.c: the value after (before) the one in force, as mgb_placement_set takes it; false: there is none, `reason` says
 * why ("n/a under allreduce", "this machine has 2 GPUs"). Pure. */
bool mgb_toggle_next(char *value, size_t size, char *reason, size_t reason_size,
                     enum mgb_option_id option, int direction, const struct mgb_facts *facts,
                     const struct mgb_placement *asked);
/* The option that says the same in other words and contradicts this one when both are given, so that a toggle takes it
 * back (weights_at and cpu_relocation, merge_at and cpu_merge); MGB_OPTION_COUNT: none. */
enum mgb_option_id mgb_toggle_twin(enum mgb_option_id option);

#endif
