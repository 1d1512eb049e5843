/* See hub.h. Knows what a terminal is; the hub below does not. */
#include "app/cli/hub.h"
#include "app/cli/interrupt.h"
#include "app/cli/progress.h"
#include "app/cli/variables.h"
#include "app/script/paths.h"
#include "app/script/terminal.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEP_TIMEOUT_S 600
#define SEAL_MS 1500

char *mgb_cli_database(const struct mgb_invocation *in)
{
    if (in->db)
        return strdup(in->db);
    char *folder = mgb_paths_data();
    char *path = folder ? mgb_paths_join(folder, "results.db") : NULL;
    free(folder);
    return path;
}

enum mgb_status mgb_cli_no_database(void)
{
    return mgb_fail(MGB_MISSING, "no place for results: HOME is not set and the system knows no "
                                 "home of this user; give --db FILE or set MGBENCH_DB");
}

char *mgb_cli_command_text(const struct mgb_invocation *in)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs(in->program, out);
    for (char **word = in->argv ? in->argv + 1 : NULL; word && *word; word++) {
        fputc(' ', out);
        mgb_shell_print(out, *word);
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* FNV-1a: tells apart versions of a script; not for security. */
static uint64_t digest_add(uint64_t digest, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        digest = (digest ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return digest;
}

static void script_digest(char *out, size_t size, const char *script, bool is_file)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    char block[4096];
    FILE *file = is_file ? fopen(script, "rb") : NULL;
    if (is_file && !file)
        return;
    if (!file)
        digest = digest_add(digest, script, strlen(script));
    for (size_t got; file && (got = fread(block, 1, sizeof block, file)) > 0;)
        digest = digest_add(digest, block, got);
    if (file)
        fclose(file);
    snprintf(out, size, "%016llx", (unsigned long long)digest);
}

static void progress_show(void *context, const char *line)
{
    (void)context;
    mgb_cli_progress_show(line);
}

static void warning_show(void *context, const char *line)
{
    const struct mgb_cli_hub *hub = context;
    mgb_cli_progress_clear();
    fflush(stdout);
    mgb_say(stderr, "%s: warning: %s\n", hub->in->program, line);
}

static void point_tell(void *context, const char *point)
{
    const struct mgb_cli_hub *hub = context;
    if (hub->in->host.restartable)
        hub->in->host.restartable(hub->in->host.context, point);
}

/* A stuck device holds threads that cannot be joined: only the end of the process frees it. */
static void process_end(void *context, const char *message)
{
    const struct mgb_cli_hub *hub = context;
    mgb_cli_progress_clear();
    mgb_say(stderr, "%s: %s\n", hub->in->program, message);
    fflush(NULL);
    kill(getpid(), SIGKILL);
    _exit(MGB_EXIT_FAILED);
}

/* The engine's 0 is for ever: less than a nanosecond is not. */
static int64_t step_timeout_ns(void)
{
    double seconds = mgb_cli_variable_seconds("MGBENCH_STEP_TIMEOUT", STEP_TIMEOUT_S);
    return seconds > 0 && seconds < 1e-9 ? 1 : (int64_t)(seconds * 1e9);
}

enum mgb_status mgb_cli_hub_options(struct mgb_hub_options *out, const struct mgb_invocation *in,
                                    bool looks_only, char **database, char **command)
{
    *database = mgb_cli_database(in);
    *command = mgb_cli_command_text(in);
    if (!*database || !*command) {
        enum mgb_status status = *database
                                     ? mgb_fail(MGB_NO_MEMORY, "starting: memory is exhausted")
                                     : mgb_cli_no_database();
        free(*database);
        free(*command);
        return status;
    }
    if (!in->db && !looks_only)
        mgb_paths_make_above(*database);
    *out = (struct mgb_hub_options){.database = *database,
                                    .program_version = MGB_VERSION,
                                    .commit = in->host.commit,
                                    .command = *command,
                                    .after_crash = in->host.restarts > 0,
                                    .started_ms = in->started_ms,
                                    .step_timeout_ns = step_timeout_ns(),
                                    .quiet_remarks = in->quiet_warnings};
    return MGB_OK;
}

/* Beside a main thread that does not come back from what it is at. */
static void hub_store(void *context)
{
    mgb_hub_seal(context, SEAL_MS); /* what could not be stored in time cannot be waited for */
}

enum mgb_status mgb_cli_hub_open(struct mgb_cli_hub *out, const struct mgb_invocation *in,
                                 const char *script, bool is_file)
{
    struct mgb_hub_options options;
    *out = (struct mgb_cli_hub){.in = in};
    MGB_TRY(mgb_cli_hub_options(&options, in, false, &out->database, &out->command));
    if (script)
        script_digest(out->digest, sizeof out->digest, script, is_file);
    options.script = is_file ? script : NULL;
    options.script_digest = *out->digest ? out->digest : NULL;
    options.tag = in->command && strcmp(in->command->name, "selftest") == 0 ? "selftest" : NULL;
    options.progress = !in->quiet && isatty(STDERR_FILENO) ? progress_show : NULL;
    options.warn = in->quiet ? NULL : warning_show;
    options.restartable = point_tell;
    options.die = process_end;
    options.context = out;
    enum mgb_status status = mgb_hub_open(&out->hub, &options);
    if (status == MGB_OK) {
        mgb_hub_services(&out->services, out->hub);
        mgb_interrupt_storing(hub_store, out->hub);
        return MGB_OK;
    }
    free(out->database);
    free(out->command);
    return status;
}

int mgb_cli_hub_close(struct mgb_cli_hub *hub, int code)
{
    char message[512];
    mgb_cli_progress_clear();
    bool complete = mgb_hub_log_end(hub->hub, message, sizeof message);
    bool recorded = mgb_hub_recorded(hub->hub);
    mgb_interrupt_storing(NULL, NULL); /* closing stores it */
    mgb_hub_close(hub->hub);
    if (recorded && complete && !hub->in->quiet && isatty(STDERR_FILENO))
        mgb_cli_complain(hub->in, 0, "recorded in %s", hub->database);
    free(hub->database);
    free(hub->command);
    if (complete)
        return code;
    mgb_cli_complain(hub->in, MGB_EXIT_FAILED, "the record of this run is incomplete: %s", message);
    return code == MGB_EXIT_OK ? MGB_EXIT_FAILED : code;
}

void mgb_cli_hub_interrupt(void *hub)
{
    mgb_hub_interrupt(((struct mgb_cli_hub *)hub)->hub);
}

void mgb_cli_hub_repeat(const struct mgb_cli_hub *hub, FILE *out)
{
    if (hub->in->quiet)
        return;
    if (out == stderr)
        fflush(stdout);
    fprintf(out, "repeat with: %s", hub->command);
    if (*hub->digest)
        fprintf(out, " (script %s)", hub->digest);
    fputc('\n', out);
}

void mgb_cli_hub_fail(void *hub, const char *message)
{
    mgb_hub_fail(((struct mgb_cli_hub *)hub)->hub, message);
}
