/* Starts and ends the screen. ncurses works on descriptors of its own, so that 1 and 2 can be caught meanwhile; raw mode
 * makes Ctrl-C and Ctrl-Z keys, so that neither reaches the processes beside this one. */
#include "app/tui/terminal_private.h"
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>

struct tui_terminal tui_terminal;

/* Names of terminals are of letters, digits and signs; what else TERM may hold must not reach the terminal. */
static bool is_name(const char *name)
{
    for (; *name; name++)
        if (*name <= ' ' || *name > '~')
            return false;
    return true;
}

/* Whether the terminal can be drawn on, before anything is changed. */
static enum mgb_status terminal_check(const struct tui_terminal_options *options)
{
    const char *name = getenv("TERM");
    int found = 0;
    if (!isatty(options->in) || !isatty(options->out))
        return mgb_fail(MGB_MISSING, "standard input and output must be a terminal; "
                                     "use mgbench in scripts and pipes");
    if (!name || !*name)
        return mgb_fail(MGB_MISSING, "TERM is not set; set it to what the terminal is, as "
                                     "TERM=xterm-256color, or use mgbench");
    if (!is_name(name))
        return mgb_fail(MGB_MISSING, "TERM is not the name of a terminal; try "
                                     "TERM=xterm-256color, or use mgbench");
    bool known = setupterm(name, options->out, &found) == OK;
    bool good = known && cursor_address && clear_screen && !hard_copy;
    if (known)
        del_curterm(cur_term);
    if (good)
        return MGB_OK;
    return mgb_fail(MGB_MISSING,
                    known ? "TERM=%s: this terminal cannot place its cursor; try "
                            "TERM=xterm-256color, or use mgbench"
                          : "TERM=%s: the terminal is not known to this system; try "
                            "TERM=xterm-256color, or use mgbench",
                    name);
}

static FILE *file_make(int fd, const char *mode)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    FILE *file = copy >= 0 ? fdopen(copy, mode) : NULL;
    if (!file && copy >= 0)
        close(copy);
    return file;
}

static void modes_set(bool mouse)
{
    struct tui_terminal *t = &tui_terminal;
    raw();
    noecho();
    nonl();
    typeahead(-1); /* a key that waits must not hold the picture back */
    set_escdelay(25);
    leaveok(stdscr, FALSE);
    scrollok(stdscr, FALSE);
    intrflush(stdscr, FALSE);
    keypad(t->keys, TRUE);
    nodelay(t->keys, TRUE);
    mouseinterval(0); /* presses at once; double clicks are told apart in terminal_key.c */
    t->mouse = mouse && mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL) != 0;
}

static enum mgb_status screen_start(const struct tui_terminal_options *options)
{
    struct tui_terminal *t = &tui_terminal;
    t->in = options->in;
    t->out = options->out;
    t->in_file = file_make(options->in, "r");
    t->out_file = file_make(options->out, "w");
    if (!t->in_file || !t->out_file)
        return mgb_fail(MGB_IO, "opening the terminal: %s", strerror(errno));
    tui_terminal_rescue_prepare(options->in, options->out, fileno(t->out_file));
    t->screen = newterm(NULL, t->out_file, t->in_file);
    if (!t->screen)
        return mgb_fail(MGB_MISSING, "TERM=%s: the terminal cannot be drawn on", getenv("TERM"));
    set_term(t->screen);
    t->keys = newpad(1, 1);
    if (!t->keys)
        return mgb_fail(MGB_NO_MEMORY, "opening the terminal: memory is exhausted");
    modes_set(options->mouse);
    return MGB_OK;
}

/* ncurses takes these signals over; they are the program's, which has them blocked and reads them. */
static void signals_give_back(const struct sigaction *before)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &before[i], NULL);
}

static void signals_remember(struct sigaction *out)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], NULL, &out[i]);
}

/* Servers often lack the locale that ssh brings along: its characters still are what the terminal shows. */
static void locale_set(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *wanted = NULL;
    if (setlocale(LC_CTYPE, ""))
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names && !(wanted && *wanted); i++)
        wanted = getenv(names[i]);
    if (wanted && (strcasestr(wanted, "utf-8") || strcasestr(wanted, "utf8")))
        setlocale(LC_CTYPE, "C.UTF-8");
}

/* Where there is no second picture to go back from, this one stays: what is said next needs a line of its own. */
static void picture_leave(void)
{
    if (!exit_ca_mode) {
        move(getmaxy(stdscr) - 1, 0);
        clrtoeol();
        refresh();
    }
    endwin();
}

enum mgb_status tui_terminal_open(const struct tui_terminal_options *options)
{
    struct sigaction before[4];
    const char *plain = getenv("NO_COLOR");
    locale_set();
    tui_terminal = (struct tui_terminal){0};
    use_env(FALSE); /* LINES and COLUMNS may be more than curses can hold */
    use_tioctl(tui_terminal_tells_size(options->out)); /* ncurses 6.5 draws on nothing of no size */
    MGB_TRY(terminal_check(options));
    tui_terminal.utf8 = !options->ascii && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    signals_remember(before);
    enum mgb_status status = screen_start(options);
    signals_give_back(before);
    if (status != MGB_OK) {
        tui_terminal_close();
        return status;
    }
    tui_terminal_styles(options->color == TUI_COLOR_AUTO && !(plain && *plain));
    tui_terminal_resized();
    tui_terminal.redraw = true;
    return MGB_OK;
}

void tui_terminal_close(void)
{
    struct tui_terminal *t = &tui_terminal;
    if (t->screen) {
        if (t->mouse)
            mousemask(0, NULL);
        bool ours = tui_terminal_foreground(); /* else the shell has set it up for somebody else */
        if (ours)
            picture_leave();
        if (ours && !isatty(fileno(t->out_file))) /* given up meanwhile */
            tui_terminal_rescue_modes(t->in);
        if (t->keys)
            delwin(t->keys);
        delscreen(t->screen);
    }
    tui_terminal_rescue_forget();
    if (t->in_file)
        fclose(t->in_file);
    if (t->out_file)
        fclose(t->out_file);
    tui_canvas_done(&t->shown);
    *t = (struct tui_terminal){0};
}

bool tui_terminal_utf8(void)
{
    return tui_terminal.utf8;
}

bool tui_terminal_foreground(void)
{
    pid_t group = tui_terminal.screen ? tcgetpgrp(tui_terminal.in) : -1;
    return group < 0 || group == getpgrp(); /* not told: there is no job control */
}

void tui_terminal_resume(void)
{
    if (!tui_terminal.screen)
        return;
    if (!isendwin())
        endwin(); /* the next refresh sets modes, keypad and the alternate screen once more */
    tui_terminal_resized();
    tui_terminal.redraw = true;
}

void tui_terminal_suspend(void)
{
    struct sigaction before, usual = {.sa_handler = SIG_DFL};
    sigset_t stop, mask;
    if (!tui_terminal.screen)
        return;
    picture_leave();
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    sigaction(SIGTSTP, &usual, &before);
    kill(0, SIGTSTP); /* the shell waits for the first of the group, which need not be this one */
    pthread_sigmask(SIG_UNBLOCK, &stop, &mask); /* stands here until it goes on */
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    sigaction(SIGTSTP, &before, NULL);
}
