/* See statements.h. */
#include "app/session/workbench/statements.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct statement {
    enum { STATEMENT_TEXT, STATEMENT_OPEN, STATEMENT_STEP, STATEMENT_CLOSE } kind;
    char *text;
    int64_t steps;
};

struct mgb_statements {
    struct statement *at;
    size_t count, capacity;
    bool open, incomplete;
};

enum mgb_status mgb_statements_make(struct mgb_statements **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? MGB_OK : mgb_fail(MGB_NO_MEMORY, "noting what is done: memory is exhausted");
}

void mgb_statements_free(struct mgb_statements *statements)
{
    if (!statements)
        return;
    for (size_t i = 0; i < statements->count; i++)
        free(statements->at[i].text);
    free(statements->at);
    free(statements);
}

static enum mgb_status statement_add(struct mgb_statements *statements, struct statement statement)
{
    if (statements->count == statements->capacity) {
        size_t capacity = statements->capacity * 2 + 16;
        struct statement *more = realloc(statements->at, capacity * sizeof *more);
        if (!more) {
            statements->incomplete = true;
            free(statement.text);
            return mgb_fail(MGB_NO_MEMORY, "noting what is done: memory is exhausted");
        }
        statements->at = more;
        statements->capacity = capacity;
    }
    statements->at[statements->count++] = statement;
    return MGB_OK;
}

static enum mgb_status text_add(struct mgb_statements *statements, int kind, const char *text)
{
    struct statement statement = {.text = strdup(text)};
    statement.kind = kind;
    if (statement.text)
        return statement_add(statements, statement);
    statements->incomplete = true;
    return mgb_fail(MGB_NO_MEMORY, "noting what is done: memory is exhausted");
}

enum mgb_status mgb_statements_add(struct mgb_statements *statements, const char *text)
{
    return text_add(statements, STATEMENT_TEXT, text);
}

enum mgb_status mgb_statements_open(struct mgb_statements *statements, const char *constructor)
{
    MGB_TRY(mgb_statements_close(statements));
    statements->open = true;
    return text_add(statements, STATEMENT_OPEN, constructor);
}

enum mgb_status mgb_statements_step(struct mgb_statements *statements, int64_t steps)
{
    struct statement *last = statements->count ? &statements->at[statements->count - 1] : NULL;
    if (steps <= 0)
        return MGB_OK;
    if (last && last->kind == STATEMENT_STEP) {
        last->steps += steps;
        return MGB_OK;
    }
    return statement_add(statements, (struct statement){.kind = STATEMENT_STEP, .steps = steps});
}

enum mgb_status mgb_statements_close(struct mgb_statements *statements)
{
    if (!statements->open)
        return MGB_OK;
    statements->open = false;
    return statement_add(statements, (struct statement){.kind = STATEMENT_CLOSE});
}

void mgb_statements_lose(struct mgb_statements *statements)
{
    statements->incomplete = true;
}

bool mgb_statements_is_complete(const struct mgb_statements *statements)
{
    return !statements->incomplete;
}

bool mgb_statements_is_empty(const struct mgb_statements *statements)
{
    return statements->count == 0;
}

/* A text in memory that could not grow says so to who writes, not when it is closed. */
struct writing {
    FILE *out;
    bool failed;
};

__attribute__((format(printf, 2, 3))) static void put(struct writing *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    w->failed = vfprintf(w->out, format, args) < 0 || w->failed;
    va_end(args);
}

/* Every line of a text that is a comment starts as one. */
static void text_write(struct writing *w, const char *text)
{
    bool comment = strncmp(text, "--", 2) == 0;
    while (*text) {
        size_t length = strcspn(text, "\n");
        put(w, "%.*s", (int)length, text);
        text += length;
        if (*text)
            put(w, comment ? "\n-- " : "\n");
        text += *text != '\0';
    }
    put(w, "\n");
}

static void statement_write(struct writing *w, const struct statement *statement)
{
    switch (statement->kind) {
    case STATEMENT_TEXT:
        text_write(w, statement->text);
        break;
    case STATEMENT_OPEN:
        put(w, "s = %s\n", statement->text);
        break;
    case STATEMENT_STEP: /* a call takes so many at most */
        for (int64_t left = statement->steps; left > 0; left -= INT32_MAX)
            put(w, "s:step(%lld)\n", (long long)(left < INT32_MAX ? left : INT32_MAX));
        break;
    case STATEMENT_CLOSE:
        put(w, "finish()\n");
        break;
    }
}

static bool has_unset(const struct mgb_statements *statements)
{
    for (size_t i = 0; i < statements->count; i++)
        if (statements->at[i].kind == STATEMENT_TEXT && strstr(statements->at[i].text, "= \"nil\""))
            return true;
    return false;
}

char *mgb_statements_write(const struct mgb_statements *statements, const char *version,
                           const char *digest)
{
    static const char finish[] =
        "local function finish(recorded) -- recorded: the digest that the weights had there and "
        "then\n"
        "  local f, digest = s:figures(), s:digest()\n"
        "  print((\"%s: %d steps, loss %.17g, digest %s%s\"):format(s.model, s.step_index, f.loss "
        "or "
        "0/0, digest,\n"
        "    recorded and digest == recorded and \", as recorded\" or \"\"))\n"
        "  if f.step_ms.median then print((\"  %.4g ms a step, median of %d timed steps of the "
        "last "
        "segment\"):format(f.step_ms.median, f.steps)) end\n"
        "  s:close()\n"
        "  if recorded and digest ~= recorded then error((\"the recorded session had the digest "
        "%s, this one has %s\"):format(recorded, digest), 0) end\n"
        "end\n";
    char *text = NULL;
    size_t size;
    if (statements->incomplete)
        return NULL;
    struct writing w = {.out = open_memstream(&text, &size)};
    if (!w.out)
        return NULL;
    put(&w,
        "-- A session of mgbench %s, statement by statement: the same losses and the same "
        "digest, to the last bit.\n-- mgbench -e FILE\nlocal s\n%s\n",
        version, finish);
    if (has_unset(statements))
        put(&w, "-- What is set to \"nil\" goes back to what it is where nothing is asked for.\n");
    for (size_t i = 0; i < statements->count; i++)
        statement_write(&w, &statements->at[i]);
    if (statements->open && digest && *digest)
        put(&w, "finish(\"%s\")\n", digest);
    else if (statements->open)
        put(&w, "finish()\n");
    if (fclose(w.out) == 0 && !w.failed)
        return text;
    free(text);
    return NULL;
}
