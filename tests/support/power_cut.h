/* What a disk may hold when the power fails: built from the log of a faulty VFS. Everything synced is there; of what was
 * written since, each sector may be there, half there or not, in any order. */
#ifndef TESTS_SUPPORT_POWER_CUT_H
#define TESTS_SUPPORT_POWER_CUT_H

#include "tests/support/faulty_vfs.h"

enum power_cut_mode {
    POWER_CUT_NOTHING_LOST, /* as when only the process dies */
    POWER_CUT_ALL_LOST,     /* all that was not synced */
    POWER_CUT_IN_ORDER,     /* the rest from some write on, that one torn */
    POWER_CUT_AT_RANDOM,    /* any sectors */
    POWER_CUT_MODES
};

/* Writes what is left after the first `count` events as the database `path` with its log and journal. The same seed
 * gives the same files. */
void power_cut_make(const char *path, const struct faulty_event *events, size_t count,
                    enum power_cut_mode mode, uint64_t seed);

#endif
