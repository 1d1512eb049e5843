/* Waiting and waking without an order that ThreadSanitizer would see, and the orders that it is told of. */
#ifndef FAKE_SYNC_H
#define FAKE_SYNC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* sync.c: one record for each thing that can be waited for, and a lock that ThreadSanitizer does not see. */
struct fake_record {
    atomic_int refs;
    atomic_int done;
    long long at_ns; /* CLOCK_MONOTONIC at the end, valid once done */
};
struct fake_record *fake_record_make(int refs);
void fake_record_finish(struct fake_record *record);
void fake_record_wait(struct fake_record *record);
/* False when `given_up` is set before the record is done; looks a few hundred times a second. */
bool fake_record_wait_unless(struct fake_record *record, const atomic_int *given_up);
bool fake_record_poll(struct fake_record *record);
void fake_record_drop(struct fake_record *record);
void fake_lock(void);
void fake_unlock(void);
void fake_futex_wait(atomic_int *word, int seen);
void fake_futex_wake(atomic_int *word);
void fake_touch_read(const void *data, size_t bytes);
void fake_touch_write(void *data, size_t bytes);
void fake_order_release(void *key);
void fake_order_acquire(void *key);
void *fake_fiber_here(void);
void *fake_fiber_make(void);
void fake_fiber_free(void *fiber);
void fake_fiber_switch(void *fiber);                                /* makes no order */
void fake_stack_leaving(void **keep, const void *to, size_t bytes); /* for AddressSanitizer */
void fake_stack_entered(void *kept, const void **from, size_t *bytes);
void *fake_allocate(size_t bytes); /* zeroed; ends the process when the host has no memory left */

#endif
