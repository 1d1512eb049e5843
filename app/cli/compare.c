/* mgbench compare: is B faster than A, and what differs between them. */
#include "app/cli/asking.h"
#include "app/cli/commands.h"
#include "app/cli/compare_cells.h"
#include "app/cli/differ.h"
#include "app/session/rank.h"
#include "app/script/terminal.h"
#include <stdlib.h>
#include <string.h>

static const struct mgb_flag flags[] = {
    {"--all", NULL, "show the settings and the environment that are the same, too", false},
    {"--against", "POINT|RUN",
     "of a sweep alone: A is this point, or these runs (default: its fastest point)", false},
    {"--across-backends", NULL, "allow runs of other backends, as measured against simulated",
     false},
    {"--fail-if-slower", NULL,
     "exit 3 when B is slower, 1 when there is no verdict, 0 when it is faster or the same", false},
    {"--floor", "PERCENT",
     "differences up to it count as none (default: what selftest measured on "
     "this machine, at least 1%)",
     false},
    {NULL, NULL, NULL, false}};

static const struct mgb_example examples[] = {
    {"mgbench compare tag:before tag:after",
     "repetitions against repetitions: mgbench run ... --repeats 5 --tag NAME makes them"},
    {"mgbench compare 1,3,5 2,4,6 --floor 2%", "three repetitions against three"},
    {"mgbench compare baseline:before tag:after --fail-if-slower",
     "a gate for scripts: exit 3 if slower, 1 if undecided or refused, else 0"},
    {"mgbench compare sweep:placement/0 sweep:placement/1 --all",
     "two points of a sweep, by all their repetitions"},
    {"mgbench compare sweep:placement",
     "which point of a sweep is the fastest, and whether by more than noise"},
    {NULL, NULL}};

static enum mgb_status options_read(struct mgb_judge_options *out, const struct mgb_invocation *in)
{
    const char *floor = mgb_cli_find_flag(in, "--floor");
    *out = (struct mgb_judge_options){.across_backends =
                                          mgb_cli_find_flag(in, "--across-backends") != NULL};
    return floor ? mgb_cli_fraction_read(&out->floor, "--floor", floor) : MGB_OK;
}

/* "A: runs 1, 3, 5: mlp on here, backend cuda"; with `word` where that says more than the runs do. */
static void side_print(const char *name, const char *word, const struct mgb_selection *side,
                       const struct mgb_judged_side *facts)
{
    mgb_say(stdout, "%s", name);
    if (word[strspn(word, "0123456789,")])
        mgb_say(stdout, " (%s)", word);
    mgb_say(stdout, ": run%s ", side->count > 1 ? "s" : "");
    for (size_t i = 0; i < side->count && i < 12; i++)
        mgb_say(stdout, "%s%lld", i ? ", " : "", (long long)side->segments[i].run);
    if (side->count > 12)
        mgb_say(stdout, ", ... (%zu)", side->count);
    mgb_say(stdout, ": %s on %s", *facts->model ? facts->model : "no steps", facts->machine);
    if (strcmp(facts->backend, "host") == 0)
        puts(", backend host: /gpu:N are CPU devices");
    else
        mgb_say(stdout, ", backend %s%s\n", facts->backend, facts->simulated ? ": simulated" : "");
}

void mgb_compare_remarks_print(const char *remarks)
{
    for (const char *at = remarks; *at;) {
        size_t length = strcspn(at, "\n");
        mgb_say(stdout, "note: %.*s\n", (int)length, at);
        at += length + (at[length] == '\n');
    }
}

void mgb_compare_notes_print(const struct mgb_judgement *j)
{
    char text[900];
    mgb_judge_evidence(text, sizeof text, j);
    puts(text);
    mgb_judge_reason(text, sizeof text, j);
    if (*text)
        puts(text);
    mgb_compare_remarks_print(j->remarks);
}

static enum mgb_status pair_print(const struct mgb_invocation *in, const struct mgb_selection *a,
                                  const struct mgb_selection *b, const struct mgb_judgement *j,
                                  const struct mgb_differ *differ)
{
    char line[512];
    mgb_judge_line(line, sizeof line, j);
    puts(line);
    mgb_compare_notes_print(j);
    putchar('\n');
    side_print("A", in->words[0], a, &j->a);
    side_print("B", in->words[1], b, &j->b);
    putchar('\n');
    return mgb_differ_print(differ, mgb_cli_find_flag(in, "--all") != NULL, stdout);
}

