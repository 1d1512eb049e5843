/* A placement in effect as columns of the table segment, by which another one is told from it. */
#ifndef APP_SESSION_EFFECTIVE_COLUMNS_H
#define APP_SESSION_EFFECTIVE_COLUMNS_H

#include <mgb/placement.h>
#include <mgb/plan.h>

struct session_effective_column {
    const char *name; /* static */
    char value[96];   /* "" : NULL, without meaning under the strategy */
};

enum { MGB_EFFECTIVE_COLUMNS = 24 };

/* Those that a step's time depends on; returns how many, 0: a value is too long for its place. */
int mgb_session_effective_columns(struct session_effective_column out[MGB_EFFECTIVE_COLUMNS],
                                  const struct mgb_effective *effective,
                                  const struct mgb_topology *topology);

/* Its column beside them: "sgd(lr=0.1, momentum=0.9)". */
void mgb_session_optimizer_text(char *out, size_t size, const struct mgb_optimizer *optimizer);

#endif
