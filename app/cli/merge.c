/* mgbench merge: runs of several machines in one file. */
#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "app/script/terminal.h"
#include "db/keep.h"
#include "db/merge.h"
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static bool stop_asked(void *context)
{
    (void)context;
    return mgb_interrupt_asked();
}

static void line_say(void *context, const char *line)
{
    const struct mgb_invocation *in = context;
    if (!in->quiet)
        mgb_cli_complain(in, 0, "%s", line);
}

static void counts_add(struct mgb_table *table, const char *file, const struct mgb_merge_counts *c)
{
    mgb_table_add_text(table, file);
    const int64_t values[] = {c->runs,       c->segments,       c->steps,        c->runs_known,
                              c->runs_going, c->sweeps,         c->tags,         c->notes,
                              c->baselines,  c->baselines_kept, c->noise_floors, c->machines};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        mgb_table_add_integer(table, values[i]);
}

static enum mgb_status table_make(struct mgb_table **out)
{
    static const char *const names[] = {
        "from", "runs",  "segments",  "steps",          "known_runs",   "left_out", "sweeps",
        "tags", "notes", "baselines", "kept_baselines", "noise_floors", "machines"};
    return mgb_table_make(out, (int)(sizeof names / sizeof *names), names);
}

/* For people: what came, and of the rest what there is. */
static void counts_tell(const char *file, const struct mgb_merge_counts *c)
{
    const struct {
        int64_t count;
        const char *what;
    } others[] = {{c->runs_known, "runs known already"},
                  {c->runs_going, "runs left out"},
                  {c->sweeps, "sweeps"},
                  {c->tags, "tags"},
                  {c->notes, "notes"},
                  {c->baselines, "baselines"},
                  {c->baselines_kept, "baselines kept as they are"},
                  {c->noise_floors, "noise floors"},
                  {c->machines, "machines"}};
    mgb_say(stdout, "%s: %lld runs, %lld segments, %lld steps", file, (long long)c->runs,
            (long long)c->segments, (long long)c->steps);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].count)
            mgb_say(stdout, ", %lld %s", (long long)others[i].count, others[i].what);
    putchar('\n');
}

static enum mgb_status files_merge(struct mgb_invocation *in, const char *target, int first,
                                   struct mgb_table *table)
{
    struct mgb_store *store = NULL;
    struct mgb_merge_options options = {stop_asked, line_say, in};
    struct mgb_store_options settings = {.busy_wait_ms = 5000};
    bool made = access(target, F_OK) != 0 && errno == ENOENT;
    enum mgb_status status = mgb_store_open(&store, target, &settings);
    for (int i = first; i < in->word_count && status == MGB_OK; i++) {
        struct mgb_merge_counts counts = {0};
        status = mgb_merge(&counts, store, in->words[i], &options);
        if (in->format != MGB_TABLE_TEXT)
            counts_add(table, in->words[i], &counts);
        else if (status == MGB_OK || status == MGB_INTERRUPTED || counts.runs > 0)
            counts_tell(in->words[i], &counts);
    }
    char message[512];
    snprintf(message, sizeof message, "%s", mgb_message_get());
    mgb_store_close(store);
    if (made && status != MGB_OK && status != MGB_INTERRUPTED)
        mgb_keep_unmake(target);
    return status == MGB_OK ? MGB_OK : mgb_fail(status, "%s", message);
}

static int merge_run(struct mgb_invocation *in)
{
    const char *into = mgb_cli_find_flag(in, "--into");
    struct mgb_table *table;
    if (into && !*into)
        return mgb_cli_complain(in, MGB_EXIT_USAGE, "--into: FILE expected, got an empty text");
    if (!into && in->word_count < 2)
        return mgb_cli_complain(in, MGB_EXIT_USAGE,
                                "merge: one file alone; name the one to merge into first, or "
                                "--into FILE");
    const char *target = into ? into : in->words[0];
    int first = into ? 0 : 1;
    for (int i = 0; i < in->word_count; i++)
        if (access(in->words[i], F_OK) != 0)
            return mgb_cli_complain(in, MGB_EXIT_UNAVAILABLE, "%s is not there", in->words[i]);
    if (table_make(&table) != MGB_OK)
        return mgb_cli_complain(in, MGB_EXIT_FAILED, "%s", mgb_message_get());
    enum mgb_status status = files_merge(in, target, first, table);
    int code = status == MGB_OK
                   ? MGB_EXIT_OK
                   : mgb_cli_complain(in, mgb_cli_refusal_code(status), "%s", mgb_message_get());
    if (in->format != MGB_TABLE_TEXT && mgb_table_print(table, in->format, stdout) != MGB_OK &&
        code == MGB_EXIT_OK)
        code = mgb_cli_complain(in, MGB_EXIT_FAILED, "%s", mgb_message_get());
    mgb_table_free(table);
    return code;
}

static const struct mgb_flag flags[] = {
    {"--into", "FILE", "merge all into FILE, made if need be (default: the first one)", false},
    {NULL, NULL, NULL, false}};

static const struct mgb_example examples[] = {
    {"mgbench merge here.db there.db", "the runs of there.db come to those of here.db"},
    {"mgbench merge --into all.db here.db there.db", "both in a new file"},
    {NULL, NULL}};

const struct mgb_command mgb_command_merge = {
    .name = "merge",
    .usage = "A.db B.db... [--into FILE]",
    .summary = "brings the runs of several files, or machines, together",
    .help =
        "A run is known by its uuid, so that merging again doubles nothing and brings only what is "
        "new.\n"
        "The files that are merged from are not changed and may be of an older version or in use; "
        "a run\n"
        "that is still going there is left out. A baseline whose name both have stays as it is.\n"
        "Stopped with Ctrl-C, whole runs are in the file; the same command goes on.\n"
        "\n"
        "exit codes: 1 a run is being written to the file, 4 a file is not there, 130 stopped\n",
    .examples = examples,
    .flags = flags,
    .least_words = 1,
    .most_words = -1,
    .run = merge_run,
};
