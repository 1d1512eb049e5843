/* The main loop: one poll over the terminal, signals and wake-ups. It draws at once after a key, else ten times a second at
 * most, and only what changed; what wakes it while it may not draw is not even looked at. */
#include "app/tui/program.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define DRAW_NS 100000000LL  /* between two pictures, on average */
#define AHEAD_NS 200000000LL /* after a rest a few come sooner: what a key led to is seen at once */
#define LEAST_NS 10000000LL
#define TICK_NS 1000000000LL  /* messages that go by themselves */
#define WAITING_NS 20000000LL /* keys given at the start that wait for their turn */
#define TWICE_NS 2000000000LL
enum { KEYS_AT_ONCE = 256 };

int64_t tui_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static bool is_working(struct tui_program *program)
{
    const struct mgb_snapshot *now = mgb_workbench_look(program->workbench, NULL);
    bool working = false;
    if (now)
        switch (now->state) {
        case MGB_BENCH_OPENING:
        case MGB_BENCH_RUNNING:
        case MGB_BENCH_BUSY:
        case MGB_BENCH_SWEEPING:
            working = true;
            break;
        case MGB_BENCH_EMPTY:
        case MGB_BENCH_READY:
        case MGB_BENCH_PAUSED:
        case MGB_BENCH_FAILED:
            break;
        }
    mgb_shared_drop(now);
    return working;
}

/* The terminal is gone. What runs goes on without it where that was asked for, until it is done or SIGTERM comes; a screen
 * cannot be attached again. */
static void hang_up(struct tui_program *program)
{
    if (program->headless)
        return;
    if (!program->options->keep_running || !is_working(program)) {
        program->end = TUI_END_SIGNAL;
        return;
    }
    tui_terminal_close();
    tui_holder_tell(program, false);
    program->headless = true;
    tui_log_add(program->log, MGB_LINE_NOTE,
                "the terminal hung up; what runs goes on, until it is done or SIGTERM comes");
}

/* From outside: the key does the same. */
static void interrupt_take(struct tui_program *program)
{
    int64_t now = tui_now_ns(), since = now - program->interrupt_ns;
    if (program->interrupt_ns && since < TUI_SAME_SIGNAL_NS)
        return;
    if (program->headless || atomic_load(&program->stalled) ||
        (program->interrupt_ns && since < TWICE_NS)) {
        program->end = TUI_END_SIGNAL;
        return;
    }
    program->interrupt_ns = now;
    tui_press(program, 'C' & 0x1f);
}

static void signals_answer(struct tui_program *program)
{
    for (int number; (number = tui_signals_next(program)) != 0;)
        switch (number) {
        case SIGINT:
            interrupt_take(program);
            break;
        case SIGTERM:
            program->end = TUI_END_SIGNAL;
            break;
        case SIGHUP:
            hang_up(program);
            break;
        case SIGWINCH:
            program->more_keys = program->must_draw = true; /* the next one is the new size */
            tui_terminal_redraw(); /* it may be the old one again, and what it had shown is lost */
            break;
        case SIGTSTP:
            tui_suspend(program);
            break;
        case SIGCONT:
            program->away = true; /* found to be back below, or not */
            break;
        }
}

/* Whether the terminal is this program's to read and draw on. */
static bool terminal_look(struct tui_program *program)
{
    if (program->headless)
        return false;
    if (!tui_terminal_foreground()) {
        program->away = true;
        return false;
    }
    if (program->away) {
        program->away = false;
        tui_terminal_resume();
        program->must_draw = program->more_keys = true;
    }
    return true;
}

static void click_take(struct tui_program *program, const struct tui_mouse *mouse)
{
    tui_screen_click(program->screen, mouse->y, mouse->x, mouse->wheel, mouse->twice);
}

/* True: there was at least one. */
static bool keys_take(struct tui_program *program)
{
    int count = 0;
    program->more_keys = false;
    while (program->end == TUI_END_NOT && !program->away) {
        struct tui_mouse mouse;
        int key = tui_terminal_key(&mouse);
        if (key == TUI_KEY_NONE)
            return count > 0;
        if (key == TUI_KEY_RESIZE)
            program->must_draw = true;
        if (key == TUI_KEY_MOUSE)
            click_take(program, &mouse);
        else
            tui_press(program, key);
        if (++count == KEYS_AT_ONCE) { /* of a long paste; what came of them is shown between */
            program->more_keys = true;
            return true;
        }
    }
    return count > 0;
}

/* Drawing on a terminal that takes nothing would block. */
static bool terminal_is_writable(const struct tui_program *program)
{
    struct pollfd fd = {.fd = program->terminal, .events = POLLOUT};
    return poll(&fd, 1, 0) > 0 && (fd.revents & POLLOUT);
}

