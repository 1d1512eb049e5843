/* Runs a command of mgbench in this process, without its supervisor, and keeps what it says. */
#ifndef TESTS_APP_CLI_ANSWER_H
#define TESTS_APP_CLI_ANSWER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/manual.h"
#include "tests/support/check.h"

struct answer {
    int code;
    char *out, *err; /* what was written to standard output and standard error; owned */
};

static inline void answer_done(struct answer *answer)
{
    free(answer->out);
    free(answer->err);
}

/* Words between blanks, or between apostrophes, of `line`, which it cuts up; returns how many. */
static inline int answer_words(char *words[64], char *line)
{
    int count = 0;
    for (char *at = line; *at && count < 63;) {
        at += strspn(at, " ");
        char end = *at == '\'' ? *at++ : ' ';
        if (!*at)
            break;
        words[count++] = at;
        at += strcspn(at, (char[]){end, 0});
        if (*at)
            *at++ = 0;
    }
    words[count] = NULL;
    return count;
}

/* `line`: the words after "mgbench". */
static inline struct answer answer_get(const char *database, const char *line)
{
    struct answer out = {0};
    struct mgb_invocation in;
    size_t sizes[2];
    char text[1024], *words[64];
    FILE *real[] = {stdout, stderr};
    snprintf(text, sizeof text, "mgbench %s --db %s", line, database);
    int count = answer_words(words, text);
    stdout = open_memstream(&out.out, &sizes[0]);
    stderr = open_memstream(&out.err, &sizes[1]);
    out.code = mgb_cli_parse(&in, &mgb_manual_mgbench, count, words);
    if (out.code < 0)
        out.code = in.command->run(&in);
    mgb_cli_done(&in);
    fclose(stdout);
    fclose(stderr);
    stdout = real[0];
    stderr = real[1];
    return out;
}

/* It ends with `code`, and each of the texts (up to a NULL) is somewhere in what it says on either. */
static inline void answers(const char *database, int code, const char *line,
                           const char *const *wanted)
{
    struct answer got = answer_get(database, line);
    if (got.code != code)
        fail_msg("mgbench %s: exit code %d, wanted %d\n%s%s", line, got.code, code, got.out,
                 got.err);
    for (; *wanted; wanted++)
        if (!strstr(got.out, *wanted) && !strstr(got.err, *wanted))
            fail_msg("mgbench %s: '%s' is not in\n%s%s", line, *wanted, got.out, got.err);
    answer_done(&got);
}
#define SAYS(database, code, line, ...)                                                            \
    answers(database, code, line, (const char *const[]){__VA_ARGS__, NULL})

static inline void lacks(const char *database, const char *line, const char *text)
{
    struct answer got = answer_get(database, line);
    if (strstr(got.out, text) || strstr(got.err, text))
        fail_msg("mgbench %s: '%s' is in\n%s%s", line, text, got.out, got.err);
    answer_done(&got);
}

#endif
