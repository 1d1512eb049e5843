/* The lines that were typed, kept from one session to the next. A history that cannot be read or written is no failure of
 * anything else. */
#include "app/tui/prompt.h"

#include "app/script/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void tui_history_add(struct tui_history *history, const char *line)
{
    if (line[strspn(line, " ")] == '\0' ||
        (history->count > 0 && strcmp(history->lines[history->count - 1], line) == 0))
        return;
    char *copy = strdup(line);
    if (!copy)
        return;
    if (history->count == TUI_PROMPT_HISTORY) {
        free(history->lines[0]);
        memmove(history->lines, history->lines + 1, sizeof(char *) * (TUI_PROMPT_HISTORY - 1));
        history->count--;
    }
    history->lines[history->count++] = copy;
}

bool tui_history_load(struct tui_history *history, const char *path)
{
    char line[TUI_PROMPT_BYTES + 1];
    FILE *file = mgb_paths_open(path);
    if (!file)
        return false;
    while (fgets(line, sizeof line, file)) {
        size_t length = strcspn(line, "\n");
        bool whole = line[length] == '\n' || feof(file);
        line[length] = '\0';
        if (whole && length < TUI_PROMPT_BYTES)
            tui_history_add(history, line);
        while (!whole && fgets(line, sizeof line, file))
            whole = strchr(line, '\n') != NULL;
    }
    bool good = !ferror(file);
    fclose(file);
    return good;
}

bool tui_history_save(const struct tui_history *history, const char *path)
{
    char beside[4096];
    if (*path == '\0' || mgb_paths_is_special(path) ||
        snprintf(beside, sizeof beside, "%s.new", path) >= (int)sizeof beside)
        return false;
    mgb_paths_make_above(path);
    if (mgb_paths_is_special(beside))
        return false; /* a pipe would wait for its reader */
    FILE *file = fopen(beside, "we");
    if (!file)
        return false;
    for (int i = 0; i < history->count; i++)
        fprintf(file, "%s\n", history->lines[i]);
    bool good = !ferror(file);
    good = fclose(file) == 0 && good && rename(beside, path) == 0;
    if (!good)
        unlink(beside);
    return good;
}

void tui_history_done(struct tui_history *history)
{
    for (int i = 0; i < history->count; i++)
        free(history->lines[i]);
    history->count = 0;
}
