/* Words that name runs; see select.h. Each kind of word is a function that asks one question; one sink keeps the answers. */
#include "db/select.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The segment that stands for run `r`: the last with figures, else the last. */
#define CHOSEN                                                                                     \
    "(SELECT s.id FROM segment AS s LEFT JOIN segment_stat AS t ON t.segment_id = s.id"            \
    " WHERE s.run_id = r.id ORDER BY t.timed_steps > 0 DESC, s.id DESC LIMIT 1)"

struct chooser {
    struct mgb_reader *reader;
    struct mgb_selection *out;
    size_t capacity;
    const char *word; /* being read */
    size_t found;     /* by the question in hand, what was already there included */
};

static bool has_already(const struct mgb_selection *s, int64_t run, int64_t segment)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->segments[i].run == run && s->segments[i].segment == segment)
            return true;
    return false;
}

static int64_t integer_or(const struct mgb_value *value, int64_t otherwise)
{
    return value->kind == MGB_VALUE_INT ? value->integer : otherwise;
}

/* Columns: run, segment, point, repeat. */
static enum mgb_status row_keep(void *context, const struct mgb_value *v, int count)
{
    struct chooser *c = context;
    struct mgb_selection *out = c->out;
    struct mgb_selected row = {integer_or(&v[0], 0), integer_or(&v[1], 0),
                               count > 2 ? integer_or(&v[2], -1) : -1,
                               count > 3 ? integer_or(&v[3], 0) : 0};
    c->found++;
    if (has_already(out, row.run, row.segment))
        return MGB_OK;
    if (out->count == c->capacity) {
        size_t capacity = c->capacity ? 2 * c->capacity : 16;
        struct mgb_selected *grown = realloc(out->segments, capacity * sizeof *grown);
        if (!grown)
            return mgb_fail(MGB_NO_MEMORY, "%s: no memory for %zu runs", c->word, capacity);
        out->segments = grown;
        c->capacity = capacity;
    }
    out->segments[out->count++] = row;
    return MGB_OK;
}

static enum mgb_status rows_choose(struct chooser *c, const char *sql,
                                   const struct mgb_value *values, int count)
{
    struct mgb_query_sink sink = {.context = c, .row = row_keep};
    c->found = 0;
    return mgb_query_run(c->reader, sql, values, count, &sink);
}

/* ---- what there is, for those who asked for something else ---- */

struct offer {
    char text[200];
    int names;
};

static enum mgb_status name_offer(void *context, const struct mgb_value *v, int count)
{
    struct offer *offer = context;
    size_t used = strlen(offer->text);
    (void)count;
    if (v[0].kind == MGB_VALUE_TEXT && used + v[0].size + 8 < sizeof offer->text)
        snprintf(offer->text + used, sizeof offer->text - used, "%s%s", offer->names ? ", " : "",
                 v[0].text);
    offer->names++;
    return MGB_OK;
}

/* "no run has the tag 'x'; there are: a, b". */
static enum mgb_status missing_fail(struct chooser *c, const char *what, const char *name,
                                    const char *names_sql)
{
    struct offer offer = {.text = ""};
    struct mgb_query_sink sink = {.context = &offer, .row = name_offer};
    MGB_TRY(mgb_query_run(c->reader, names_sql, NULL, 0, &sink));
    if (offer.names == 0)
        return mgb_fail(MGB_MISSING, "%s: there is no %s '%s', nor any other", c->word, what, name);
    return mgb_fail(MGB_MISSING, "%s: there is no %s '%s'; there %s %s", c->word, what, name,
                    offer.names == 1 ? "is" : "are", offer.text);
}

static enum mgb_status integer_take(void *context, const struct mgb_value *v, int count)
{
    (void)count;
    *(int64_t *)context = integer_or(&v[0], 0);
    return MGB_OK;
}

/* A question with one number for an answer. */
static enum mgb_status integer_ask(int64_t *out, struct chooser *c, const char *sql,
                                   const struct mgb_value *values, int count)
{
    struct mgb_query_sink sink = {.context = out, .row = integer_take};
    *out = 0;
    return mgb_query_run(c->reader, sql, values, count, &sink);
}

