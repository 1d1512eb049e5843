/* The variable check: is every variable stored exactly as often as the placement says, and nowhere else? Decided by
 * storage identity and bytes, never by name, against what a build of one tower would store. */
#ifndef MGB_CHECK_H
#define MGB_CHECK_H

#include <mgb/plan.h>

struct mgb_finding {
    int variable;  /* the extra one */
    int twin;      /* the one it duplicates, or itself for a leftover */
    bool leftover; /* else a duplicate */
    int device;    /* topology index: where its bytes lie */
    int64_t
        bytes; /* of all its extra storages there: master and slots, and replicas of an unshared copy */
    const char *why; /* one line, owned by the check */
};

struct mgb_check {
    int variables, expected_variables; /* distinct masters; those of a one-tower build */
    int64_t master_bytes, expected_bytes;
    int replicas_per_variable; /* declared by the strategy: 1 for shared ones, N mirrored */
    int finding_count;
    struct mgb_finding *findings;
    int64_t duplicate_bytes, leftover_bytes;
    int duplicate_count, leftover_count;
    void *memory;
};

enum mgb_status mgb_check_make(struct mgb_check *out, const struct mgb_plan *plan);
void mgb_check_done(struct mgb_check *check);

#endif
