/* The table of placement options: names, kinds, values and where each has a meaning. Script keys,
 * command line flags, database columns and help come from here. */
#include "engine/plan/placement.h"

#include <string.h>

static const char *const strategy_names[] = {"outputs", "gradients", "allreduce", "independent",
                                             NULL};
static const char *const like_names[] = {"none",          "keras", "deep_qa", "tf_ps",
                                         "tf_replicated", "ddp",   NULL};
static const char *const relocation_names[] = {"move", "clone", NULL};
static const char *const allreduce_names[] = {"auto", "ring", "tree", "nccl", "hierarchical", NULL};
static const char *const wire_names[] = {"f32", "f16", "bf16", NULL};
static const char *const batch_norm_names[] = {"tower", "sync", NULL};
static const char *const precision_names[] = {"f32", "tf32", "bf16", "f16", NULL};
static const char *const recompute_names[] = {"none", "block", NULL};

/* Where an option has a meaning: "what is in effect under each strategy". */
#define O (1u << MGB_OUTPUTS)
#define G (1u << MGB_GRADIENTS)
#define A (1u << MGB_ALLREDUCE)
#define I (1u << MGB_INDEPENDENT)
#define ALL (O | G | A | I)

#define OPTION(id, name, kind, values, mask, fallback, help)                                       \
    [MGB_OPTION_##id] = {MGB_OPTION_##id, name, MGB_KIND_##kind, values, mask, fallback, help}

static const struct mgb_option table[MGB_OPTION_COUNT] = {
    OPTION(GPUS, "gpus", GPUS, NULL, ALL, "1",
           "how many GPUs, or their ids in merge order (2,0,3); 0: one tower on /cpu:0"),
    OPTION(BATCH, "batch", INT, NULL, ALL, "32", "examples per GPU (weak scaling)"),
    OPTION(GLOBAL_BATCH, "global_batch", INT, NULL, ALL, "",
           "examples of all GPUs together (strong scaling); instead of batch"),
    OPTION(CPU_RELOCATION, "cpu_relocation", BOOL, NULL, O | G, "false",
           "the weights move to the CPU, values kept; short for weights_at = /cpu:0"),
    OPTION(CPU_MERGE, "cpu_merge", BOOL, NULL, O | G, "true",
           "the towers meet on the CPU; false: on the first listed GPU"),
    OPTION(STRATEGY, "strategy", ENUM, strategy_names, ALL, "outputs",
           "what towers exchange: outputs, gradients, gradients by all-reduce, nothing"),
    OPTION(LIKE, "like", ENUM, like_names, ALL, "none",
           "places as that system has them; anything given beside it wins"),
    OPTION(WEIGHTS_AT, "weights_at", DEVICE, NULL, O | G, "",
           "home of the master weights: a device or spread (over the GPUs by bytes)"),
    OPTION(MERGE_AT, "merge_at", DEVICE, NULL, O | G, "",
           "where towers meet; short for join_at, loss_at and sum_at"),
    OPTION(JOIN_AT, "join_at", DEVICE, NULL, O, "", "where the towers' outputs are joined"),
    OPTION(LOSS_AT, "loss_at", DEVICE, NULL, O, "", "where the loss is taken"),
    OPTION(SUM_AT, "sum_at", DEVICE, NULL, O | G, "",
           "where gradients are summed: a device or spread"),
    OPTION(UPDATE_AT, "update_at", DEVICE, NULL, O | G, "",
           "where the optimizer runs and its slots live; the weights' home unless given"),
    OPTION(RELOCATION, "relocation", ENUM, relocation_names, O | G, "move",
           "clone leaves the original weights behind, as Keras does"),
    OPTION(ALLREDUCE, "allreduce", ENUM, allreduce_names, A, "auto",
           "all-reduce algorithm; tree adds in the order of a binary tree; hierarchical needs "
           "several machines"),
    OPTION(BUCKET_MIB, "bucket_mib", NUMBER, NULL, G | A, "25",
           "gradients travel in buckets of this many MiB"),
    OPTION(OVERLAP, "overlap", BOOL, NULL, G | A, "true",
           "start moving a bucket while backward still runs"),
    OPTION(WIRE_TYPE, "wire_type", ENUM, wire_names, O | G | A, "f32",
           "type of a gradient while it travels; added in f32, each part and the sum rounded once"),
    OPTION(STAGED, "staged", BOOL, NULL, O | G, "false",
           "fetch the next step's weights at the end of a step, into replicas that last"),
    OPTION(STALE, "stale", BOOL, NULL, O | G | A, "false",
           "apply gradients one step late; a change of placement drops those in flight"),
    OPTION(PEER_ACCESS, "peer_access", CHOICE, NULL, ALL, "auto",
           "copies between GPUs without the host, as in the CUDA runtime"),
    OPTION(PINNED, "pinned", CHOICE, NULL, ALL, "auto", "page-locked host memory for copies"),
    OPTION(BN, "bn", ENUM, batch_norm_names, ALL, "tower",
           "batch statistics per tower or over the global batch"),
    OPTION(PRECISION, "precision", ENUM, precision_names, ALL, "f32",
           "arithmetic of the towers; master weights stay f32"),
    OPTION(RECOMPUTE, "recompute", ENUM, recompute_names, ALL, "none",
           "compute parts of forward again in backward: time for memory"),
    OPTION(GRAPH, "graph", CHOICE, NULL, ALL, "auto", "replay the step as CUDA graphs"),
    OPTION(LOGICAL, "logical", BOOL, NULL, ALL, "false",
           "allow several towers on one physical GPU"),
    OPTION(GPU_MEMORY, "gpu_memory", BYTES, NULL, ALL, "", "memory limit a device, as 4GiB"),
    OPTION(THREADS, "threads", INT, NULL, ALL, "",
           "CPU threads a device; cores divided by towers unless given"),
    OPTION(HOSTS, "hosts", INT, NULL, ALL, "1", "ranks over MPI"),
};

const struct mgb_option *mgb_placement_options(void)
{
    return table;
}

const struct mgb_option *mgb_placement_find_option(const char *name)
{
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        const char *a = table[i].name, *b = name;
        while (*a && (*a == *b || (*a == '_' && *b == '-')))
            a++, b++;
        if (*a == '\0' && *b == '\0')
            return &table[i];
    }
    return NULL;
}

bool mgb_option_given(const struct mgb_placement *placement, enum mgb_option_id id)
{
    return (placement->given >> id & 1) != 0;
}

bool mgb_option_in_effect(enum mgb_option_id id, enum mgb_strategy strategy)
{
    return (table[id].strategies >> strategy & 1) != 0;
}

void mgb_placement_init(struct mgb_placement *out)
{
    *out = (struct mgb_placement){.gpus = 1,
                                  .batch = 32,
                                  .cpu_merge = true,
                                  .strategy = MGB_OUTPUTS,
                                  .bucket_mib = 25,
                                  .overlap = true,
                                  .peer_access = MGB_CHOICE_AUTO,
                                  .pinned = MGB_CHOICE_AUTO,
                                  .graph = MGB_CHOICE_AUTO,
                                  .hosts = 1};
}
