/* See keyboard.h. */
#include "app/tui/keyboard.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t saved =
    -1; /* what 0 was; -1: it is as it was. Signal handlers read it. */

enum mgb_status tui_keyboard_take(int *keys)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int kept = nothing >= 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : -1;
    bool taken = kept >= 0 && dup2(nothing, STDIN_FILENO) >= 0;
    int error = errno;
    if (nothing >= 0)
        close(nothing);
    if (taken) {
        *keys = kept;
        saved = kept;
        return MGB_OK;
    }
    if (kept >= 0)
        close(kept);
    return mgb_fail(MGB_IO, "taking the keyboard: %s", strerror(error));
}

void tui_keyboard_rescue(void)
{
    if (saved >= 0)
        dup2(saved, STDIN_FILENO);
}

void tui_keyboard_give_back(void)
{
    int kept = saved;
    tui_keyboard_rescue();
    saved = -1;
    if (kept >= 0)
        close(kept);
}
