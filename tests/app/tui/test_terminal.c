/* The terminal on a pseudo-terminal: a child has it open and tells what it sees through a pipe. */
#include "app/tui/terminal.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

struct child {
    pid_t pid;
    int master, said; /* said: what it tells, a line at a time */
};

static int tell = -1; /* of the child */

static struct child child_start(const char *term, void (*work)(void))
{
    struct child child;
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    child.pid = forkpty(&child.master, NULL, NULL, &size);
    assert_true(child.pid >= 0);
    if (child.pid == 0) {
        tell = ends[1];
        close(ends[0]);
        signal(SIGHUP, SIG_IGN);
        setenv("LC_ALL", "C.UTF-8", 1);
        if (term)
            setenv("TERM", term, 1);
        else
            unsetenv("TERM");
        work();
        _exit(0);
    }
    close(ends[1]);
    child.said = ends[0];
    return child;
}

static void child_end(struct child *child)
{
    int status;
    if (child->master >= 0)
        close(child->master);
    assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
    assert_int_equal(status, 0);
    close(child->said);
}

/* The next line that it tells; what it draws is thrown away meanwhile. */
static void expect_line(struct child *child, const char *expected)
{
    char line[400], drawn[4096];
    size_t used = 0;
    for (;;) {
        struct pollfd fds[] = {{.fd = child->said, .events = POLLIN},
                               {.fd = child->master, .events = POLLIN}};
        assert_true(poll(fds, 2, 10000) > 0);
        if ((fds[1].revents & POLLIN) && read(child->master, drawn, sizeof drawn) < 0)
            child->master = -1;
        if (!(fds[0].revents & (POLLIN | POLLHUP)))
            continue;
        assert_int_equal(read(child->said, line + used, 1), 1);
        if (line[used] == '\n')
            break;
        assert_true(++used < sizeof line);
    }
    line[used] = '\0';
    if (*expected == '*') /* anywhere in it */
        assert_non_null(strstr(line, expected + 1));
    else
        assert_string_equal(line, expected);
}

static enum mgb_status open_usual(void)
{
    struct tui_terminal_options options = {.in = 0, .out = 1, .mouse = true};
    return tui_terminal_open(&options);
}

static void open_and_tell(void)
{
    enum mgb_status status = open_usual();
    dprintf(tell, "%s: %s\n", mgb_status_name(status), status ? mgb_message_get() : "");
    tui_terminal_close();
    tui_terminal_close();
}

static void terminal_that_cannot_be_used_is_refused_in_one_line(void **state)
{
    (void)state;
    static const char *const names[] = {NULL, "", "dumb", "tmux-256colop"};
    static const char *const parts[] = {"*TERM is not set", "*TERM is not set",
                                        "*missing: TERM=dumb", "*missing: TERM=tmux-256colop"};
    for (int i = 0; i < 4; i++) {
        struct child child = child_start(names[i], open_and_tell);
        expect_line(&child, parts[i]);
        child_end(&child);
    }
}

static void terminals_of_all_ages_are_opened(void **state)
{
    (void)state;
    static const char *const names[] = {"xterm-256color", "vt100", "linux", "screen"};
    for (int i = 0; i < 4; i++) {
        struct child child = child_start(names[i], open_and_tell);
        expect_line(&child, "ok: ");
        child_end(&child);
    }
}

static void what_is_no_terminal_is_refused(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct tui_terminal_options options = {.in = ends[0], .out = ends[1]};
    assert_int_equal(tui_terminal_open(&options), MGB_MISSING);
    assert_non_null(strstr(mgb_message_get(), "must be a terminal"));
    tui_terminal_close();
    close(ends[0]);
    close(ends[1]);
}

/* Until the key 'q'. */
static void keys_tell(void)
{
    struct tui_mouse mouse;
    char name[20];
    int key = TUI_KEY_NONE;
    if (open_usual() != MGB_OK)
        _exit(1);
    dprintf(tell, "ready\n");
    while (key != 'q' && tui_terminal_alive()) {
        struct pollfd fd = {.fd = 0, .events = POLLIN};
        poll(&fd, 1, 20);
        key = tui_terminal_key(&mouse);
        if (key == TUI_KEY_MOUSE)
            dprintf(tell, "%d,%d wheel %d%s\n", mouse.y, mouse.x, mouse.wheel,
                    mouse.twice ? " twice" : "");
        else if (key == TUI_KEY_RESIZE) {
            int rows, columns;
            tui_terminal_size(&rows, &columns);
            dprintf(tell, "%d x %d\n", rows, columns);
        } else if (key != TUI_KEY_NONE)
            dprintf(tell, "%s\n", tui_key_name(name, sizeof name, key));
    }
    if (!tui_terminal_alive())
        dprintf(tell, "gone\n");
    tui_terminal_close();
}

static void type(const struct child *child, const char *bytes)
{
    assert_int_equal(write(child->master, bytes, strlen(bytes)), strlen(bytes));
}

static void keys_have_their_names_and_unknown_sequences_are_nobodys(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *name;
    } keys[] = {
        {"a", "a"},
        {"\xc3\xa9", "\xc3\xa9"},
        {"\r", "Enter"},
        {"\n", "Enter"},
        {"\t", "Tab"},
        {"\x7f", "Backspace"},
        {"\b", "Backspace"},
        {"\x03", "Ctrl-C"},
        {"\x1a", "Ctrl-Z"},
        {"\x1bOA", "Up"},
        {"\x1b[Z", "Shift-Tab"},
        {"\x1b[5~", "PgUp"},
        {"\x1bOP", "F1"},
        {"\x1b[24~", "F12"},
        {"\x1b", "Esc"},
        {"\x1b[99;99Qb", "b"},
        {"\x1bOzc", "c"},
    };
    struct child child = child_start("xterm-256color", keys_tell);
    expect_line(&child, "ready");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        type(&child, keys[i].bytes);
        expect_line(&child, keys[i].name);
    }
    type(&child, "q");
    expect_line(&child, "q");
    child_end(&child);
}