static enum mgb_status pair_tell(const struct mgb_invocation *in, const struct mgb_selection *a,
                                 const struct mgb_selection *b, const struct mgb_judgement *j,
                                 struct mgb_reader *reader)
{
    struct mgb_differ differ;
    MGB_TRY(mgb_differ_make(&differ, reader, a, b));
    enum mgb_status status;
    if (in->format == MGB_TABLE_TEXT)
        status = pair_print(in, a, b, j, &differ);
    else {
        char line[4000];
        struct mgb_table *table;
        mgb_differ_line(line, sizeof line, &differ);
        status = mgb_compare_table_make(&table);
        if (status == MGB_OK) {
            mgb_compare_row_add(table, in->words[0], in->words[1], j, line);
            status = mgb_table_print(table, in->format, stdout);
            mgb_table_free(table);
        }
    }
    mgb_differ_done(&differ);
    return status;
}

/* What settles a comparison that has no verdict. */
static const char *remedy(const struct mgb_judgement *j)
{
    if (j->comparison.verdict == MGB_VERDICT_REFUSED)
        return "mend that and measure again";
    switch (j->comparison.reason) {
    case MGB_REASON_SINGLE:
    case MGB_REASON_WIDE:
    case MGB_REASON_MANY_CELLS:
        return "measure more of both: mgbench run MODEL ... --repeats N --tag NAME";
    case MGB_REASON_EDGE:
        return "say with --floor which difference is too small to matter";
    case MGB_REASON_FEW_STEPS:
        return "measure longer and more often: mgbench run MODEL ... --steps 100 --repeats N --tag "
               "NAME";
    case MGB_REASON_NONE:
    case MGB_REASON_NOT_STEADY:
    case MGB_REASON_NO_STEPS:
        break;
    }
    return "measure again: mgbench run MODEL ... --repeats N --tag NAME";
}

int mgb_compare_exit_code(const struct mgb_invocation *in, const struct mgb_judgement *cells,
                          size_t count)
{
    const struct mgb_judgement *open = NULL;
    size_t without = 0;
    char reason[900];
    if (!mgb_cli_find_flag(in, "--fail-if-slower"))
        return MGB_EXIT_OK;
    for (size_t i = 0; i < count; i++) {
        enum mgb_verdict verdict = cells[i].comparison.verdict;
        if (verdict == MGB_VERDICT_SLOWER)
            return MGB_EXIT_SLOWER;
        if (verdict != MGB_VERDICT_UNDECIDED && verdict != MGB_VERDICT_REFUSED)
            continue;
        open = open ? open : &cells[i];
        without++;
    }
    if (!open)
        return MGB_EXIT_OK;
    mgb_judge_reason(reason, sizeof reason, open);
    if (count == 1)
        return mgb_cli_complain(in, MGB_EXIT_FAILED, "no verdict: %s; %s", reason, remedy(open));
    return mgb_cli_complain(in, MGB_EXIT_FAILED, "no verdict on %zu of %zu points: %s; %s", without,
                            count, reason, remedy(open));
}

static enum mgb_status pair_compare(const struct mgb_invocation *in, struct mgb_reader *reader,
                                    const struct mgb_selection *a, const struct mgb_selection *b,
                                    int *code)
{
    struct mgb_judge_options options;
    struct mgb_judgement j;
    MGB_TRY(options_read(&options, in));
    MGB_TRY(mgb_judge(&j, reader, a, b, &options));
    MGB_TRY(pair_tell(in, a, b, &j, reader));
    *code = mgb_compare_exit_code(in, &j, 1);
    return MGB_OK;
}

static enum mgb_status sides_compare(const struct mgb_invocation *in, struct mgb_reader *reader,
                                     const struct mgb_selection *a, const struct mgb_selection *b,
                                     int *code)
{
    struct mgb_judge_options options;
    if (mgb_compare_points(a) > 1)
        return mgb_fail(MGB_INVALID,
                        "%s names %zu points of a sweep, but A is one configuration: write "
                        "%s/POINT, or name the sweep alone",
                        in->words[0], mgb_compare_points(a), in->words[0]);
    if (mgb_compare_points(b) <= 1)
        return pair_compare(in, reader, a, b, code);
    MGB_TRY(options_read(&options, in));
    return mgb_compare_cells(in, reader, a, b, &options, code);
}

/* What A is when a sweep stands alone: the fastest of its points, or what --against says: one of them by its number, or
 * other runs. `out` borrows from `all`, or from `named`. */
