/* mgbench seal: the results as one file that may lie read-only. */
#include "app/cli/commands.h"
#include "app/cli/hub.h"
#include "app/cli/stream.h"
#include "app/script/terminal.h"
#include "db/keep.h"
#include <mgb/text.h>
#include <stdlib.h>
#include <string.h>

static int seal_run(struct mgb_invocation *in)
{
    const char *copy = mgb_cli_find_flag(in, "--out");
    char size[32];
    if (copy && !*copy)
        return mgb_cli_complain(in, MGB_EXIT_USAGE, "--out: FILE expected, got an empty text");
    const struct mgb_keep_options options = {.stop = mgb_cli_stream_stop};
    char *database = in->word_count ? strdup(in->words[0]) : mgb_cli_database(in);
    enum mgb_status status = !database ? mgb_cli_no_database()
                             : copy    ? mgb_keep_seal_copy(database, copy, &options)
                                       : mgb_keep_seal(database, &options);
    int code = status == MGB_OK
                   ? MGB_EXIT_OK
                   : mgb_cli_complain(in, mgb_cli_refusal_code(status), "%s", mgb_message_get());
    const char *file = copy ? copy : database;
    if (code == MGB_EXIT_OK && !in->quiet)
        mgb_say(stdout, "%s: %s in one file\n", file,
                mgb_format_bytes(size, sizeof size, mgb_keep_size(file)));
    free(database);
    return code;
}

static const struct mgb_flag flags[] = {
    {"--out", "FILE", "leaves the database as it is and seals a copy", false},
    {NULL, NULL, NULL, false}};

static const struct mgb_example examples[] = {
    {"mgbench seal results.db", "one file, ready for a read-only folder or an archive"},
    {"mgbench seal results.db --out paper.db", "the same as a copy; runs may be going on"},
    {NULL, NULL}};

const struct mgb_command mgb_command_seal = {
    .name = "seal",
    .usage = "[FILE] [--out FILE]",
    .summary = "makes results one file that may lie read-only",
    .help = "A database in use is a file with a write-ahead log and a lock file beside it. Sealed "
            "it is one\n"
            "file that can be read from a folder that nobody may write to. A later run that writes "
            "to it\n"
            "undoes that. Without FILE: the results database.\n"
            "\n"
            "exit codes: 1 in use by others or no room, 2 the copy is there already, 4 there is no "
            "such "
            "file\n"
            "or folder, 130 interrupted (nothing was changed)\n",
    .examples = examples,
    .flags = flags,
    .most_words = 1,
    .run = seal_run,
};
