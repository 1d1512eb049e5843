/* What a script error looks like: message, file and line, the lines around it with a caret, the Lua frames that led
 * there. The record is kept in plain C strings so that screens on other threads can take copies. */
#include "app/script/excerpt.h"
#include "app/script/host.h"
#include <mgb/text.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAMES_TOP 10
#define FRAMES_BOTTOM 10

const char *mgb_script_shown_path(const char *path)
{
    char here[4096];
    if (getcwd(here, sizeof here)) {
        size_t length = strlen(here);
        if (length > 1 && strncmp(path, here, length) == 0 && path[length] == '/')
            path += length + 1;
    }
    while (strncmp(path, "./", 2) == 0 && path[2])
        path += 2;
    return path;
}

void mgb_script_note_chunk(lua_State *L, const char *chunk_name, const char *path, const char *text)
{
    struct mgb_script *script = mgb_script_of(L);
    lua_Debug ar;
    if (luaL_loadbufferx(L, "", 0, chunk_name, "t") != LUA_OK)
        lua_error(L);
    lua_getinfo(L, ">S", &ar);
    struct mgb_script_chunk *chunks =
        realloc(script->chunks, ((size_t)script->chunk_count + 1) * sizeof *chunks);
    if (!chunks)
        luaL_error(L, "the host's memory is exhausted");
    script->chunks = chunks;
    struct mgb_script_chunk *chunk = &chunks[script->chunk_count++];
    memcpy(chunk->shown, ar.short_src, sizeof chunk->shown);
    chunk->path = path ? strdup(path) : NULL;
    chunk->text = text ? strdup(text) : NULL;
}

static const struct mgb_script_chunk *chunk_find(const struct mgb_script *script, const char *shown)
{
    for (int i = script->chunk_count - 1; i >= 0; i--)
        if (strcmp(script->chunks[i].shown, shown) == 0)
            return &script->chunks[i];
    return NULL;
}

/* "file:12: text" -> the place, and where the text begins; 0 when the message starts otherwise. */
static int place_split(const char *message, char shown[LUA_IDSIZE], const char **rest)
{
    for (const char *colon = strchr(message, ':'); colon; colon = strchr(colon + 1, ':')) {
        char *end;
        long line = isdigit((unsigned char)colon[1]) ? strtol(colon + 1, &end, 10) : 0;
        if (line > 0 && strncmp(end, ": ", 2) == 0 && colon - message < LUA_IDSIZE) {
            memcpy(shown, message, (size_t)(colon - message));
            shown[colon - message] = 0;
            *rest = end + 2;
            return (int)line;
        }
        if (colon - message >= LUA_IDSIZE || strchr("\n", colon[1]))
            break;
    }
    return 0;
}

/* C functions and the Lua that is part of the program: not the user's lines. */
static bool frame_is_ours(const lua_Debug *ar)
{
    return strcmp(ar->what, "C") == 0 ||
           strncmp(ar->source, MGB_SCRIPT_INNER, strlen(MGB_SCRIPT_INNER)) == 0;
}

static int place_from_stack(lua_State *L, char shown[LUA_IDSIZE])
{
    lua_Debug ar;
    for (int level = 0; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "Sl", &ar);
        if (ar.currentline > 0 && !frame_is_ours(&ar)) {
            memcpy(shown, ar.short_src, LUA_IDSIZE);
            return ar.currentline;
        }
    }
    return 0;
}

static void frame_print(FILE *out, lua_State *from, lua_Debug *ar)
{
    lua_getinfo(from, "Slnt", ar);
    if (frame_is_ours(ar))
        return;
    fprintf(out, "\n    %s:%d: in ", ar->short_src, ar->currentline);
    if (strcmp(ar->what, "main") == 0)
        fputs("main chunk", out);
    else if (*ar->namewhat)
        fprintf(out, "%s '%s'", ar->namewhat, ar->name);
    else
        fprintf(out, "function <%s:%d>", ar->short_src, ar->linedefined);
    if (ar->istailcall)
        fputs("\n    (...tail calls...)", out);
}

static void frames_print(FILE *out, lua_State *from, int level)
{
    lua_Debug ar;
    int depth = level;
    while (lua_getstack(from, depth, &ar) && depth < level + FRAMES_TOP) {
        frame_print(out, from, &ar);
        depth++;
    }
    int last = depth, step = 1;
    while (lua_getstack(from, last + step, &ar)) /* finding the end one by one would be quadratic */
        step *= 2;
    for (int low = last; step > 0; step /= 2) {
        if (lua_getstack(from, low + step, &ar))
            low += step;
        last = low;
    }
    if (last - depth >= FRAMES_BOTTOM) {
        int skipped = last - depth - FRAMES_BOTTOM + 1;
        fprintf(out, "\n    ... (%d levels left out)", skipped);
        depth += skipped;
    }
    for (; lua_getstack(from, depth, &ar); depth++)
        frame_print(out, from, &ar);
}

/* An open_memstream's result, or an empty string the caller may free when memory is out. */
static char *stream_take(FILE *stream, char **chars)
{
    if (stream)
        fclose(stream);
    return *chars ? *chars : strdup("");
}

static char *trace_make(lua_State *from, int level)
{
    char *chars = NULL;
    size_t size;
    FILE *out = open_memstream(&chars, &size);
    if (out)
        frames_print(out, from, level);
    return stream_take(out, &chars);
}