static void draw(struct tui_program *program)
{
    int rows, columns, cursor_y = -1, cursor_x = 0;
    tui_terminal_size(&rows, &columns);
    if (program->canvas.rows != rows || program->canvas.columns != columns) {
        if (program->jobs)
            tui_jobs_set_columns(program->jobs, columns);
        if (!tui_canvas_resize(&program->canvas, rows, columns))
            return; /* no memory for a picture: the next size may be smaller */
    }
    tui_canvas_blank(&program->canvas);
    tui_screen_draw(program->screen, &program->canvas, &cursor_y, &cursor_x);
    tui_watch_picture_begun(program);
    tui_terminal_show(&program->canvas, cursor_y, cursor_x);
    if (tui_watch_picture_ended(program))
        return;
    tui_terminal_redraw();
    program->must_draw = program->more_keys = true;
}

void tui_recorded_look(struct tui_program *program)
{
    const struct mgb_snapshot *now = mgb_workbench_look(program->workbench, NULL);
    program->recorded |= now && now->recorded;
    mgb_shared_drop(now);
}

/* No picture comes before what this one uses of the time is over. */
static void pause_begin(struct tui_program *program, int64_t now)
{
    int64_t paid = program->paid_until_ns > now ? program->paid_until_ns : now;
    int64_t pause = paid + DRAW_NS - AHEAD_NS;
    program->paid_until_ns = paid + DRAW_NS;
    program->pause_until_ns = pause > now + LEAST_NS ? pause : now + LEAST_NS;
}

static void picture_refresh(struct tui_program *program)
{
    program->looked_ns = tui_now_ns();
    tui_recorded_look(program);
    if (tui_screen_refresh(program->screen, program->looked_ns))
        program->must_draw = true;
    if (!program->must_draw)
        return;
    if (program->pause_until_ns <= program->looked_ns)
        pause_begin(program, program->looked_ns);
    if (!terminal_is_writable(program))
        return; /* it is tried again in a moment */
    program->must_draw = false;
    draw(program);
}

/* How long nothing has to be done, in ms, rounded up: a wait that ends too early is another one. */
static int patience(const struct tui_program *program, bool ours, bool may_draw)
{
    int64_t left = TICK_NS, until_draw = program->pause_until_ns - tui_now_ns();
    if (program->headless)
        return may_draw ? -1 : until_draw > 0 ? (int)(until_draw / 1000000 + 1) : 0;
    if (!may_draw && until_draw < left)
        left = until_draw;
    if ((program->keys || program->run) && WAITING_NS < left)
        left = WAITING_NS;
    if (program->more_keys && ours)
        left = 0;
    return left > 0 ? (int)(left / 1000000 + 1) : 0;
}

/* Without a screen: whether there is still something to wait for. */
static void headless_look(struct tui_program *program)
{
    program->looked_ns = tui_now_ns();
    tui_recorded_look(program);
    if (!is_working(program))
        program->end = TUI_END_SIGNAL;
}

enum { TERMINAL, SIGNALS, WAKE, FDS };

static void turn(struct tui_program *program)
{
    bool ours = terminal_look(program);
    bool may_draw = tui_now_ns() >= program->pause_until_ns;
    struct pollfd fds[FDS] = {
        [TERMINAL] = {.fd = ours ? program->keyboard : -1, .events = POLLIN},
        [SIGNALS] = {.fd = program->signals, .events = POLLIN},
        [WAKE] = {.fd = may_draw ? program->wake : -1, .events = POLLIN},
    };
    int ready = poll(fds, FDS, patience(program, ours, may_draw));
    if (ready < 0)
        return; /* nothing but an interruption can be meant */
    if (fds[SIGNALS].revents)
        signals_answer(program);
    ours = terminal_look(program);
    bool readable = ours && (fds[TERMINAL].revents || program->more_keys);
    bool pressed = readable && keys_take(program);
    if (ours && !pressed && !tui_terminal_alive())
        hang_up(program);
    if (fds[WAKE].revents) {
        tui_wake_take(program);
        pause_begin(program, tui_now_ns()); /* also if nothing of it is shown */
    }
    tui_wake_jobs(program);
    if (!program->headless)
        tui_press_waiting(program);
    int64_t now = tui_now_ns();
    bool due = fds[WAKE].revents || now - program->looked_ns >= TICK_NS ||
               (program->must_draw && now >= program->pause_until_ns);
    if (program->headless)
        headless_look(program);
    else if (program->end == TUI_END_NOT && (pressed || due) && terminal_look(program))
        picture_refresh(program); /* a key may have given the terminal away meanwhile */
}

void tui_loop(struct tui_program *program)
{
    program->must_draw = program->more_keys = true;
    program->started_ns = tui_now_ns();
    while (program->end == TUI_END_NOT)
        turn(program);
}