static enum mgb_status base_find(struct mgb_selection *out, struct mgb_selection *named,
                                 const struct mgb_invocation *in, struct mgb_reader *reader,
                                 const struct mgb_selection *all,
                                 const struct mgb_judge_options *options)
{
    const char *against = mgb_cli_find_flag(in, "--against");
    size_t count = mgb_compare_points(all), at = 0, fastest = 0;
    bool is_point = against && against[strspn(against, "0123456789")] == '\0';
    struct mgb_selection *points = calloc(count, sizeof *points);
    if (!points)
        return mgb_fail(MGB_NO_MEMORY, "comparing: memory is exhausted");
    for (size_t i = 0; i < count; i++) {
        points[i] = (struct mgb_selection){all->segments + at, mgb_compare_run_length(all, at)};
        at += points[i].count;
        if (is_point && all->segments[at - 1].point == strtoll(against, NULL, 10))
            *out = points[i];
    }
    enum mgb_status status = MGB_OK;
    if (!against) {
        status = mgb_rank_fastest(&fastest, reader, points, count, options);
        *out = points[fastest < count ? fastest : 0];
    } else if (!out->count) {
        status = mgb_select(named, reader, against);
        *out = *named;
    }
    free(points);
    return status;
}

static enum mgb_status sweep_compare(const struct mgb_invocation *in, struct mgb_reader *reader,
                                     const struct mgb_selection *all, int *code)
{
    struct mgb_judge_options options;
    struct mgb_selection a = {0}, named = {0};
    if (mgb_compare_points(all) < 2)
        return mgb_fail(MGB_INVALID,
                        "compare: B is missing: %s is one configuration; usage: "
                        "mgbench compare A B, or compare sweep:NAME",
                        in->words[0]);
    MGB_TRY(options_read(&options, in));
    enum mgb_status status = base_find(&a, &named, in, reader, all, &options);
    if (status == MGB_OK && mgb_compare_points(&a) > 1)
        status = mgb_fail(MGB_INVALID, "--against: one configuration expected, %s is %zu",
                          mgb_cli_find_flag(in, "--against"), mgb_compare_points(&a));
    if (status == MGB_OK)
        status = mgb_compare_cells(in, reader, &a, all, &options, code);
    mgb_selection_done(&named);
    return status;
}

/* What the words may stand for besides what is compared. */
static enum mgb_status words_remark(const struct mgb_invocation *in, struct mgb_reader *reader)
{
    char remark[400];
    for (int i = 0; i < in->word_count; i++) {
        MGB_TRY(mgb_select_remark(remark, sizeof remark, reader, in->words[i]));
        if (*remark && in->format == MGB_TABLE_TEXT)
            mgb_say(stdout, "note: %s\n", remark);
    }
    return MGB_OK;
}

static enum mgb_status compare_ask(const struct mgb_invocation *in, struct mgb_reader *reader,
                                   int *code)
{
    struct mgb_selection a, b;
    MGB_TRY(mgb_select(&a, reader, in->words[0]));
    enum mgb_status status;
    if (in->word_count == 1)
        status = sweep_compare(in, reader, &a, code);
    else {
        status = mgb_select(&b, reader, in->words[1]);
        if (status == MGB_OK)
            status = sides_compare(in, reader, &a, &b, code);
        mgb_selection_done(&b);
    }
    mgb_selection_done(&a);
    return status == MGB_OK ? words_remark(in, reader) : status;
}

static int compare_run(struct mgb_invocation *in)
{
    return mgb_cli_ask(in, compare_ask);
}

const struct mgb_command mgb_command_compare = {
    .name = "compare",
    .usage = "A B | sweep:NAME",
    .summary = "is B faster than A, and what differs between them",
    .help =
        "A and B are runs: " MGB_SELECT_WORDS ";\n"
        "several with commas between are repetitions of one side. What differs in settings and "
        "environment is\n"
        "shown, then the median step of both with 95 % intervals (n = repetitions x steps), their "
        "ratio, and one of\n"
        "faster, slower, same (within the noise floor), undecided (with how many more repetitions "
        "would settle it).\n"
        "Where the global batches differ, the time is that of an example. No verdict is given of "
        "steps that never\n"
        "settled, of logs with gaps, and where variables are stored twice; the figures are shown "
        "with the reason.\n"
        "With a sweep in B's place, or alone, each of its points is compared with A, or with its "
        "fastest point or\n"
        "what --against says, corrected for their number (Holm); which one is the fastest comes "
        "first.\n"
        "\n"
        "exit codes: 2 no such word, 4 no such run; with --fail-if-slower also 3 slower, 1 no "
        "verdict "
        "(undecided or\n"
        "refused; stderr says why and what to do), 0 faster or the same\n",
    .examples = examples,
    .flags = flags,
    .least_words = 1,
    .most_words = 2,
    .run = compare_run,
};
