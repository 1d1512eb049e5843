/* A program: one plan made ready for one site. Everything that a step needs is laid out here once: kernels, addresses for
 * both input slots, events, the list of what to enqueue. Playing it allocates nothing. */
#ifndef MGB_EXEC_PROGRAM_H
#define MGB_EXEC_PROGRAM_H

#include "engine/base/memory.h"
#include "engine/exec/site.h"
#include "engine/plan/device_times.h"
#include <mgb/run.h>
#include <mgb/virtual.h>

struct mgb_command { /* one flat task */
    const struct mgb_task *task;
    int tower, device, from;
    int queue;                  /* into the program's queues */
    int wait_begin, wait_count; /* into waits: commands of other queues */
    int slot_begin, slot_count; /* into addresses */
    struct mgb_kernel *kernel;  /* MGB_TASK_COMPUTE */
    struct mgb_launch launch[2];
    struct mgb_update update;
    int64_t bytes; /* of a copy, a fill, a collective's payload */
    int meet_begin,
        meet_count;    /* the last member of a collective: all its members, in tower order */
    bool begins, ends; /* a run of tasks of one phase on a queue begins, ends here */
    bool awaited;      /* a task of another queue waits for it */
    struct mgb_event *begin, *end; /* NULL where nobody asks */
};

struct mgb_program_queue {
    struct mgb_queue_request request;
    struct mgb_queue *queue; /* while bound */
    int last, span;          /* while the program is made */
};

struct mgb_reading { /* a scalar that the host reads after the step */
    bool metric;
    int index;
    const void *address;
};

struct mgb_program {
    struct mgb_plan *plan; /* owned */
    struct mgb_site *site; /* NULL: played in virtual time, from the plan alone */
    const struct mgb_virtual *play_virtual;
    struct mgb_pool pool;
    struct mgb_flat flat;
    int count;
    struct mgb_command *commands;
    int *waits;
    int slot_count;
    void **addresses[2]; /* by input slot */
    int64_t *counts;     /* f32 elements behind an address */
    int64_t *rows;       /* of the tower whose it is */
    struct mgb_update_item *items;
    struct mgb_flat_operand *scratch; /* the operands of one task */
    int *meets;                       /* commands */
    struct mgb_queue **meet_queues;
    float **meet_buffers;
    int queue_count;
    struct mgb_program_queue *queues;
    int span_count;
    struct mgb_span *spans;
    struct mgb_boundary *boundaries;
    int reading_count;
    struct mgb_reading *readings;
    struct mgb_step_values values;
    float loss_scale;   /* in the launches of gradients' beginnings; 0: none */
    bool hold;          /* of this play */
    int64_t generation; /* of the site when it was bound; 0: not bound */
    bool traced;        /* every command has both events */
    enum mgb_choice
        replay; /* NO: always enqueued; AUTO: until it cannot be replayed; YES: that is an error */
    struct mgb_replay *replays[2];         /* by input slot; NULL: not kept yet */
    struct mgb_optimizer replay_optimizer; /* of which they were made */
    struct mgb_queue **capture_queues;
    int plays;                /* since it was bound */
    char replay_refusal[256]; /* why AUTO became NO; "": it did not */
};

/* Takes the plan over, on failure too. MGB_CORRUPT when the backend's facts are no longer those of the plan. */
enum mgb_status mgb_program_make(struct mgb_program **out, struct mgb_site *site,
                                 struct mgb_plan *plan);
/* The same for what needs no more than the plan. */
enum mgb_status mgb_program_make_virtual(struct mgb_program **out,
                                         const struct mgb_virtual *play_virtual,
                                         struct mgb_plan *plan);
void mgb_program_free(struct mgb_program *program);
/* Addresses, queues and events for the site's arenas as they are now; does nothing when it is bound so already. `traced`:
 * with events at every task. */
enum mgb_status mgb_program_bind(struct mgb_program *program, bool traced);
/* Frees what is kept of it in the backend; it is kept anew when played. */
void mgb_program_drop_replays(struct mgb_program *program);
/* loss_scale.c: what gradients are multiplied by from the next play on; 0: nothing. */
void mgb_program_set_loss_scale(struct mgb_program *program, float scale);
float mgb_program_scale(const struct mgb_program *program, const struct mgb_task *task);
struct mgb_clip mgb_program_clip(const struct mgb_program *program);
/* After a play: whether an update stood still because gradients were not finite. */
enum mgb_status mgb_program_skipped(const struct mgb_program *program, bool *skipped);
/* Gives queues and events back; the rest stays for the next time. */
void mgb_program_unbind(struct mgb_program *program);
/* The address of an operand or a place in the site's arenas; NULL for no bytes, and without a site. */
void *mgb_program_address(const struct mgb_program *program, struct mgb_place place);

/* Passes of mgb_program_make, each in its file. */
enum mgb_status mgb_program_add_spans(struct mgb_program *program);
enum mgb_status mgb_program_add_meets(struct mgb_program *program);
enum mgb_status mgb_program_add_kernels(struct mgb_program *program);
enum mgb_status mgb_program_add_readings(struct mgb_program *program);
void mgb_program_place_operands(struct mgb_program *program);

#endif
