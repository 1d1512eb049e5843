/* SQL from scripts: values become texts, with their kind beside them. */
#include "app/session/private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 256, MOST_PARAMETERS = 64 };

enum mgb_status mgb_hub_reader(struct mgb_hub *hub, struct mgb_reader **out)
{
    if (!hub->options.database)
        return mgb_fail(MGB_MISSING,
                        "query: there is no results database; give one with --db FILE");
    if (hub->recorder)
        mgb_recorder_flush(hub->recorder); /* what cannot be stored cannot be asked for either */
    if (!hub->reader)
        MGB_TRY(mgb_reader_open(&hub->reader, hub->options.database));
    *out = hub->reader;
    return MGB_OK;
}

typedef bool row_function(void *, int, const char *const *, const char *const *, const int *);

struct query_rows {
    row_function *row;
    void *context;
    char *names[MOST_COLUMNS]; /* owned: SQLite's own may go with the first step */
    int name_count;
    char numbers[MOST_COLUMNS][32];
};

static enum mgb_status keep_names(void *context, const char *const *names, int count)
{
    struct query_rows *rows = context;
    if (count > MOST_COLUMNS)
        return mgb_fail(MGB_UNSUPPORTED, "query: %d columns; at most %d are possible", count,
                        MOST_COLUMNS);
    for (; rows->name_count < count; rows->name_count++)
        if (!(rows->names[rows->name_count] = strdup(names[rows->name_count])))
            return mgb_fail(MGB_NO_MEMORY, "query: memory is exhausted");
    return MGB_OK;
}

static void names_free(struct query_rows *rows)
{
    while (rows->name_count > 0)
        free(rows->names[--rows->name_count]);
}

/* SQLite's numbers of kinds: 1 integer, 2 real, 3 text, 5 null. */
static const char *value_text(char number[32], int *type, const struct mgb_value *value)
{
    switch (value->kind) {
    case MGB_VALUE_NULL:
        *type = 5;
        return NULL;
    case MGB_VALUE_INT:
        *type = 1;
        snprintf(number, 32, "%" PRId64, value->integer);
        return number;
    case MGB_VALUE_REAL:
        *type = 2;
        snprintf(number, 32, "%.17g", value->real);
        return number;
    case MGB_VALUE_TEXT:
        *type = 3;
        return value->text;
    case MGB_VALUE_BLOB:
        *type = 3;
        return "(blob)";
    }
    return NULL;
}

static enum mgb_status hand_row(void *context, const struct mgb_value *values, int count)
{
    struct query_rows *rows = context;
    const char *texts[MOST_COLUMNS];
    int types[MOST_COLUMNS];
    for (int i = 0; i < count; i++)
        texts[i] = value_text(rows->numbers[i], &types[i], &values[i]);
    if (rows->row(rows->context, count, (const char *const *)rows->names, texts, types))
        return MGB_OK;
    return mgb_fail(MGB_INTERRUPTED, "query: stopped by the caller");
}

enum mgb_status mgb_hub_query(void *context, const char *sql, const char *const *parameters,
                              int parameter_count, row_function *row, void *row_context)
{
    struct mgb_reader *reader;
    struct mgb_value values[MOST_PARAMETERS];
    if (parameter_count > MOST_PARAMETERS)
        return mgb_fail(MGB_INVALID, "query: %d parameters; at most %d are possible",
                        parameter_count, MOST_PARAMETERS);
    for (int i = 0; i < parameter_count; i++)
        values[i] = (struct mgb_value){.kind = parameters[i] ? MGB_VALUE_TEXT : MGB_VALUE_NULL,
                                       .text = parameters[i],
                                       .size = parameters[i] ? strlen(parameters[i]) : 0};
    MGB_TRY(mgb_hub_reader(context, &reader));
    static _Thread_local struct query_rows rows;
    rows.row = row;
    rows.context = row_context;
    struct mgb_query_sink sink = {&rows, keep_names, hand_row};
    enum mgb_status status = mgb_query_run(reader, sql, values, parameter_count, &sink);
    names_free(&rows);
    return status;
}
