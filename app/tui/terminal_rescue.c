/* The way back from a signal handler, or from a thread that found the device stuck while the screen draws: what must be sent
 * is put together while that is still safe. */
#include "app/tui/terminal_private.h"
#include <stdatomic.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

static struct termios saved;
static char leave[256];
static size_t leave_size;
static atomic_int rescue_in = -1, rescue_out = -1; /* -1: nothing to rescue */
static atomic_int drawn_on = -1;
static atomic_bool rescued;

/* Without the paddings "$<5>" that only terminals on slow lines need. */
static void leave_add(const char *sequence)
{
    for (const char *at = sequence; at && *at && at != (const char *)-1; at++) {
        const char *end = at[0] == '$' && at[1] == '<' ? strchr(at, '>') : NULL;
        if (end)
            at = end;
        else if (leave_size < sizeof leave)
            leave[leave_size++] = *at;
    }
}

void tui_terminal_rescue_prepare(int in, int out, int drawn)
{
    int found;
    drawn_on = drawn;
    leave_size = 0;
    if (tcgetattr(in, &saved) != 0 || setupterm(NULL, out, &found) != OK)
        return;
    if (key_mouse)
        leave_add("\033[?1006l\033[?1002l\033[?1000l");
    leave_add(exit_attribute_mode);
    leave_add(orig_pair);
    leave_add(keypad_local);
    leave_add(exit_ca_mode);
    leave_add(cursor_normal);
    leave_add("\r\n");
    del_curterm(cur_term);
    rescued = false;
    rescue_out = out;
    rescue_in = in;
}

void tui_terminal_rescue_forget(void)
{
    rescue_in = rescue_out = drawn_on = -1;
}

void tui_terminal_rescue_modes(int in)
{
    tcsetattr(in, TCSANOW, &saved);
}

int tui_terminal_descriptor(void)
{
    return drawn_on;
}

bool tui_terminal_is_rescued(void)
{
    return rescued;
}

void tui_terminal_rescue(void)
{
    int in = atomic_exchange(&rescue_in, -1), out = atomic_exchange(&rescue_out, -1);
    if (in < 0)
        return;
    rescued = true;
    tcsetattr(in, TCSANOW, &saved);
    if (write(out, leave, leave_size) < 0)
        return; /* the terminal is gone: nothing left to restore */
}
