/* The step plan: immutable data that says what happens in one step, on which queue, after what, with which bytes where.
 * The executor plays it on a backend, the simulator on a virtual clock; it can be printed, verified and counted without
 * being run.
 *
 * Classes. Towers with the same rows and the same role form a class (not always neighbours), stored once; its tasks and
 * buffers exist once per instance when the plan is played, so a plan for 10,000 GPUs costs O(operators + GPUs). What happens once (joining,
 * the loss under `outputs`, summing, updating a shared weight) belongs to the root, class -1. A device that hosts root
 * work makes its tower a class of its own. mgb_plan_expand gives the flat form.
 *
 * Buffers. Every byte lies in one of two arenas of a device: lasting (weights, slots, mirrored replicas, leftovers, input
 * slots) and step (everything else), laid out by lifetime at plan time. Buffers whose lifetimes do not overlap may share
 * bytes; the executor allocates two blocks a device and nothing else.
 *
 * Order. tasks[] is in issue order: a task waits only for tasks before it. Tasks of one queue run in that order; between
 * queues only `waits` count. No update starts before every gradient of the step is complete, so that a step that fails
 * half-way leaves the weights as they were. Stale: the update takes the sums that the step before left in lasting buffers
 * and waits for every backward of its own step, but not for the sums, which are kept after it. */
#ifndef MGB_PLAN_H
#define MGB_PLAN_H

#include <mgb/optimizer.h>
#include <mgb/phase.h>
#include <mgb/placement.h>

enum mgb_plan_kind { MGB_PLAN_TRAIN, MGB_PLAN_EVALUATE, MGB_PLAN_MOVE };
/* Old: of move plans, the lasting arena before. */
enum mgb_arena_kind { MGB_ARENA_LASTING, MGB_ARENA_STEP, MGB_ARENA_OLD };

enum mgb_task_kind {
    MGB_TASK_COMPUTE, /* one node of the graph: operands are inputs, outputs (wanted ones), workspace (or none) */
    MGB_TASK_COPY, /* dst, src: the same number of bytes; between devices, or inside one on its compute queue */
    MGB_TASK_REDUCE, /* dst, src...: dst = sum in tower order, f32; dst may be the first src */
    MGB_TASK_ALLREDUCE, /* one operand, in place, in the wire type, on every tower; those with the same `collective` meet.
                         * Its queue is the copy queue from the device to itself, so that backward runs on meanwhile */
    MGB_TASK_FILL, /* dst: zero bytes */
    MGB_TASK_NORM, /* dst: sum of squares of each src, one f32 each, in fixed chunks (gradient clipping) */
    MGB_TASK_CLIP, /* dst: one f32, the factor min(1, clip_norm / sqrt(sum of src)), summed in operand order; f16: struct mgb_clip */
    MGB_TASK_UPDATE, /* per weight: weight, gradient, slots...; then the clip factor when clipping */
    MGB_TASK_CAST, /* dst, src: f32 to the wire type (dst has half the bytes), back (twice), or rounded and kept as f32 */
    MGB_TASK_MERGE, /* mean, variance; the towers' means, then their variances: those of all their rows together */
};
/* "compute", the word of the database contract; static. */
const char *mgb_task_kind_name(enum mgb_task_kind kind);
enum mgb_queue_kind { MGB_QUEUE_COMPUTE, MGB_QUEUE_COPY };
#define MGB_SELF -1       /* device: that of the tower the task or buffer belongs to */
#define MGB_ROOT -1       /* class of what exists once */
#define MGB_OWN -1        /* operand or wait: the instance of this very tower, or the root's one */
#define MGB_EACH_TOWER -2 /* every instance of every tower that has one, in tower order */

struct mgb_operand {
    int buffer;
    int tower; /* MGB_OWN; >= 0: the instance of that tower; or MGB_EACH_TOWER: this and the following operands (one a
                  class, all so marked) together stand for one operand a tower, in tower order */
    int64_t offset, bytes;
    int64_t
        row_bytes; /* a tower's own rows of a root buffer that holds the global batch: they start
                          towers[].first_row * row_bytes after `offset`; 0: the same place for every tower */
    int layout;    /* as in operator facts; 0 plain */
};

struct mgb_wait {
    int task;
    int tower; /* MGB_OWN or MGB_EACH_TOWER: all instances of that task */
};

