/* mgbench report: one page of HTML that tells everything by itself. */
#include "app/cli/commands.h"
#include "app/cli/hub.h"
#include "app/cli/interrupt.h"
#include "app/cli/report_page.h"
#include "app/script/terminal.h"
#include "db/export_file.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes the folder and those above it; *kept is how many bytes of `path` name what was there. */
static enum mgb_status folder_make(size_t *kept, const char *path)
{
    char *copy = strdup(path);
    struct stat is;
    *kept = strlen(path);
    if (!copy)
        return mgb_fail(MGB_NO_MEMORY, "writing a report: memory is exhausted");
    for (char *at = copy; at;) {
        at = strchr(at + 1, '/');
        if (at)
            *at = '\0';
        if (mkdir(copy, 0777) == 0 && strlen(copy) <= *kept)
            *kept = strlen(copy) - 1;
        if (at)
            *at = '/';
    }
    free(copy);
    if (stat(path, &is) == 0 && S_ISDIR(is.st_mode))
        return MGB_OK;
    return mgb_fail(MGB_IO, "making the folder '%s' failed: %s", path,
                    errno == EEXIST ? "it is a file" : strerror(errno));
}

/* Takes away the folders that were made for nothing. */
static void folder_unmake(size_t kept, const char *path)
{
    char *copy = strdup(path);
    for (char *end = copy ? copy + strlen(copy) : NULL; end && end > copy + kept;) {
        *end = '\0';
        rmdir(copy);
        end = strrchr(copy, '/');
    }
    free(copy);
}

static enum mgb_status page_write(struct report *report, const char *path)
{
    struct mgb_export_file file;
    char message[512];
    MGB_TRY(mgb_export_file_open(&file, path));
    report->out = file.out;
    enum mgb_status status = report_page(report);
    if (status == MGB_OK && mgb_interrupt_asked())
        status = mgb_fail(MGB_INTERRUPTED, "writing a report was interrupted");
    if (status == MGB_OK)
        status = mgb_export_file_commit(&file);
    if (status == MGB_IO && file.out && ferror(file.out))
        snprintf(message, sizeof message, "cannot write %s (is the disk full?)", path);
    else
        snprintf(message, sizeof message, "%s", mgb_message_get());
    mgb_export_file_done(&file);
    return status == MGB_OK ? MGB_OK : mgb_fail(status, "%s", message);
}

/* The words after DIR with commas between; NULL: none. To be freed. */
static char *words_join(const struct mgb_invocation *in)
{
    char *text = NULL;
    size_t size;
    FILE *out = in->word_count > 1 ? open_memstream(&text, &size) : NULL;
    for (int i = 1; out && i < in->word_count; i++)
        fprintf(out, "%s%s", i > 1 ? "," : "", in->words[i]);
    if (out)
        fclose(out);
    return text;
}

static char *title_make(const struct mgb_invocation *in, const struct plot_cells *cells,
                        const char *words)
{
    const char *given = mgb_cli_find_flag(in, "--title");
    char *title, *subject = plot_subject(cells, &cells->all[0]);
    if (given)
        title = strdup(given);
    else if (asprintf(&title, "mgbench: %s%s%s", words ? words : "", words ? ": " : "",
                      subject ? subject : "") < 0)
        title = NULL;
    free(subject);
    return title;
}

static enum mgb_status report_make(const struct mgb_invocation *in, const char *database,
                                   const char *words, const char *command)
{
    struct report report = {.in = in, .database = database, .words = words, .command = command};
    struct plot_cells cells;
    char *path = NULL, *title = NULL;
    MGB_TRY(mgb_reader_open(&report.reader, database));
    enum mgb_status status = plot_cells_load(&cells, report.reader, words, false);
    if (status == MGB_OK) {
        report.cells = &cells;
        report.title = title = title_make(in, &cells, words);
        if (!title || asprintf(&path, "%s/index.html", in->words[0]) < 0)
            status = mgb_fail(MGB_NO_MEMORY, "writing a report: memory is exhausted");
        size_t kept = strlen(in->words[0]);
        if (status == MGB_OK)
            status = folder_make(&kept, in->words[0]);
        if (status == MGB_OK)
            status = page_write(&report, path);
        if (status != MGB_OK)
            folder_unmake(kept, in->words[0]);
        if (status == MGB_OK)
            mgb_say(stdout, "%s\n", path);
        plot_cells_done(&cells);
    }
    free(path);
    free(title);
    mgb_reader_close(report.reader);
    return status;
}

