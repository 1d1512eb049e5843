/* See progress.h. A process has one terminal, so that what stands on it is kept here. */
#include "app/cli/progress.h"
#include "app/script/terminal.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CLEAR "\r\033[K"

static atomic_bool shown;

bool mgb_cli_progress_clear(void)
{
    return atomic_exchange(&shown, false) && write(STDERR_FILENO, CLEAR, sizeof CLEAR - 1) > 0;
}

void mgb_cli_progress_show(const char *line)
{
    size_t length = strcspn(line, "\n");
    bool stays = line[length] == '\n';
    int width = mgb_terminal_width(STDERR_FILENO);
    if (*line)
        fflush(stdout);
    mgb_cli_progress_clear();
    if (stays)
        mgb_line_print(stderr, line, strlen(line));
    else if (*line) /* the last column stays free: some terminals wrap there */
        mgb_line_print(stderr, line, (size_t)mgb_text_fit(line, width > 1 ? width - 1 : 79));
    fflush(stderr);
    atomic_store(&shown, *line && !stays);
}
