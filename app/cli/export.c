/* mgbench export: rows of the results for other programs, as they come. Which rows is settled here as SQL; how they are
 * written is db/export's. */
#include "app/cli/commands.h"
#include "app/cli/export.h"
#include "app/cli/hub.h"
#include "app/cli/interrupt.h"
#include "app/cli/stream.h"
#include "db/export_file.h"
#include <mgb/text.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

struct format_name {
    const char *name;
    enum mgb_export_format format;
};
static const struct format_name formats[] = {
    {"csv", MGB_EXPORT_CSV},     {"json", MGB_EXPORT_JSON},    {"jsonl", MGB_EXPORT_JSONL},
    {"md", MGB_EXPORT_MARKDOWN}, {"ndjson", MGB_EXPORT_JSONL}, {"markdown", MGB_EXPORT_MARKDOWN},
    {NULL, MGB_EXPORT_CSV}};

static const struct format_name *format_find(const char *name)
{
    for (const struct format_name *f = formats; f->name; f++)
        if (strcasecmp(f->name, name) == 0)
            return f;
    return NULL;
}

/* By --format, --json or --csv, else by how the file's name ends, else CSV. */
static int format_settle(enum mgb_export_format *out, const struct mgb_invocation *in,
                         const char *file)
{
    const char *given = mgb_cli_find_flag(in, "--format");
    const char *dot = file ? strrchr(file, '.') : NULL;
    const struct format_name *by_file = dot ? format_find(dot + 1) : NULL;
    *out = by_file ? by_file->format : MGB_EXPORT_CSV;
    if (in->format != MGB_TABLE_TEXT)
        *out = in->format == MGB_TABLE_CSV ? MGB_EXPORT_CSV : MGB_EXPORT_JSON;
    if (!given)
        return -1;
    const struct format_name *found = format_find(given);
    if (!found)
        return mgb_cli_complain(in, MGB_EXIT_USAGE,
                                "--format: csv, json, jsonl or md expected, got '%s'", given);
    if (in->format != MGB_TABLE_TEXT && found->format != *out)
        return mgb_cli_complain(in, MGB_EXIT_USAGE, "--format %s and --%s exclude each other",
                                given, in->format == MGB_TABLE_CSV ? "csv" : "json");
    *out = found->format;
    return -1;
}

bool mgb_cli_export_is_database(const char *file, const char *database)
{
    static const char *const endings[] = {"", "-wal", "-shm", ".lock"};
    struct stat ours, theirs;
    char path[4096];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(path, sizeof path, "%s%s", database, endings[i]);
        if (stat(path, &ours) == 0 && stat(file, &theirs) == 0 && ours.st_dev == theirs.st_dev &&
            ours.st_ino == theirs.st_ino)
            return true;
    }
    return false;
}

static enum mgb_status rows_write(struct mgb_export *writer, const char *database, const char *sql)
{
    struct mgb_query_sink sink = mgb_export_sink(writer);
    enum mgb_status status = mgb_cli_stream(database, sql, &sink);
    char message[512];
    snprintf(message, sizeof message, "%s", mgb_message_get());
    enum mgb_status ended = mgb_export_end(writer, status == MGB_OK);
    return status == MGB_OK ? ended : mgb_fail(status, "%s", message);
}

static enum mgb_status file_write(struct mgb_export *writer, const char *path, const char *database,
                                  const char *sql)
{
    struct mgb_export_file file;
    if (mgb_cli_export_is_database(path, database))
        return mgb_fail(MGB_INVALID, "--out: %s is the results database itself", path);
    MGB_TRY(mgb_export_file_open(&file, path));
    writer->out = file.out;
    writer->name = path;
    enum mgb_status status = rows_write(writer, database, sql);
    if (status == MGB_OK) {
        status = mgb_export_file_commit(&file);
    } else {
        char message[512];
        snprintf(message, sizeof message, "%s", mgb_message_get());
        bool keep = status == MGB_INTERRUPTED && file.partial && writer->rows > 0;
        if (mgb_export_file_leave(&file, keep) == MGB_OK && keep)
            snprintf(message, sizeof message,
                     "stopped after %lld rows: they are in %s; %s was not touched",
                     (long long)writer->rows, file.partial, path);
        mgb_fail(status, "%s", message);
    }
    mgb_export_file_done(&file);
    return status;
}

