/* mgbench note: a remark on a run, which show prints. */
#include "app/cli/asking.h"
#include "app/cli/commands.h"
#include "app/script/terminal.h"
#include "db/select.h"
#include <mgb/name.h>

static const struct mgb_example examples[] = {
    {"mgbench note last 'after the driver update'", "keeps with the newest run why it was made"},
    {NULL, NULL}};

static enum mgb_status note_put(const struct mgb_invocation *in, struct mgb_reader *reader,
                                struct mgb_store *store)
{
    struct mgb_selection runs;
    MGB_TRY(mgb_note_check("note", in->words[1]));
    MGB_TRY(mgb_select(&runs, reader, in->words[0]));
    enum mgb_status status = MGB_OK;
    for (size_t i = 0; status == MGB_OK && i < runs.count; i++) {
        status = mgb_store_put_note(store, runs.segments[i].run, in->words[1]);
        if (status == MGB_OK && !in->quiet)
            mgb_say(stdout, "run %lld: noted\n", (long long)runs.segments[i].run);
    }
    mgb_selection_done(&runs);
    return status;
}

static int note_run(struct mgb_invocation *in)
{
    return mgb_cli_write(in, note_put);
}

const struct mgb_command mgb_command_note = {
    .name = "note",
    .usage = "RUN TEXT",
    .summary = "a remark on a run, kept with it and printed by show",
    .help = "RUN: " MGB_SELECT_WORDS ".\n",
    .examples = examples,
    .least_words = 2,
    .most_words = 2,
    .run = note_run,
};
