/* Which rows `mgbench export` means; see export.h. Runs are named by number in the statement, so that one statement in
 * the order of the table's key does for any number of them. */
#include "app/cli/export.h"
#include "db/select.h"
#include <mgb/text.h>
#include <stdlib.h>
#include <string.h>

#define MAIN_COLUMNS                                                                               \
    "run_id, segment_id, model, backend, simulated, machine, strategy, gpus, cpu_relocation, "     \
    "cpu_merge, batch_per_gpu, global_batch, steps, step_ms_median, step_ms_ci95_low, "            \
    "step_ms_ci95_high, steady, examples_per_s, gpu_peak_bytes, outcome"

/* What can be asked for by a plain word. `s` is the table segment, which knows the run. */
static const struct rows_of {
    const char *name, *select, *order;
} kinds[] = {
    {"runs", "SELECT r.* FROM run_summary AS r JOIN segment AS s ON s.id = r.segment_id", "s.id"},
    {"steps", "SELECT s.run_id, t.* FROM step AS t JOIN segment AS s ON s.id = t.segment_id",
     "t.segment_id, t.step"},
    {"phases",
     "SELECT s.run_id, t.segment_id, t.step, t.device, p.column1 AS phase, "
     "CASE p.column1 WHEN 'input' THEN input_busy_ns WHEN 'fetch' THEN fetch_busy_ns "
     "WHEN 'forward' THEN forward_busy_ns WHEN 'backward' THEN backward_busy_ns "
     "WHEN 'join' THEN join_busy_ns WHEN 'sum' THEN sum_busy_ns "
     "WHEN 'update' THEN update_busy_ns WHEN 'wait' THEN wait_busy_ns END AS busy_ns, "
     "CASE p.column1 WHEN 'input' THEN input_exposed_ns WHEN 'fetch' THEN fetch_exposed_ns "
     "WHEN 'forward' THEN forward_exposed_ns WHEN 'backward' THEN backward_exposed_ns "
     "WHEN 'join' THEN join_exposed_ns WHEN 'sum' THEN sum_exposed_ns "
     "WHEN 'update' THEN update_exposed_ns WHEN 'wait' THEN wait_exposed_ns END AS exposed_ns "
     "FROM step_device AS t JOIN segment AS s ON s.id = t.segment_id CROSS JOIN "
     "(VALUES ('input'), ('fetch'), ('forward'), ('backward'), ('join'), ('sum'), ('update'), "
     "('wait')) AS p",
     "t.segment_id, t.step, t.device"},
    {"memory", "SELECT s.run_id, t.* FROM memory AS t JOIN segment AS s ON s.id = t.segment_id",
     "t.segment_id, t.device, t.category"},
    {"traffic", "SELECT s.run_id, t.* FROM traffic AS t JOIN segment AS s ON s.id = t.segment_id",
     "t.segment_id, t.from_device, t.to_device"},
    {"tasks", "SELECT s.run_id, t.* FROM task AS t JOIN segment AS s ON s.id = t.segment_id",
     "t.segment_id, t.step, t.id"},
    {NULL, NULL, NULL}};

static const struct rows_of *kind_find(const char *name)
{
    const char *names[16];
    int count = 0;
    for (const struct rows_of *k = kinds; k->name; k++) {
        if (strcmp(k->name, name) == 0)
            return k;
        names[count++] = k->name;
    }
    const char *near = mgb_nearest_name(name, names, count);
    mgb_fail(MGB_INVALID,
             near ? "--what: '%s' is none of runs, steps, phases, memory, traffic and tasks (did "
                    "you mean '%s'?)"
                  : "--what: '%s' is none of runs, steps, phases, memory, traffic and tasks",
             name, near);
    return NULL;
}

/* Words that name one segment; all others stand for whole runs here. */
static bool names_segment(const char *word)
{
    return strncmp(word, "baseline:", 9) == 0 ||
           (strchr(word, '.') && (strncmp(word, "last", 4) == 0 || (*word >= '0' && *word <= '9')));
}

static enum mgb_status word_add(FILE *condition, struct mgb_reader *reader, const char *word,
                                bool *first)
{
    struct mgb_selection selection;
    MGB_TRY(mgb_select(&selection, reader, word));
    bool one = names_segment(word);
    fprintf(condition, "%s%s IN (", *first ? "" : " OR ", one ? "s.id" : "s.run_id");
    for (size_t i = 0; i < selection.count; i++)
        fprintf(condition, "%s%lld", i ? "," : "",
                (long long)(one ? selection.segments[i].segment : selection.segments[i].run));
    fputc(')', condition);
    *first = false;
    mgb_selection_done(&selection);
    return MGB_OK;
}

