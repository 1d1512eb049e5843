/* Keys on their way to the screen, and what the screen asks of the program in turn. */
#include "app/tui/program.h"
#include <string.h>
#include <unistd.h>

#define PAUSE_WAIT_NS 1000000000LL

static bool is_running(struct tui_program *program)
{
    const struct mgb_snapshot *now = mgb_workbench_look(program->workbench, NULL);
    bool running = now && now->state == MGB_BENCH_RUNNING;
    mgb_shared_drop(now);
    return running;
}

/* Pauses, and waits a moment for it: a step that lasts through the stop would have its time, and look like a stuck device
 * to those who watch over it. True: it is to run again. */
static bool run_hold(struct tui_program *program)
{
    struct mgb_wish wish = {.kind = MGB_WISH_PAUSE};
    int64_t until = tui_now_ns() + PAUSE_WAIT_NS;
    if (!is_running(program) || mgb_workbench_ask(program->workbench, &wish) != MGB_OK)
        return false;
    while (is_running(program) && tui_now_ns() < until)
        usleep(5000);
    return true;
}

void tui_suspend(struct tui_program *program)
{
    if (program->headless)
        return;
    bool again = run_hold(program);
    tui_holder_tell(program, false);
    tui_terminal_suspend();
    tui_holder_tell(program, true);
    if (again)
        mgb_workbench_ask(program->workbench, &(struct mgb_wish){.kind = MGB_WISH_RUN});
    tui_signals_forget(SIGCONT);
    program->away = true; /* until the terminal is its own again: it may be in the background */
}

static void wish_take(struct tui_program *program, enum tui_screen_wish wish)
{
    switch (wish) {
    case TUI_SCREEN_GOES_ON:
        break;
    case TUI_SCREEN_QUIT:
        program->end = TUI_END_QUIT;
        break;
    case TUI_SCREEN_LEAVE:
        program->end = TUI_END_QUIT;
        program->hasty = true;
        break;
    case TUI_SCREEN_SUSPEND:
        tui_suspend(program);
        break;
    case TUI_SCREEN_REDRAW:
        tui_terminal_redraw();
        program->must_draw = true;
        break;
    }
}

void tui_press(struct tui_program *program, int key)
{
    program->must_draw = true;
    wish_take(program, tui_screen_key(program->screen, key, tui_now_ns()));
}

enum { READY_WAIT_S = 30 };

/* A key given at the start is pressed when what the one before asked for is done, as a person would. */
static bool is_ready(struct tui_program *program)
{
    struct mgb_pending pending = {0};
    const struct mgb_snapshot *now = mgb_workbench_look(program->workbench, &pending);
    bool ready = now && pending.wishes == 0 && now->state != MGB_BENCH_OPENING;
    if (now && now->state == MGB_BENCH_EMPTY && program->options->workbench.model && !*now->message)
        ready = false; /* the model is being built */
    mgb_shared_drop(now);
    return ready || tui_now_ns() - program->started_ns > READY_WAIT_S * INT64_C(1000000000);
}

static int key_take(const char **keys)
{
    char name[64];
    size_t length = strcspn(*keys, ",");
    size_t kept = length < sizeof name ? length : sizeof name - 1;
    memcpy(name, *keys, kept);
    name[kept] = '\0';
    *keys = (*keys)[length] ? *keys + length + 1 : NULL;
    return tui_key_read(name);
}

void tui_press_waiting(struct tui_program *program)
{
    if ((!program->run && !program->keys) || !is_ready(program))
        return;
    if (program->run) {
        struct mgb_wish wish = {.kind = MGB_WISH_RUN};
        program->run = false;
        if (mgb_workbench_ask(program->workbench, &wish) != MGB_OK)
            tui_log_add(program->log, MGB_LINE_FAULT, mgb_message_get());
        return;
    }
    int key = key_take(&program->keys);
    if (key != TUI_KEY_NONE)
        tui_press(program, key);
}
