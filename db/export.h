/* Rows of a query as text for other programs, written while they come: memory does not grow with them. What was written
 * can be closed at any row, so that an interrupted export is still a valid document. Knows no table. */
#ifndef MGB_DB_EXPORT_H
#define MGB_DB_EXPORT_H

#include <stdio.h>

#include "db/query.h"

enum mgb_export_format {
    MGB_EXPORT_CSV,     /* RFC 4180, header first; NULL: nothing, an empty text: "" */
    MGB_EXPORT_JSON,    /* {"schema":2,"program":...,"rows":[...],"complete":true} */
    MGB_EXPORT_JSONL,   /* an object a line */
    MGB_EXPORT_MARKDOWN /* a table for people: numbers with 4 digits */
};

struct mgb_export {
    /* Of the caller. */
    FILE *out;
    enum mgb_export_format format;
    const char *name;    /* of `out`, for messages; NULL: standard output */
    const char *program; /* JSON: what wrote it */
    bool plain;          /* whole numbers of type REAL without ".0", empty texts without quotes */
    bool (*stop)(void *context); /* asked before each row; may be NULL */
    void *context;               /* of stop */
    /* Of the writer; zeroed at first. */
    int64_t rows;
    int columns;
    char **names; /* as they are written */
    bool begun;
};

/* For mgb_query_run. Its row fails with MGB_INTERRUPTED when `stop` says so, MGB_IO when `out` takes no more. */
struct mgb_query_sink mgb_export_sink(struct mgb_export *writer);
/* Ends the document, if one was begun; `complete`: all rows are there. MGB_IO: it could not be written. Frees what the
 * writer holds. */
enum mgb_status mgb_export_end(struct mgb_export *writer, bool complete);

/* MGB_IO: what errno says of writing to `name` (NULL: standard output). */
enum mgb_status mgb_export_fail(const char *name);

#define MGB_EXPORT_NUMBER 40
/* The shortest digits that read back as the same double, with a point in any locale; a whole one ends in ".0" unless
 * `plain`. "" if it is not finite. Returns `out`. */
char *mgb_export_number(char out[MGB_EXPORT_NUMBER], double value, bool plain);

#endif