static int export_rows(const struct mgb_invocation *in, const char *database, const char *sql,
                       const char *file, enum mgb_export_format format)
{
    struct mgb_export writer = {.out = stdout,
                                .format = format,
                                .program = "mgbench " MGB_VERSION,
                                .stop = mgb_cli_stream_stop};
    enum mgb_status status =
        file ? file_write(&writer, file, database, sql) : rows_write(&writer, database, sql);
    if (status == MGB_OK && file && !in->quiet && isatty(STDERR_FILENO))
        mgb_cli_complain(in, 0, "%lld rows in %s", (long long)writer.rows, file);
    if (status == MGB_INTERRUPTED && mgb_interrupt_asked() && in->quiet)
        return MGB_EXIT_INTERRUPTED;
    return mgb_cli_stream_exit(in, status);
}

static int export_run(struct mgb_invocation *in)
{
    enum mgb_export_format format;
    const char *file = mgb_cli_find_flag(in, "--out");
    if (file && !*file)
        return mgb_cli_complain(in, MGB_EXIT_USAGE, "--out: FILE expected, got an empty text");
    if (file && strcmp(file, "-") == 0)
        file = NULL;
    int code = format_settle(&format, in, file);
    if (code >= 0)
        return code;
    char *database = mgb_cli_database(in), *sql = NULL;
    enum mgb_status status =
        database ? mgb_cli_export_settle(&sql, in, database, format == MGB_EXPORT_MARKDOWN)
                 : mgb_cli_no_database();
    code = status == MGB_OK ? export_rows(in, database, sql, file, format)
                            : mgb_cli_stream_exit(in, status);
    free(sql);
    free(database);
    return code;
}

static const struct mgb_flag flags[] = {
    {"--sql", "SELECT", "the rows of this statement", false},
    {"--table", "NAME", "a whole table or view of the database", false},
    {"--what", "runs|steps|phases|memory|traffic|tasks", "rows of these (default: runs)", false},
    {"--format", "csv|json|jsonl|md",
     "how they are written (default: by the name of FILE, else csv)", false},
    {"--out", "FILE", "replaces FILE once all rows are written (default: standard output)", false},
    {NULL, NULL, NULL, false}};

static const struct mgb_example examples[] = {
    {"mgbench export --out results.csv", "a row for every segment of every run"},
    {"mgbench export last --what steps --format jsonl", "every step of the newest run"},
    {"mgbench export --format md", "the runs as a table for a report"},
    {"mgbench export --table phase_share --out shares.json", "one whole view as a JSON document"},
    {"mgbench export --sql \"select gpus, examples_per_s from run_summary\" --format csv",
     "what a statement gives"},
    {NULL, NULL}};

const struct mgb_command mgb_command_export = {
    .name = "export",
    .usage = "[RUN...] [options]",
    .summary = "results as CSV, JSON, JSON lines or Markdown",
    .help =
        "RUN: 12, 12.2 (its second segment), last, last~1, tag:NAME, baseline:NAME, sweep:NAME or\n"
        "sweep:NAME/3, several with commas; none: all. 12 takes all segments of the run.\n"
        "\n"
        "Numbers are written so that they read back exactly, with a point in any locale; what is "
        "not\n"
        "known, not a number or infinite is empty (CSV) or null (JSON), and a status column says "
        "which.\n"
        "JSON is one document {\"schema\":2,\"program\":...,\"rows\":[...],\"complete\":true}; "
        "--json is\n"
        "--format json here. Markdown is for people: 4 digits, and of the runs the main columns "
        "only.\n"
        "Stopped with Ctrl-C the output ends after a whole row and is closed (\"complete\":false); "
        "a FILE\n"
        "stays as it was then, and what there is lies in FILE.partial.\n"
        "\n"
        "exit codes: 1 the disk is full, 2 wrong usage, 4 no such database or run, 130 stopped\n",
    .examples = examples,
    .flags = flags,
    .least_words = 0,
    .most_words = -1,
    .run = export_run,
};
