/* Reading the option tables of Lua calls: typed getters whose errors name the argument path
 *     mgb.run: batch: positive integer expected, got "64"
 * and a final check that no key was left unread. Every getter is called whether its key is there or not: the keys asked
 * for are the keys that exist. All functions raise on misuse. */
#ifndef MGB_APP_SCRIPT_OPTIONS_H
#define MGB_APP_SCRIPT_OPTIONS_H

#include <mgb/topology.h>
#include <lua.h>
#include <stdbool.h>

#define MGB_OPTIONS_MOST 96

struct mgb_options {
    lua_State *L;
    int table;        /* stack index; 0: nothing was given, all fallbacks */
    const char *path; /* "mgb.run", "model.layers[3]" */
    int list;         /* positional values that are taken: 1..list */
    int known_count;
    const char *known[MGB_OPTIONS_MOST];
};

/* The argument at `index` must be a table; nil and nothing count as an empty one. `path` must outlive the reading. */
void mgb_options_begin(struct mgb_options *o, lua_State *L, int index, const char *path);
/* Positional values 1..count are the caller's business (all of them: INT_MAX). */
void mgb_options_allow_list(struct mgb_options *o, int count);
/* Raises for a key that nobody asked for, with the nearest that was. */
void mgb_options_end(struct mgb_options *o);

bool mgb_options_has(struct mgb_options *o, const char *key);
/* Pushes the value (nil when not given); true when it is given. */
bool mgb_options_push(struct mgb_options *o, const char *key);

long long mgb_options_integer(struct mgb_options *o, const char *key, long long fallback,
                              long long min, long long max);
double mgb_options_number(struct mgb_options *o, const char *key, double fallback, double min,
                          double max);
bool mgb_options_boolean(struct mgb_options *o, const char *key, bool fallback);
/* Borrowed from the table. */
const char *mgb_options_string(struct mgb_options *o, const char *key, const char *fallback);
/* The place of the given name in the NULL-terminated `names`, or `fallback`. */
int mgb_options_enum(struct mgb_options *o, const char *key, int fallback,
                     const char *const *names);
/* MGB_DEVICE_UNSET when not given. */
struct mgb_device_name mgb_options_device(struct mgb_options *o, const char *key);

/* Raises "path: key: <expected> expected, got <value at index>". */
int mgb_options_refuse(struct mgb_options *o, const char *key, const char *expected, int index);

#endif
