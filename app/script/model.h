/* Models that scripts define, for commands that need a graph and run no script of the user's. No Lua stack is seen here. */
#ifndef MGB_APP_SCRIPT_MODEL_H
#define MGB_APP_SCRIPT_MODEL_H

#include "app/script/state.h"
#include <mgb/placement.h>

struct mgb_built_model { /* borrowed from the state */
    const char *name;    /* the model's own */
    const char *options; /* JSON object, keys sorted */
    const struct mgb_graph *graph;
};

/* Finds the model `name` where scripts do ("mnist_cnn", or a file if it ends in .lua) and builds its graph, once a tower of
 * `placement` if the model asks for that. MGB_INVALID and such as for a script: mgb_script_error_get has the place. */
enum mgb_status mgb_script_build_model(struct mgb_script *script, struct mgb_built_model *out,
                                       const char *name, const struct mgb_placement *placement);

#endif
