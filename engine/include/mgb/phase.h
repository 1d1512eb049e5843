/* The two enumerations that plan, executor and database share: the phase every task belongs to, and the category every
 * planned byte belongs to. Their names are the words of the database contract, so a value may be added at the end of an
 * enum, never renamed or reordered. */
#ifndef MGB_PHASE_H
#define MGB_PHASE_H

/* What a task is for. Each task has exactly one phase; a device's time in a step is split by phase. */
enum mgb_phase {
    MGB_PHASE_INPUT, /* reading or making the batch and moving it to the device */
    MGB_PHASE_FETCH, /* moving weights from their home to a tower's device */
    MGB_PHASE_FORWARD, /* forward operators of a tower; loss and metrics on the device that takes them */
    MGB_PHASE_BACKWARD, /* gradient operators, the loss' own gradient included */
    MGB_PHASE_JOIN,   /* moving towers' outputs together, and their gradients back to the towers */
    MGB_PHASE_SUM,    /* moving and adding towers' gradients; all-reduce */
    MGB_PHASE_UPDATE, /* clipping and the optimizer */
    MGB_PHASE_WAIT, /* a device with nothing to run; derived from the trace, never the phase of a task */
    MGB_PHASE_COUNT
};

/* What a device's bytes are held for. */
enum mgb_memory_category {
    MGB_MEMORY_WEIGHTS,     /* authoritative storage of variables */
    MGB_MEMORY_REPLICAS,    /* a device's private copies of them, packed or blocked ones included */
    MGB_MEMORY_GRADIENTS,   /* gradients of weights and the buckets they travel in */
    MGB_MEMORY_SLOTS,       /* optimizer state */
    MGB_MEMORY_ACTIVATIONS, /* tower tensors and their gradients */
    MGB_MEMORY_WORKSPACE,   /* scratchpads of operators */
    MGB_MEMORY_MERGE,       /* joined outputs, arriving parts of sums, staging */
    MGB_MEMORY_LEFTOVER,    /* what a clone leaves behind: held, never used again */
    MGB_MEMORY_INPUT,       /* the batch */
    MGB_MEMORY_CATEGORY_COUNT
};

/* The word of the database contract ("forward", "weights"); never NULL, "?" for a value outside the enum. */
const char *mgb_phase_name(enum mgb_phase phase);
const char *mgb_memory_category_name(enum mgb_memory_category category);

#endif