struct mgb_task {
    enum mgb_task_kind kind;
    enum mgb_phase phase;
    int class;  /* MGB_ROOT or index of a class */
    int device; /* topology index or MGB_SELF: whose compute queue, or destination of the copy */
    enum mgb_queue_kind queue;
    int from; /* MGB_QUEUE_COPY: source device or MGB_SELF; the queue is the link from->device; else -1 */
    int node;    /* MGB_TASK_COMPUTE, else -1 */
    int rows;    /* of the batch it works on; 0 when it has nothing to do with the batch */
    float scale; /* of losses' gradients; of a moving share: rows / all rows; of states: momentum */
    bool states; /* update of moving statistics: value, share; all-reduce of shares: f32 */
    int collective;                   /* MGB_TASK_ALLREDUCE; else -1 */
    int operand_begin, operand_count; /* into operands */
    int input_count;                  /* MGB_TASK_COMPUTE: leading operands that are read */
    unsigned plain;   /* MGB_TASK_COMPUTE: bit k: output k was asked for in plain layout */
    int output_count; /* following ones that are written; a workspace comes last when there is one */
    int wait_begin, wait_count; /* into waits: only tasks of other queues */
    int64_t bytes;              /* moved, for copies and collectives (a tower's payload) */
    double flops;
    const char *name; /* "conv2d_1", "fetch conv2d_1/kernel", "sum bucket 0" */
};

struct mgb_buffer {
    const char *name;
    int class;  /* MGB_ROOT or a class: one for each of its towers */
    int device; /* topology index or MGB_SELF */
    enum mgb_arena_kind arena;
    enum mgb_memory_category category;
    int64_t offset; /* in the arena; of the first instance */
    int64_t stride; /* bytes from one instance to the next when `device` is fixed; else 0 */
    int64_t bytes;
    int64_t flip;    /* input slots: bytes added on odd steps; else 0 */
    int first, last; /* lifetime in tasks[], inclusive; lasting buffers: 0 and task_count - 1 */
};

struct mgb_class {
    int rows;                     /* 0: takes part in collectives only */
    int first_tower, tower_count; /* how many instances; which ones: towers[].class */
    int lead;                     /* topology index of its first instance's device */
};

struct mgb_tower {
    int device, class, instance; /* instance: number within its class */
    int rows, first_row;         /* rows of the global batch [first_row, first_row + rows) */
};

/* Where a variable's values are in lasting arenas. Storage identity is (buffer, offset, tower): two entries with the same
 * one share. The first entry of a (variable, role, slot) is the authoritative one. Mirrored weights: a master and slots of
 * tower 0, then an entry a class that stands for all its towers (tower 0 among them). */
enum mgb_role { MGB_ROLE_MASTER, MGB_ROLE_REPLICA, MGB_ROLE_SLOT, MGB_ROLE_LEFTOVER };
struct mgb_storage {
    int variable;
    enum mgb_role role;
    int slot; /* MGB_ROLE_SLOT: its number; else -1 */
    int buffer;
    int64_t offset, bytes;
    int tower; /* -1: the root's; >= 0: that tower's; MGB_EACH_TOWER: one in every tower of the buffer's class */
};

/* Scalars that the host reads after the step, in /cpu:0's step arena. Sums over rows; several parts are added in order. */
struct mgb_result {
    bool metric;             /* else a loss */
    int index;               /* into the graph's losses or metrics */
    struct mgb_operand part; /* tower: MGB_OWN, or MGB_EACH_TOWER with one entry a class in a row */
};

struct mgb_device_use { /* a device the plan touches */
    int device;
    int64_t lasting_bytes, step_bytes;       /* arena sizes */
    int64_t peak[MGB_MEMORY_CATEGORY_COUNT]; /* largest sum of live bytes by category */
    int64_t peak_bytes; /* lasting_bytes + largest live step bytes, fragmentation included */
};

struct mgb_traffic {
    int from, to;  /* devices; all-reduce traffic is counted on the links of its algorithm */
    int64_t bytes; /* a step */
};

struct mgb_plan {
    enum mgb_plan_kind kind;
    const struct mgb_graph *graph;       /* borrowed */
    const struct mgb_topology *topology; /* borrowed */
    enum mgb_strategy strategy;
    int global_rows, tower_count, class_count;
    int task_count, buffer_count, operand_count, wait_count, storage_count, result_count, use_count,
        traffic_count, collective_count;
    struct mgb_tower *towers;
    struct mgb_class *classes;
    struct mgb_task *tasks;
    struct mgb_buffer *buffers;
    struct mgb_operand *operands;
    struct mgb_wait *waits;
    struct mgb_storage *storages;
    struct mgb_result *results;
    struct mgb_device_use *uses;
    struct mgb_traffic *traffic;
    int *
        input_buffer; /* of graph input i, on /cpu:0: flip buffers of the lasting arena, global rows each */
    enum mgb_allreduce algorithm;
    enum mgb_wire_type wire_type; /* of gradients: each tower's is rounded to it, and their sum */
    bool staged, stale;
    enum mgb_precision precision; /* of products on GPUs; f16: with a loss scale */
    struct mgb_optimizer optimizer;
    int threads, cpu_threads; /* as in the effective placement */
    void *memory;             /* owns everything above that is not borrowed */
};

