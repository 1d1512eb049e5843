/* Words that name the runs of a sweep; see select.h. */
#include "db/select_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Resuming a sweep makes a row of its own in sweep, so all of the name with the grid and the common options of one of them
 * count as one: a definition. That is the one of row ?3, or for -1 the newest that has points. Of a point the newest kind of
 * measurement counts (its digest), and of each of its repetitions the newest run that came to an end. */
#define DEFINITIONS                                                                                \
    "WITH defined AS (SELECT w.id, w.name, " MGB_SELECT_DEFINITION " AS definition"                \
    "        FROM sweep AS w WHERE w.name = ?1"                                                    \
    "        AND EXISTS (SELECT 1 FROM sweep_point WHERE sweep_id = w.id)),"                       \
    " wanted AS (SELECT definition FROM defined WHERE ?3 < 0 OR id = ?3 ORDER BY id DESC LIMIT "   \
    "1),"                                                                                          \
    " rows AS (SELECT p.point, p.repeat, p.settings, p.settings_digest, p.run_id, p.sweep_id"      \
    "            FROM defined AS w JOIN sweep_point AS p ON p.sweep_id = w.id"                     \
    "           WHERE w.definition = (SELECT definition FROM wanted))"
static const char sweep_sql[] = DEFINITIONS
    ", newest AS (SELECT settings, settings_digest, point, max(sweep_id) FROM rows GROUP BY "
    "settings),"
    " ranked AS (SELECT r.id, n.point, w.repeat,"
    "                   row_number() OVER (PARTITION BY n.point, w.repeat"
    "                       ORDER BY r.outcome IN ('ok', 'oom') DESC, r.id DESC) AS age"
    "              FROM rows AS w JOIN newest AS n"
    "                ON n.settings = w.settings AND n.settings_digest = w.settings_digest"
    "              JOIN run AS r ON r.id = w.run_id"
    "             WHERE ?2 < 0 OR n.point = ?2)"
    " SELECT r.id, " MGB_SELECT_CHOSEN ", r.point, r.repeat FROM ranked AS r WHERE r.age = 1"
    " ORDER BY r.point, r.repeat";

struct sweep_word { /* "NAME", "NAME@7", "NAME/3" or "NAME@7/3" */
    char *name;     /* owned */
    int64_t id;     /* -1: the newest definition */
    int64_t point;  /* -1: all */
};

static enum mgb_status sweep_ask(struct mgb_chooser *c, const struct sweep_word *w)
{
    struct mgb_value values[] = {mgb_value_of_text(w->name), mgb_value_of_int(w->point),
                                 mgb_value_of_int(w->id)};
    return mgb_select_rows(c, sweep_sql, values, 3);
}

/* Cuts a number behind the last `mark` off; -1: there is none. */
static int64_t number_cut(char *text, char mark)
{
    char *last = strrchr(text, mark);
    const char *at = last ? last + 1 : "";
    int64_t number;
    if (!mgb_select_read_number(&number, &at) || *at)
        return -1;
    *last = '\0';
    return number;
}

static enum mgb_status name_there(int64_t *out, struct mgb_chooser *c, const char *name)
{
    struct mgb_value value = mgb_value_of_text(name);
    return mgb_select_ask_integer(out, c, "SELECT EXISTS (SELECT 1 FROM sweep WHERE name = ?)",
                                  &value, 1);
}

/* A name may have slashes and numbers of its own: what stands behind the last mark is cut off only if it is a number, and
 * an id only where no sweep is called the whole. */
static enum mgb_status sweep_word_read(struct sweep_word *out, struct mgb_chooser *c,
                                       const char *text)
{
    int64_t there;
    *out = (struct sweep_word){.name = strdup(text), .id = -1};
    if (!out->name)
        return mgb_fail(MGB_NO_MEMORY, "%s: memory is exhausted", c->word);
    out->point = number_cut(out->name, '/');
    enum mgb_status status = name_there(&there, c, out->name);
    if (status == MGB_OK && !there)
        out->id = number_cut(out->name, '@');
    if (status != MGB_OK)
        free(out->name);
    return status;
}

