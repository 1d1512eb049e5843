/* Words that name runs; see select.h. Each kind of word is a function that asks one question; one sink keeps the answers. */
#include "db/select_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    struct mgb_chooser *c = context;
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

enum mgb_status mgb_select_rows(struct mgb_chooser *c, const char *sql,
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

enum mgb_status mgb_select_fail_missing(struct mgb_chooser *c, const char *what, const char *name,
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

enum mgb_status mgb_select_ask_integer(int64_t *out, struct mgb_chooser *c, const char *sql,
                                       const struct mgb_value *values, int count)
{
    struct mgb_query_sink sink = {.context = out, .row = integer_take};
    *out = 0;
    return mgb_query_run(c->reader, sql, values, count, &sink);
}

static enum mgb_status run_missing_fail(struct mgb_chooser *c, const char *what)
{
    int64_t runs, newest;
    MGB_TRY(mgb_select_ask_integer(&runs, c, "SELECT count(*) FROM run", NULL, 0));
    MGB_TRY(mgb_select_ask_integer(&newest, c, "SELECT max(id) FROM run", NULL, 0));
    if (runs == 0)
        return mgb_fail(MGB_MISSING, "%s: there is no run yet", c->word);
    return mgb_fail(MGB_MISSING, "%s: there is no %s; there %s %lld run%s, the newest is %lld",
                    c->word, what, runs == 1 ? "is" : "are", (long long)runs, runs == 1 ? "" : "s",
                    (long long)newest);
}

/* ---- the kinds of words ---- */

bool mgb_select_read_number(int64_t *out, const char **at)
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
static enum mgb_status word_fail(struct mgb_chooser *c)
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

static enum mgb_status run_choose(struct mgb_chooser *c, int64_t run)
{
    struct mgb_value value = mgb_value_of_int(run);
    MGB_TRY(mgb_select_rows(c, "SELECT r.id, " MGB_SELECT_CHOSEN " FROM run AS r WHERE r.id = ?",
                            &value, 1));
    return c->found > 0 ? MGB_OK : run_missing_fail(c, "such run");
}

static enum mgb_status segment_choose(struct mgb_chooser *c, int64_t run, int64_t segment)
{
    struct mgb_value values[] = {mgb_value_of_int(run), mgb_value_of_int(segment - 1)};
    int64_t runs, segments;
    if (segment < 1)
        return mgb_fail(MGB_INVALID, "%s: the segments of a run count from 1", c->word);
    MGB_TRY(mgb_select_rows(
        c, "SELECT run_id, id FROM segment WHERE run_id = ? ORDER BY id LIMIT 1 OFFSET ?", values,
        2));
    if (c->found > 0)
        return MGB_OK;
    MGB_TRY(mgb_select_ask_integer(&runs, c, "SELECT count(*) FROM run WHERE id = ?", values, 1));
    if (runs == 0)
        return run_missing_fail(c, "such run");
    MGB_TRY(mgb_select_ask_integer(&segments, c, "SELECT count(*) FROM segment WHERE run_id = ?",
                                   values, 1));
    return mgb_fail(MGB_MISSING, "%s: run %lld has %lld segment%s", c->word, (long long)run,
                    (long long)segments, segments == 1 ? "" : "s");
}

/* The runs from `first` to `last` that there are. */
static enum mgb_status range_choose(struct mgb_chooser *c, int64_t first, int64_t last)
{
    struct mgb_value values[] = {mgb_value_of_int(first), mgb_value_of_int(last)};
    if (last < first)
        return mgb_fail(MGB_INVALID, "'%s': runs from the lower number to the higher one expected",
                        c->word);
    MGB_TRY(mgb_select_rows(c,
                            "SELECT r.id, " MGB_SELECT_CHOSEN
                            " FROM run AS r WHERE r.id BETWEEN ? AND ?"
                            " ORDER BY r.id",
                            values, 2));
    return c->found > 0 ? MGB_OK : run_missing_fail(c, "run between these numbers");
}

static enum mgb_status number_choose(struct mgb_chooser *c)
{
    const char *at = c->word;
    int64_t run, segment;
    if (!mgb_select_read_number(&run, &at))
        return word_fail(c);
    if (!*at)
        return run_choose(c, run);
    if (*at == '-') {
        at++;
        return mgb_select_read_number(&segment, &at) && !*at ? range_choose(c, run, segment)
                                                             : word_fail(c);
    }
    if (*at++ != '.' || !mgb_select_read_number(&segment, &at) || *at)
        return word_fail(c);
    return segment_choose(c, run, segment);
}

static enum mgb_status last_choose(struct mgb_chooser *c)
{
    const char *at = c->word + strlen("last");
    int64_t back = 0;
    if (*at == '~') {
        at++;
        if (!mgb_select_read_number(&back, &at))
            return word_fail(c);
    }
    if (*at)
        return word_fail(c);
    struct mgb_value value = mgb_value_of_int(back);
    MGB_TRY(mgb_select_rows(
        c,
        "SELECT r.id, " MGB_SELECT_CHOSEN " FROM run AS r"
        " WHERE NOT EXISTS (SELECT 1 FROM tag WHERE run_id = r.id AND name IN ('selftest', "
        "'verify'))"
        " ORDER BY r.started_ms DESC, r.id DESC LIMIT 1 OFFSET ?",
        &value, 1));
    return c->found > 0 ? MGB_OK : run_missing_fail(c, "run so far back");
}

static enum mgb_status tag_choose(struct mgb_chooser *c, const char *name)
{
    struct mgb_value value = mgb_value_of_text(name);
    MGB_TRY(mgb_select_rows(c,
                            "SELECT r.id, " MGB_SELECT_CHOSEN
                            " FROM tag AS g JOIN run AS r ON r.id = g.run_id"
                            " WHERE g.name = ? ORDER BY r.id",
                            &value, 1));
    return c->found > 0 ? MGB_OK
                        : mgb_select_fail_missing(c, "tag", name,
                                                  "SELECT DISTINCT name FROM tag ORDER BY 1");
}

static enum mgb_status baseline_choose(struct mgb_chooser *c, const char *name)
{
    struct mgb_value value = mgb_value_of_text(name);
    MGB_TRY(
        mgb_select_rows(c,
                        "SELECT s.run_id, s.id FROM segment AS s WHERE s.id IN"
                        " (SELECT segment_id FROM baseline WHERE name = ?1 UNION ALL"
                        "  SELECT segment_id FROM baseline_segment WHERE name = ?1) ORDER BY s.id",
                        &value, 1));
    return c->found > 0 ? MGB_OK
                        : mgb_select_fail_missing(c, "baseline", name,
                                                  "SELECT name FROM baseline ORDER BY 1");
}

static enum mgb_status word_choose(struct mgb_chooser *c)
{
    static const struct {
        const char *prefix;
        enum mgb_status (*choose)(struct mgb_chooser *c, const char *name);
    } kinds[] = {
        {"tag:", tag_choose}, {"baseline:", baseline_choose}, {"sweep:", mgb_select_sweep}};
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
    struct mgb_chooser c = {.reader = reader, .out = out};
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