static void bytes_that_are_no_text_take_no_key_with_them(void **state)
{
    (void)state;
    static const char *const keys[] = {"h", "Enter", "Esc", "e", "\xc3\xa9", "\xe2\x82\xac"};
    struct child child = child_start("xterm-256color", keys_tell);
    expect_line(&child, "ready");
    type(&child, "\xffh\xf8\x88\r\xc3\x1b\xe2\x82"
                 "e\xf0\xc3\xa9");
    type(&child, "\xe2");
    type(&child, "\x82");
    type(&child, "\xac");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        expect_line(&child, keys[i]);
    type(&child, "q");
    expect_line(&child, "q");
    child_end(&child);
}

static void clicks_are_told_and_those_outside_are_not(void **state)
{
    (void)state;
    struct child child = child_start("xterm-256color", keys_tell);
    expect_line(&child, "ready");
    type(&child, "\x1b[<0;11;6M");
    expect_line(&child, "5,10 wheel 0");
    type(&child, "\x1b[<65;1;1M");
    expect_line(&child, "0,0 wheel 1");
    type(&child, "\x1b[<0;900;900Mx");
    expect_line(&child, "x");
    type(&child, "q");
    expect_line(&child, "q");
    child_end(&child);
}

static void size_is_followed_without_a_signal(void **state)
{
    (void)state;
    static const struct winsize sizes[] = {
        {.ws_row = 1, .ws_col = 1}, {.ws_row = 60, .ws_col = 200}, {.ws_row = 0, .ws_col = 0}};
    static const char *const told[] = {"1 x 1", "60 x 200", "24 x 80"};
    struct child child = child_start("xterm-256color", keys_tell);
    expect_line(&child, "ready");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ioctl(child.master, TIOCSWINSZ, &sizes[i]), 0);
        expect_line(&child, told[i]);
    }
    type(&child, "q");
    expect_line(&child, "q");
    child_end(&child);
}

static const char *lines, *columns; /* of the environment */

static void size_tell(void)
{
    setenv("LINES", lines, 1);
    setenv("COLUMNS", columns, 1);
    keys_tell();
}

static void sizes_of_the_environment_keep_no_terminal_from_being_opened(void **state)
{
    (void)state;
    static const char *const values[] = {"99999", "-3", "0", "abc", "", "2147483648", "1e3", "513"};
    static const struct winsize other = {.ws_row = 30, .ws_col = 90}, none = {.ws_row = 0};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        lines = columns = values[i];
        struct child child = child_start("xterm-256color", size_tell);
        expect_line(&child, "ready");
        assert_int_equal(ioctl(child.master, TIOCSWINSZ, &other), 0);
        expect_line(&child, "30 x 90");
        assert_int_equal(ioctl(child.master, TIOCSWINSZ, &none), 0);
        expect_line(&child, strcmp(values[i], "513") == 0 ? "513 x 513" : "24 x 80");
        type(&child, "q");
        expect_line(&child, "q");
        child_end(&child);
    }
}

static void closed_terminal_is_noticed(void **state)
{
    (void)state;
    struct child child = child_start("xterm-256color", keys_tell);
    expect_line(&child, "ready");
    close(child.master);
    child.master = -1;
    expect_line(&child, "gone");
    child_end(&child);
}

static void rescue_after_drawing(void)
{
    struct tui_canvas canvas;
    if (open_usual() != MGB_OK || !tui_canvas_init(&canvas, 24, 80, true))
        _exit(1);
    tui_put(&canvas, tui_canvas_whole(&canvas), 0, 0, TUI_GOOD, "text");
    tui_terminal_show(&canvas, -1, 0);
    dprintf(tell, "drawn\n");
    raise(SIGSTOP);
    tui_terminal_rescue();
    dprintf(tell, "rescued\n");
}

static void rescue_gives_the_terminals_modes_back(void **state)
{
    (void)state;
    struct termios during, after;
    int status;
    struct child child = child_start("xterm-256color", rescue_after_drawing);
    expect_line(&child, "drawn");
    assert_int_equal(waitpid(child.pid, &status, WUNTRACED), child.pid);
    assert_true(WIFSTOPPED(status));
    assert_int_equal(tcgetattr(child.master, &during), 0);
    assert_int_equal(during.c_lflag & (ICANON | ECHO | ISIG), 0);
    kill(child.pid, SIGCONT);
    expect_line(&child, "rescued");
    assert_int_equal(tcgetattr(child.master, &after), 0);
    assert_true(after.c_lflag & ICANON && after.c_lflag & ECHO && after.c_lflag & ISIG);
    assert_int_equal(after.c_iflag & ICRNL, ICRNL);
    child_end(&child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terminal_that_cannot_be_used_is_refused_in_one_line),
        cmocka_unit_test(terminals_of_all_ages_are_opened),
        cmocka_unit_test(what_is_no_terminal_is_refused),
        cmocka_unit_test(keys_have_their_names_and_unknown_sequences_are_nobodys),
        cmocka_unit_test(bytes_that_are_no_text_take_no_key_with_them),
        cmocka_unit_test(clicks_are_told_and_those_outside_are_not),
        cmocka_unit_test(size_is_followed_without_a_signal),
        cmocka_unit_test(sizes_of_the_environment_keep_no_terminal_from_being_opened),
        cmocka_unit_test(closed_terminal_is_noticed),
        cmocka_unit_test(rescue_gives_the_terminals_modes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
