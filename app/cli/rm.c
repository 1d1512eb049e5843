/* mgbench rm: deletes runs, after showing which. */
#include "app/cli/commands.h"
#include "app/cli/hub.h"
#include "app/cli/interrupt.h"
#include "app/script/terminal.h"
#include "db/keep.h"
#include "db/select.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOWN_RUNS 20

struct doomed {
    int64_t *runs;
    size_t count;
    int64_t segments, steps; /* of all */
};

static enum mgb_status run_add(struct doomed *doomed, int64_t run)
{
    for (size_t i = 0; i < doomed->count; i++)
        if (doomed->runs[i] == run)
            return MGB_OK;
    int64_t *runs = realloc(doomed->runs, (doomed->count + 1) * sizeof *runs);
    if (!runs)
        return mgb_fail(MGB_NO_MEMORY, "no memory for %zu runs", doomed->count + 1);
    doomed->runs = runs;
    runs[doomed->count++] = run;
    return MGB_OK;
}

/* A word names whole runs here, whatever segment of them it means elsewhere. */
static enum mgb_status runs_find(struct doomed *doomed, struct mgb_reader *reader,
                                 const struct mgb_invocation *in)
{
    for (int i = 0; i < in->word_count; i++) {
        struct mgb_selection selection;
        enum mgb_status status = MGB_OK;
        MGB_TRY(mgb_select(&selection, reader, in->words[i]));
        for (size_t k = 0; k < selection.count && status == MGB_OK; k++)
            status = run_add(doomed, selection.segments[k].run);
        mgb_selection_done(&selection);
        MGB_TRY(status);
    }
    return MGB_OK;
}

struct shown {
    struct doomed *doomed;
    FILE *out;
    bool show;
};

static enum mgb_status run_show(void *context, const struct mgb_value *values, int count)
{
    struct shown *shown = context;
    (void)count;
    shown->doomed->segments += values[1].integer;
    shown->doomed->steps += values[2].integer;
    if (shown->show)
        mgb_say(shown->out, "  run %lld: %s on %s, %s, %lld steps, %s%s%s\n",
                (long long)values[0].integer, mgb_value_text(&values[3]),
                mgb_value_text(&values[4]), mgb_value_text(&values[5]),
                (long long)values[2].integer, mgb_value_text(&values[6]),
                values[7].kind == MGB_VALUE_TEXT ? "; baseline " : "", mgb_value_text(&values[7]));
    return MGB_OK;
}

static enum mgb_status runs_show(struct doomed *doomed, struct mgb_reader *reader,
                                 const struct mgb_invocation *in, FILE *out)
{
    static const char ask[] =
        "SELECT r.id, (SELECT count(*) FROM segment WHERE run_id = r.id), "
        "(SELECT count(*) FROM segment AS s JOIN step AS t ON t.segment_id = s.id "
        " WHERE s.run_id = r.id), "
        "m.name, h.name || ' (' || r.backend || ')', datetime(r.started_ms / 1000, 'unixepoch'), "
        "r.outcome, (SELECT group_concat(b.name, ', ') FROM baseline AS b "
        " JOIN segment AS s ON s.id = b.segment_id WHERE s.run_id = r.id) "
        "FROM run AS r JOIN model AS m ON m.id = r.model_id JOIN machine AS h ON h.id = "
        "r.machine_id WHERE r.id = ?";
    for (size_t i = 0; i < doomed->count; i++) {
        struct shown shown = {doomed, out, !in->quiet && i < SHOWN_RUNS};
        struct mgb_value value = mgb_value_of_int(doomed->runs[i]);
        struct mgb_query_sink sink = {.context = &shown, .row = run_show};
        enum mgb_outcome state;
        MGB_TRY(mgb_db_run_state(&state, reader, doomed->runs[i]));
        if (state == MGB_OUTCOME_RUNNING)
            return mgb_fail(MGB_BUSY, "run %lld is still going: stop it first",
                            (long long)doomed->runs[i]);
        MGB_TRY(mgb_query_run(reader, ask, &value, 1, &sink));
    }
    if (!in->quiet && doomed->count > SHOWN_RUNS)
        mgb_say(out, "  and %zu more\n", doomed->count - SHOWN_RUNS);
    return MGB_OK;
}

/* y or yes in time; an interrupt is a no. */
static bool answer_is_yes(void)
{
    char text[16] = "";
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    while (!mgb_interrupt_asked()) {
        int ready = poll(&in, 1, 200);
        if (ready < 0 && errno != EINTR)
            return false;
        if (ready > 0)
            break;
    }
    if (mgb_interrupt_asked() || !fgets(text, sizeof text, stdin))
        return false;
    text[strcspn(text, "\r\n")] = '\0';
    return strcasecmp(text, "y") == 0 || strcasecmp(text, "yes") == 0;
}

