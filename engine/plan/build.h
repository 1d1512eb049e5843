/* Adding tasks, operands and buffers to a plan in the making, and small questions that several passes ask. */
#ifndef MGB_PLAN_BUILD_H
#define MGB_PLAN_BUILD_H

#include "engine/plan/plan.h"

int64_t mgb_plan_align(int64_t bytes);
/* Zeroed, from the plan's pool; NULL marks the planner failed. */
void *mgb_plan_alloc(struct mgb_planner *planner, size_t count, size_t size);
const char *mgb_plan_name(struct mgb_planner *planner, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A buffer; `place` is MGB_SELF or a device. Class buffers on a fixed device get their stride. */
int mgb_plan_add_buffer(struct mgb_planner *planner, const char *name, int class, int place,
                        enum mgb_memory_category category, int64_t bytes);
/* The same in the lasting arena. */
int mgb_plan_add_lasting(struct mgb_planner *planner, const char *name, int class, int place,
                         enum mgb_memory_category category, int64_t bytes);

/* A task on the compute queue of `place` (MGB_SELF or a device), without operands yet. */
int mgb_plan_add_task(struct mgb_planner *planner, enum mgb_task_kind kind, enum mgb_phase phase,
                      int class, int place, const char *name);
void mgb_plan_add_operand(struct mgb_planner *planner,
                          struct mgb_operand operand); /* to the newest task */
void mgb_plan_add_wait(struct mgb_planner *planner, int task, int on, int tower);

/* A copy for `class` between two places (MGB_SELF or devices); inside one device it runs on the compute queue. */
int mgb_plan_add_copy(struct mgb_planner *planner, enum mgb_phase phase, int class, int to,
                      int from, struct mgb_operand dst, struct mgb_operand src, const char *name);

struct mgb_operand mgb_plan_whole(const struct mgb_planner *planner,
                                  int buffer); /* all of a buffer, plain, own */
struct mgb_operand mgb_plan_part(int buffer, int64_t offset, int64_t bytes);
struct mgb_operand mgb_plan_nowhere(void);

/* The device that MGB_SELF or a device means for the first tower of `class`. */
int mgb_plan_device(const struct mgb_planner *planner, int class, int place);
/* /cpu:0 in every topology. */
#define MGB_HOST_DEVICE 0

bool mgb_plan_trains(const struct mgb_planner *planner,
                     int variable); /* has a gradient and is updated */
bool mgb_plan_moves(const struct mgb_planner *planner, int variable);   /* a state that moves */
bool mgb_plan_changes(const struct mgb_planner *planner, int variable); /* one of both */
/* The variable of tower 0's build that `stage` uses under the name of `variable`. */
int mgb_plan_variable(const struct mgb_planner *planner, const struct mgb_stage *stage,
                      int variable);
/* Which towers use a variable: MGB_ALL_TOWERS, one tower, or (below that) all but those with a twin of it. */
#define MGB_ALL_TOWERS -1
int mgb_plan_scope(const struct mgb_planner *planner, int variable);
/* Does a bucket or bundle of this scope concern the stage? */
bool mgb_plan_concerns(const struct mgb_planner *planner, const struct mgb_stage *stage, int scope);

/* node.c: runs a node on a stage: facts, aliases, in-place, buffers, task. */
enum mgb_status mgb_plan_node(struct mgb_planner *planner, struct mgb_stage *stage, int node);
/* recompute.c: before a gradient: runs again the blocks that made what it reads and that was dropped. */
enum mgb_status mgb_plan_again(struct mgb_planner *planner, int gradient);
/* Seats a tensor that arrived otherwise (copied, joined, read). */
void mgb_plan_seat(struct mgb_planner *planner, struct mgb_stage *stage, int tensor,
                   struct mgb_operand at);
/* One of the counted reads of a tensor has been issued. */
void mgb_plan_read(struct mgb_planner *planner, struct mgb_stage *stage, int tensor);

/* exchange.c, bn = sync: the first of the two outputs of `node` that towers make those of all of them, once it has run on
 * every class; -1: they keep their own. They lie in one buffer, one behind the other. Where they meet. */
int mgb_plan_exchanged(const struct mgb_planner *planner, int node);
void mgb_plan_exchange(struct mgb_planner *planner, int node);
int mgb_plan_meeting(const struct mgb_effective *placement);

/* sum.c: issues what can be summed once `node` has run on every class; node -1: all that is left. */
enum mgb_status mgb_plan_sum(struct mgb_planner *planner, int node);

/* packed.c: has `variable` a bucket of its own, because its gradient may travel as the rows it touches? Bytes of the bucket
 * on a stage, which is decided here. The node that runs on the stage instead of `node`, or itself. Where the stage's rows
 * lie; nowhere for other tensors. The whole table at the place of the sum, of rows that have arrived. */
bool mgb_plan_packs(const struct mgb_planner *planner, int variable);
int64_t mgb_plan_bucket_bytes(struct mgb_planner *planner, struct mgb_bucket *bucket,
                              const struct mgb_stage *stage);
int mgb_plan_instead(const struct mgb_planner *planner, const struct mgb_stage *stage, int node);
struct mgb_operand mgb_plan_packed_place(const struct mgb_planner *planner,
                                         const struct mgb_stage *stage, int tensor);
enum mgb_status mgb_plan_unpack(struct mgb_planner *planner, struct mgb_bucket *bucket, int class);

/* wire.c: the bucket of `class` in the wire type, made on its compute queue; returns the buffer (its own one where nothing
 * is cast). */
int mgb_plan_narrow(struct mgb_planner *planner, struct mgb_bucket *bucket, int class, int number);
/* What has arrived at `place`, back in f32; what never left is rounded where it is. */
void mgb_plan_widen(struct mgb_planner *planner, struct mgb_bucket *bucket, int class, int number);
/* The sum as it travels on to where it is used, and back in f32 there; or rounded where it stays. */
struct mgb_operand mgb_plan_narrow_sum(struct mgb_planner *planner, const struct mgb_bucket *bucket,
                                       int number);
void mgb_plan_widen_sum(struct mgb_planner *planner, struct mgb_bucket *bucket, int number);
void mgb_plan_round_sum(struct mgb_planner *planner, const struct mgb_bucket *bucket, int number);

/* All-reduced buckets, back in f32 on every tower. */
void mgb_plan_widen_all(struct mgb_planner *planner);

/* queues.c: what operand `index` of a task is to it. */
enum mgb_access { MGB_READS = 1, MGB_WRITES = 2 };
int mgb_plan_access(const struct mgb_task *task, int index, int slot_count);

/* layout.c: the arena that a buffer lies in, in class form: that of a device with root work, or of all towers of a class;
 * group_count of them. */
int mgb_plan_group(const struct mgb_planner *planner, int buffer);
int mgb_plan_group_of(const struct mgb_planner *planner, int class, int place);
int mgb_plan_group_count(const struct mgb_planner *planner);
int64_t mgb_plan_extent(const struct mgb_planner *planner,
                        int buffer); /* all instances and both input slots */

/* make.c: an empty plan with its pool; room for one of everything; what was added, handed over to the plan. */
enum mgb_status mgb_plan_begin(struct mgb_plan **out);
bool mgb_planner_reserve(struct mgb_planner *planner);
void mgb_plan_fill(struct mgb_planner *planner);
void mgb_planner_done(struct mgb_planner *planner);

#endif
