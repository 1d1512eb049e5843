/* See program.h. */
#include "tests/screens/program.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST_WORDS = 64, MOST_SETTINGS = 64 };

static const char *build_folder(void)
{
    const char *folder = getenv("MGB_BUILD_DIR");
    return folder ? folder : ".";
}

void program_make(struct program *program)
{
    char path[4200];
    *program = (struct program){.folder = "/tmp/mgb-screens-XXXXXX"};
    snprintf(path, sizeof path, "%s/mgbench-tui", build_folder());
    if (access(path, X_OK) != 0) {
        print_message("SKIP: no %s\n", path);
        exit(77);
    }
    assert_non_null(mkdtemp(program->folder));
    snprintf(program->database, sizeof program->database, "%s/r.db", program->folder);
}

static int entry_remove(const char *path, const struct stat *about, int kind, struct FTW *at)
{
    (void)about;
    (void)kind;
    (void)at;
    return remove(path);
}

void program_free(struct program *program)
{
    terminal_end(program->terminal);
    nftw(program->folder, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
    *program = (struct program){.terminal = NULL};
}

static char *setting_make(const char *name, const char *before, const char *after)
{
    char *text = NULL;
    if (asprintf(&text, "%s=%s%s", name, before, after) < 0)
        fail_msg("memory is exhausted");
    return text;
}

struct terminal *program_start_words(struct program *program,
                                     const struct terminal_options *options,
                                     const char *const *words)
{
    struct terminal_options mine = options ? *options : (struct terminal_options){.rows = 0};
    const char *path = getenv("PATH"), *settings[MOST_SETTINGS];
    char *owned[] = {setting_make("HOME", program->folder, ""),
                     setting_make("XDG_DATA_HOME", program->folder, "/data"),
                     setting_make("XDG_CONFIG_HOME", program->folder, "/config"),
                     setting_make("XDG_STATE_HOME", program->folder, "/state"),
                     setting_make("MGBENCH_DB", program->database, ""),
                     setting_make("PATH", build_folder(), ":")};
    int count = 0;
    owned[5] = realloc(owned[5], strlen(owned[5]) + strlen(path ? path : "") + 1);
    assert_non_null(owned[5]);
    strcat(owned[5], path ? path : "");
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        settings[count++] = owned[i];
    settings[count++] = "LC_ALL";
    settings[count++] = "LANG=C.UTF-8";
    settings[count++] = "MGBENCH_CPU_DEVICES=4";
    for (const char *const *at = mine.environment; at && *at; at++) {
        assert_true(count < MOST_SETTINGS - 1);
        settings[count++] = *at;
    }
    settings[count] = NULL;
    mine.environment = settings;
    mine.folder = mine.folder ? mine.folder : program->folder;
    terminal_end(program->terminal);
    program->terminal = terminal_start(&mine, words);
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    return program->terminal;
}

struct terminal *program_start(struct program *program, const struct terminal_options *options, ...)
{
    const char *words[MOST_WORDS] = {"mgbench-tui"};
    int count = 1;
    va_list args;
    va_start(args, options);
    while (count < MOST_WORDS - 1 && (words[count] = va_arg(args, const char *)))
        count++;
    va_end(args);
    return program_start_words(program, options, words);
}

int program_run(struct program *program, const char *words)
{
    char *line = NULL;
    if (asprintf(&line, "cd '%s' && MGBENCH_DB='%s' '%s/mgbench' %s", program->folder,
                 program->database, build_folder(), words) < 0)
        fail_msg("memory is exhausted");
    FILE *out = popen(line, "r");
    free(line);
    assert_non_null(out);
    if (!fgets(program->answer, sizeof program->answer, out))
        program->answer[0] = '\0';
    program->answer[strcspn(program->answer, "\r\n")] = '\0';
    while (fgetc(out) != EOF)
        ;
    int status = pclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

const char *program_ask(struct program *program, const char *sql)
{
    char words[3000];
    program->answer[0] = '\0';
    if (access(program->database, R_OK) != 0)
        return program->answer;
    assert_null(strchr(sql, '"'));
    snprintf(words, sizeof words, "query \"%s\" --csv 2>/dev/null | sed -n 2p", sql);
    program_run(program, words);
    return program->answer;
}