/* -1: go on. */
static int consent_get(const struct mgb_invocation *in, const struct doomed *doomed,
                       const char *database)
{
    if (mgb_cli_find_flag(in, "--yes"))
        return -1;
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return mgb_cli_complain(
            in, MGB_EXIT_USAGE,
            "rm: deleting %zu %s with %lld steps takes --yes where nobody can be asked",
            doomed->count, doomed->count == 1 ? "run" : "runs", (long long)doomed->steps);
    mgb_say(stderr, "delete %zu %s with %lld steps from %s? [y/N] ", doomed->count,
            doomed->count == 1 ? "run" : "runs", (long long)doomed->steps, database);
    fflush(stderr);
    if (answer_is_yes())
        return -1;
    fputs("nothing was deleted\n", stderr);
    return mgb_interrupt_asked() ? MGB_EXIT_INTERRUPTED : MGB_EXIT_OK;
}

/* A name may stand for other runs besides: what an older sweep of the name measured. */
static enum mgb_status remarks_show(struct mgb_reader *reader, const struct mgb_invocation *in)
{
    char remark[400];
    for (int i = 0; i < in->word_count; i++) {
        MGB_TRY(mgb_select_remark(remark, sizeof remark, reader, in->words[i]));
        if (*remark && !in->quiet)
            mgb_say(stderr, "note: %s\n", remark);
    }
    return MGB_OK;
}

/* What a sweep's name stands for once the newest runs of it are gone: older ones, that were not deleted. */
static void rest_show(const struct mgb_invocation *in, const char *database)
{
    struct mgb_reader *reader;
    if (in->quiet || mgb_reader_open(&reader, database) != MGB_OK)
        return;
    for (int i = 0; i < in->word_count; i++) {
        struct mgb_selection left;
        if (strncmp(in->words[i], "sweep:", 6) != 0 ||
            mgb_select(&left, reader, in->words[i]) != MGB_OK)
            continue;
        mgb_say(stdout, "%s stands for %zu older %s now\n", in->words[i], left.count,
                left.count == 1 ? "run" : "runs");
        mgb_selection_done(&left);
    }
    mgb_reader_close(reader);
}

static enum mgb_status look(struct doomed *doomed, const struct mgb_invocation *in,
                            const char *database, FILE *out)
{
    struct mgb_reader *reader;
    MGB_TRY(mgb_reader_open(&reader, database));
    enum mgb_status status = runs_find(doomed, reader, in);
    if (status == MGB_OK)
        status = runs_show(doomed, reader, in, out);
    if (status == MGB_OK)
        status = remarks_show(reader, in);
    mgb_reader_close(reader);
    return status;
}

static int rm_with(const struct mgb_invocation *in, struct doomed *doomed, const char *database)
{
    bool asks = !mgb_cli_find_flag(in, "--yes");
    char *text = NULL; /* what goes: shown before the question, or when it is gone */
    size_t size = 0;
    FILE *later = asks ? NULL : open_memstream(&text, &size);
    enum mgb_status status = look(doomed, in, database, later ? later : stderr);
    if (later)
        fclose(later);
    int code = status == MGB_OK ? consent_get(in, doomed, database) : -1;
    if (code < 0 && status == MGB_OK)
        status = mgb_keep_delete(database, doomed->runs, doomed->count, NULL);
    if (code < 0 && status == MGB_OK && text)
        fputs(text, stderr);
    free(text);
    if (code >= 0)
        return code;
    if (status != MGB_OK)
        return mgb_cli_complain(in, mgb_cli_refusal_code(status), "%s", mgb_message_get());
    mgb_say(stdout, "deleted %zu %s, %lld %s, %lld steps\n", doomed->count,
            doomed->count == 1 ? "run" : "runs", (long long)doomed->segments,
            doomed->segments == 1 ? "segment" : "segments", (long long)doomed->steps);
    rest_show(in, database);
    if (!in->quiet && isatty(STDERR_FILENO))
        fputs("the disk they took is given back by mgbench vacuum\n", stderr);
    return MGB_EXIT_OK;
}

static int rm_run(struct mgb_invocation *in)
{
    struct doomed doomed = {0};
    char *database = mgb_cli_database(in);
    if (!database) {
        (void)mgb_cli_no_database();
        return mgb_cli_complain(in, MGB_EXIT_UNAVAILABLE, "%s", mgb_message_get());
    }
    int code = rm_with(in, &doomed, database);
    free(doomed.runs);
    free(database);
    return code;
}

static const struct mgb_flag flags[] = {
    {"--yes", NULL, "does not ask; needed where there is no terminal", false},
    {NULL, NULL, NULL, false}};

static const struct mgb_example examples[] = {
    {"mgbench rm last --yes", "deletes the newest run, without a question"},
    {"mgbench rm tag:warmup 12,13 --yes", "all runs with a tag, and two more"},
    {NULL, NULL}};

const struct mgb_command mgb_command_rm = {
    .name = "rm",
    .usage = "RUN... [--yes]",
    .summary = "deletes runs with all that was recorded of them",
    .help =
        "RUN: 12, last, last~1, tag:NAME, baseline:NAME, sweep:NAME or sweep:NAME/3, several with\n"
        "commas. Whole runs go, with their segments, steps, notes, tags and baselines; a sweep's "
        "point\n"
        "is measured again when the sweep is resumed. It shows what and asks first.\n"
        "Refused: a run that is still going, and any while a run is being written to the file.\n"
        "\n"
        "exit codes: 1 in use, 2 wrong usage, 4 no such run or file\n",
    .examples = examples,
    .flags = flags,
    .least_words = 1,
    .most_words = -1,
    .run = rm_run,
};
