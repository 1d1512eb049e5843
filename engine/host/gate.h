/* Sleeping until something becomes true. The condition lives in atomics of the caller; a gate only wakes those who wait
 * for it. A short spin first, then a futex, so that sixteen towers on two cores leave the cores to those who work. */
#ifndef MGB_HOST_GATE_H
#define MGB_HOST_GATE_H

#include "engine/base/clock.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct mgb_gate {
    atomic_uint sequence;
    atomic_int sleepers;
};

typedef bool mgb_gate_test(void *context);

/* Returns once test(context) is true, or false after the deadline (NULL: none). The test is repeated at least every 100 ms,
 * so that a condition that nobody announces (giving up) is still seen. */
bool mgb_gate_wait(struct mgb_gate *gate, mgb_gate_test *test, void *context,
                   struct mgb_deadline *deadline);
/* Call after making the condition true (sequentially consistent store). */
void mgb_gate_notify(struct mgb_gate *gate);

#endif
