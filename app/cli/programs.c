/* See programs.h. */
#include "app/cli/programs.h"
#include "app/script/paths.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *mgb_cli_program_find(const char *name)
{
    const char *path = getenv("PATH");
    char *copy = path ? strdup(path) : NULL, *rest = copy, *found = NULL;
    while (rest && !found) {
        char *candidate = mgb_paths_join(strsep(&rest, ":"), name);
        if (candidate && access(candidate, X_OK) == 0)
            found = candidate;
        else
            free(candidate);
    }
    free(copy);
    return found;
}

char *mgb_cli_program_beside(const char *name)
{
    char folder[4096];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    char *path = slash ? mgb_paths_join(folder, name) : NULL;
    if (path && access(path, X_OK) == 0)
        return path;
    free(path);
    return mgb_cli_program_find(name);
}
