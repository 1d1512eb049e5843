/* Wishes that take long, and those that only write something. */
#include "app/session/workbench/commands.h"

#include "app/script/paths.h"
#include "app/script/terminal.h"
#include "db/export_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VERIFY_STEPS "20"

/* Steps go on where they did; what paused stays so. */
static void errand_end(struct mgb_workbench *bench, enum mgb_bench_state before)
{
    bench->draft->doing[0] = '\0';
    if (bench->session)
        bench->state = before == MGB_BENCH_RUNNING ? MGB_BENCH_RUNNING : MGB_BENCH_PAUSED;
    else if (before == MGB_BENCH_RUNNING || before == MGB_BENCH_PAUSED)
        mgb_bench_look_again(bench);
    else
        bench->state = before;
}

static char **words_join(char **a, char **b, const char *first)
{
    char **all = calloc(2 * MGB_OPTION_COUNT + 2, sizeof *all);
    int count = 0;
    if (all && a && b && (all[0] = strdup(first))) {
        for (count = 1; *a; a++)
            all[count++] = *a;
        for (; *b; b++)
            all[count++] = *b;
    }
    return all;
}

static enum mgb_status verify_call(struct mgb_workbench *bench, struct mgb_script_answer *out)
{
    char **a = mgb_bench_words(&bench->previous.asked, MGB_WORDS_IN_EFFECT,
                               bench->previous.strategy, "a:");
    char **b =
        mgb_bench_words(&bench->asked, MGB_WORDS_IN_EFFECT, bench->draft->facts->strategy, "b:");
    char **all = words_join(a, b, VERIFY_STEPS);
    out->count = 0;
    enum mgb_status status = all && all[0]
                                 ? mgb_bench_call(bench, out, "verify", (const char *const *)all)
                                 : mgb_fail(MGB_NO_MEMORY, "verifying: memory is exhausted");
    if (all)
        free(all[0]);
    free(all);
    mgb_bench_words_free(a);
    mgb_bench_words_free(b);
    return status;
}

void mgb_bench_verify(struct mgb_workbench *bench)
{
    struct mgb_script_answer answer;
    enum mgb_bench_state before = bench->state;
    if (!bench->previous.number) {
        mgb_bench_complain(bench, "verify: this run has no earlier placement to compare with");
        return;
    }
    if (bench->previous.global_batch != bench->draft->now.global_batch) {
        char message[200];
        snprintf(message, sizeof message,
                 "verify: the global batches differ (%d against %d): the two see different data",
                 bench->draft->now.global_batch, bench->previous.global_batch);
        mgb_bench_complain(bench, message);
        return;
    }
    mgb_bench_set_state(bench, MGB_BENCH_BUSY,
                        "verifying " VERIFY_STEPS " steps of either placement");
    enum mgb_status status = verify_call(bench, &answer);
    if (status == MGB_OK && answer.count == 3) {
        struct mgb_bench_verified *verified = &bench->draft->verified;
        verified->there = true;
        verified->equal = strcmp(answer.texts[0], "true") == 0;
        verified->steps = atoll(answer.texts[1]);
        snprintf(verified->text, sizeof verified->text, "%s steps under %d and %d: %s",
                 answer.texts[1], bench->previous.number, bench->segment, answer.texts[2]);
        mgb_bench_say(bench, verified->equal ? MGB_LINE_NOTE : MGB_LINE_WARNING, "verify: %s",
                      verified->text);
        bench->draft->message[0] = '\0';
    } else if (status == MGB_INTERRUPTED) {
        mgb_bench_say(bench, MGB_LINE_NOTE, "the verification was stopped");
    } else if (status != MGB_OK) {
        mgb_bench_complain(bench, mgb_message_get());
    }
    mgb_script_answer_done(&answer);
    errand_end(bench, before);
}

static const char no_session[] = "s is the session, and none is open: space opens one";

static void expression_fail(struct mgb_workbench *bench, enum mgb_status status)
{
    const struct mgb_script_error *error = mgb_script_error_get(bench->script);
    if (status == MGB_INTERRUPTED) {
        pthread_mutex_lock(&bench->lock);
        bench->spared = bench->stops;
        pthread_mutex_unlock(&bench->lock);
        mgb_bench_tell(bench, "the expression was stopped");
        return;
    }
    const char *message = *error->message ? error->message : mgb_message_get();
    if (!bench->session && strstr(message, "(global 's')")) {
        char text[600];
        snprintf(text, sizeof text, "%.400s: %s", message, no_session);
        mgb_bench_complain(bench, text);
    } else {
        mgb_bench_complain(bench, message);
    }
}

/* What the expression gives, else what it printed: the first line of it. All lines are in the log already. */
static void expression_answer(struct mgb_workbench *bench, const char *asked,
                              const struct mgb_script_answer *answer)
{
    struct mgb_snapshot *draft = bench->draft;
    int lines = bench->printed.lines;
    bool given = answer->count > 0 && lines <= 1;
    const char *text = given ? answer->texts[0] : lines > 0 ? bench->printed.first : "done";
    char more[80] = "";
    int length = (int)strcspn(text, "\n");
    if (given && !bench->session && strcmp(asked + strspn(asked, " "), "s") == 0)
        snprintf(more, sizeof more, ": %s", no_session);
    else if (lines > 1)
        snprintf(more, sizeof more, "  (7: all %d lines)", lines);
    snprintf(draft->said.text, sizeof draft->said.text, "%s%.*s%s", given ? "= " : "",
             length < 300 ? length : 300, text, more);
    draft->said.serial++;
}

