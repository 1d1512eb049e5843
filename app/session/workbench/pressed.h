/* "If pressed": what every toggle would change, before it is touched. From stored measurements of the same model on this
 * machine where there are any, else from the plan: bytes and memory. Where steps are simulated the other plan is played. */
#ifndef APP_SESSION_WORKBENCH_PRESSED_H
#define APP_SESSION_WORKBENCH_PRESSED_H

#include "app/session/workbench/facts.h"

enum mgb_pressed_from {
    MGB_PRESSED_NONE,      /* not found out yet */
    MGB_PRESSED_PARKED,    /* the option has no meaning under this strategy: n/a */
    MGB_PRESSED_REFUSED,   /* cannot be: reason */
    MGB_PRESSED_OOM,       /* would not fit: reason names device, needed and free */
    MGB_PRESSED_PLANNED,   /* bytes and memory from the plan, no time */
    MGB_PRESSED_MEASURED,  /* `*`: ratio of stored step times */
    MGB_PRESSED_PREDICTED, /* `~`: simulated, as the segment in force is */
    MGB_PRESSED_SAME       /* nothing would change: the effective placement is the same */
};

struct mgb_pressed_row {
    /* MGB_OPTION_CPU_RELOCATION: the key r, its `now` and `next` the weights' home; MGB_OPTION_CPU_MERGE: the key m, where
     * towers meet. Those of weights_at and merge_at stand among the others. */
    enum mgb_option_id option;
    int direction;          /* +1: the next value; -1: the one before (gpus, batch, global_batch) */
    char now[64], next[64]; /* "cpu:0", "gpu:0"; as shown */
    char value[96];         /* as mgb_placement_set takes the next one */
    enum mgb_pressed_from from;
    double ratio, low, high; /* time an example, next / now; NaN: not known */
    double ms;               /* a step, predicted; NaN: not known */
    char verdict[16];        /* "faster", "same", ...; "" */
    int64_t segments;        /* stored ones that `ratio` is of */
    /* next - now: bytes over links a step, planned peak of the fullest GPU, of /cpu:0 */
    int64_t traffic_change, gpu_change, cpu_change;
    char reason[240];
    int64_t base_run; /* the stored run that `ratio` is against; 0: the segment in force */
};

enum { MGB_PRESSED_MOST = 2 * MGB_OPTION_COUNT };

struct mgb_pressed {
    struct mgb_shared shared;
    /* Weights, merge, strategy, GPUs - and +, batch - and + (as it was given, for each GPU or global), peer access, then
     * all other options in the order of the table. */
    int count;
    bool complete; /* all rows are found out */
    int64_t
        largest_batch; /* for each GPU, of which the plan fits; 0: not known, or nothing limits it */
    struct mgb_pressed_row rows[MGB_PRESSED_MOST];
};

/* The row of an option and direction, NULL: none. */
const struct mgb_pressed_row *mgb_pressed_find(const struct mgb_pressed *pressed,
                                               enum mgb_option_id option, int direction);

#endif
