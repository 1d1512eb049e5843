/* mgbench tag: labels on runs. */
#include "app/cli/asking.h"
#include "app/cli/commands.h"
#include "app/script/terminal.h"
#include "db/select.h"
#include <mgb/name.h>

static const struct mgb_flag flags[] = {{"--remove", NULL, "take the tags off instead", false},
                                        {NULL, NULL, NULL, false}};

static const struct mgb_example examples[] = {
    {"mgbench tag last good", "calls the newest run good"},
    {"mgbench tag sweep:placement paper --quiet", "a label on every run of a sweep"},
    {"mgbench tag tag:paper paper --remove", "and off again"},
    {NULL, NULL}};

static enum mgb_status tags_put(const struct mgb_invocation *in, struct mgb_store *store,
                                int64_t run)
{
    bool remove = mgb_cli_find_flag(in, "--remove") != NULL;
    for (int i = 1; i < in->word_count; i++) {
        MGB_TRY(remove ? mgb_store_delete_tag(store, run, in->words[i])
                       : mgb_store_put_tag(store, run, in->words[i]));
    }
    if (in->quiet)
        return MGB_OK;
    mgb_say(stdout, "run %lld: %s", (long long)run, remove ? "no longer" : "tagged");
    for (int i = 1; i < in->word_count; i++)
        mgb_say(stdout, "%s %s", i > 1 ? "," : "", in->words[i]);
    putchar('\n');
    return MGB_OK;
}

static enum mgb_status tag_put(const struct mgb_invocation *in, struct mgb_reader *reader,
                               struct mgb_store *store)
{
    struct mgb_selection runs;
    bool remove = mgb_cli_find_flag(in, "--remove") != NULL; /* whatever came by a merge */
    for (int i = 1; i < in->word_count && !remove; i++)
        MGB_TRY(mgb_name_check("tag", in->words[i]));
    MGB_TRY(mgb_select(&runs, reader, in->words[0]));
    enum mgb_status status = MGB_OK;
    for (size_t i = 0; status == MGB_OK && i < runs.count; i++)
        status = tags_put(in, store, runs.segments[i].run);
    mgb_selection_done(&runs);
    return status;
}

static int tag_run(struct mgb_invocation *in)
{
    return mgb_cli_write(in, tag_put);
}

const struct mgb_command mgb_command_tag = {
    .name = "tag",
    .usage = "RUN NAME... [--remove]",
    .summary = "labels on runs, to find them again as tag:NAME",
    .help =
        "RUN: " MGB_SELECT_WORDS ".\n"
        "Each NAME is a tag of its own; one of several words stands in quotes. None has commas: "
        "they part names\n"
        "where runs are chosen.\n"
        "While another process runs on the file it cannot be written to: that is said, with its "
        "process.\n",
    .examples = examples,
    .flags = flags,
    .least_words = 2,
    .most_words = -1,
    .run = tag_run,
};
