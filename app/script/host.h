/* Inside of app/script: the record behind a state and what bindings need of it. Functions that take a lua_State may raise
 * (long jump): own nothing in a C local across them. */
#ifndef MGB_APP_SCRIPT_HOST_H
#define MGB_APP_SCRIPT_HOST_H

#include "app/script/state.h"
#include <lua.h>
#include <lauxlib.h>
#include <stdatomic.h>

#if LUA_VERSION_NUM != 504
#error "mgbench scripts are Lua 5.4"
#endif

/* Chunk names of the Lua that is part of the program: left out of places and tracebacks like C. */
#define MGB_SCRIPT_INNER "=mgb:"

struct mgb_script_chunk { /* loaded: source lines are found by the short name that Lua shows */
    char shown[LUA_IDSIZE];
    char *path; /* NULL for a text */
    char *text; /* NULL for a file */
};

struct mgb_script {
    lua_State *lua;
    _Atomic(lua_State *) running; /* the coroutine that runs now; read by the signal handler */
    atomic_bool interrupted;
    bool stopped; /* help was shown, the script is being ended */
    size_t used, limit;
    char refused_at[LUA_IDSIZE + 16]; /* "file:line" where the memory limit was met */
    char *output_dir;
    char *script_dir; /* of the main script; NULL for a text */
    char **roots;     /* where require looks after script_dir */
    int root_count;
    char **words, **flags;
    int word_count, flag_count;
    bool help, flags_read, no_terminal;
    bool watched, broken_off; /* for a stop by another thread; a file is waited for no longer */
    FILE *input;              /* standard input, waited for in turns; NULL: a plain file */
    void (*output)(void *context, const char *line);
    void (*statement)(void *context, const char *text);
    void *output_context;
    const char *then;                  /* called with what the script gave back; NULL: nothing */
    bool gave_model;                   /* the script is a file that ends in return nn.model(...) */
    struct mgb_machine *machine_taken; /* handed out by mgb_script_read_machine next */
    const struct script_services *services; /* NULL: the script can run nothing */
    const char *backend, *machine;          /* of runs that name none */
    enum mgb_table_format format;
    char *help_text;
    struct mgb_script_chunk *chunks;
    int chunk_count;
    struct mgb_script_error error;
    char *coroutine_trace, *coroutine_message; /* of the last coroutine that failed */
    enum mgb_status raised;                    /* the engine's status behind raised_message */
    char *raised_message;
};

static inline struct mgb_script *mgb_script_of(lua_State *L)
{
    return *(struct mgb_script **)lua_getextraspace(L);
}

/* Raises this thread's engine message as a Lua error at the calling script line. */
int mgb_script_raise(lua_State *L, enum mgb_status status);
/* Raises a message of the bindings' own there; `format` as in lua_pushfstring. */
int mgb_script_fail(lua_State *L, const char *format, ...);
/* mgb_script_raise unless MGB_OK. */
void mgb_script_check(lua_State *L, enum mgb_status status);

/* Loads a file as text under the name people know it by; leaves the function, or raises the syntax error. */
void mgb_script_load_file(lua_State *L, const char *path);
/* Remembers where the source of a chunk is. `path` or `text` is NULL. */
void mgb_script_note_chunk(lua_State *L, const char *chunk_name, const char *path,
                           const char *text);
/* `path` without the working directory in front. Borrowed from `path`. */
const char *mgb_script_shown_path(const char *path);

/* The message handler of protected calls: keeps error, place and traceback in the state's record. */
int mgb_script_handle(lua_State *L);
void mgb_script_clear_error(struct mgb_script *script);
/* Completes the record for failures that reach no handler (memory, an error in the handler). */
void mgb_script_finish_error(struct mgb_script *script, int lua_status);
/* Appends the Lua frames of `from` to `L`'s top string... leaves a string on L. */
void mgb_script_push_trace(lua_State *L, lua_State *from, int level);

/* Interrupt: (re)arms the hook on `L` when a stop was asked for. */
void mgb_script_rearm(lua_State *L);

/* Pushes a short description of a value for messages: "64" in quotes, 3.5, true, a table. */
const char *mgb_script_describe(lua_State *L, int index);
/* Pushes " (did you mean 'x'?)" or "" for `wanted` among the string keys of the table at `index`. */
const char *mgb_script_push_hint(lua_State *L, const char *wanted, int index);
/* Makes reading or writing an unknown field of the table at `index` an error that calls the table `name`. */
void mgb_script_seal(lua_State *L, int index, const char *name);

/* Raise, naming the function `what`: unless `path` lies in the output folder; if it is a terminal on a screen. */
void mgb_script_check_write(lua_State *L, const char *what, const char *path);
void mgb_script_check_terminal(lua_State *L, const char *what, const char *path);

/* Full path of module `name` ("models.resnet50"), pushed; or pushes nil and the list of places tried. */
bool mgb_script_find_module(lua_State *L, const char *name);

/* Each adds one part of the library to the state. */
void mgb_script_open_base(lua_State *L);      /* load, dofile, print and friends; os, io reduced */
void mgb_script_open_io(lua_State *L);        /* io, held to reading and to the output folder */
void mgb_script_open_coroutine(lua_State *L); /* coroutines that an interrupt reaches */
void mgb_script_open_require(lua_State *L);   /* require, package */
void mgb_script_open_flags(lua_State *L);     /* mgb.options; expects the mgb table on the top */
void mgb_script_open_strict(lua_State *L);    /* undeclared globals are errors; call last */

#define MGB_SCRIPT_LENT "mgb.lent" /* in the registry: what C and the Lua parts lend each other */
/* Runs the Lua parts of mgb and nn; expects nn and mgb on the top, mgb last. */
void mgb_script_open_library(lua_State *L);

/* Pushes a function that raises its message as wrong usage: exit code 2. */
void mgb_script_push_usage(lua_State *L);
/* Raises unless the script's flags were all declared; calls that start work ask this first. */
void mgb_script_check_flags(lua_State *L);

#endif
