/* Life of a script state: memory cap, libraries, running the main chunk under protection. What the libraries hold is in
 * files of their own; what an error looks like is error.c's, how a script is stopped interrupt.c's. */
#include "app/script/host.h"
#include "app/script/paths.h"
#include <lualib.h>
#include <mgb/machine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LIMIT ((size_t)1 << 30)

/* Notes the line that asked for too much: Lua's own memory error carries no place. Reading the call stack here takes no
 * memory and changes nothing. */
static void refusal_note(struct mgb_script *script)
{
    lua_State *L = atomic_load(&script->running);
    lua_Debug ar;
    for (int level = 0; L && level < 8 && lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        if (ar.currentline > 0) {
            snprintf(script->refused_at, sizeof script->refused_at, "%s:%d", ar.short_src,
                     ar.currentline);
            return;
        }
    }
}

static void *state_alloc(void *context, void *block, size_t old_size, size_t new_size)
{
    struct mgb_script *script = context;
    size_t old = block ? old_size : 0; /* for a new block Lua passes a type tag here */
    if (new_size == 0) {
        free(block);
        script->used -= old;
        return NULL;
    }
    if (new_size > old && script->used - old + new_size > script->limit) {
        refusal_note(script);
        return NULL;
    }
    void *result = realloc(block, new_size);
    if (result)
        script->used += new_size - old;
    return result;
}

static void state_warn(void *context, const char *text, int to_continue)
{
    (void)context;
    fputs(text, stderr);
    if (!to_continue)
        fputc('\n', stderr);
}

static int state_panic(lua_State *L)
{
    const char *text = lua_tostring(L, -1);
    fprintf(stderr, "mgbench: a script error outside every protected call: %s\n",
            text ? text : "(no text)");
    return 0; /* Lua aborts: the supervisor takes over */
}

static void library_open(lua_State *L, const char *name, lua_CFunction open)
{
    luaL_requiref(L, name, open, 1);
    lua_pop(L, 1);
}

/* A fixed seed: an experiment that draws random points draws the same ones each time. */
static void random_seed(lua_State *L)
{
    lua_getglobal(L, "math");
    lua_getfield(L, -1, "randomseed");
    lua_pushinteger(L, 1);
    lua_call(L, 1, 0);
    lua_pop(L, 1);
}

