/* A Lua state for user scripts, seen from outside: make it, run a file or a text in it, read what went wrong.
 *
 * Scripts are the user's own: the state guards against accidents (runaway memory, endless loops, misspelt names, files
 * written in odd places), not against malice. One state lives on one thread; only mgb_script_interrupt may be called
 * from elsewhere, a signal handler included. Nothing here shows a Lua stack: see host.h for bindings. */
#ifndef MGB_APP_SCRIPT_STATE_H
#define MGB_APP_SCRIPT_STATE_H

#include "app/script/table.h"
#include <mgb/status.h>
#include <stdbool.h>
#include <stddef.h>

struct mgb_script;
struct script_services; /* services.h */

struct mgb_script_settings {
    bool no_terminal;            /* one that is on a screen: its keys are not for scripts */
    size_t memory_limit;         /* bytes the script's own data may take; 0: 1 GiB */
    const char *const *lua_path; /* --lua-path folders, in order */
    int lua_path_count;
    const char *output_dir;   /* the one folder scripts may write in; NULL: the working directory */
    const char *const *words; /* what came after `--`: `arg` */
    int word_count;
    const char *const *flags; /* the script's own flags as typed: "--steps", "100", "--fast" */
    int flag_count;
    const struct script_services *services; /* borrowed; NULL: the script can run nothing */
    const char *backend, *machine; /* borrowed; what runs use that name none; NULL: "auto" */
    enum mgb_table_format format;  /* of mgb.table */
    const char *
        then; /* borrowed; a text of the program, called with what a script gave back; NULL: none */
    /* A line that host.output was given, without its newline; NULL: it goes to standard output. */
    void (*output)(void *context, const char *line);
    /* A statement that changed a session in a way that no service sees ("s:freeze(...)"); NULL: nobody wants to know. */
    void (*statement)(void *context, const char *text);
    void *output_context; /* of both */
    bool help;            /* stop once the script has declared its flags: see mgb_script_help_get */
};

/* Where and why a script failed. `text` is the whole as shown to people: message, source lines, traceback. Strings are
 * never NULL; `line` is 0 and `file` empty when the place is not known. */
struct mgb_script_error {
    char *message;
    char *file;
    int line;
    char *text;
    bool usage; /* the script was called with wrong flags: exit code 2, not 1 */
};

/* `settings` is copied. MGB_NO_MEMORY otherwise. Free with mgb_script_free. */
enum mgb_status mgb_script_make(struct mgb_script **out,
                                const struct mgb_script_settings *settings);
void mgb_script_free(struct mgb_script *script); /* NULL is fine; runs pending finalisers */

/* Runs a script file or a text to its end. MGB_INVALID when the script failed (the status of the engine's own failure when
 * that is what ended it), MGB_INTERRUPTED, MGB_NO_MEMORY; details by mgb_script_error_get. MGB_OK when the script was
 * stopped after showing its help. */
enum mgb_status mgb_script_run_file(struct mgb_script *script, const char *path);
enum mgb_status mgb_script_run_text(struct mgb_script *script, const char *text);
/* A text that is part of the program: never shown in messages and tracebacks. */
enum mgb_status mgb_script_run_inner(struct mgb_script *script, const char *text);

/* The failure of the last run; borrowed until the next run. */
const struct mgb_script_error *mgb_script_error_get(const struct mgb_script *script);

/* What --help shows of the script's flags; "" when it declares none. Borrowed. */
const char *mgb_script_help_get(const struct mgb_script *script);

/* Whether the last run was of a file that gave back a model, as model files do. */
bool mgb_script_gave_model(const struct mgb_script *script);

/* Asks the script to stop: every further Lua instruction raises "interrupted", through the script's own pcall too, until
 * control is back outside. Async-signal-safe. */
void mgb_script_interrupt(struct mgb_script *script);
bool mgb_script_interrupted(const struct mgb_script *script);

/* The same from any thread, noticed within a thousand instructions while the state is watched. mgb_script_watch, on the
 * thread of the state while nothing runs in it, says whether it is from now on; mgb_script_resume, likewise, takes back
 * that it was asked to stop. */
void mgb_script_stop(struct mgb_script *script);
void mgb_script_watch(struct mgb_script *script, bool on);
void mgb_script_resume(struct mgb_script *script);

/* Calls a function that the program's own Lua lends: `name` of host[`part`], with texts. `out` receives what it gave back, as
 * texts, the first MGB_SCRIPT_ANSWERS of them, to be freed with mgb_script_answer_done, also after a failure. Fails as
 * mgb_script_run_text. */
enum { MGB_SCRIPT_ANSWERS = 8 };
struct mgb_script_answer {
    int count;
    char *texts[MGB_SCRIPT_ANSWERS]; /* "" for nil */
};
enum mgb_status mgb_script_call(struct mgb_script *script, struct mgb_script_answer *out,
                                const char *part, const char *name, const char *const *words,
                                int count);
void mgb_script_answer_done(struct mgb_script_answer *answer);

/* The version of Lua ("5.4.4"). */
const char *mgb_script_lua_version(void);

#endif