void mgb_script_push_trace(lua_State *L, lua_State *from, int level)
{
    char *trace = trace_make(from, level);
    lua_pushstring(L,
                   trace ? trace : ""); /* may raise at the memory limit and leak this one text */
    free(trace);
}

static void record_fill(struct mgb_script *script, const char *whole, const char *shown, int line,
                        const char *trace)
{
    char *message = mgb_script_cut_message(whole);
    if (!message)
        return; /* told as any end of memory */
    struct mgb_script_error *error = &script->error;
    const struct mgb_script_chunk *chunk = line ? chunk_find(script, shown) : NULL;
    char *chars = NULL;
    size_t size;
    FILE *out = open_memstream(&chars, &size);
    if (out) {
        if (line)
            fprintf(out, "%s:%d: ", shown, line);
        fputs(message, out);
        if (chunk)
            mgb_script_print_excerpt(out, chunk, line, message);
        if (*trace && line)
            fprintf(out, "\nstack traceback:%s", trace);
    }
    error->text = stream_take(out, &chars);
    error->message = message;
    error->file = strdup(chunk && chunk->path ? chunk->path : line ? shown : "");
    error->line = line;
}

static void string_clear(char **string)
{
    free(*string);
    *string = NULL;
}

void mgb_script_clear_error(struct mgb_script *script)
{
    string_clear(&script->error.message);
    string_clear(&script->error.file);
    string_clear(&script->error.text);
    script->error.line = 0;
    script->error.usage = false;
    string_clear(&script->coroutine_trace);
    string_clear(&script->coroutine_message);
    string_clear(&script->raised_message);
    script->raised = MGB_OK;
    script->refused_at[0] = 0;
}

/* The text of an error value: itself when it is text or knows how to become some, else what it is. */
static const char *value_message(lua_State *L)
{
    if (lua_type(L, 1) == LUA_TSTRING)
        return lua_tostring(L, 1);
    if (lua_type(L, 1) == LUA_TNUMBER || luaL_getmetafield(L, 1, "__tostring") != LUA_TNIL)
        return luaL_tolstring(L, 1, NULL);
    const char *what = mgb_script_describe(L, 1);
    return lua_pushfstring(L, "the error value is %s, not a message", what);
}

int mgb_script_handle(lua_State *L)
{
    struct mgb_script *script = mgb_script_of(L);
    lua_settop(L, 1);
    const char *message = value_message(L), *rest = message;
    char shown[LUA_IDSIZE] = "";
    int line = place_split(message, shown, &rest);
    if (line == 0 || strncmp(shown, &MGB_SCRIPT_INNER[1], strlen(MGB_SCRIPT_INNER) - 1) == 0)
        line = place_from_stack(L, shown);
    char *trace = trace_make(L, 0);
    char *joined = NULL;
    bool in_coroutine =
        script->coroutine_message && strcmp(script->coroutine_message, message) == 0;
    if (asprintf(&joined, "%s%s", in_coroutine ? script->coroutine_trace : "", trace) < 0)
        joined = NULL;
    string_clear(&script->error.message);
    string_clear(&script->error.file);
    string_clear(&script->error.text);
    record_fill(script, rest, shown, line, joined ? joined : "");
    free(trace);
    free(joined);
    lua_settop(L, 1);
    return 1;
}

void mgb_script_finish_error(struct mgb_script *script, int lua_status)
{
    if (script->error.text && script->error.message && script->error.file)
        return;
    char message[256], shown[LUA_IDSIZE] = "", size[32];
    int line = 0;
    if (lua_status == LUA_ERRMEM) {
        mgb_format_bytes(size, sizeof size, (long long)script->limit);
        snprintf(message, sizeof message,
                 "not enough memory: the script's own data is limited to %s", size);
        char *colon = strrchr(script->refused_at, ':');
        if (colon) {
            line = (int)strtol(colon + 1, NULL, 10);
            snprintf(shown, sizeof shown, "%.*s", (int)(colon - script->refused_at),
                     script->refused_at);
        }
    } else {
        const char *text = lua_tostring(script->lua, -1);
        snprintf(message, sizeof message, "%s", text ? text : "an error while handling an error");
    }
    string_clear(&script->error.message);
    string_clear(&script->error.file);
    string_clear(&script->error.text);
    record_fill(script, message, shown, line, "");
}

static void string_default(char **string)
{
    if (!*string)
        *string = strdup("");
}

const struct mgb_script_error *mgb_script_error_get(const struct mgb_script *script)
{
    struct mgb_script_error *error = (struct mgb_script_error *)&script->error;
    string_default(&error->message);
    string_default(&error->file);
    string_default(&error->text);
    return error;
}

int mgb_script_raise(lua_State *L, enum mgb_status status)
{
    struct mgb_script *script = mgb_script_of(L);
    string_clear(&script->raised_message);
    script->raised_message = strdup(mgb_message_get());
    script->raised = status;
    char shown[LUA_IDSIZE];
    int line = place_from_stack(L, shown);
    if (line)
        lua_pushfstring(L, "%s:%d: %s", shown, line, script->raised_message);
    else
        lua_pushstring(L, script->raised_message);
    return lua_error(L);
}

int mgb_script_fail(lua_State *L, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = lua_pushvfstring(L, format, args);
    va_end(args);
    return mgb_script_raise(L, mgb_fail(MGB_INVALID, "%s", text));
}

void mgb_script_check(lua_State *L, enum mgb_status status)
{
    if (status != MGB_OK)
        mgb_script_raise(L, status);
}
