/* Asking the results database: read-only, one statement, parameters bound by position, rows handed to a callback. A reader
 * has a connection of its own, belongs to one thread at a time, never blocks a writer and never checkpoints. */
#ifndef MGB_DB_QUERY_H
#define MGB_DB_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <mgb/record.h>
#include <mgb/status.h>

struct mgb_reader;

/* MGB_MISSING: no file, or nothing in it. Refuses as mgb_store_open does, and an older schema too: opening it once for
 * writing brings it forward. */
enum mgb_status mgb_reader_open(struct mgb_reader **out, const char *path);
void mgb_reader_close(struct mgb_reader *reader); /* NULL is allowed */
/* A query during which `stop` says true ends with MGB_INTERRUPTED; it is asked often, and also before there are rows.
 * NULL: nobody is asked. */
void mgb_reader_watch(struct mgb_reader *reader, bool (*stop)(void *context), void *context);

enum mgb_value_kind {
    MGB_VALUE_NULL,
    MGB_VALUE_INT,
    MGB_VALUE_REAL,
    MGB_VALUE_TEXT,
    MGB_VALUE_BLOB
};

struct mgb_value {
    enum mgb_value_kind kind;
    int64_t integer;
    double real;
    const char *text; /* TEXT, ended by a zero; BLOB */
    size_t size;      /* bytes of TEXT or BLOB */
};

/* Parameters; a NULL text is NULL. Borrowed from `text`. */
static inline struct mgb_value mgb_value_of_int(int64_t value)
{
    return (struct mgb_value){.kind = MGB_VALUE_INT, .integer = value};
}
static inline struct mgb_value mgb_value_of_text(const char *text)
{
    return text ? (struct mgb_value){.kind = MGB_VALUE_TEXT, .text = text, .size = strlen(text)}
                : (struct mgb_value){.kind = MGB_VALUE_NULL};
}

/* Of an answer: "" unless it is a text, 0 unless it is an integer. */
static inline const char *mgb_value_text(const struct mgb_value *value)
{
    return value->kind == MGB_VALUE_TEXT ? value->text : "";
}
static inline int64_t mgb_value_int(const struct mgb_value *value)
{
    return value->kind == MGB_VALUE_INT ? value->integer : 0;
}

/* What to do with the answer. Names and values are borrowed until the function returns. A status other than MGB_OK ends
 * the query and is returned. */
struct mgb_query_sink {
    void *context;
    /* Once, before the rows, even if there are none; may be NULL. */
    enum mgb_status (*columns)(void *context, const char *const *names, int count);
    enum mgb_status (*row)(void *context, const struct mgb_value *values, int count);
};

/* MGB_INVALID: bad SQL (the message has the text near the fault), a wrong number of parameters, several statements, or
 * one that would change something. */
enum mgb_status mgb_query_run(struct mgb_reader *reader, const char *text,
                              const struct mgb_value *parameters, int parameter_count,
                              const struct mgb_query_sink *sink);

/* What became of a run, as far as can be told now: a run whose process is gone shows as crashed before anyone wrote it
 * down. MGB_MISSING: no such run. */
enum mgb_status mgb_db_run_state(enum mgb_outcome *out, struct mgb_reader *reader, int64_t run);

/* The version of SQLite in use ("3.40.1"). */
const char *mgb_db_library_version(void);

#endif
