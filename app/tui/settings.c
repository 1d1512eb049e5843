/* See settings.h. */
#include "app/tui/settings.h"
#include "app/script/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_SETTINGS = sizeof((struct tui_settings *)0)->at / sizeof(struct tui_setting) };

static char *path_in(char *folder, const char *name)
{
    char *path = folder ? mgb_paths_join(folder, name) : NULL;
    free(folder);
    return path;
}

char *tui_settings_path(void)
{
    return path_in(mgb_paths_config(), "tui.conf");
}

char *tui_settings_history_path(void)
{
    return path_in(mgb_paths_state(), "tui-history");
}

char *tui_settings_log_path(void)
{
    return path_in(mgb_paths_state(), "tui.log");
}

static struct tui_setting *setting_find(struct tui_settings *settings, const char *name)
{
    for (int i = 0; i < settings->count; i++)
        if (strcmp(settings->at[i].name, name) == 0)
            return &settings->at[i];
    return NULL;
}

const char *tui_settings_get(struct tui_settings *settings, const char *name)
{
    struct tui_setting *setting = setting_find(settings, name);
    if (!setting)
        return NULL;
    setting->known = true;
    return setting->value;
}

static bool fits(const char *name, const char *value)
{
    return *name && strlen(name) < sizeof((struct tui_setting *)0)->name &&
           strlen(value) < sizeof((struct tui_setting *)0)->value && !strpbrk(name, " \t\n=#") &&
           !strchr(value, '\n');
}

bool tui_settings_put(struct tui_settings *settings, const char *name, const char *value)
{
    struct tui_setting *setting = setting_find(settings, name);
    if (!fits(name, value) || (!setting && settings->count == MOST_SETTINGS))
        return false;
    if (!setting)
        setting = &settings->at[settings->count++];
    snprintf(setting->name, sizeof setting->name, "%s", name);
    snprintf(setting->value, sizeof setting->value, "%s", value);
    setting->known = true;
    return true;
}

/* Without blanks at both ends; cuts `text`. */
static char *trimmed(char *text)
{
    text += strspn(text, " \t\r");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]))
        length--;
    text[length] = '\0';
    return text;
}

struct reading {
    struct tui_settings *out;
    const char *path;
    void (*warn)(void *context, const char *line);
    void *context;
    int line;
};

static void line_refuse(const struct reading *r, const char *why)
{
    char text[PATH_MAX + 200];
    snprintf(text, sizeof text, "%s:%d: %s", r->path, r->line, why);
    if (r->warn)
        r->warn(r->context, text);
}

static void line_take(const struct reading *r, char *line)
{
    char *text = trimmed(line), *equals = strchr(text, '=');
    if (!*text || *text == '#')
        return;
    if (!equals) {
        line_refuse(r, "'name = value' expected");
        return;
    }
    *equals = '\0';
    const char *name = trimmed(text), *value = trimmed(equals + 1);
    if (r->out->count == MOST_SETTINGS && !setting_find(r->out, name))
        line_refuse(r, "there are too many settings; this one is left out");
    else if (!tui_settings_put(r->out, name, value))
        line_refuse(r, "a name or a value that is too long, or no name");
    else
        setting_find(r->out, name)->known = false; /* until somebody asks for it */
}

enum mgb_status tui_settings_load(struct tui_settings *out, const char *path,
                                  void (*warn)(void *context, const char *line), void *context)
{
    *out = (struct tui_settings){.count = 0};
    struct reading reading = {out, path, warn, context, 0};
    FILE *file = mgb_paths_open(path);
    if (!file)
        return errno == ENOENT || errno == ENOTDIR
                   ? MGB_OK
                   : mgb_fail(MGB_IO, "cannot read %s: %s", path,
                              errno == EINVAL ? "it is no regular file" : strerror(errno));
    char *line = NULL;
    size_t size = 0;
    for (ssize_t got; (got = getline(&line, &size, file)) >= 0;) {
        reading.line++;
        if (got > 0 && line[got - 1] == '\n')
            line[got - 1] = '\0';
        line_take(&reading, line);
    }
    free(line);
    bool failed = ferror(file);
    int why = errno;
    fclose(file);
    return failed ? mgb_fail(MGB_IO, "cannot read %s: %s", path, strerror(why)) : MGB_OK;
}

static bool settings_write(const struct tui_settings *settings, int fd)
{
    FILE *file = fdopen(fd, "w");
    if (!file) {
        close(fd);
        return false;
    }
    fputs("# Of mgbench-tui: lines of name = value.\n", file);
    for (int i = 0; i < settings->count; i++)
        fprintf(file, "%s = %s\n", settings->at[i].name, settings->at[i].value);
    bool good = !ferror(file); /* to the disk it goes in its own time: the screen waits for none */
    return fclose(file) == 0 && good;
}

enum mgb_status tui_settings_save(const struct tui_settings *settings, const char *path)
{
    if (mgb_paths_is_special(path))
        return mgb_fail(MGB_IO, "cannot write %s: it is no regular file", path);
    mgb_paths_make_above(path);
    char *real = realpath(path, NULL), *beside = NULL; /* a link stays one */
    const char *target = real ? real : path;
    if (asprintf(&beside, "%s.%ld", target, (long)getpid()) < 0) {
        free(real);
        return mgb_fail(MGB_NO_MEMORY, "saving %s: memory is exhausted", path);
    }
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    bool good = fd >= 0 && settings_write(settings, fd) && rename(beside, target) == 0;
    int why = errno;
    if (fd >= 0 && !good)
        unlink(beside);
    free(beside);
    free(real);
    return good ? MGB_OK : mgb_fail(MGB_IO, "cannot write %s: %s", path, strerror(why));
}
