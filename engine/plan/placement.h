/* Placement from inside: the steps from what was asked to what is in effect. Private to
 * engine/plan/placement*.c. */
#ifndef MGB_PLAN_PLACEMENT_H
#define MGB_PLAN_PLACEMENT_H

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/graph/graph.h"
#include <mgb/placement.h>

#define MGB_GIVEN(id) (UINT64_C(1) << MGB_OPTION_##id)

struct mgb_like_preset;
struct mgb_resolver {
    const struct mgb_placement *asked;
    uint64_t fresh;
    const struct mgb_graph *graph;
    const struct mgb_topology *topology;
    int cores;
    struct mgb_effective *out;
    struct mgb_pool *pool;
    const struct mgb_like_preset *like; /* NULL: none */
    int *towers;                        /* devices, merge order */
};

/* What a `like` stands for. A place of kind UNSET means: as without it. */
struct mgb_like_preset {
    const char *name;
    enum mgb_strategy strategy;
    struct mgb_device_name weights_at, sum_at;
    /* Loss, sum and update on the first listed GPU; cpu_merge concerns the join alone (Keras). */
    bool first_gpu;
    enum mgb_relocation relocation;
};

/* Values from text; false when it is none. Those with `**text` move it past
 * what was read. */
bool mgb_value_read_int(int *out, const char **text, int most);
bool mgb_value_read_decimal(double *out, const char **text); /* whatever the locale's point */
bool mgb_value_read_bool(bool *out, const char *text);       /* true, no, on, 0, ... */
bool mgb_value_read_bytes(int64_t *out, const char *text); /* "4GiB", "512 MB", "65536"; above 0 */
const char *mgb_value_skip_blanks(const char *text);

bool mgb_option_given(const struct mgb_placement *placement, enum mgb_option_id id);
bool mgb_option_in_effect(enum mgb_option_id id, enum mgb_strategy strategy);

/* Steps of mgb_placement_resolve, in order. */
void mgb_resolve_strategy(struct mgb_resolver *resolver); /* and `like` */
enum mgb_status mgb_resolve_contradictions(const struct mgb_resolver *resolver);
enum mgb_status mgb_resolve_unsupported(const struct mgb_resolver *resolver);
enum mgb_status mgb_resolve_precision(struct mgb_resolver *resolver);
enum mgb_status mgb_resolve_towers(struct mgb_resolver *resolver);
enum mgb_status mgb_resolve_batch(struct mgb_resolver *resolver);
enum mgb_status mgb_resolve_places(struct mgb_resolver *resolver);
/* Whether steps are replayed; after the exchange and pinned memory. */
enum mgb_status mgb_resolve_graph(struct mgb_resolver *resolver);
void mgb_resolve_exchange(struct mgb_resolver *resolver); /* all-reduce, buckets */

/* The device of `name`, or MGB_MISSING naming it, `option` and what is there. */
enum mgb_status mgb_resolve_device(const struct mgb_resolver *resolver, int *device,
                                   const char *option, struct mgb_device_name name);

#endif