/* A DIR that was meant as something else is not made. */
static bool folder_is_odd(const struct mgb_invocation *in)
{
    const char *word = in->words[0], *end = strrchr(word, '.');
    char *again = in->word_count > 1 ? words_join(in) : NULL;
    bool page = end && (strcasecmp(end, ".html") == 0 || strcasecmp(end, ".htm") == 0);
    bool selector = strncmp(word, "sweep:", 6) == 0 || strncmp(word, "tag:", 4) == 0 ||
                    strncmp(word, "baseline:", 9) == 0 || strcmp(word, "last") == 0 ||
                    strncmp(word, "last~", 5) == 0 ||
                    (word[strspn(word, "0123456789.,")] == '\0' && *word != '.');
    if (page)
        mgb_cli_complain(
            in, MGB_EXIT_USAGE,
            "report: DIR is a folder, which gets an index.html: mgbench report %.*s%s%s",
            (int)(end - word), word, again ? " " : "", again ? again : "");
    else if (selector)
        mgb_cli_complain(in, MGB_EXIT_USAGE,
                         "report: the first word is the folder of the page, and '%s' names runs: "
                         "mgbench report page %s%s%s (./%s for a folder of that name)",
                         word, word, again ? " " : "", again ? again : "", word);
    free(again);
    return page || selector;
}

static int report_run(struct mgb_invocation *in)
{
    if (folder_is_odd(in))
        return MGB_EXIT_USAGE;
    if (in->format != MGB_TABLE_TEXT)
        return mgb_cli_complain(in, MGB_EXIT_USAGE,
                                "report: it makes a page, --json and --csv are "
                                "for tables; the figures: mgbench export");
    char *database = mgb_cli_database(in), *words = words_join(in);
    char *command = mgb_cli_command_text(in);
    enum mgb_status status = !database ? mgb_cli_no_database()
                             : (in->word_count > 1 && !words) || !command
                                 ? mgb_fail(MGB_NO_MEMORY, "writing a report: memory is exhausted")
                                 : report_make(in, database, words, command);
    free(database);
    free(words);
    free(command);
    if (status == MGB_INTERRUPTED)
        return in->quiet ? MGB_EXIT_INTERRUPTED
                         : mgb_cli_complain(in, MGB_EXIT_INTERRUPTED,
                                            "report: interrupted; no page was written, an older "
                                            "one is as it was");
    return status == MGB_OK ? MGB_EXIT_OK
                            : mgb_cli_complain(in, mgb_cli_refusal_code(status), "report: %s",
                                               mgb_message_get());
}

static const struct mgb_example examples[] = {
    {"mgbench report page", "all placements of the newest run's model, in page/index.html"},
    {"mgbench report page sweep:weak", "one sweep"},
    {"mgbench report page mlp --title 'Where should the weights live?'", "a model, with a title"},
    {NULL, NULL}};

static const struct mgb_flag flags[] = {{"--title", "TEXT", "heading of the page", false},
                                        {NULL, NULL, NULL, false}};

const struct mgb_command mgb_command_report = {
    .name = "report",
    .usage = "DIR [MODEL | RUN|sweep:NAME...] [options]",
    .summary = "one self-contained HTML page: verdicts, pictures, tables, environment",
    .help =
        "Writes DIR/index.html; DIR is made, an older page is replaced when the new one is whole.\n"
        "The page needs nothing else: pictures are inside (gnuplot draws them; without it they "
        "are\n"
        "of characters), and no script. Which runs: as mgbench plot takes them.\n"
        "\n"
        "exit codes: 1 the page cannot be written, 2 wrong words, 4 no such runs\n",
    .examples = examples,
    .flags = flags,
    .least_words = 1,
    .most_words = -1,
    .run = report_run,
};
