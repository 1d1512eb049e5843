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

/* Columns of the widest line that was shown; what stood before a carriage return was painted over. */
static int widest(const struct terminal *t)
{
    int most = 0, column = 0;
    for (const char *c = t->text; *c; c++) {
        if (strncmp(c, "\033[K", 3) == 0)
            c += 2;
        else if (*c == '\r' || *c == '\n')
            column = 0;
        else if (++column > most)
            most = column;
    }
    return most;
}

static void everything_fits_the_terminal(void **state)
{
    (void)state;
    static const char *const plan[] = {"mgbench",   "plan", "mnist_cnn",  "--gpus", "4",
                                       "--backend", "host", "--momentum", "0.9",    NULL};
    static const char *const sweep[] = {"mgbench", "-e",
                                        "mgb.table({{ model = 'a model with a long name', outcome "
                                        "= 'ok', message = 'the same', loss = 1 / 3,"
                                        " steps = 1000000, label = ('x'):rep(30)}, { model = 'b', "
                                        "outcome = 'ok', message = 'the same', steps = 2 }})",
                                        NULL};
    const char *const *all[] = {plan, sweep};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct terminal t;
        terminal_start(&t, all[i]);
        assert_int_equal(terminal_end(&t), 0);
        if (widest(&t) > 80)
            fail_msg("%d columns:\n%s", widest(&t), t.text);
        if (i > 0)
            continue;
        int lines = 0;
        for (const char *c = t.text; *c; c++)
            lines += *c == '\n';
        assert_in_range(lines, 15, 23); /* and the prompt */
    }
}

static void progress_is_cut_and_cleared(void **state)
{
    (void)state;
    static const char *const words[] = {
        "mgbench", "-e",
        "local m = nn.model(('long'):rep(30), function(m)"
        "  m:loss(nn.softmax_cross_entropy(nn.dense{ units = 4 }(m:input('x', { 3 })), "
        "m:input('y', {}, 'i32'))) end)"
        "mgb.sweep{ name = 's', model = m, steps = 1, warmup = 0, backend = 'host',"
        "  grid = { gpus = { 1 }, batch = { 2 }, weights_at = { '/gpu:0' }, join_at = { '/gpu:0' },"
        "           loss_at = { '/gpu:0' }, sum_at = { '/gpu:0' } } } error('wrong')",
        NULL};
    char folder[] = "/tmp/mgb-terminal-XXXXXX", file[64];
    struct terminal t;
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/r.db", folder);
    setenv("MGBENCH_DB", file, 1);
    terminal_start(&t, words);
    assert_int_equal(terminal_end(&t), 1);
    assert_non_null(strstr(t.text, "cell 1 of 1, gpus=1"));
    assert_non_null(strstr(t.text, "\r\033[Kmgbench: "));
    const char *cut = strstr(t.text, "cell 1 of 1");
    assert_int_equal((int)strcspn(cut, "\r"), 79);
    static const char *const endings[] = {"", "-wal", "-shm", ".lock"};
    for (int i = 0; i < 4; i++) {
        snprintf(file, sizeof file, "%s/r.db%s", folder, endings[i]);
        unlink(file);
    }
    assert_int_equal(rmdir(folder), 0);
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
        cmocka_unit_test(everything_fits_the_terminal),
        cmocka_unit_test(progress_is_cut_and_cleared),
        cmocka_unit_test(the_terminal_is_as_before_after_an_interrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
