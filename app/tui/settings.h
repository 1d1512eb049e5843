/* What is kept between sessions, on request: $XDG_CONFIG_HOME/mgbench/tui.conf, lines of name = value. Names that are not
 * known are warned about and kept. */
#ifndef APP_TUI_SETTINGS_H
#define APP_TUI_SETTINGS_H

#include <mgb/status.h>
#include <stdbool.h>
#include <stddef.h>

struct tui_settings {
    int count;
    struct tui_setting {
        char name[64], value[256];
        bool known;
    } at[128];
};

/* The path, to be freed; NULL: no home. And that of the history of ':' ($XDG_STATE_HOME/mgbench/tui-history). */
char *tui_settings_path(void);
char *tui_settings_history_path(void);
char *tui_settings_log_path(void); /* $XDG_STATE_HOME/mgbench/tui.log */

/* No file is no failure. Lines that are none are told by `warn`, with file and line. */
enum mgb_status tui_settings_load(struct tui_settings *out, const char *path,
                                  void (*warn)(void *context, const char *line), void *context);
/* Whole or not at all: a file beside it is renamed. Makes the folder. */
enum mgb_status tui_settings_save(const struct tui_settings *settings, const char *path);
const char *tui_settings_get(struct tui_settings *settings, const char *name); /* NULL: not there */
bool tui_settings_put(struct tui_settings *settings, const char *name, const char *value);

#endif
