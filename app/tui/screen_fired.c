/* For the test of random keys: what was pressed, counted by action, goes to the file that MGBENCH_PRESSED names, when the
 * program ends. */
#include "app/tui/screen.h"

#include <stdio.h>
#include <stdlib.h>

void tui_screen_fired_tell(const struct tui_screen *screen)
{
    const char *path = getenv("MGBENCH_PRESSED");
    const int *fired = tui_screen_fired(screen);
    FILE *file = path && *path ? fopen(path, "ae") : NULL;
    if (!file)
        return;
    for (int i = 0; i < TUI_ACT_COUNT; i++)
        if (fired[i] > 0)
            fprintf(file, "%s %d\n", tui_actions[i].name, fired[i]);
    fclose(file);
}
