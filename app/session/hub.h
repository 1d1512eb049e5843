/* What the sessions of one program share: the results database and its recorder, what was started and how, and the wish to
 * stop. The only thing that the faces (command line, terminal) make themselves; everything else goes through the services
 * it fills.
 *
 * The database is opened when the first run begins, so that a script that runs nothing touches no file. */
#ifndef APP_SESSION_HUB_H
#define APP_SESSION_HUB_H

#include "app/script/services.h"

struct mgb_hub;

/* Remarks by name: each ends with it in brackets, and who does not want one says so by it. */
struct mgb_remark {
    const char *name, *what; /* "crowded"; of what it warns */
};
extern const struct mgb_remark mgb_remarks[]; /* ended by a NULL name */

/* MGB_INVALID, with the names there are, unless `names` is a comma list of names. */
enum mgb_status mgb_remarks_check(const char *names);

struct mgb_hub_options {  /* texts are borrowed until close */
    const char *database; /* path; NULL: record nothing */
    const char *program_version;
    const char *commit;        /* of the program's sources; NULL: not known */
    const char *script;        /* path, or NULL */
    const char *script_digest; /* or NULL */
    const char *command;       /* what repeats this, quoted for a shell */
    const char *tag;           /* every run gets it; NULL: none */
    bool after_crash;          /* started again by the supervisor: crashed points count as done */
    int64_t started_ms;        /* UTC, when the program was started, before any crash; 0: unknown */
    int64_t step_timeout_ns;   /* a step that takes longer is a stuck device; 0: none */
    /* One line for people while work goes on; NULL: none wanted. */
    void (*progress)(void *context, const char *line);
    /* A remark for people about what they may not have meant, its name at the end; NULL: none wanted. It is stored as a note
     * of the run too. */
    void (*warn)(void *context, const char *line);
    const char
        *quiet_remarks; /* names of those that are not told, comma separated; NULL: all are */
    /* Tells the supervisor where a restartable script is (NULL: not restartable); may be NULL. */
    void (*restartable)(void *context, const char *point);
    /* After every step, on the engine's thread, once it is in the recorder's ring; the result is valid during the call. NULL:
     * nobody wants to know. */
    void (*stepped)(void *context, const struct mgb_step_result *result);
    /* On the recorder's thread: rows wait for another program that writes to the database, longer than people notice; they
     * do no longer. Must not block. NULL: nobody wants to know. */
    void (*blocked)(void *context, bool blocked);
    /* Ends the process after a device got stuck and its outcome was stored; does not return. */
    void (*die)(void *context, const char *message);
    void *context; /* of these */
};

enum mgb_status mgb_hub_open(struct mgb_hub **out, const struct mgb_hub_options *options);
/* Ends runs that are still open, stores what is left. NULL is allowed. */
void mgb_hub_close(struct mgb_hub *hub);

/* From any thread, when the process is to end at once though the one that drives the sessions does not answer: what was done is
 * stored, runs end as interrupted, within `limit_ms`. After it whoever records waits for the end. Not beside mgb_hub_close. */
enum mgb_status mgb_hub_seal(struct mgb_hub *hub, int64_t limit_ms);

void mgb_hub_services(struct script_services *out, struct mgb_hub *hub);

/* Whoever drives the sessions failed for a reason of its own: runs that are still open end with outcome "error" and this
 * message when they are closed, unless something befell them before. */
void mgb_hub_fail(struct mgb_hub *hub, const char *message);

/* From a signal handler: the step in progress ends, further work is refused with MGB_INTERRUPTED. */
void mgb_hub_interrupt(struct mgb_hub *hub);

/* From any thread: as mgb_hub_interrupt, but told to whoever steps by a flag alone, so that the run may be closing. */
void mgb_hub_stop(struct mgb_hub *hub);
/* The same for good, by a signal that leaves two seconds: a step that does not end within one is waited for no longer, its
 * run is stored as interrupted meanwhile. */
void mgb_hub_cut(struct mgb_hub *hub);
/* From any thread: while `wanted`, a call to step that says so (yields) ends after the step in progress, as if no more had
 * been asked for. Others are not concerned. */
void mgb_hub_yield(struct mgb_hub *hub, bool wanted);
/* Takes an interrupt back: sessions that are open and were interrupted go on. On the thread that drives the sessions, while
 * none of them steps. */
void mgb_hub_resume(struct mgb_hub *hub);

/* The hub of an open session, and the context that it was opened with: for who puts services of its own before the hub's. */
struct mgb_hub *mgb_hub_of(const struct script_session *session);
void *mgb_hub_context(const struct mgb_hub *hub);

/* A note beside a recorded run. */
enum mgb_status mgb_hub_note(struct mgb_hub *hub, int64_t run, const char *text);
/* A tag, a note, or both (NULL: none) of any run of the results file, by its recorder: while that records no command can write
 * there. Fails when it does not reach the file; MGB_MISSING: there is no such run. */
enum mgb_status mgb_hub_label(struct mgb_hub *hub, int64_t run, const char *tag, const char *note);

/* Whether the database was opened to record in, since a run began. */
bool mgb_hub_recorded(const struct mgb_hub *hub);

/* False when something was not recorded; `message` (of `size`) says why. */
bool mgb_hub_log_complete(struct mgb_hub *hub, char *message, size_t size);
/* The same for the last time, before closing: also false when the file was deleted after the last row. */
bool mgb_hub_log_end(struct mgb_hub *hub, char *message, size_t size);
/* Nothing is recorded at present: the next run tries again. */
bool mgb_hub_log_stopped(struct mgb_hub *hub);

#endif