static enum mgb_status words_add(FILE *condition, const struct mgb_invocation *in,
                                 const char *database)
{
    struct mgb_reader *reader;
    bool first = true;
    MGB_TRY(mgb_reader_open(&reader, database));
    enum mgb_status status = MGB_OK;
    for (int i = 0; i < in->word_count && status == MGB_OK; i++) {
        char *list = strdup(in->words[i]), *rest = list;
        if (!list)
            status = mgb_fail(MGB_NO_MEMORY, "no memory for the word %s", in->words[i]);
        /* Word by word, empty ones too: select explains those. */
        while (rest && status == MGB_OK)
            status = word_add(condition, reader, strsep(&rest, ","), &first);
        free(list);
    }
    mgb_reader_close(reader);
    return status;
}

static enum mgb_status kind_settle(char **sql, const struct mgb_invocation *in,
                                   const char *database, const struct rows_of *kind, bool brief)
{
    size_t size;
    FILE *out = open_memstream(sql, &size);
    if (!out)
        return mgb_fail(MGB_NO_MEMORY, "no memory for the statement");
    if (brief && strcmp(kind->name, "runs") == 0)
        fputs("SELECT " MAIN_COLUMNS " FROM (", out);
    fputs(kind->select, out);
    enum mgb_status status = MGB_OK;
    if (in->word_count > 0) {
        fputs(" WHERE (", out);
        status = words_add(out, in, database);
        fputc(')', out);
    }
    fprintf(out, " ORDER BY %s%s", kind->order,
            brief && strcmp(kind->name, "runs") == 0 ? ")" : "");
    bool whole = fclose(out) == 0;
    if (status == MGB_OK && !whole)
        status = mgb_fail(MGB_NO_MEMORY, "no memory for the statement");
    return status;
}

struct names {
    char *list[200];
    int count;
};

static enum mgb_status name_take(void *context, const struct mgb_value *values, int count)
{
    struct names *names = context;
    (void)count;
    if (values[0].text && names->count < 200)
        names->list[names->count++] = strdup(values[0].text);
    return MGB_OK;
}

/* A table or view of the database, quoted. */
static enum mgb_status table_settle(char **sql, const char *database, const char *name)
{
    static const char ask[] = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') "
                              "AND name NOT LIKE 'sqlite_%' ORDER BY name";
    struct mgb_reader *reader;
    struct names names = {.count = 0};
    struct mgb_query_sink sink = {&names, NULL, name_take};
    const char *found = NULL;
    MGB_TRY(mgb_reader_open(&reader, database));
    enum mgb_status status = mgb_query_run(reader, ask, NULL, 0, &sink);
    mgb_reader_close(reader);
    for (int i = 0; i < names.count; i++)
        if (names.list[i] && strcmp(names.list[i], name) == 0)
            found = names.list[i];
    const char *near = mgb_nearest_name(name, (const char *const *)names.list, names.count);
    if (status == MGB_OK && !found)
        status = mgb_fail(MGB_INVALID,
                          near ? "--table: %s has no table or view '%s' (did you mean '%s'?)"
                               : "--table: %s has no table or view '%s'",
                          database, name, near);
    if (status == MGB_OK && asprintf(sql, "SELECT * FROM \"%s\"", found) < 0)
        status = mgb_fail(MGB_NO_MEMORY, "no memory for the statement");
    for (int i = 0; i < names.count; i++)
        free(names.list[i]);
    return status;
}

enum mgb_status mgb_cli_export_settle(char **sql, const struct mgb_invocation *in,
                                      const char *database, bool brief)
{
    const char *text = mgb_cli_find_flag(in, "--sql"), *table = mgb_cli_find_flag(in, "--table");
    const char *what = mgb_cli_find_flag(in, "--what");
    *sql = NULL;
    if ((text != NULL) + (table != NULL) + (what != NULL) > 1)
        return mgb_fail(MGB_INVALID, "--sql, --table and --what exclude each other");
    if (in->word_count > 0 && (text || table))
        return mgb_fail(MGB_INVALID, "%s takes all its rows: '%s' goes with --what",
                        text ? "--sql" : "--table", in->words[0]);
    if (table)
        return table_settle(sql, database, table);
    if (text)
        return (*sql = strdup(text)) ? MGB_OK : mgb_fail(MGB_NO_MEMORY, "no memory for --sql");
    const struct rows_of *kind = kind_find(what ? what : "runs");
    return kind ? kind_settle(sql, in, database, kind, brief) : MGB_INVALID;
}
