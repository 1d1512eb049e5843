/* Which models there are. */
#ifndef APP_SESSION_WORKBENCH_MODELS_H
#define APP_SESSION_WORKBENCH_MODELS_H

/* Names, each once, sorted, one a line; to be freed. NULL: memory is exhausted. */
char *mgb_models_list(const char *const *lua_path, int lua_path_count);

#endif
