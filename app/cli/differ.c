/* See differ.h. A side of several runs has a name's distinct values. */
#include "app/cli/differ.h"

#include "app/cli/asking.h"
#include "app/script/table.h"
#include <stdlib.h>
#include <string.h>
#include <mgb/text.h>

static const char settings_sql[] =
    "SELECT m.name AS model, m.graph_digest AS graph, m.parameters, r.data, r.seed, r.script,"
    " r.script_digest, s.optimizer, s.strategy, s.gpus, s.gpu_list, s.batch_mode, s.batch_per_gpu,"
    " s.global_batch, s.cpu_relocation, s.cpu_merge, s.weights_at, s.join_at, "
    "s.loss_at,"
    " s.sum_at, s.update_at, s.relocation, s.allreduce, s.bucket_mib, s.overlap, s.wire_type, "
    "s.staged,"
    " s.stale, s.peer_access, s.pinned, s.graph AS cuda_graph, s.bn, s.precision, s.recompute,"
    " s.logical, s.gpu_memory_bytes, s.threads, s.hosts, s.gave_way, s.warmup_rule, s.warmup_steps,"
    " s.target_noise, s.max_time_ns / 1e9 AS max_time_s, s.stop_reason, s.plan_digest"
    "  FROM segment AS s JOIN run AS r ON r.id = s.run_id JOIN model AS m ON m.id = r.model_id"
    " WHERE s.id = ?";
static const char environment_sql[] =
    "SELECT r.backend, r.simulated, h.name AS machine, h.cpu, h.cores, h.threads AS "
    "hardware_threads,"
    " h.memory_bytes, h.os, h.kernel, r.program_version, s.oversubscribed"
    "  FROM segment AS s JOIN run AS r ON r.id = s.run_id JOIN machine AS h ON h.id = r.machine_id"
    " WHERE s.id = ?";

#define JSON_OF(column)                                                                            \
    "json_each(CASE WHEN json_valid(" column ") THEN " column " ELSE '{}' END) AS j"

/* Names and values, a row each. */
static const char model_options_sql[] =
    "SELECT 'model.' || j.key, j.value FROM segment AS s JOIN run AS r ON r.id = s.run_id"
    " JOIN model AS m ON m.id = r.model_id JOIN " JSON_OF("m.options") " WHERE s.id = ?";
static const char versions_sql[] =
    "SELECT j.key, j.value FROM segment AS s JOIN run AS r ON r.id = s.run_id"
    " JOIN " JSON_OF("r.versions") " WHERE s.id = ?";
static const char variables_sql[] =
    "SELECT j.key, j.value FROM segment AS s JOIN run AS r ON r.id = s.run_id"
    " JOIN " JSON_OF("r.environment") " WHERE s.id = ?";
static const char devices_sql[] =
    "SELECT d.name, coalesce(d.product, d.kind) || coalesce(', driver ' || d.driver_version, '')"
    "  FROM segment AS s JOIN run AS r ON r.id = s.run_id JOIN device AS d"
    "    ON d.machine_id = r.machine_id AND d.backend = r.backend"
    " WHERE s.id = ? ORDER BY d.name";

struct taking { /* of one side's segment */
    struct mgb_differ *out;
    int side;
    bool environment;
    struct mgb_cli_names names; /* of the wide questions */
    int capacity;
};

static struct mgb_differ_row *row_get(struct taking *t, const char *name)
{
    struct mgb_differ *out = t->out;
    for (int i = 0; i < out->count; i++)
        if (out->rows[i].environment == t->environment && strcmp(out->rows[i].name, name) == 0)
            return &out->rows[i];
    if (out->count == t->capacity) {
        int capacity = t->capacity ? 2 * t->capacity : 64;
        struct mgb_differ_row *grown = realloc(out->rows, (size_t)capacity * sizeof *grown);
        if (!grown)
            return NULL;
        out->rows = grown;
        t->capacity = capacity;
    }
    struct mgb_differ_row *row = &out->rows[out->count++];
    *row = (struct mgb_differ_row){.environment = t->environment};
    snprintf(row->name, sizeof row->name, "%s", name);
    return row;
}

static void value_write(char out[MGB_DIFFER_VALUE], const struct mgb_value *value)
{
    char number[40];
    switch (value->kind) {
    case MGB_VALUE_NULL:
        strcpy(out, "n/a");
        break;
    case MGB_VALUE_INT:
        snprintf(out, MGB_DIFFER_VALUE, "%lld", (long long)value->integer);
        break;
    case MGB_VALUE_REAL:
        snprintf(out, MGB_DIFFER_VALUE, "%s", mgb_format_exact(number, value->real));
        break;
    case MGB_VALUE_TEXT:
        snprintf(out, MGB_DIFFER_VALUE, "%s", value->text);
        break;
    case MGB_VALUE_BLOB:
        strcpy(out, "(blob)");
        break;
    }
}

/* Whether `value` is one of the items of `list`, ", " between them. */
static bool list_has(const char *list, const char *value)
{
    size_t length = strlen(value);
    for (const char *at = list; (at = strstr(at, value)); at++)
        if ((at == list || (at - list > 1 && at[-1] == ' ' && at[-2] == ',')) &&
            (!at[length] || strncmp(at + length, ", ", 2) == 0))
            return true;
    return false;
}