#define SWEEPS_THERE                                                                               \
    "SELECT DISTINCT name FROM sweep AS w WHERE EXISTS (SELECT 1 FROM sweep_point WHERE sweep_id " \
    "= w.id) ORDER BY 1"

static enum mgb_status sweep_missing_fail(struct mgb_chooser *c, const struct sweep_word *w)
{
    struct mgb_value values[] = {mgb_value_of_text(w->name), mgb_value_of_int(-1),
                                 mgb_value_of_int(w->id)};
    int64_t most, there;
    MGB_TRY(name_there(&there, c, w->name));
    MGB_TRY(mgb_select_ask_integer(
        &most, c, DEFINITIONS " SELECT coalesce(max(point), -1) FROM rows", values, 3));
    if (most >= 0)
        return mgb_fail(MGB_MISSING, "%s: the sweep has no point %lld; its points are 0 to %lld",
                        c->word, (long long)w->point, (long long)most);
    if (there && w->id >= 0)
        return mgb_fail(MGB_MISSING, "%s: no sweep '%s' with points has the id %lld", c->word,
                        w->name, (long long)w->id);
    if (there)
        return mgb_fail(MGB_MISSING, "%s: the sweep has no runs, or they were deleted", c->word);
    return mgb_select_fail_missing(c, "sweep", w->name, SWEEPS_THERE);
}

enum mgb_status mgb_select_sweep(struct mgb_chooser *c, const char *text)
{
    struct sweep_word w;
    MGB_TRY(sweep_word_read(&w, c, text));
    enum mgb_status status = sweep_ask(c, &w);
    if (status == MGB_OK && c->found == 0)
        status = sweep_missing_fail(c, &w);
    free(w.name);
    return status;
}

/* ---- how often a sweep was defined ---- */

struct definitions {
    FILE *out;
    const char *name;
    int64_t count;
};

/* Columns: newest id of a definition, how many there are. Newest first. */
static enum mgb_status definition_tell(void *context, const struct mgb_value *v, int count)
{
    struct definitions *d = context;
    (void)count;
    if (v[1].integer < 2)
        return MGB_OK;
    if (d->count++ == 0)
        fprintf(d->out,
                "sweep '%s' was defined %lld times; these are the points of the newest (id %lld); "
                "the other%s: ",
                d->name, (long long)v[1].integer, (long long)v[0].integer,
                v[1].integer > 2 ? "s" : "");
    else
        fprintf(d->out, "%ssweep:%s@%lld", d->count > 2 ? ", " : "", d->name,
                (long long)v[0].integer);
    return MGB_OK;
}

static enum mgb_status word_remark(FILE *out, struct mgb_chooser *c)
{
    static const char sql[] = DEFINITIONS
        " SELECT max(id), count(*) OVER () FROM defined WHERE ?2 IS NOT NULL GROUP BY definition"
        " ORDER BY 1 DESC";
    struct sweep_word w;
    MGB_TRY(sweep_word_read(&w, c, c->word + strlen("sweep:")));
    struct definitions d = {.out = out, .name = w.name};
    struct mgb_query_sink sink = {.context = &d, .row = definition_tell};
    struct mgb_value values[] = {mgb_value_of_text(w.name), mgb_value_of_int(-1),
                                 mgb_value_of_int(-1)};
    enum mgb_status status = w.id < 0 ? mgb_query_run(c->reader, sql, values, 3, &sink) : MGB_OK;
    free(w.name);
    return status;
}

enum mgb_status mgb_select_remark(char *out, size_t size, struct mgb_reader *reader,
                                  const char *text)
{
    struct mgb_chooser c = {.reader = reader};
    char *words = strdup(text), *rest = words;
    FILE *file = fmemopen(out, size, "w");
    *out = '\0';
    enum mgb_status status =
        words && file ? MGB_OK : mgb_fail(MGB_NO_MEMORY, "%s: memory is exhausted", text);
    while (status == MGB_OK && (c.word = strsep(&rest, ",")))
        if (strncmp(c.word, "sweep:", 6) == 0 && c.word[6])
            status = word_remark(file, &c);
    if (file)
        fclose(file);
    out[size - 1] = '\0';
    free(words);
    return status;
}
