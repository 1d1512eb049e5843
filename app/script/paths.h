/* Where things lie: installed scripts, the user's modules, the configuration and data folders. Knows no Lua. An empty
 * environment variable counts as unset. Strings that are handed out are the caller's (free), NULL when memory is out. */
#ifndef MGB_APP_SCRIPT_PATHS_H
#define MGB_APP_SCRIPT_PATHS_H

#include <stdbool.h>
#include <stdio.h>

char *mgb_paths_folder(const char *path); /* "a/b.lua" -> "a", "b.lua" -> "." */
char *mgb_paths_join(const char *folder, const char *name);
bool mgb_paths_is_file(const char *path);
bool mgb_paths_is_folder(const char *path);
/* There is something that is no regular file (nor a link to one): a pipe, a device, a folder. */
bool mgb_paths_is_special(const char *path);
/* For reading, never waiting for anybody. NULL: errno says why, EINVAL for what is no regular file. */
FILE *mgb_paths_open(const char *path);
/* Makes the folders above `path`. What cannot be made is told by who opens the file. */
void mgb_paths_make_above(const char *path);

/* The shipped scripts (models, experiments, machines, data): beside the program when installed, else the folder this was
 * configured to install to, else the source tree it was built from; NULL when there is none. */
char *mgb_paths_share(void);
/* $XDG_DATA_HOME/mgbench, $XDG_CONFIG_HOME/mgbench, $XDG_STATE_HOME/mgbench, or their usual places under $HOME, else under
 * the home that the system knows; NULL too when there is none. */
char *mgb_paths_data(void);
char *mgb_paths_config(void);
char *mgb_paths_state(void);

/* The folders in which require looks after the script's own: `extra`, the user's, the shipped ones. */
bool mgb_paths_modules(char ***out, int *count, const char *const *extra, int extra_count);

#endif