static enum mgb_status value_take(struct taking *t, const char *name, const struct mgb_value *value)
{
    char text[MGB_DIFFER_VALUE];
    struct mgb_differ_row *row = row_get(t, name);
    if (!row)
        return mgb_fail(MGB_NO_MEMORY, "comparing settings: memory is exhausted");
    char *at = row->values[t->side];
    size_t used = strlen(at);
    value_write(text, value);
    const char *word = mgb_cli_switch_word(name, text);
    if (word != text)
        strcpy(text, word);
    if (!used)
        strcpy(at, text);
    else if (!list_has(at, text) && used + 6 < MGB_DIFFER_VALUE)
        snprintf(at + used, MGB_DIFFER_VALUE - used, ", %.*s", (int)(MGB_DIFFER_VALUE - used - 3),
                 text);
    return MGB_OK;
}

static enum mgb_status names_take(void *context, const char *const *names, int count)
{
    return mgb_cli_names_keep(&((struct taking *)context)->names, names, count);
}

static enum mgb_status wide_take(void *context, const struct mgb_value *values, int count)
{
    struct taking *t = context;
    for (int i = 0; i < count; i++)
        MGB_TRY(value_take(t, t->names.at[i], &values[i]));
    return MGB_OK;
}

static enum mgb_status pair_take(void *context, const struct mgb_value *values, int count)
{
    (void)count;
    return values[0].kind == MGB_VALUE_TEXT ? value_take(context, values[0].text, &values[1])
                                            : MGB_OK;
}

static enum mgb_status segment_take(struct taking *t, struct mgb_reader *reader, int64_t segment)
{
    static const struct {
        const char *sql;
        bool environment, wide;
    } questions[] = {{settings_sql, false, true},   {model_options_sql, false, false},
                     {environment_sql, true, true}, {devices_sql, true, false},
                     {versions_sql, true, false},   {variables_sql, true, false}};
    struct mgb_value id = mgb_value_of_int(segment);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        struct mgb_query_sink sink = {.context = t,
                                      .columns = questions[i].wide ? names_take : NULL,
                                      .row = questions[i].wide ? wide_take : pair_take};
        t->environment = questions[i].environment;
        MGB_TRY(mgb_query_run(reader, questions[i].sql, &id, 1, &sink));
    }
    return MGB_OK;
}

enum mgb_status mgb_differ_make(struct mgb_differ *out, struct mgb_reader *reader,
                                const struct mgb_selection *a, const struct mgb_selection *b)
{
    const struct mgb_selection *sides[] = {a, b};
    struct taking t = {.out = out};
    enum mgb_status status = MGB_OK;
    *out = (struct mgb_differ){0};
    for (t.side = 0; t.side < 2; t.side++)
        for (size_t i = 0; status == MGB_OK && i < sides[t.side]->count; i++)
            if (sides[t.side]->segments[i].segment)
                status = segment_take(&t, reader, sides[t.side]->segments[i].segment);
    if (status != MGB_OK)
        mgb_differ_done(out);
    return status;
}

void mgb_differ_done(struct mgb_differ *differ)
{
    free(differ->rows);
    *differ = (struct mgb_differ){0};
}

static bool row_differs(const struct mgb_differ_row *row)
{
    return strcmp(row->values[0], row->values[1]) != 0;
}

static enum mgb_status group_print(const struct mgb_differ *differ, bool environment, bool all,
                                   FILE *out)
{
    const char *const names[] = {environment ? "environment" : "setting", "A", "B"};
    struct mgb_table *table;
    int shown = 0;
    MGB_TRY(mgb_table_make(&table, 3, names));
    for (int i = 0; i < differ->count; i++) {
        const struct mgb_differ_row *row = &differ->rows[i];
        if (row->environment != environment || (!all && !row_differs(row)))
            continue;
        mgb_table_add_text(table, row->name);
        mgb_table_add_text(table, *row->values[0] ? row->values[0] : NULL);
        mgb_table_add_text(table, *row->values[1] ? row->values[1] : NULL);
        shown++;
    }
    enum mgb_status status = MGB_OK;
    if (shown > 0)
        status = mgb_table_print(table, MGB_TABLE_TEXT, out);
    else
        fprintf(out, "no %s differs\n", environment ? "part of the environment" : "setting");
    fputc('\n', out);
    mgb_table_free(table);
    return status;
}

enum mgb_status mgb_differ_print(const struct mgb_differ *differ, bool all, FILE *out)
{
    MGB_TRY(group_print(differ, false, all, out));
    return group_print(differ, true, all, out);
}

void mgb_differ_line(char *out, size_t size, const struct mgb_differ *differ)
{
    size_t used = 0;
    *out = '\0';
    for (int i = 0; i < differ->count && used + 1 < size; i++) {
        const struct mgb_differ_row *row = &differ->rows[i];
        if (row_differs(row))
            used += (size_t)snprintf(out + used, size - used, "%s%s: %s | %s", used ? "; " : "",
                                     row->name, row->values[0], row->values[1]);
    }
}