static void words_push(lua_State *L, const struct mgb_script *script)
{
    lua_createtable(L, script->word_count, 0);
    for (int i = 0; i < script->word_count; i++) {
        lua_pushstring(L, script->words[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setglobal(L, "arg");
}

/* A table that is a global, and a module for require. */
static void module_open(lua_State *L, const char *global, const char *module)
{
    lua_newtable(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, module);
    lua_pop(L, 1);
    lua_pushvalue(L, -1);
    lua_setglobal(L, global);
}

static int libraries_open(lua_State *L)
{
    library_open(L, LUA_GNAME, luaopen_base);
    library_open(L, LUA_TABLIBNAME, luaopen_table);
    library_open(L, LUA_STRLIBNAME, luaopen_string);
    library_open(L, LUA_MATHLIBNAME, luaopen_math);
    library_open(L, LUA_UTF8LIBNAME, luaopen_utf8);
    mgb_script_open_coroutine(L);
    mgb_script_open_io(L);
    mgb_script_open_base(L);
    mgb_script_open_require(L);
    random_seed(L);
    words_push(L, mgb_script_of(L));
    module_open(L, "nn", "mgb.nn");
    module_open(L, "mgb", "mgb");
    lua_pushliteral(L, MGB_VERSION);
    lua_setfield(L, -2, "version");
    mgb_script_open_flags(L);
    mgb_script_open_library(L);
    mgb_script_seal(L, -1, "mgb");
    mgb_script_seal(L, -2, "nn");
    lua_pop(L, 2);
    mgb_script_open_strict(L);
    return 0;
}

static bool strings_copy(char ***out, int *count, const char *const *from, int n)
{
    *out = n ? calloc((size_t)n, sizeof **out) : NULL;
    for (int i = 0; i < n && *out; i++) {
        if (!((*out)[i] = strdup(from[i])))
            return false;
        *count = i + 1;
    }
    return !n || *out;
}

static void strings_free(char **strings, int count)
{
    for (int i = 0; i < count; i++)
        free(strings[i]);
    free(strings);
}

static bool settings_copy(struct mgb_script *script, const struct mgb_script_settings *settings)
{
    script->limit = settings->memory_limit ? settings->memory_limit : DEFAULT_LIMIT;
    script->help = settings->help;
    script->no_terminal = settings->no_terminal;
    script->then = settings->then;
    script->output = settings->output;
    script->statement = settings->statement;
    script->output_context = settings->output_context;
    script->services = settings->services;
    script->backend = settings->backend ? settings->backend : "auto";
    script->machine = settings->machine;
    script->format = settings->format;
    script->help_text = strdup("");
    script->output_dir = strdup(settings->output_dir ? settings->output_dir : ".");
    return script->help_text && script->output_dir &&
           strings_copy(&script->words, &script->word_count, settings->words,
                        settings->word_count) &&
           strings_copy(&script->flags, &script->flag_count, settings->flags,
                        settings->flag_count) &&
           mgb_paths_modules(&script->roots, &script->root_count, settings->lua_path,
                             settings->lua_path_count);
}

enum mgb_status mgb_script_make(struct mgb_script **out, const struct mgb_script_settings *settings)
{
    *out = NULL;
    struct mgb_script *script = calloc(1, sizeof *script);
    if (script && settings_copy(script, settings))
        script->lua = lua_newstate(state_alloc, script);
    if (!script || !script->lua) {
        mgb_script_free(script);
        return mgb_fail(MGB_NO_MEMORY, "making a Lua state: the host's memory is exhausted");
    }
    lua_State *L = script->lua;
    *(struct mgb_script **)lua_getextraspace(L) = script;
    atomic_store(&script->running, L);
    lua_atpanic(L, state_panic);
    lua_setwarnf(L, state_warn, script);
    lua_pushcfunction(L, libraries_open);
    if (lua_pcall(L, 0, 0, 0) != LUA_OK) {
        enum mgb_status status =
            mgb_fail(MGB_NO_MEMORY, "opening the script libraries: %s", lua_tostring(L, -1));
        mgb_script_free(script);
        return status;
    }
    *out = script;
    return MGB_OK;
}

bool mgb_script_gave_model(const struct mgb_script *script)
{
    return script->gave_model;
}

void mgb_script_free(struct mgb_script *script)
{
    if (!script)
        return;
    if (script->lua)
        lua_close(script->lua);
    if (script->input)
        fclose(script->input);
    mgb_script_clear_error(script);
    mgb_machine_free(script->machine_taken);
    for (int i = 0; i < script->chunk_count; i++) {
        free(script->chunks[i].path);
        free(script->chunks[i].text);
    }
    free(script->chunks);
    strings_free(script->roots, script->root_count);
    strings_free(script->words, script->word_count);
    strings_free(script->flags, script->flag_count);
    free(script->output_dir);
    free(script->script_dir);
    free(script->help_text);
    free(script);
}

struct main_job {
    const char *path, *text;
    const char *inner; /* chunk name of a text that is part of the program */
    const struct call_job *call;
};
struct call_job { /* of a function that the program's Lua lends */
    const char *part, *name;
    const char *const *words;
    int count;
    struct mgb_script_answer *out;
};

/* Calls the program's text with what the script gave back, which is on the top. */
static void then_call(lua_State *L, const char *text)
{
    if (luaL_loadbufferx(L, text, strlen(text), MGB_SCRIPT_INNER "command", "t") != LUA_OK)
        lua_error(L);
    mgb_script_push_usage(L);
    lua_getfield(L, LUA_REGISTRYINDEX, MGB_SCRIPT_LENT);
    lua_pushvalue(L, -4);
    lua_call(L, 3, 0);
}

static int lent_run(lua_State *L, const struct call_job *call)
{
    lua_getfield(L, LUA_REGISTRYINDEX, MGB_SCRIPT_LENT);
    lua_getfield(L, -1, call->part);
    lua_getfield(L, -1, call->name);
    int function = lua_gettop(L);
    for (int i = 0; i < call->count; i++) {
        luaL_checkstack(L, 2, "too many words");
        lua_pushstring(L, call->words[i]);
    }
    lua_call(L, call->count, LUA_MULTRET);
    for (int i = function; i <= lua_gettop(L) && call->out->count < MGB_SCRIPT_ANSWERS; i++) {
        char *text = strdup(lua_isnil(L, i) ? "" : luaL_tolstring(L, i, NULL));
        if (!text)
            return luaL_error(L, "the host's memory is exhausted");
        call->out->texts[call->out->count++] = text;
        if (!lua_isnil(L, i))
            lua_pop(L, 1);
    }
    return 0;
}

static int main_run(lua_State *L)
{
    struct mgb_script *script = mgb_script_of(L);
    const struct main_job *job = lua_touserdata(L, 1);
    if (job->call)
        return lent_run(L, job->call);
    if (job->path) {
        mgb_script_load_file(L, job->path);
    } else {
        const char *name = job->inner ? job->inner : "=(command line)";
        if (!job->inner)
            mgb_script_note_chunk(L, name, NULL, job->text);
        if (luaL_loadbufferx(L, job->text, strlen(job->text), name, "t") != LUA_OK)
            return lua_error(L);
    }
    if (job->inner) {
        mgb_script_push_usage(L);
        lua_getfield(L, LUA_REGISTRYINDEX, MGB_SCRIPT_LENT);
    }
    for (int i = 0; i < script->word_count; i++) {
        luaL_checkstack(L, 1, "too many words after --");
        lua_pushstring(L, script->words[i]);
    }
    lua_call(L, script->word_count + (job->inner ? 2 : 0), 1);
    int given = lua_gettop(L);
    script->gave_model = job->path && luaL_getmetafield(L, -1, "__name") == LUA_TSTRING &&
                         strcmp(lua_tostring(L, -1), "model") == 0;
    lua_settop(L, given);
    mgb_script_check_flags(L);
    if (script->then && !job->inner)
        then_call(L, script->then);
    return 0;
}

static enum mgb_status failure_status(const struct mgb_script *script, int lua_status)
{
    if (mgb_script_interrupted(script))
        return mgb_fail(MGB_INTERRUPTED, "interrupted");
    if (lua_status == LUA_ERRMEM)
        return mgb_fail(MGB_NO_MEMORY, "%s", script->error.message);
    bool engine = script->raised != MGB_OK && script->raised_message &&
                  strstr(script->error.message, script->raised_message);
    return mgb_fail(engine ? script->raised : MGB_INVALID, "%s", script->error.message);
}

static enum mgb_status main_call(struct mgb_script *script, struct main_job job)
{
    lua_State *L = script->lua;
    mgb_script_clear_error(script);
    script->broken_off = false;
    lua_settop(L, 0);
    lua_pushcfunction(L, mgb_script_handle);
    lua_pushcfunction(L, main_run);
    lua_pushlightuserdata(L, &job);
    int status = lua_pcall(L, 1, 0, 1);
    atomic_store(&script->running, L);
    if (status == LUA_OK && script->broken_off && mgb_script_interrupted(script)) {
        lua_settop(L, 0);
        return mgb_fail(MGB_INTERRUPTED, "interrupted");
    }
    if (status == LUA_OK || script->stopped) {
        lua_settop(L, 0);
        return MGB_OK;
    }
    mgb_script_finish_error(script, status);
    lua_settop(L, 0);
    return failure_status(script, status);
}

enum mgb_status mgb_script_run_file(struct mgb_script *script, const char *path)
{
    free(script->script_dir);
    script->script_dir = mgb_paths_folder(path);
    if (!script->script_dir)
        return mgb_fail(MGB_NO_MEMORY, "running %s: the host's memory is exhausted", path);
    return main_call(script, (struct main_job){.path = path});
}

enum mgb_status mgb_script_run_text(struct mgb_script *script, const char *text)
{
    free(script->script_dir);
    script->script_dir = NULL;
    return main_call(script, (struct main_job){.text = text});
}

enum mgb_status mgb_script_run_inner(struct mgb_script *script, const char *text)
{
    free(script->script_dir);
    script->script_dir = NULL;
    return main_call(script, (struct main_job){.text = text, .inner = MGB_SCRIPT_INNER "command"});
}

enum mgb_status mgb_script_call(struct mgb_script *script, struct mgb_script_answer *out,
                                const char *part, const char *name, const char *const *words,
                                int count)
{
    *out = (struct mgb_script_answer){0};
    free(script->script_dir);
    script->script_dir = NULL;
    return main_call(script,
                     (struct main_job){.call = &(struct call_job){part, name, words, count, out}});
}

void mgb_script_answer_done(struct mgb_script_answer *answer)
{
    for (int i = 0; i < answer->count; i++)
        free(answer->texts[i]);
    answer->count = 0;
}

const char *mgb_script_help_get(const struct mgb_script *script)
{
    return script->help_text;
}
