/* A placement: everything a user can toggle, as asked and as in effect.
 *
 * Why two structs: what was asked is kept as the user gave it (an option without meaning under the strategy is parked and
 * comes back into force when the strategy changes), what is in effect is complete, checked and belongs to one topology.
 * Both are stored with every segment.
 *
 * Why one table of options: the Lua keys, the command line flags, the columns of the database and the help all come from
 * mgb_placement_options, so that they cannot drift apart. */
#ifndef MGB_PLACEMENT_H
#define MGB_PLACEMENT_H

#include <mgb/model.h>
#include <mgb/topology.h>

enum mgb_strategy { MGB_OUTPUTS, MGB_GRADIENTS, MGB_ALLREDUCE, MGB_INDEPENDENT };
enum mgb_like {
    MGB_LIKE_NONE,
    MGB_LIKE_KERAS,
    MGB_LIKE_DEEP_QA,
    MGB_LIKE_TF_PS,
    MGB_LIKE_TF_REPLICATED,
    MGB_LIKE_DDP
};
enum mgb_relocation { MGB_MOVE, MGB_CLONE };
enum mgb_allreduce {
    MGB_ALLREDUCE_AUTO,
    MGB_ALLREDUCE_RING,
    MGB_ALLREDUCE_TREE,
    MGB_ALLREDUCE_NCCL,
    MGB_ALLREDUCE_HIERARCHICAL
};
enum mgb_batch_mode { MGB_BATCH_PER_GPU, MGB_BATCH_GLOBAL }; /* weak, strong scaling */
enum mgb_choice { MGB_CHOICE_UNSET, MGB_CHOICE_AUTO, MGB_CHOICE_NO, MGB_CHOICE_YES };
enum mgb_wire_type { MGB_WIRE_F32, MGB_WIRE_F16, MGB_WIRE_BF16 };
enum mgb_batch_norm { MGB_BN_TOWER, MGB_BN_SYNC };
enum mgb_precision { MGB_PRECISION_F32, MGB_PRECISION_TF32, MGB_PRECISION_BF16, MGB_PRECISION_F16 };
enum mgb_recompute { MGB_RECOMPUTE_NONE, MGB_RECOMPUTE_BLOCK };

/* Bits of `given`: which options the user named. In the order of the option table. */
/* clang-format off */
#define MGB_PLACEMENT_OPTIONS(X)                                                                   \
    X(GPUS, "gpus") X(BATCH, "batch") X(GLOBAL_BATCH, "global_batch")                              \
    X(CPU_RELOCATION, "cpu_relocation") X(CPU_MERGE, "cpu_merge")                                  \
    X(STRATEGY, "strategy") X(LIKE, "like") X(WEIGHTS_AT, "weights_at") X(MERGE_AT, "merge_at")    \
    X(JOIN_AT, "join_at") X(LOSS_AT, "loss_at") X(SUM_AT, "sum_at") X(UPDATE_AT, "update_at")      \
    X(RELOCATION, "relocation") X(ALLREDUCE, "allreduce") X(BUCKET_MIB, "bucket_mib")              \
    X(OVERLAP, "overlap") X(WIRE_TYPE, "wire_type") X(STAGED, "staged") X(STALE, "stale")          \
    X(PEER_ACCESS, "peer_access") X(PINNED, "pinned") X(BN, "bn") X(PRECISION, "precision")        \
    X(RECOMPUTE, "recompute") X(GRAPH, "graph") X(LOGICAL, "logical") X(GPU_MEMORY, "gpu_memory")  \
    X(THREADS, "threads") X(HOSTS, "hosts")
/* clang-format on */

enum mgb_option_id {
#define X(id, name) MGB_OPTION_##id,
    MGB_PLACEMENT_OPTIONS(X)
#undef X
        MGB_OPTION_COUNT
};

#define MGB_MAX_LISTED_GPUS 64

struct mgb_placement { /* as asked; make it with mgb_placement_init */
    uint64_t given;    /* 1 << enum mgb_option_id */
    int gpus;          /* count; 0: one tower on /cpu:0 */
    int listed;        /* > 0: ids in merge order */
    int ids[MGB_MAX_LISTED_GPUS];
    int batch, global_batch;
    bool cpu_relocation, cpu_merge;
    enum mgb_strategy strategy;
    enum mgb_like like;
    struct mgb_device_name weights_at, merge_at, join_at, loss_at, sum_at, update_at;
    enum mgb_relocation relocation;
    enum mgb_allreduce allreduce;
    double bucket_mib;
    bool overlap, staged, stale, logical;
    enum mgb_wire_type wire_type;
    enum mgb_choice peer_access, pinned, graph;
    enum mgb_batch_norm bn;
    enum mgb_precision precision;
    enum mgb_recompute recompute;
    int64_t gpu_memory; /* bytes a device; 0: not limited */
    int threads;        /* CPU threads a device; 0: auto */
    int hosts;
};