struct mgb_fact_source; /* engine/graph/facts.h */
struct mgb_plan_request {
    enum mgb_plan_kind kind; /* TRAIN or EVALUATE */
    const struct mgb_graph *graph;
    const struct mgb_topology *topology;
    const struct mgb_effective *placement;
    const struct mgb_fact_source *facts; /* NULL: plain layouts, no workspace */
    struct mgb_optimizer optimizer;
    int rows; /* global rows of this plan: full batch, remainder or evaluation batch */
};

/* Pure function of its request; two calls give the same bytes. Plans of one placement that differ in kind or rows have
 * identical lasting arenas: a run keeps several and allocates one. Does not look at memory limits. */
enum mgb_status mgb_plan_make(struct mgb_plan **out, const struct mgb_plan_request *request);
void mgb_plan_free(struct mgb_plan *plan);

/* The move of weights and slots from one placement's lasting arenas to another's: copies from MGB_ARENA_OLD to
 * MGB_ARENA_LASTING, one per storage (slots that `to` lacks are dropped, those that `from` lacks are zeroed). */
enum mgb_status mgb_plan_make_move(struct mgb_plan **out, const struct mgb_plan *from,
                                   const struct mgb_plan *to);

/* MGB_OOM naming the first device whose limit (gpu_memory, or the topology's) is below what the plan needs;
 * `also` (may be NULL) is a second plan whose lasting arena must fit beside this one's (a move): the step arenas need not,
 * the old one goes before the move and the new one comes after it. */
enum mgb_status mgb_plan_admit(const struct mgb_plan *plan, const struct mgb_plan *also,
                               int64_t gpu_memory);

/* Towers that send the gradient of `variable` as the rows it touches; *bytes: the most of one. 0: it travels whole. */
int mgb_plan_packers(const struct mgb_plan *plan, int variable, int64_t *bytes);

/* Structural check by an independent reading of the flat form: every wait there that is needed, no use before
 * definition, no live buffers overlapping, every tensor and task with a device, no compute task touching another
 * device's memory, copies of equal size, lasting bytes written only by updates and moves, collectives complete, no update
 * before the last gradient. Of plans with more than 20,000 flat tasks it reads the first two and the last tower of each
 * class. MGB_CORRUPT names task, buffer and rule. */
enum mgb_status mgb_plan_verify(const struct mgb_plan *plan);

/* Stable text, for golden tests and `mgbench plan --tasks`; free with mgb_text_free. And that text's digest. */
enum mgb_status mgb_plan_text(char **out, const struct mgb_plan *plan);
enum mgb_status mgb_plan_digest(uint64_t *out, const struct mgb_plan *plan);
/* The flat form: what an executor enqueues, in order. */
struct mgb_flat_task {
    int task, tower; /* tower -1: the root's */
    int device;      /* resolved */
    int from;        /* resolved; -1 unless a copy between devices */
};
struct mgb_flat {
    int count;
    struct mgb_flat_task *tasks;
    int *first; /* first[task] .. first[task + 1]: its instances, in tower order */
};
enum mgb_status mgb_plan_expand(struct mgb_flat *out, const struct mgb_plan *plan);
void mgb_flat_done(struct mgb_flat *flat);

/* Device and arena offset of a buffer's instance for `tower` (-1: root). */
struct mgb_place {
    int device;
    enum mgb_arena_kind arena;
    int64_t offset;
};
struct mgb_place mgb_plan_place(const struct mgb_plan *plan, int buffer, int tower);

/* The operands of one flat task, MGB_EACH_TOWER spelled out and rows resolved: `place` is where the operand's bytes begin. */
struct mgb_flat_operand {
    int operand; /* index into plan->operands */
    int tower;   /* whose instance of the buffer; -1: the root's */
    struct mgb_place place;
    int64_t bytes, flip;
    int layout;
};
/* Writes them to `out` (NULL: only counts) and returns how many; at most operand_count * tower_count. */
int mgb_plan_operands(const struct mgb_plan *plan, int task, int tower,
                      struct mgb_flat_operand *out);

/* Both plans have the same lasting arenas, byte for byte of the same meaning. */
bool mgb_plan_same_lasting(const struct mgb_plan *a, const struct mgb_plan *b);

#endif
