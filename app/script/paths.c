/* Folders by the XDG base directory rules, and the shipped scripts found from the program's own place. */
#include "app/script/paths.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool mgb_paths_is_special(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

FILE *mgb_paths_open(const char *path)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    FILE *file = regular ? fdopen(fd, "r") : NULL;
    if (file)
        return file;
    if (!regular)
        errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
    int error = errno;
    close(fd);
    errno = error;
    return NULL;
}

char *mgb_paths_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

char *mgb_paths_join(const char *folder, const char *name)
{
    char *path = NULL;
    if (!folder)
        return NULL;
    size_t length = strlen(folder);
    const char *slash = length && folder[length - 1] == '/' ? "" : "/";
    return asprintf(&path, "%s%s%s", folder, slash, name) < 0 ? NULL : path;
}

void mgb_paths_make_above(const char *path)
{
    char *folder = strdup(path);
    for (char *at = folder && *folder ? strchr(folder + 1, '/') : NULL; at;
         at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(folder, 0777);
        *at = '/';
    }
    free(folder);
}

bool mgb_paths_is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool mgb_paths_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* <prefix>/share/mgbench of a program in <prefix>/bin, whatever the prefix is: an installed tree may be moved. */
static char *share_beside_program(void)
{
    char exe[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (length <= 0)
        return NULL;
    exe[length] = 0;
    char *bin = mgb_paths_folder(exe);
    char *share = mgb_paths_join(bin, "../share/mgbench");
    free(bin);
    char *real = share && mgb_paths_is_folder(share) ? realpath(share, NULL) : NULL;
    free(share);
    return real;
}

char *mgb_paths_share(void)
{
    char *share = share_beside_program();
    if (share)
        return share;
    const char *const candidates[] = {MGB_DATA_DIR, MGB_SOURCE_SCRIPTS};
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
        if (mgb_paths_is_folder(candidates[i]))
            return strdup(candidates[i]);
    return NULL;
}

/* $HOME, else what the system has for this user; NULL: there is none. */
static const char *home_folder(void)
{
    const char *home = getenv("HOME");
    if (home && *home == '/')
        return home;
    const struct passwd *user = getpwuid(getuid());
    return user && user->pw_dir && *user->pw_dir == '/' ? user->pw_dir : NULL;
}

static char *xdg_folder(const char *variable, const char *under_home)
{
    const char *root = getenv(variable);
    if (root && *root == '/') /* a relative one is to be ignored, says the specification */
        return mgb_paths_join(root, "mgbench");
    char *base = mgb_paths_join(home_folder(), under_home);
    char *folder = mgb_paths_join(base, "mgbench");
    free(base);
    return folder;
}

char *mgb_paths_data(void)
{
    return xdg_folder("XDG_DATA_HOME", ".local/share");
}

char *mgb_paths_config(void)
{
    return xdg_folder("XDG_CONFIG_HOME", ".config");
}

char *mgb_paths_state(void)
{
    return xdg_folder("XDG_STATE_HOME", ".local/state");
}

bool mgb_paths_modules(char ***out, int *count, const char *const *extra, int extra_count)
{
    char **roots = calloc((size_t)extra_count + 2, sizeof *roots);
    *out = roots;
    *count = 0;
    if (!roots)
        return false;
    for (int i = 0; i < extra_count; i++)
        if ((roots[*count] = strdup(extra[i])))
            ++*count;
    char *data = mgb_paths_data();
    if ((roots[*count] = mgb_paths_join(data, "lua")))
        ++*count;
    free(data);
    char *share = mgb_paths_share();
    if (share)
        roots[(*count)++] = share;
    return *count >= extra_count + 1;
}