static enum mgb_status run_missing_fail(struct chooser *c, const char *what)
{
    int64_t runs, newest;
    MGB_TRY(integer_ask(&runs, c, "SELECT count(*) FROM run", NULL, 0));
    MGB_TRY(integer_ask(&newest, c, "SELECT max(id) FROM run", NULL, 0));
    if (runs == 0)
        return mgb_fail(MGB_MISSING, "%s: there is no run yet", c->word);
    return mgb_fail(MGB_MISSING, "%s: there is no %s; there %s %lld run%s, the newest is %lld",
                    c->word, what, runs == 1 ? "is" : "are", (long long)runs, runs == 1 ? "" : "s",
                    (long long)newest);
}

/* ---- the kinds of words ---- */

/* Digits at `*at`, at least one; moves behind them. */
static bool number_read(int64_t *out, const char **at)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *out = strtoll(*at, &end, 10);
    *at = end;
    return errno == 0;
}

/* A bare name may be that of a tag, a baseline or a sweep. */
static enum mgb_status word_fail(struct chooser *c)
{
    struct mgb_value value = mgb_value_of_text(c->word);
    struct offer offer = {.text = ""};
    struct mgb_query_sink sink = {.context = &offer, .row = name_offer};
    MGB_TRY(mgb_query_run(c->reader,
                          "SELECT 'baseline:' || name FROM baseline WHERE name = ?1 UNION ALL"
                          " SELECT DISTINCT 'tag:' || name FROM tag WHERE name = ?1 UNION ALL"
                          " SELECT DISTINCT 'sweep:' || name FROM sweep WHERE name = ?1",
                          &value, 1, &sink));
    if (offer.names > 0)
        return mgb_fail(MGB_INVALID, "'%s' names no run; did you mean %s?", c->word, offer.text);
    return mgb_fail(MGB_INVALID, "'%s' names no run; wanted " MGB_SELECT_WORDS, c->word);
}

static enum mgb_status run_choose(struct chooser *c, int64_t run)
{
    struct mgb_value value = mgb_value_of_int(run);
    MGB_TRY(rows_choose(c, "SELECT r.id, " CHOSEN " FROM run AS r WHERE r.id = ?", &value, 1));
    return c->found > 0 ? MGB_OK : run_missing_fail(c, "such run");
}

static enum mgb_status segment_choose(struct chooser *c, int64_t run, int64_t segment)
{
    struct mgb_value values[] = {mgb_value_of_int(run), mgb_value_of_int(segment - 1)};
    int64_t runs, segments;
    if (segment < 1)
        return mgb_fail(MGB_INVALID, "%s: the segments of a run count from 1", c->word);
    MGB_TRY(rows_choose(
        c, "SELECT run_id, id FROM segment WHERE run_id = ? ORDER BY id LIMIT 1 OFFSET ?", values,
        2));
    if (c->found > 0)
        return MGB_OK;
    MGB_TRY(integer_ask(&runs, c, "SELECT count(*) FROM run WHERE id = ?", values, 1));
    if (runs == 0)
        return run_missing_fail(c, "such run");
    MGB_TRY(integer_ask(&segments, c, "SELECT count(*) FROM segment WHERE run_id = ?", values, 1));
    return mgb_fail(MGB_MISSING, "%s: run %lld has %lld segment%s", c->word, (long long)run,
                    (long long)segments, segments == 1 ? "" : "s");
}

/* The runs from `first` to `last` that there are. */
static enum mgb_status range_choose(struct chooser *c, int64_t first, int64_t last)
{
    struct mgb_value values[] = {mgb_value_of_int(first), mgb_value_of_int(last)};
    if (last < first)
        return mgb_fail(MGB_INVALID, "'%s': runs from the lower number to the higher one expected",
                        c->word);
    MGB_TRY(rows_choose(c,
                        "SELECT r.id, " CHOSEN " FROM run AS r WHERE r.id BETWEEN ? AND ?"
                        " ORDER BY r.id",
                        values, 2));
    return c->found > 0 ? MGB_OK : run_missing_fail(c, "run between these numbers");
}

