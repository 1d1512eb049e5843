/* mgbench baseline: names for what others are compared with. */
#include "app/cli/asking.h"
#include "app/cli/commands.h"
#include "app/script/terminal.h"
#include "db/select.h"
#include <mgb/name.h>
#include <mgb/text.h>
#include <stdlib.h>
#include <string.h>

static const struct mgb_example examples[] = {
    {"mgbench baseline set before tag:before",
     "the runs with this tag: what later ones are held against"},
    {"mgbench baseline list", "all of them"},
    {"mgbench compare baseline:before tag:after", "uses it"},
    {"mgbench baseline set point sweep:placement/0", "all repetitions of a sweep's point"},
    {"mgbench baseline rm point", "takes the name away, not the run"},
    {NULL, NULL}};

static enum mgb_status repetitions_keep(const char *name, const char *word,
                                        const struct mgb_selection *all, struct mgb_store *store)
{
    int64_t *segments = calloc(all->count, sizeof *segments);
    if (!segments)
        return mgb_fail(MGB_NO_MEMORY, "no memory for %zu runs", all->count);
    enum mgb_status status = MGB_OK;
    for (size_t i = 0; i < all->count && status == MGB_OK; i++) {
        segments[i] = all->segments[i].segment;
        if (!segments[i])
            status =
                mgb_fail(MGB_INVALID, "run %lld did not begin: it has no figures to compare with",
                         (long long)all->segments[i].run);
        else if (all->segments[i].point >= 0 && all->segments[0].point >= 0 &&
                 all->segments[i].point != all->segments[0].point)
            status = mgb_fail(MGB_INVALID,
                              "%s names several points of a sweep, and a baseline is one "
                              "configuration: write %s/POINT",
                              word, word);
    }
    if (status == MGB_OK)
        status = mgb_store_set_baselines(store, name, segments, all->count);
    free(segments);
    return status;
}

static enum mgb_status baseline_set(const struct mgb_invocation *in, struct mgb_reader *reader,
                                    struct mgb_store *store)
{
    struct mgb_selection all;
    MGB_TRY(mgb_name_check("baseline set", in->words[1]));
    MGB_TRY(mgb_select(&all, reader, in->words[2]));
    enum mgb_status status = repetitions_keep(in->words[1], in->words[2], &all, store);
    if (status == MGB_OK && !in->quiet) {
        mgb_say(stdout, "baseline %s: run%s ", in->words[1], all.count > 1 ? "s" : "");
        for (size_t i = 0; i < all.count; i++)
            mgb_say(stdout, "%s%lld", i ? ", " : "", (long long)all.segments[i].run);
        mgb_say(stdout, "%s\n", all.count > 1 ? ": repetitions of one another" : "");
    }
    mgb_selection_done(&all);
    return status;
}

static enum mgb_status baseline_remove(const struct mgb_invocation *in, struct mgb_reader *reader,
                                       struct mgb_store *store)
{
    (void)reader;
    MGB_TRY(mgb_store_delete_baseline(store, in->words[1]));
    if (!in->quiet)
        mgb_say(stdout, "baseline %s: removed\n", in->words[1]);
    return MGB_OK;
}

static enum mgb_status baselines_list(const struct mgb_invocation *in, struct mgb_reader *reader,
                                      int *code)
{
    (void)code;
    return mgb_cli_table_ask(
        in, reader,
        "SELECT b.name, s.run_id AS run,"
        " (SELECT count(*) FROM segment WHERE run_id = s.run_id AND id <= s.id) AS segment,"
        " max(1, (SELECT count(*) FROM baseline_segment WHERE name = b.name)) AS repetitions,"
        " m.name AS model, r.backend, s.gpus, s.batch_per_gpu AS batch,"
        " coalesce((SELECT avg(u.median_ns) FROM baseline_segment AS x JOIN segment_stat AS u"
        "            ON u.segment_id = x.segment_id WHERE x.name = b.name), t.median_ns) / 1e6 AS "
        "step_ms,"
        " strftime('%Y-%m-%d %H:%M', b.set_ms / 1000, 'unixepoch') AS \"set\""
        "  FROM baseline AS b JOIN segment AS s ON s.id = b.segment_id JOIN run AS r ON r.id = "
        "s.run_id"
        "  JOIN model AS m ON m.id = r.model_id"
        "  LEFT JOIN segment_stat AS t ON t.segment_id = s.id ORDER BY b.name",
        NULL, 0);
}

static int baseline_run(struct mgb_invocation *in)
{
    static const char *const actions[] = {"set", "list", "rm"};
    static const int wanted[] = {3, 1, 2};
    const char *action = in->word_count > 0 ? in->words[0] : "list";
    int words = in->word_count > 0 ? in->word_count : 1, kind = -1;
    for (int i = 0; i < 3; i++)
        kind = strcmp(action, actions[i]) == 0 ? i : kind;
    if (kind < 0) {
        const char *near = mgb_nearest_name(action, actions, 3);
        return mgb_cli_complain(in, MGB_EXIT_USAGE,
                                near ? "baseline: unknown word '%s' (did you mean '%s'?)"
                                     : "baseline: unknown word '%s'; wanted set, list or rm",
                                action, near);
    }
    if (words != wanted[kind])
        return mgb_cli_complain(in, MGB_EXIT_USAGE, "baseline %s: usage: mgbench baseline %s",
                                action,
                                kind == 0   ? "set NAME RUN"
                                : kind == 1 ? "list"
                                            : "rm NAME");
    return kind == 0   ? mgb_cli_write(in, baseline_set)
           : kind == 1 ? mgb_cli_ask(in, baselines_list)
                       : mgb_cli_write(in, baseline_remove);
}

const struct mgb_command mgb_command_baseline = {
    .name = "baseline",
    .usage = "set NAME RUN | list | rm NAME",
    .summary = "names for what others are compared with, as baseline:NAME",
    .help =
        "RUN: 12, 12.2 or last, or what names several runs: tag:NAME, sweep:NAME/3 or 12,13,14; "
        "then baseline:NAME\n"
        "stands for all of them, as repetitions of one configuration, and a comparison with it can "
        "be decided.\n"
        "Given a name again, the baseline moves. Lists of runs show their ratio to the baseline of "
        "the same model\n"
        "and backend.\n",
    .examples = examples,
    .least_words = 0,
    .most_words = 3,
    .run = baseline_run,
};
