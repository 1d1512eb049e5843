/* Lines on a terminal: every command's fit 80 columns there, and are as they come in a pipe. */
#include "tests/app/cli/answer.h"
#include "tests/support/database.h"
#include "tests/support/results.h"

#include "app/cli/wrap.h"
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void wrapped(const char *text, const char *wanted)
{
    char *out = NULL;
    size_t size;
    FILE *under = open_memstream(&out, &size), *wrap = mgb_wrap_open(under, 30);
    assert_non_null(wrap);
    fputs(text, wrap);
    assert_int_equal(fclose(wrap), 0);
    fclose(under);
    assert_string_equal(out, wanted);
    free(out);
}

static void lines_are_broken_at_blanks_under_their_words(void **state)
{
    (void)state;
    wrapped("short\n\nlines  stay\n", "short\n\nlines  stay\n");
    wrapped("A sentence of more than thirty columns goes on.\n",
            "A sentence of more than thirty\ncolumns goes on.\n");
    wrapped("note: what goes on is set in by two\n", "note: what goes on is set in\n  by two\n");
    wrapped("  --flag    the words of a flag go on below\n",
            "  --flag    the words of a\n            flag go on below\n");
    wrapped("A 12.5 ms [1, 2]   B 13.5 ms [1, 2]\n", "A 12.5 ms [1, 2]\nB 13.5 ms [1, 2]\n");
    wrapped("{\"aaaaaaaaaaaa\":1,\"bbbbbbbbbbbbbb\":2}\n",
            "{\"aaaaaaaaaaaa\":1,\n  \"bbbbbbbbbbbbbb\":2}\n");
    wrapped("  mgbench run mlp --steps 20 --batch 64\n",
            "  mgbench run mlp --steps 20 --batch 64\n");
    wrapped("no end of the line", "no end of the line");
}

/* What `mgbench line` shows on a terminal of 80 columns. */
static char *terminal_show(const char *database, const char *line)
{
    char text[1024], *words[64], *shown = calloc(1, 1 << 18);
    struct winsize screen = {.ws_row = 24, .ws_col = 80};
    int outer, inner, status;
    size_t used = 0;
    assert_non_null(shown);
    snprintf(text, sizeof text, "mgbench %s --db %s", line, database);
    int count = answer_words(words, text);
    assert_int_equal(openpty(&outer, &inner, NULL, NULL, &screen), 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct mgb_invocation in;
        int nothing = open("/dev/null", O_WRONLY);
        dup2(inner, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
        close(outer);
        int code = mgb_cli_parse(&in, &mgb_manual_mgbench, count, words);
        if (code < 0)
            mgb_cli_run(&in);
        fflush(stdout);
        _exit(0);
    }
    close(inner);
    for (ssize_t got; used + 1 < 1 << 18;) {
        got = read(outer, shown + used, (1 << 18) - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(outer);
    return shown;
}

static void what_is_told_fits_a_terminal_of_80_columns(void **state)
{
    static const char *const lines[] = {"--help",
                                        "run --help",
                                        "compare --help",
                                        "sweep --help",
                                        "plot --help",
                                        "export --help",
                                        "runs",
                                        "show 1",
                                        "show 21",
                                        "compare 1,5,9 tag:after",
                                        "compare 1 13",
                                        "compare sweep:placement",
                                        "scaling sweep:placement",
                                        "baseline",
                                        "explain 1",
                                        "doctor",
                                        "info",
                                        "plan mlp --gpus 2 --backend host",
                                        NULL};
    for (int i = 0; lines[i]; i++) {
        char *shown = terminal_show(*state, lines[i]), *rest = shown, *line;
        if (!*shown && strcmp(lines[i], "explain 1") != 0)
            fail_msg("mgbench %s says nothing", lines[i]);
        while ((line = strsep(&rest, "\n"))) {
            line[strcspn(line, "\r")] = '\0';
            size_t colors = strchr(line, '\033') ? 9 : 0;
            if (strlen(line) > 80 + colors && !strstr(line, "mgbench "))
                fail_msg("mgbench %s: %zu columns: %s", lines[i], strlen(line), line);
        }
        free(shown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_broken_at_blanks_under_their_words),
        cmocka_unit_test(what_is_told_fits_a_terminal_of_80_columns),
    };
    return cmocka_run_group_tests(tests, results_setup, database_teardown);
}
