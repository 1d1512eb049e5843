/* What the screen keeps for next time: which view was in front, and what each view wants kept, under its name. */
#include "app/tui/screen_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct saving {
    struct tui_settings *settings;
    const char *view;
    bool full;
};

static void name_write(char *out, size_t size, const char *view, const char *name)
{
    snprintf(out, size, "%s.%s", view, name);
    for (char *c = out; *c && *c != '.'; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
}

static void setting_put(void *context, const char *name, const char *value)
{
    struct saving *saving = context;
    char whole[64];
    name_write(whole, sizeof whole, saving->view, name);
    saving->full |= !tui_settings_put(saving->settings, whole, value);
}

void tui_screen_settings_save(struct tui_screen *screen, struct tui_settings *settings)
{
    int at = screen->at < SCREEN_TABS ? screen->at : screen->from;
    struct saving saving = {.settings = settings};
    saving.full = !tui_settings_put(settings, "screen", screen->views[at].view->name);
    for (int i = 0; i < SCREEN_VIEWS; i++) {
        const struct screen_view *v = &screen->views[i];
        saving.view = v->view->name;
        if (v->view->save)
            v->view->save(v->state, setting_put, &saving);
    }
    if (saving.full)
        screen_say(screen, MGB_LINE_WARNING, "the settings file is full: not all was kept");
}

static bool setting_take(struct tui_screen *screen, const struct tui_setting *setting)
{
    if (strcmp(setting->name, "screen") == 0)
        return tui_screen_go(screen, setting->value);
    for (int i = 0; i < SCREEN_VIEWS; i++) {
        const struct screen_view *v = &screen->views[i];
        size_t length = strlen(v->view->name);
        if (v->view->load && strncasecmp(setting->name, v->view->name, length) == 0 &&
            setting->name[length] == '.')
            return v->view->load(v->state, setting->name + length + 1, setting->value);
    }
    return false;
}

void tui_screen_settings_load(struct tui_screen *screen, struct tui_settings *settings)
{
    for (int i = 0; i < settings->count; i++)
        if (setting_take(screen, &settings->at[i]))
            settings->at[i].known = true;
}

static void warn(void *context, const char *line)
{
    struct tui_screen *screen = context;
    if (screen->options.log)
        tui_log_add(screen->options.log, MGB_LINE_WARNING, line);
}

void screen_layout_save(struct tui_screen *screen)
{
    struct tui_settings *settings = calloc(1, sizeof *settings);
    char *path = tui_settings_path();
    if (!settings || !path) {
        screen_say(screen, MGB_LINE_FAULT,
                   settings ? "there is no folder for settings: set HOME or XDG_CONFIG_HOME"
                            : "no memory to keep the layout");
    } else if (tui_settings_load(settings, path, warn, screen) != MGB_OK) {
        screen_say(screen, MGB_LINE_FAULT, "%s", mgb_message_get());
    } else {
        tui_screen_settings_save(screen, settings);
        if (tui_settings_save(settings, path) == MGB_OK)
            screen_say(screen, MGB_LINE_NOTE, "kept in %s", path);
        else
            screen_say(screen, MGB_LINE_FAULT, "%s", mgb_message_get());
    }
    free(settings);
    free(path);
}