static enum mgb_status number_choose(struct chooser *c)
{
    const char *at = c->word;
    int64_t run, segment;
    if (!number_read(&run, &at))
        return word_fail(c);
    if (!*at)
        return run_choose(c, run);
    if (*at == '-') {
        at++;
        return number_read(&segment, &at) && !*at ? range_choose(c, run, segment) : word_fail(c);
    }
    if (*at++ != '.' || !number_read(&segment, &at) || *at)
        return word_fail(c);
    return segment_choose(c, run, segment);
}

static enum mgb_status last_choose(struct chooser *c)
{
    const char *at = c->word + strlen("last");
    int64_t back = 0;
    if (*at == '~') {
        at++;
        if (!number_read(&back, &at))
            return word_fail(c);
    }
    if (*at)
        return word_fail(c);
    struct mgb_value value = mgb_value_of_int(back);
    MGB_TRY(rows_choose(
        c,
        "SELECT r.id, " CHOSEN " FROM run AS r"
        " WHERE NOT EXISTS (SELECT 1 FROM tag WHERE run_id = r.id AND name IN ('selftest', "
        "'verify'))"
        " ORDER BY r.started_ms DESC, r.id DESC LIMIT 1 OFFSET ?",
        &value, 1));
    return c->found > 0 ? MGB_OK : run_missing_fail(c, "run so far back");
}

static enum mgb_status tag_choose(struct chooser *c, const char *name)
{
    struct mgb_value value = mgb_value_of_text(name);
    MGB_TRY(rows_choose(c,
                        "SELECT r.id, " CHOSEN " FROM tag AS g JOIN run AS r ON r.id = g.run_id"
                        " WHERE g.name = ? ORDER BY r.id",
                        &value, 1));
    return c->found > 0 ? MGB_OK
                        : missing_fail(c, "tag", name, "SELECT DISTINCT name FROM tag ORDER BY 1");
}

static enum mgb_status baseline_choose(struct chooser *c, const char *name)
{
    struct mgb_value value = mgb_value_of_text(name);
    MGB_TRY(rows_choose(c,
                        "SELECT s.run_id, s.id FROM segment AS s WHERE s.id IN"
                        " (SELECT segment_id FROM baseline WHERE name = ?1 UNION ALL"
                        "  SELECT segment_id FROM baseline_segment WHERE name = ?1) ORDER BY s.id",
                        &value, 1));
    return c->found > 0 ? MGB_OK
                        : missing_fail(c, "baseline", name, "SELECT name FROM baseline ORDER BY 1");
}

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
    " SELECT r.id, " CHOSEN ", r.point, r.repeat FROM ranked AS r WHERE r.age = 1"
    " ORDER BY r.point, r.repeat";

struct sweep_word { /* "NAME", "NAME@7", "NAME/3" or "NAME@7/3" */
    char *name;     /* owned */
    int64_t id;     /* -1: the newest definition */
    int64_t point;  /* -1: all */
};

static enum mgb_status sweep_ask(struct chooser *c, const struct sweep_word *w)
{
    struct mgb_value values[] = {mgb_value_of_text(w->name), mgb_value_of_int(w->point),
                                 mgb_value_of_int(w->id)};
    return rows_choose(c, sweep_sql, values, 3);
}

/* Cuts a number behind the last `mark` off; -1: there is none. */
static int64_t number_cut(char *text, char mark)
{
    char *last = strrchr(text, mark);
    const char *at = last ? last + 1 : "";
    int64_t number;
    if (!number_read(&number, &at) || *at)
        return -1;
    *last = '\0';
    return number;
}

static enum mgb_status name_there(int64_t *out, struct chooser *c, const char *name)
{
    struct mgb_value value = mgb_value_of_text(name);
    return integer_ask(out, c, "SELECT EXISTS (SELECT 1 FROM sweep WHERE name = ?)", &value, 1);
}

/* A name may have slashes and numbers of its own: what stands behind the last mark is cut off only if it is a number, and
 * an id only where no sweep is called the whole. */
