/* mgbench show: one run whole. For people section by section; as JSON one object a row, its section named; as CSV one line a
 * value, since sections have different columns. */
#include "app/cli/asking.h"
#include "app/cli/commands.h"
#include "app/cli/show_sections.h"
#include "app/script/terminal.h"
#include "db/select.h"
#include <stdlib.h>
#include <string.h>
#include <mgb/text.h>

static const struct mgb_example examples[] = {
    {"mgbench show last", "the newest run"},
    {"mgbench show 1.1", "the first segment of run 1, when it has several"},
    {"mgbench show sweep:placement/2 --json", "a point of a sweep, for a program"},
    {NULL, NULL}};

struct showing {
    const struct mgb_invocation *in;
    const struct mgb_show_section *section;
    struct mgb_table *csv;   /* all sections, a line a value */
    struct mgb_table *table; /* of the section in hand, made with its first row */
    struct mgb_cli_names names;
    long long rows;
};

static enum mgb_status names_take(void *context, const char *const *names, int count)
{
    return mgb_cli_names_keep(&((struct showing *)context)->names, names, count);
}

static void value_line_add(struct mgb_table *table, const struct showing *s, const char *name,
                           const struct mgb_value *value)
{
    mgb_table_add_text(table, s->section->name);
    mgb_table_add_integer(table, s->rows);
    mgb_table_add_text(table, name);
    mgb_cli_value_add(table, value);
}

static enum mgb_status csv_row_add(struct showing *s, const struct mgb_value *v, int count)
{
    bool pairs = s->section->kind == MGB_SHOW_PAIRS;
    for (int i = pairs ? 1 : 0; i < count; i++)
        value_line_add(s->csv, s, pairs ? v[0].text : s->names.at[i], &v[i]);
    return MGB_OK;
}

static enum mgb_status json_row_add(struct showing *s, const struct mgb_value *v, int count)
{
    const char *names[64] = {"section"};
    for (int i = 0; i < count && i < 63; i++)
        names[i + 1] = s->section->kind == MGB_SHOW_PAIRS ? (i ? "value" : "name") : s->names.at[i];
    if (s->rows == 1)
        MGB_TRY(mgb_table_make(&s->table, count + 1, names));
    mgb_table_add_text(s->table, s->section->name);
    for (int i = 0; i < count; i++)
        mgb_cli_value_add(s->table, &v[i]);
    return MGB_OK;
}

/* Names and values below each other; what is longer than a table's cell should be stays whole. */
static void pair_print(const char *name, const struct mgb_value *value)
{
    char number[40];
    switch (value->kind) {
    case MGB_VALUE_INT:
        mgb_say(stdout, "  %-22s  %lld\n", name, (long long)value->integer);
        break;
    case MGB_VALUE_REAL:
        mgb_say(stdout, "  %-22s  %s\n", name, mgb_format_figure(number, value->real));
        break;
    case MGB_VALUE_TEXT:
        mgb_say(stdout, "  %-22s  ", name);
        mgb_line_print(stdout, value->text, value->size);
        putchar('\n');
        break;
    case MGB_VALUE_NULL:
    case MGB_VALUE_BLOB:
        break;
    }
}

static enum mgb_status text_row_add(struct showing *s, const struct mgb_value *v, int count)
{
    if (s->rows == 1)
        mgb_say(stdout, "%s%s\n", s->section == mgb_show_sections ? "" : "\n", s->section->title);
    switch (s->section->kind) {
    case MGB_SHOW_WIDE:
        for (int i = 0; i < count; i++)
            pair_print(s->names.at[i], &v[i]);
        break;
    case MGB_SHOW_PAIRS:
        pair_print(v[0].text, &v[1]);
        break;
    case MGB_SHOW_TABLE:
        if (s->rows == 1)
            MGB_TRY(mgb_table_make(&s->table, count, s->names.at));
        for (int i = 0; i < count; i++)
            mgb_cli_value_add(s->table, &v[i]);
        break;
    }
    return MGB_OK;
}

static enum mgb_status row_take(void *context, const struct mgb_value *v, int count)
{
    struct showing *s = context;
    s->rows++;
    switch (s->in->format) {
    case MGB_TABLE_TEXT:
        return text_row_add(s, v, count);
    case MGB_TABLE_CSV:
        return csv_row_add(s, v, count);
    case MGB_TABLE_JSON:
        return json_row_add(s, v, count);
    }
    return MGB_OK;
}

static enum mgb_status section_show(struct showing *s, struct mgb_reader *reader,
                                    const struct mgb_value *values)
{
    struct mgb_query_sink sink = {s, names_take, row_take};
    s->rows = 0;
    s->table = NULL;
    enum mgb_status status =
        mgb_query_run(reader, s->section->sql, values, s->section->parameters, &sink);
    if (status == MGB_OK && s->table)
        status = mgb_table_print(s->table, s->in->format, stdout);
    mgb_table_free(s->table);
    return status;
}

static enum mgb_status show_ask(const struct mgb_invocation *in, struct mgb_reader *reader,
                                int *code)
{
    static const char *const names[] = {"section", "row", "name", "value"};
    struct showing s = {.in = in};
    struct mgb_selection chosen;
    enum mgb_outcome state;
    (void)code;
    MGB_TRY(mgb_select(&chosen, reader, in->words[0]));
    struct mgb_selected first = chosen.segments[0];
    size_t more = chosen.count - 1;
    mgb_selection_done(&chosen);
    MGB_TRY(mgb_db_run_state(&state, reader, first.run));
    struct mgb_value values[] = {mgb_value_of_int(first.run), mgb_value_of_int(first.segment),
                                 mgb_value_of_text(mgb_outcome_name(state))};
    if (in->format == MGB_TABLE_CSV)
        MGB_TRY(mgb_table_make(&s.csv, 4, names));
    enum mgb_status status = MGB_OK;
    for (s.section = mgb_show_sections; status == MGB_OK && s.section->name; s.section++)
        status = section_show(&s, reader, values);
    if (status == MGB_OK && s.csv)
        status = mgb_table_print(s.csv, in->format, stdout);
    mgb_table_free(s.csv);
    if (status == MGB_OK && more > 0 && !in->quiet)
        mgb_say(stderr, "%s: the first of %zu runs; mgbench runs lists them\n", in->program,
                more + 1);
    return status;
}

static int show_run(struct mgb_invocation *in)
{
    return mgb_cli_ask(in, show_ask);
}

const struct mgb_command mgb_command_show = {
    .name = "show",
    .usage = "RUN",
    .summary = "one run whole: settings, figures, memory, traffic, phases, what was odd",
    .help = "RUN: " MGB_SELECT_WORDS ".\n"
            "A run without a segment's number is shown by its last segment that has figures.\n",
    .examples = examples,
    .least_words = 1,
    .most_words = 1,
    .run = show_run,
};
