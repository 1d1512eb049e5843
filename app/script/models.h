/* The files that scripts and commands find by name, models and machines. Knows no Lua. */
#ifndef MGB_APP_SCRIPT_MODELS_H
#define MGB_APP_SCRIPT_MODELS_H

#include <stdbool.h>

/* Calls `each` for every one: folders in the order in which require looks, names sorted within; a name may come twice. Texts
 * are borrowed for the call; `path` is NULL when memory is out. False: memory is exhausted. */
bool mgb_models_each(const char *const *extra, int extra_count,
                     void (*each)(void *context, const char *name, const char *path),
                     void *context);
bool mgb_machines_each(const char *const *extra, int extra_count,
                       void (*each)(void *context, const char *name, const char *path),
                       void *context);
/* The same of one of these folders, of a `kind`: "models" or "machines". */
void mgb_models_each_in(const char *root, const char *kind,
                        void (*each)(void *context, const char *name, const char *path),
                        void *context);

#endif
