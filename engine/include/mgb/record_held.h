/* Records of what a segment holds and moves: memory, traffic, variables, duplicates. See record.h for the rules that all
 * records share. */
#ifndef MGB_RECORD_HELD_H
#define MGB_RECORD_HELD_H

#include <stdint.h>

#include <mgb/phase.h>
#include <mgb/record_step.h>

struct mgb_record_memory {
    const char *device;
    enum mgb_memory_category category;
    struct mgb_maybe_int planned_bytes, peak_bytes; /* peak: measured; the category's own peak */
};

/* A device as a whole: categories peak at different moments, so their sum is not its peak. */
struct mgb_record_memory_total {
    const char *device;
    struct mgb_maybe_int planned_bytes, peak_bytes;
    struct mgb_maybe_int capacity_bytes; /* what the arena could have been */
};

/* What a device held in a traced step from `at_ns` on, a row whenever that changes; of several at one instant the last
 * counts. */
struct mgb_record_task_memory {
    const char *device;
    enum mgb_memory_category category;
    int64_t at_ns; /* from the step's start */
    int64_t bytes;
};

struct mgb_record_traffic {
    const char *from, *to;
    int64_t bytes_per_step;
    struct mgb_maybe_int time_per_step_ns;
};

enum mgb_variable_role {
    MGB_VARIABLE_MASTER,
    MGB_VARIABLE_REPLICA,
    MGB_VARIABLE_DUPLICATE,
    MGB_VARIABLE_LEFTOVER,
    MGB_VARIABLE_SLOT
};
const char *mgb_variable_role_name(enum mgb_variable_role role);

struct mgb_record_variable {
    const char *name;  /* full scope path */
    const char *scope; /* the path without the last part; "" at the top */
    const char *shape; /* "3x3x1x32"; "" for a scalar */
    const char *type;  /* "f32" */
    int64_t bytes;
    const char *device;
    enum mgb_variable_role role;
    int64_t storage; /* equal numbers are the same bytes */
};

struct mgb_record_duplicate {
    const char *variable;
    const char *twin; /* the variable it copies */
    const char *device;
    int64_t bytes;
    const char *why;
};

#endif
