/* Words of a filter as SQL with bound values. Names go into the text only from the table below; see archive_private.h. */
#include "app/session/workbench/archive_private.h"

#include <mgb/text.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum column_kind {
    COLUMN_NUMBER,
    COLUMN_SWITCH,
    COLUMN_TEXT,
    COLUMN_DEVICE,
    COLUMN_TAG,
    COLUMN_NOTE
};

static const struct filter_column {
    const char *name, *sql;
    enum column_kind kind;
} columns[] = {
    {"run", "r.id", COLUMN_NUMBER},
    {"run_id", "r.id", COLUMN_NUMBER},
    {"segment_id", "s.id", COLUMN_NUMBER},
    {"run_uuid", "r.uuid", COLUMN_TEXT},
    {"started", ARCHIVE_STARTED, COLUMN_TEXT},
    {"script", "r.script", COLUMN_TEXT},
    {"program_version", "r.program_version", COLUMN_TEXT},
    {"model", "m.name", COLUMN_TEXT},
    {"model_options", "m.options", COLUMN_TEXT},
    {"backend", "r.backend", COLUMN_TEXT},
    {"machine", "h.name", COLUMN_TEXT},
    {"simulated", "r.simulated", COLUMN_SWITCH},
    {"seed", "r.seed", COLUMN_NUMBER},
    {"data", "r.data", COLUMN_TEXT},
    {"optimizer", "s.optimizer", COLUMN_TEXT},
    {"strategy", "s.strategy", COLUMN_TEXT},
    {"placement", ARCHIVE_PLACE, COLUMN_TEXT},
    {"gpus", "s.gpus", COLUMN_NUMBER},
    {"gpu_list", "s.gpu_list", COLUMN_TEXT},
    {"batch_mode", "s.batch_mode", COLUMN_TEXT},
    {"batch", "s.batch_per_gpu", COLUMN_NUMBER},
    {"batch_per_gpu", "s.batch_per_gpu", COLUMN_NUMBER},
    {"global_batch", "s.global_batch", COLUMN_NUMBER},
    {"cpu_relocation", "s.cpu_relocation", COLUMN_SWITCH},
    {"cpu_merge", "s.cpu_merge", COLUMN_SWITCH},
    {"weights_at", "s.weights_at", COLUMN_DEVICE},
    {"join_at", "s.join_at", COLUMN_DEVICE},
    {"loss_at", "s.loss_at", COLUMN_DEVICE},
    {"sum_at", "s.sum_at", COLUMN_DEVICE},
    {"update_at", "s.update_at", COLUMN_DEVICE},
    {"relocation", "s.relocation", COLUMN_TEXT},
    {"allreduce", "s.allreduce", COLUMN_TEXT},
    {"bucket_mib", "s.bucket_mib", COLUMN_NUMBER},
    {"overlap", "s.overlap", COLUMN_SWITCH},
    {"wire_type", "s.wire_type", COLUMN_TEXT},
    {"staged", "s.staged", COLUMN_SWITCH},
    {"stale", "s.stale", COLUMN_SWITCH},
    {"peer_access", "s.peer_access", COLUMN_TEXT},
    {"pinned", "s.pinned", COLUMN_TEXT},
    {"graph", "s.graph", COLUMN_TEXT},
    {"bn", "s.bn", COLUMN_TEXT},
    {"precision", "s.precision", COLUMN_TEXT},
    {"recompute", "s.recompute", COLUMN_TEXT},
    {"logical", "s.logical", COLUMN_SWITCH},
    {"gpu_memory_bytes", "s.gpu_memory_bytes", COLUMN_NUMBER},
    {"threads", "s.threads", COLUMN_NUMBER},
    {"hosts", "s.hosts", COLUMN_NUMBER},
    {"gave_way", "s.gave_way", COLUMN_TEXT},
    {"oversubscribed", "s.oversubscribed", COLUMN_SWITCH},
    {"steps", "t.timed_steps", COLUMN_NUMBER},
    {"warmup_steps", "t.warmup_steps", COLUMN_NUMBER},
    {"step_ms", "(t.median_ns / 1e6)", COLUMN_NUMBER},
    {"step_ms_median", "(t.median_ns / 1e6)", COLUMN_NUMBER},
    {"step_ms_p95", "(t.p95_ns / 1e6)", COLUMN_NUMBER},
    {"step_ms_mean", "(t.timed_ns / 1e6 / nullif(t.timed_steps, 0))", COLUMN_NUMBER},
    {"step_ms_ci95_low", "(t.ci95_low_ns / 1e6)", COLUMN_NUMBER},
    {"step_ms_ci95_high", "(t.ci95_high_ns / 1e6)", COLUMN_NUMBER},
    {"rate", "(" ARCHIVE_RATE ")", COLUMN_NUMBER},
    {"examples_per_s", "(" ARCHIVE_RATE ")", COLUMN_NUMBER},
    {"steady", "t.steady", COLUMN_SWITCH},
    {"not_steady", "t.not_steady", COLUMN_TEXT},
    {"noise", "t.noise", COLUMN_NUMBER},
    {"unaccounted_ms", "(t.unaccounted_ns / 1e6)", COLUMN_NUMBER},
    {"outliers_mild", "t.outliers_mild", COLUMN_NUMBER},
    {"outliers_far", "t.outliers_far", COLUMN_NUMBER},
    {"stop_reason", "s.stop_reason", COLUMN_TEXT},
    {"warmup_rule", "s.warmup_rule", COLUMN_TEXT},
    {"gpu_peak_bytes", ARCHIVE_PEAK("gpu"), COLUMN_NUMBER},
    {"cpu_peak_bytes", ARCHIVE_PEAK("cpu"), COLUMN_NUMBER},
    {"duplicate_count", "(SELECT count(*) FROM duplicate WHERE segment_id = s.id)", COLUMN_NUMBER},
    {"duplicate_bytes", "(SELECT coalesce(sum(bytes), 0) FROM duplicate WHERE segment_id = s.id)",
     COLUMN_NUMBER},
    {"loss_last", "t.loss_last", COLUMN_NUMBER},
    {"outcome", ARCHIVE_OUTCOME, COLUMN_TEXT},
    {"message", "s.message", COLUMN_TEXT},
    {"run_outcome", "r.outcome", COLUMN_TEXT},
    {"log_complete", "r.log_complete", COLUMN_SWITCH},
    {"sweep",
     "(SELECT w.name FROM sweep_point AS p JOIN sweep AS w ON w.id = p.sweep_id WHERE p.run_id = "
     "r.id ORDER BY p.sweep_id DESC LIMIT 1)",
     COLUMN_TEXT},
    {"sweep_point",
     "(SELECT point FROM sweep_point WHERE run_id = r.id ORDER BY sweep_id DESC LIMIT 1)",
     COLUMN_NUMBER},
    {"tag", NULL, COLUMN_TAG},
    {"tags", NULL, COLUMN_TAG},
    {"note", NULL, COLUMN_NOTE},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

struct building {
    struct mgb_archive_filter *out;
    FILE *where;
    size_t used; /* of out->texts */
    bool checks; /* a word asks for runs of selftest and of verifications, too */
};

/* The parameter's number; its text is kept. */
static int text_bind(struct building *b, const char *text)
{
    char *kept = b->out->texts + b->used;
    b->used += (size_t)snprintf(kept, sizeof b->out->texts - b->used, "%s", text) + 1;
    b->out->values[b->out->count] = mgb_value_of_text(kept);
    return ARCHIVE_FIXED + ++b->out->count;
}

static int value_bind(struct building *b, struct mgb_value value)
{
    b->out->values[b->out->count] = value;
    return ARCHIVE_FIXED + ++b->out->count;
}

/* What LIKE takes for itself is escaped. */
static int pattern_bind(struct building *b, const char *word)
{
    char pattern[2 * ARCHIVE_FILTER + 3];
    size_t used = 0;
    pattern[used++] = '%';
    for (; *word && used + 4 < sizeof pattern; word++) {
        if (strchr("%_\\", *word))
            pattern[used++] = '\\';
        pattern[used++] = *word;
    }
    pattern[used++] = '%';
    pattern[used] = '\0';
    return text_bind(b, pattern);
}

static bool is_number(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

static void word_add(struct building *b, const char *word)
{
    static const char *const texts[] = {
        "m.name",     "m.options",   "r.backend",     "h.name",       "r.data",    "r.script",
        "s.strategy", "s.allreduce", "s.precision",   "s.weights_at", "s.join_at", "s.loss_at",
        "s.sum_at",   "s.update_at", ARCHIVE_OUTCOME, ARCHIVE_PLACE};
    int number = pattern_bind(b, word);
    b->checks = b->checks || strcasecmp(word, "selftest") == 0 || strcasecmp(word, "verify") == 0;
    fputs("(", b->where);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        fprintf(b->where, "%s LIKE ?%d ESCAPE '\\' OR ", texts[i], number);
    if (is_number(word))
        fprintf(b->where, "r.id = ?%d OR ",
                value_bind(b, mgb_value_of_int(strtoll(word, NULL, 10))));
    fprintf(b->where,
            "EXISTS (SELECT 1 FROM tag WHERE run_id = r.id AND name LIKE ?%d ESCAPE '\\') OR "
            "EXISTS (SELECT 1 FROM note WHERE run_id = r.id AND text LIKE ?%d ESCAPE '\\'))",
            number, number);
}

static const struct filter_column *column_find(const char *name, size_t length)
{
    for (int i = 0; i < COLUMNS; i++)
        if (strlen(columns[i].name) == length && strncasecmp(columns[i].name, name, length) == 0)
            return &columns[i];
    return NULL;
}

static enum mgb_status column_missing(const char *name, size_t length)
{
    const char *names[COLUMNS];
    char wanted[ARCHIVE_FILTER];
    snprintf(wanted, sizeof wanted, "%.*s", (int)length, name);
    for (int i = 0; i < COLUMNS; i++)
        names[i] = columns[i].name;
    const char *near = mgb_nearest_name(wanted, names, COLUMNS);
    if (near)
        return mgb_fail(MGB_INVALID, "filter: there is no column '%s'; did you mean %s?", wanted,
                        near);
    return mgb_fail(MGB_INVALID,
                    "filter: there is no column '%s'; there are model, backend, gpus, outcome, "
                    "step_ms, tag and the others of run_summary",
                    wanted);
}

static enum mgb_status number_read(struct mgb_value *out, const struct filter_column *column,
                                   const char *text)
{
    static const char *const on[] = {"yes", "true", "on"}, *const off[] = {"no", "false", "off"};
    char *end;
    for (int i = 0; i < 3 && column->kind == COLUMN_SWITCH; i++)
        if (strcasecmp(text, on[i]) == 0 || strcasecmp(text, off[i]) == 0) {
            *out = mgb_value_of_int(strcasecmp(text, on[i]) == 0);
            return MGB_OK;
        }
    *out = (struct mgb_value){.kind = MGB_VALUE_REAL, .real = strtod(text, &end)};
    if (end == text || *end)
        return mgb_fail(MGB_INVALID, "filter: %s: a number is expected, got '%s'", column->name,
                        text);
    return MGB_OK;
}

static bool is_negated(const char *op)
{
    return op[0] == '!';
}

static enum mgb_status condition_add(struct building *b, const struct filter_column *column,
                                     const char *op, const char *text)
{
    struct mgb_value number;
    bool equal = strcmp(op, "=") == 0 || is_negated(op);
    bool negated = is_negated(op);
    const char *negation = negated ? "NOT " : "";
    b->checks = b->checks || column->kind == COLUMN_TAG ||
                (column->sql && strcmp(column->sql, "r.id") == 0);
    if (column->kind == COLUMN_TAG || column->kind == COLUMN_NOTE) {
        bool tag = column->kind == COLUMN_TAG;
        if (!equal)
            return mgb_fail(MGB_INVALID, "filter: %s takes = or !=, not %s", column->name, op);
        fprintf(b->where, "%sEXISTS (SELECT 1 FROM %s", negation,
                tag ? "tag WHERE run_id = r.id AND name = " : "note WHERE run_id = r.id AND text ");
        fprintf(b->where, tag ? "?%d COLLATE NOCASE)" : "LIKE ?%d ESCAPE '\\')",
                tag ? text_bind(b, text) : pattern_bind(b, text));
        return MGB_OK;
    }
    if (!*text && equal) {
        fprintf(b->where, "%s(coalesce(%s, '') = '')", negation, column->sql);
        return MGB_OK;
    }
    if (column->kind == COLUMN_NUMBER || column->kind == COLUMN_SWITCH) {
        MGB_TRY(number_read(&number, column, text));
        fprintf(b->where, "%s %s ?%d", column->sql, equal ? (negated ? "IS NOT" : "IS") : op,
                value_bind(b, number));
        return MGB_OK;
    }
    bool device =
        column->kind == COLUMN_DEVICE; /* stored as "/cpu:0", shown and typed as "cpu:0" */
    fprintf(b->where, "%s%s%s %s ?%d COLLATE NOCASE", device ? "ltrim(" : "(", column->sql,
            device ? ", '/')" : ")", equal ? (negated ? "IS NOT" : "IS") : op,
            text_bind(b, text + (device && *text == '/')));
    return MGB_OK;
}

/* "gpu0>cpu0" is how placements are shown, and no comparison. */
static bool is_placement(const char *word)
{
    return (strncmp(word, "gpu", 3) == 0 || strncmp(word, "cpu", 3) == 0) &&
           isdigit((unsigned char)word[3]);
}

/* "tag:nightly", as commands name runs: the length of the column's name; 0: it is no such word. */
static size_t colon_length(const char *word)
{
    size_t length = strcspn(word, ":=<>!");
    return word[length] == ':' && word[length + 1] && column_find(word, length) ? length : 0;
}

static enum mgb_status word_take(struct building *b, const char *word)
{
    char op[3] = "";
    size_t length = colon_length(word);
    if (length)
        return condition_add(b, column_find(word, length), "=", word + length + 1);
    length = strcspn(word, "=<>!");
    if (!word[length] || length == 0 || is_placement(word)) {
        word_add(b, word);
        return MGB_OK;
    }
    op[0] = word[length];
    if (word[length + 1] == '=' && word[length] != '=')
        op[1] = '=';
    if (strcmp(op, "!") == 0) {
        word_add(b, word);
        return MGB_OK;
    }
    const struct filter_column *column = column_find(word, length);
    if (!column)
        return column_missing(word, length);
    return condition_add(b, column, op, word + length + strlen(op));
}

static enum mgb_status words_take(struct building *b, const char *text)
{
    char words[ARCHIVE_FILTER], *at = words, *word;
    snprintf(words, sizeof words, "%s", text);
    fputs("1", b->where);
    while ((word = strsep(&at, " \t"))) {
        if (!*word)
            continue;
        if (b->out->count + 2 > ARCHIVE_WORDS)
            return mgb_fail(MGB_INVALID, "filter: too many words");
        fputs(" AND ", b->where);
        MGB_TRY(word_take(b, word));
    }
    if (!b->checks)
        fputs(" AND r.id NOT IN " ARCHIVE_CHECKS, b->where);
    return MGB_OK;
}

enum mgb_status mgb_archive_filter_make(struct mgb_archive_filter *out, const char *text)
{
    size_t size;
    struct building b = {.out = out};
    out->where = NULL;
    out->count = 0;
    if (strlen(text) >= ARCHIVE_FILTER)
        return mgb_fail(MGB_INVALID, "filter: longer than %d bytes", ARCHIVE_FILTER - 1);
    b.where = open_memstream(&out->where, &size);
    if (!b.where)
        return mgb_fail(MGB_NO_MEMORY, "filter: memory is exhausted");
    enum mgb_status status = words_take(&b, text);
    if (fclose(b.where) != 0 && status == MGB_OK)
        status = mgb_fail(MGB_NO_MEMORY, "filter: memory is exhausted");
    if (status != MGB_OK)
        mgb_archive_filter_done(out);
    return status;
}

void mgb_archive_filter_done(struct mgb_archive_filter *filter)
{
    free(filter->where);
    filter->where = NULL;
}
