/* See asking.h. */
#include "app/cli/asking.h"
#include "app/cli/hub.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int answer_code(const struct mgb_invocation *in, enum mgb_status status, int code)
{
    return status == MGB_OK
               ? code
               : mgb_cli_complain(in, mgb_cli_refusal_code(status), "%s", mgb_message_get());
}

int mgb_cli_ask(const struct mgb_invocation *in,
                enum mgb_status (*ask)(const struct mgb_invocation *in, struct mgb_reader *reader,
                                       int *code))
{
    struct mgb_reader *reader = NULL;
    int code = MGB_EXIT_OK;
    char *database = mgb_cli_database(in);
    enum mgb_status status = database ? mgb_reader_open(&reader, database) : mgb_cli_no_database();
    if (status == MGB_OK)
        status = ask(in, reader, &code);
    mgb_reader_close(reader);
    free(database);
    return answer_code(in, status, code);
}

int mgb_cli_write(const struct mgb_invocation *in,
                  enum mgb_status (*put)(const struct mgb_invocation *in, struct mgb_reader *reader,
                                         struct mgb_store *store))
{
    struct mgb_reader *reader = NULL;
    struct mgb_store *store = NULL;
    char *database = mgb_cli_database(in);
    enum mgb_status status = database ? mgb_reader_open(&reader, database) : mgb_cli_no_database();
    if (status == MGB_UNSUPPORTED) { /* an older schema: writing brings it forward */
        status = mgb_store_open(&store, database, NULL);
        if (status == MGB_OK)
            status = mgb_reader_open(&reader, database);
    } else if (status == MGB_OK)
        status = mgb_store_open(&store, database, NULL);
    if (status == MGB_OK)
        status = put(in, reader, store);
    mgb_reader_close(reader);
    mgb_store_close(store);
    free(database);
    return answer_code(in, status, MGB_EXIT_OK);
}

enum mgb_status mgb_cli_fraction_read(double *out, const char *what, const char *text)
{
    char *end;
    *out = strtod(text, &end);
    if (end != text && *end == '%') {
        *out /= 100;
        end++;
    }
    if (end == text || *end || !(*out > 0 && *out < 1))
        return mgb_fail(MGB_INVALID, "%s: a fraction expected, as 1%% or 0.01, got '%s'", what,
                        text);
    return MGB_OK;
}

enum mgb_status mgb_cli_count_read(long long *out, const char *what, const char *text)
{
    char *end;
    if (strcmp(text, "all") == 0) {
        *out = 0;
        return MGB_OK;
    }
    errno = 0;
    *out = strtoll(text, &end, 10);
    if (end == text || *end || errno || *out < 1)
        return mgb_fail(MGB_INVALID, "%s: a count from 1 or 'all' expected, got '%s'", what, text);
    return MGB_OK;
}

void mgb_cli_value_add(struct mgb_table *table, const struct mgb_value *value)
{
    switch (value->kind) {
    case MGB_VALUE_NULL:
        mgb_table_add_empty(table);
        break;
    case MGB_VALUE_INT:
        mgb_table_add_integer(table, value->integer);
        break;
    case MGB_VALUE_REAL:
        mgb_table_add_number(table, value->real);
        break;
    case MGB_VALUE_TEXT:
        mgb_table_add_bytes(table, value->text, value->size);
        break;
    case MGB_VALUE_BLOB:
        mgb_table_add_text(table, "(blob)");
        break;
    }
}

static enum mgb_status columns_take(void *context, const char *const *names, int count)
{
    return mgb_table_make(context, count, names);
}

static enum mgb_status row_take(void *context, const struct mgb_value *values, int count)
{
    struct mgb_table **table = context;
    for (int i = 0; i < count; i++)
        mgb_cli_value_add(*table, &values[i]);
    return MGB_OK;
}

enum mgb_status mgb_cli_table_make(struct mgb_table **out, struct mgb_reader *reader,
                                   const char *sql, const struct mgb_value *values, int count)
{
    struct mgb_query_sink sink = {out, columns_take, row_take};
    *out = NULL;
    enum mgb_status status = mgb_query_run(reader, sql, values, count, &sink);
    if (status == MGB_OK)
        return MGB_OK;
    mgb_table_free(*out);
    *out = NULL;
    return status;
}

enum mgb_status mgb_cli_table_ask(const struct mgb_invocation *in, struct mgb_reader *reader,
                                  const char *sql, const struct mgb_value *values, int count)
{
    struct mgb_table *table;
    MGB_TRY(mgb_cli_table_make(&table, reader, sql, values, count));
    enum mgb_status status = mgb_table_print(table, in->format, stdout);
    mgb_table_free(table);
    return status;
}

enum mgb_status mgb_cli_names_keep(struct mgb_cli_names *out, const char *const *names, int count)
{
    if (count > 64)
        return mgb_fail(MGB_UNSUPPORTED, "%d columns; at most 64 are possible here", count);
    out->count = count;
    for (int i = 0; i < count; i++) {
        snprintf(out->texts[i], sizeof out->texts[i], "%s", names[i]);
        out->at[i] = out->texts[i];
    }
    return MGB_OK;
}

const char *mgb_cli_wrong_text(int64_t wrong)
{
    static const char *const texts[] = {NULL, "duplicates", "replicas differ",
                                        "duplicates, replicas differ"};
    return texts[wrong & 3];
}

void mgb_cli_place_write(char *out, size_t size, const char *strategy, const char *weights_at,
                         const char *join_at, const char *sum_at)
{
    bool outputs = strcmp(strategy, "outputs") == 0, grads = strcmp(strategy, "gradients") == 0;
    const char *places[] = {weights_at, outputs ? join_at : sum_at};
    size_t used = 0;
    if ((!outputs && !grads) || !*places[0]) {
        snprintf(out, size, "%s", *strategy ? strategy : "-");
        return;
    }
    if (!outputs)
        used = (size_t)snprintf(out, size, "grad ");
    for (int i = 0; i < 2; i++) {
        if (i)
            out[used++] = '>';
        for (const char *at = places[i]; *at && used + 3 < size; at++)
            if (*at != ':' && (*at != '/' || at != places[i]))
                out[used++] = *at;
    }
    out[used] = '\0';
}

const char *mgb_cli_switch_word(const char *name, const char *value)
{
    static const char *const names[] = {"cpu_relocation", "cpu_merge",     "overlap",
                                        "staged",         "stale",         "logical",
                                        "simulated",      "oversubscribed"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return strcmp(value, "1") == 0 ? "yes" : strcmp(value, "0") == 0 ? "no" : value;
    return strcmp(value, "true") == 0 ? "yes" : strcmp(value, "false") == 0 ? "no" : value;
}