void mgb_bench_eval(struct mgb_workbench *bench, const char *text)
{
    enum mgb_bench_state before = bench->state;
    struct mgb_script_answer answer = {0};
    struct mgb_placement asked = bench->asked;
    bool open = bench->session != NULL;
    mgb_bench_set_state(bench, MGB_BENCH_BUSY, "an expression");
    bench->moved = false;
    memset(&bench->printed, 0, sizeof bench->printed);
    enum mgb_status status =
        mgb_bench_call(bench, &answer, "eval", (const char *const[]){text, NULL});
    fflush(stdout);
    if (status == MGB_OK) {
        bench->draft->message[0] = '\0';
        expression_answer(bench, text, &answer);
    } else {
        expression_fail(bench, status);
    }
    mgb_script_answer_done(&answer);
    if (open && !bench->session) {
        (void)mgb_statements_close(bench->statements);
        (void)mgb_bench_call(bench, NULL, "close", NULL);
    }
    errand_end(bench, before);
    if (bench->moved)
        mgb_bench_in_force(bench, &asked);
}

/* In the folder where scripts may write, unless the path is a whole one. */
static char *save_path(const struct mgb_workbench *bench, const char *text, bool *replace)
{
    size_t length = strlen(text);
    char *path = NULL;
    *replace = length > 0 && text[length - 1] == '!';
    int used = *text == '/' || !bench->output_dir
                   ? asprintf(&path, "%.*s", (int)(length - *replace), text)
                   : asprintf(&path, "%s/%.*s", bench->output_dir, (int)(length - *replace), text);
    return used < 0 ? NULL : path;
}

/* Where there is none yet. */
static enum mgb_status file_make(const char *path, const char *text)
{
    FILE *file = fopen(path, "wxe");
    if (!file && errno == EEXIST)
        return mgb_fail(MGB_BUSY, "%s exists: give %s! to write over it", path, path);
    if (!file)
        return mgb_fail(MGB_IO, "cannot write %s: %s", path, strerror(errno));
    int why = fputs(text, file) < 0 || fflush(file) != 0 ? errno : 0;
    if (fclose(file) != 0 && !why)
        why = errno;
    if (!why)
        return MGB_OK;
    unlink(path);
    return mgb_fail(MGB_IO, "cannot write %s: %s", path, strerror(why));
}

/* Or the old one stays as it was. */
static enum mgb_status file_replace(const char *path, const char *text)
{
    struct mgb_export_file file;
    if (mgb_paths_is_special(path))
        return mgb_fail(MGB_INVALID, "cannot write %s: it is no regular file", path);
    MGB_TRY(mgb_export_file_open(&file, path));
    fputs(text, file.out); /* what fails is told at the end */
    enum mgb_status status = mgb_export_file_commit(&file);
    mgb_export_file_done(&file);
    return status;
}

/* "mgbench -e FILE" for a shell; NULL: no memory. */
static char *command_make(const char *path)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs("mgbench -e ", out);
    mgb_shell_print(out, path);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static enum mgb_status session_write(struct mgb_workbench *bench, const char *path, bool replace)
{
    const char *version = bench->options.hub.program_version;
    if (!mgb_statements_is_complete(bench->statements))
        return mgb_fail(MGB_NO_MEMORY, "this session cannot be repeated: memory was exhausted when "
                                       "a part of it was to be noted");
    struct mgb_script_answer answer = {0};
    const char *digest = NULL;
    if (bench->session && mgb_bench_call(bench, &answer, "digest", NULL) == MGB_OK && answer.count)
        digest = answer.texts[0];
    char *text =
        path ? mgb_statements_write(bench->statements, version ? version : "?", digest) : NULL;
    mgb_script_answer_done(&answer);
    enum mgb_status status =
        !text     ? mgb_fail(MGB_NO_MEMORY, "writing the session: memory is exhausted")
        : replace ? file_replace(path, text)
                  : file_make(path, text);
    free(text);
    return status;
}

void mgb_bench_save(struct mgb_workbench *bench, const char *path)
{
    bool replace;
    if (mgb_statements_is_empty(bench->statements) &&
        mgb_statements_is_complete(bench->statements)) {
        mgb_bench_complain(bench, "nothing was run yet: there is nothing to repeat");
        return;
    }
    char *file = save_path(bench, path, &replace);
    if (session_write(bench, file, replace) == MGB_OK) {
        char *command = command_make(file);
        bench->draft->message[0] = '\0';
        mgb_bench_tell(bench, "wrote %s: %s repeats this session", file, command ? command : "it");
        free(command);
    } else {
        mgb_bench_complain(bench, mgb_message_get());
    }
    free(file);
}
