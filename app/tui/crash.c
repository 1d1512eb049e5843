/* See crash.h. Handlers call what is async-signal-safe only. */
#include "app/tui/crash.h"
#include "app/tui/chatter.h"
#include "app/tui/keyboard.h"
#include "app/tui/terminal.h"
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STACK_BYTES = 64 << 10 };

static const struct {
    int number;
    const char *name;
} faults[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
    {SIGILL, "SIGILL"},   {SIGABRT, "SIGABRT"},
};
enum { FAULTS = sizeof faults / sizeof *faults };

static struct sigaction before[FAULTS];
static const char *program_name;
static void (*screen_tell)(void *context, bool on);
static void *screen_context;
static atomic_flag told = ATOMIC_FLAG_INIT;
static void *stack;

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nobody to tell */
}

static void fault_tell(int number)
{
    tui_terminal_rescue();
    tui_chatter_rescue();
    tui_keyboard_rescue();
    if (screen_tell)
        screen_tell(screen_context, false);
    say(program_name);
    say(": a fault of the program: ");
    for (int i = 0; i < FAULTS; i++)
        if (faults[i].number == number)
            say(faults[i].name);
    say("; what was recorded is kept\n");
}

/* Going back meets the fault once more, now with the action from before, which thus sees where it was. One that was sent
 * must be sent again. */
static void fault_take(int number, siginfo_t *info, void *unused)
{
    (void)unused;
    if (!atomic_flag_test_and_set(&told))
        fault_tell(number);
    for (int i = 0; i < FAULTS; i++)
        if (faults[i].number == number)
            sigaction(number, &before[i], NULL);
    if (info->si_code <= 0)
        raise(number);
}

void tui_crash_take(const char *program, void (*screen)(void *context, bool on), void *context)
{
    struct sigaction action = {.sa_sigaction = fault_take, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    stack_t own = {.ss_size = STACK_BYTES}, old;
    program_name = program;
    screen_tell = screen;
    screen_context = context;
    sigemptyset(&action.sa_mask);
    if (sigaltstack(NULL, &old) == 0 && (old.ss_flags & SS_DISABLE)) {
        own.ss_sp = stack = malloc(STACK_BYTES);
        if (stack && sigaltstack(&own, NULL) != 0) {
            free(stack);
            stack = NULL;
        }
    }
    for (int i = 0; i < FAULTS; i++) {
        sigaction(faults[i].number, &action, &before[i]);
        if (before[i].sa_handler == SIG_IGN)
            before[i].sa_handler = SIG_DFL; /* an ignored fault would be met for ever */
    }
}

void tui_crash_give_back(void)
{
    stack_t none = {.ss_flags = SS_DISABLE};
    if (!program_name)
        return;
    for (int i = 0; i < FAULTS; i++)
        sigaction(faults[i].number, &before[i], NULL);
    if (stack && sigaltstack(&none, NULL) == 0)
        free(stack);
    stack = NULL;
}
