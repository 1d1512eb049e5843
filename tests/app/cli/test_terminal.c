/* The program on a real (pseudo) terminal: Ctrl-C as the terminal sends it, and its state afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static char program[4096];

struct terminal {
    pid_t pid;
    int fd;
    char text[16384]; /* all it has shown */
    size_t used;
};

static void terminal_start(struct terminal *t, const char *const *words)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    *t = (struct terminal){0};
    t->pid = forkpty(&t->fd, NULL, NULL, &size);
    assert_true(t->pid >= 0);
    if (t->pid == 0) {
        signal(SIGINT, SIG_DFL); /* runners in the background ignore it */
        setenv("TERM", "xterm", 1);
        execv(program, (char *const *)words);
        _exit(127);
    }
}

/* Reads until `wanted` was shown. False when the program ended or the terminal is full before. */
static bool terminal_await(struct terminal *t, const char *wanted)
{
    while (!strstr(t->text, wanted)) {
        ssize_t got = read(t->fd, t->text + t->used, sizeof t->text - 1 - t->used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) /* EIO: the other side is closed */
            return false;
        t->used += (size_t)got;
        t->text[t->used] = '\0';
    }
    return true;
}

static void terminal_type(const struct terminal *t, const char *keys)
{
    assert_int_equal(write(t->fd, keys, strlen(keys)), (int)strlen(keys));
}

static int terminal_end(struct terminal *t)
{
    int status;
    (void)terminal_await(t, "\001"); /* to the end */
    assert_int_equal(waitpid(t->pid, &status, 0), t->pid);
    close(t->fd);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void ctrl_c_ends_a_script_once(void **state)
{
    (void)state;
    static const char *const words[] = {"mgbench", "-e", "print('begun') while true do end", NULL};
    struct terminal t;
    terminal_start(&t, words);
    assert_true(terminal_await(&t, "begun"));
    terminal_type(&t, "\003");
    assert_int_equal(terminal_end(&t), 130);
    assert_non_null(strstr(t.text, "stopping after this step; once more to stop at once"));
    assert_non_null(strstr(t.text, "interrupted; what was recorded is kept"));
}

static void ctrl_c_twice_ends_what_cannot_be_interrupted(void **state)
{
    (void)state;
    static const char *const words[] = {
        "mgbench", "-e", "print('begun') return (('a'):rep(40) .. 'b'):find(('.-'):rep(30) .. 'c')",
        NULL};
    struct terminal t;
    terminal_start(&t, words);
    assert_true(terminal_await(&t, "begun"));
    terminal_type(&t, "\003");
    assert_true(terminal_await(&t, "stopping"));
    usleep(300000); /* two signals closer together count as one */
    terminal_type(&t, "\003");
    assert_int_equal(terminal_end(&t), 130);
}

static void the_terminal_is_as_before_after_an_interrupt(void **state)
{
    (void)state;
    static const char *const words[] = {"mgbench", "-e", "print('begun') while true do end", NULL};
    struct terminal t;
    struct termios before, after;
    memset(&before, 0, sizeof before); /* it has bytes that nobody fills */
    memset(&after, 0, sizeof after);
    terminal_start(&t, words);
    assert_int_equal(tcgetattr(t.fd, &before), 0);
    assert_true(terminal_await(&t, "begun"));
    terminal_type(&t, "\003");
    (void)terminal_await(&t, "interrupted;");
    assert_int_equal(tcgetattr(t.fd, &after), 0);
    assert_int_equal(terminal_end(&t), 130);
    assert_memory_equal(&before, &after, sizeof before);
}

int main(void)
{
    const char *folder = getenv("MGB_BUILD_DIR");
    snprintf(program, sizeof program, "%s/mgbench", folder ? folder : ".");
    if (access(program, X_OK) != 0) {
        printf("SKIP: no %s\n", program);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ctrl_c_ends_a_script_once),
        cmocka_unit_test(ctrl_c_twice_ends_what_cannot_be_interrupted),
        cmocka_unit_test(the_terminal_is_as_before_after_an_interrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
