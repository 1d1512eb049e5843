/* See stored.h. */
#include "app/session/stored.h"

#include <stdlib.h>

static enum mgb_variable_role role_of(const struct mgb_plan *plan,
                                      const struct mgb_storage *storage)
{
    switch (storage->role) {
    case MGB_ROLE_MASTER:
        return mgb_graph_variable_at(plan->graph, storage->variable).twin >= 0
                   ? MGB_VARIABLE_DUPLICATE
                   : MGB_VARIABLE_MASTER;
    case MGB_ROLE_REPLICA:
        return MGB_VARIABLE_REPLICA;
    case MGB_ROLE_SLOT:
        return MGB_VARIABLE_SLOT;
    case MGB_ROLE_LEFTOVER:
        return MGB_VARIABLE_LEFTOVER;
    }
    return MGB_VARIABLE_MASTER;
}

/* The next tower after `tower` (0: the first) that has an instance of a storage that stands for all of its class; -1 when
 * there is none. Tower 0 has entries of its own. */
static int instance_next(const struct mgb_plan *plan, const struct mgb_storage *storage, int tower)
{
    for (tower++; tower < plan->tower_count; tower++)
        if (plan->towers[tower].class == plan->buffers[storage->buffer].class)
            return tower;
    return -1;
}

static int instances_count(const struct mgb_plan *plan)
{
    int count = 0;
    for (int i = 0; i < plan->storage_count; i++)
        count += plan->storages[i].tower == MGB_EACH_TOWER
                     ? plan->classes[plan->buffers[plan->storages[i].buffer].class].tower_count
                     : 1;
    return count;
}

static struct session_stored stored_at(const struct mgb_plan *plan,
                                       const struct mgb_storage *storage, int tower)
{
    return (struct session_stored){.storage = storage,
                                   .tower = tower,
                                   .place = mgb_plan_place(plan, storage->buffer, tower),
                                   .role = role_of(plan, storage)};
}

enum mgb_status mgb_session_stored_list(struct session_stored **out, int *count,
                                        const struct mgb_plan *plan)
{
    int most = instances_count(plan), n = 0;
    struct session_stored *list = calloc((size_t)most + 1, sizeof *list);
    if (!list)
        return mgb_fail(MGB_NO_MEMORY, "listing variables: memory is exhausted");
    for (int i = 0; i < plan->storage_count; i++) {
        const struct mgb_storage *storage = &plan->storages[i];
        if (storage->tower != MGB_EACH_TOWER) {
            list[n++] = stored_at(plan, storage, storage->tower);
            continue;
        }
        for (int tower = instance_next(plan, storage, 0); tower >= 0 && n < most;
             tower = instance_next(plan, storage, tower))
            list[n++] = stored_at(plan, storage, tower);
    }
    *out = list;
    *count = n;
    return MGB_OK;
}
