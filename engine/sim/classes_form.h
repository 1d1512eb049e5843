/* The parts of a plan in class form: what classes.h puts together. */
#ifndef MGB_SIM_CLASSES_FORM_H
#define MGB_SIM_CLASSES_FORM_H

#include <stdbool.h>
#include <stdint.h>

#define MGB_SIM_BLOCK 8 /* towers that are swept side by side */

struct mgb_sim_lane { /* a queue in class form */
    int class;        /* one for each of its towers; MGB_ROOT: a single one */
    int device, from; /* MGB_SELF or devices; as in struct mgb_sim_queue */
    int first, count; /* into ways.queues */
    int last;         /* its newest item */
    bool copies;
};

struct mgb_sim_item {  /* a task of the plan */
    int class;         /* MGB_ROOT: a single */
    int tower;         /* of a single: of which tower, -1: the root */
    int lane, before;  /* the item before it there; -1 */
    int wait_begin;    /* into waits, up to the next item's */
    int stage, member; /* member: its number in members, if it is a class's */
    int meet;          /* -1: none */
    int count;         /* instances */
    int64_t first;     /* number of its first instance in issue order */
    int64_t extra_ns;  /* what all-reduces beside it take */
    bool free;         /* takes no time */
};

struct mgb_sim_await {
    int item;
    bool own; /* the instance of this very tower */
};

struct mgb_sim_member { /* an item of a class; in order of class, stage, plan */
    int item;
    int ref_begin, ref_count; /* into refs: members that it waits for in its own tower */
    int slot;                 /* into carried: a later stage reads it; -1 */
    bool slowed, drawn;       /* factors of the device, of device and step */
    bool folded;              /* the last end of all towers is asked for */
    bool gives;               /* a meeting waits for it */
};

struct mgb_sim_kind { /* towers of a class with equal times */
    int class, tower; /* the first of them */
    int begin, count; /* into order, begin a multiple of MGB_SIM_BLOCK */
    double *ns;       /* by member, from the class's first */
};

struct mgb_sim_crowd { /* a class */
    int member_begin, member_end;
    int *stage_begin;         /* stage_count + 1, into members */
    int span_begin, span_end; /* into spans: of any of its towers, in members */
};

#endif