static enum mgb_status sweep_word_read(struct sweep_word *out, struct chooser *c, const char *text)
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

static enum mgb_status sweep_missing_fail(struct chooser *c, const struct sweep_word *w)
{
    struct mgb_value values[] = {mgb_value_of_text(w->name), mgb_value_of_int(-1),
                                 mgb_value_of_int(w->id)};
    int64_t most, there;
    MGB_TRY(name_there(&there, c, w->name));
    MGB_TRY(
        integer_ask(&most, c, DEFINITIONS " SELECT coalesce(max(point), -1) FROM rows", values, 3));
    if (most >= 0)
        return mgb_fail(MGB_MISSING, "%s: the sweep has no point %lld; its points are 0 to %lld",
                        c->word, (long long)w->point, (long long)most);
    if (there && w->id >= 0)
        return mgb_fail(MGB_MISSING, "%s: no sweep '%s' with points has the id %lld", c->word,
                        w->name, (long long)w->id);
    if (there)
        return mgb_fail(MGB_MISSING, "%s: the sweep has no runs, or they were deleted", c->word);
    return missing_fail(c, "sweep", w->name, SWEEPS_THERE);
}

static enum mgb_status sweep_choose(struct chooser *c, const char *text)
{
    struct sweep_word w;
    MGB_TRY(sweep_word_read(&w, c, text));
    enum mgb_status status = sweep_ask(c, &w);
    if (status == MGB_OK && c->found == 0)
        status = sweep_missing_fail(c, &w);
    free(w.name);
    return status;
}

/* ---- definitions ---- */

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

static enum mgb_status word_remark(FILE *out, struct chooser *c)
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
    struct chooser c = {.reader = reader};
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

static enum mgb_status word_choose(struct chooser *c)
{
    static const struct {
        const char *prefix;
        enum mgb_status (*choose)(struct chooser *c, const char *name);
    } kinds[] = {{"tag:", tag_choose}, {"baseline:", baseline_choose}, {"sweep:", sweep_choose}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].prefix);
        if (strncmp(c->word, kinds[i].prefix, length) != 0)
            continue;
        if (!c->word[length])
            return mgb_fail(MGB_INVALID, "%s: a name is missing behind the colon", c->word);
        return kinds[i].choose(c, c->word + length);
    }
    return strncmp(c->word, "last", 4) == 0 ? last_choose(c) : number_choose(c);
}

enum mgb_status mgb_select(struct mgb_selection *out, struct mgb_reader *reader, const char *text)
{
    *out = (struct mgb_selection){0};
    struct chooser c = {.reader = reader, .out = out};
    char *words = strdup(text), *rest = words;
    if (!words)
        return mgb_fail(MGB_NO_MEMORY, "%s: memory is exhausted", text);
    enum mgb_status status = MGB_OK;
    while (status == MGB_OK && (c.word = strsep(&rest, ",")))
        status = *c.word ? word_choose(&c)
                         : mgb_fail(MGB_INVALID, "'%s': a run is missing; wanted " MGB_SELECT_WORDS,
                                    text);
    free(words);
    if (status != MGB_OK)
        mgb_selection_done(out);
    return status;
}

void mgb_selection_done(struct mgb_selection *selection)
{
    free(selection->segments);
    *selection = (struct mgb_selection){0};
}

enum mgb_status mgb_select_one(struct mgb_selected *out, struct mgb_reader *reader,
                               const char *text)
{
    struct mgb_selection all;
    MGB_TRY(mgb_select(&all, reader, text));
    char ids[120] = "";
    for (size_t i = 0; i < all.count && i < 8; i++)
        snprintf(ids + strlen(ids), sizeof ids - strlen(ids), "%s%lld", i ? ", " : "",
                 (long long)all.segments[i].run);
    size_t count = all.count;
    *out = all.segments[0];
    mgb_selection_done(&all);
    return count == 1
               ? MGB_OK
               : mgb_fail(MGB_INVALID,
                          "'%s' names %zu runs: %s%s; one is wanted: its number, as %lld, or "
                          "last",
                          text, count, ids, count > 8 ? ", ..." : "", (long long)out->run);
}
