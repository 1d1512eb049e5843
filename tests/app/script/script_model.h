/* The graph of a model of scripts/models, built as a script would have it, for tests that train or read it themselves. */
#ifndef TESTS_APP_SCRIPT_SCRIPT_MODEL_H
#define TESTS_APP_SCRIPT_SCRIPT_MODEL_H

#include <mgb/model.h>

/* Runs `use` with the graph of mgb.model(MODEL) given as Lua, "'resnet', { depth = 18 }"; the graph is gone afterwards. `gpus`:
 * how many towers a model that is built tower by tower has. Fails the running test where the script fails. */
void script_model_use(const char *model, int gpus,
                      void (*use)(void *context, const struct mgb_graph *graph), void *context);

#endif