/* How one option looks to users. */
enum mgb_option_kind {
    MGB_KIND_BOOL,
    MGB_KIND_CHOICE /* auto, true, false */,
    MGB_KIND_INT,
    MGB_KIND_NUMBER,
    MGB_KIND_BYTES,
    MGB_KIND_ENUM,
    MGB_KIND_DEVICE,
    MGB_KIND_GPUS /* a count, or ids: "2,0,3" */
};
struct mgb_option {
    enum mgb_option_id id;
    const char *name;
    enum mgb_option_kind kind;
    const char *const *values; /* MGB_KIND_ENUM: NULL-terminated names in enum order */
    unsigned strategies;       /* 1 << enum mgb_strategy where it has a meaning */
    const char *fallback;      /* default as text; "" when it depends on others */
    const char *help;          /* one line */
};
const struct mgb_option *mgb_placement_options(void); /* MGB_OPTION_COUNT of them */
const struct mgb_option *
mgb_placement_find_option(const char *name); /* NULL: none; '-' equals '_' */

void mgb_placement_init(struct mgb_placement *out); /* the defaults, nothing given */

/* Sets one option from text ("true", "/gpu:1", "2,0,3", "4GiB", "nil" unsets). Setting one of batch and global_batch
 * clears the other. MGB_INVALID names option, value and what is possible. On failure nothing changes. */
enum mgb_status mgb_placement_set(struct mgb_placement *placement, const char *name,
                                  const char *value);
/* One option as text, "" when not given. */
char *mgb_placement_get_text(char *out, size_t size, const struct mgb_placement *placement,
                             enum mgb_option_id id);

struct
    mgb_effective { /* in effect; devices are topology indices; -1: no meaning under this strategy */
    enum mgb_strategy strategy;
    int tower_count;
    const int
        *tower_device; /* tower_count of them, merge order; borrowed from the effective's memory */
    enum mgb_batch_mode batch_mode;
    int batch_per_gpu; /* largest tower */
    int global_batch;
    /* The home of variable i is home[i] (twins too); equal for all unless device scopes or "spread" say otherwise. */
    int variable_count;
    const int *home;   /* NULL under allreduce and independent (mirrored) */
    const int *update; /* where variable i is updated and its slots live; NULL as above */
    const int *sum;    /* where variable i's gradient is summed; NULL as above */
    const int *
        original; /* where variable i was before relocation; differs from home only when relocated */
    int weights_at, join_at, loss_at, sum_at,
        update_at;                   /* the single device, -2: several ("spread", scopes) */
    bool weights_spread, sum_spread; /* -2 because of "spread" */
    bool relocated;                  /* weights moved away from where the model put them */
    enum mgb_relocation relocation;
    enum mgb_allreduce allreduce;
    int64_t bucket_bytes; /* 0: no meaning */
    enum mgb_wire_type wire_type;
    bool staged, stale;
    enum mgb_batch_norm bn;
    enum mgb_precision precision; /* of products on GPUs; /cpu:0 works in f32 */
    bool overlap, logical;
    enum mgb_recompute recompute;
    enum mgb_choice peer_access, pinned;
    enum mgb_choice
        graph; /* NO: steps are not replayed; AUTO: until one cannot be; YES: that is an error */
    int64_t gpu_memory;
    int threads;     /* a tower's device; depends on the number of towers and cores only */
    int cpu_threads; /* /cpu:0 when no tower runs there */
    bool oversubscribed;
    char gave_way[256]; /* what had to give way and why, "" when nothing did */
    void *memory;       /* owns the arrays */
};

/* Checks what was asked against model and machine and fills in the rest: explicit place > merge_at > the two flags >
 * like > defaults. MGB_INVALID for contradictions, meaningless options given together with the strategy (`fresh`: bits of
 * the options given in this very call) and impossible batches; MGB_MISSING naming wanted and present devices;
 * MGB_UNSUPPORTED for what this version cannot do. `cores`: CPU cores to divide. Nothing is kept on failure. */
enum mgb_status mgb_placement_resolve(struct mgb_effective *out, const struct mgb_placement *asked,
                                      uint64_t fresh, const struct mgb_graph *graph,
                                      const struct mgb_topology *topology, int cores);
void mgb_effective_done(struct mgb_effective *effective);
/* A run under one of them need not change for the other; of one model and machine. */
bool mgb_effective_equal(const struct mgb_effective *a, const struct mgb_effective *b);
/* One option in effect as text; "" when it has no meaning under the strategy (stored as NULL, shown as n/a). */
char *mgb_effective_get_text(char *out, size_t size, const struct mgb_effective *effective,
                             const struct mgb_topology *topology, enum mgb_option_id id);

#endif
