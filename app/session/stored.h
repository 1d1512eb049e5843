/* Where every variable of a plan lies, storage by storage: what the record and displays list. Knows plans only. */
#ifndef APP_SESSION_STORED_H
#define APP_SESSION_STORED_H

#include <mgb/plan.h>
#include <mgb/record.h>

struct session_stored {
    const struct mgb_storage *storage; /* borrowed from the plan */
    int tower; /* whose: one that stands for all of its class is listed once for each */
    struct mgb_place place; /* of its buffer's instance; storage->offset comes on top */
    enum mgb_variable_role role;
};

/* All of them, in the plan's order; to be freed. MGB_NO_MEMORY. */
enum mgb_status mgb_session_stored_list(struct session_stored **out, int *count,
                                        const struct mgb_plan *plan);

#endif
