/* A bounded queue of records from any number of threads to one. Pushing takes no lock and no allocation. Records keep
 * their place until the reader says that they are stored, so that nothing is lost between reading and committing. Knows
 * nothing about storing. Internal to db/.
 *
 * After D. Vyukov's bounded MPMC queue (1024cores.net): a writer claims a position, fills its slot and publishes it. */
#ifndef MGB_DB_RING_H
#define MGB_DB_RING_H

#include <stdatomic.h>
#include <stddef.h>

#include <mgb/record.h>
#include <mgb/status.h>

struct mgb_ring {
    struct mgb_record *records;
    atomic_uint_fast64_t *published; /* by slot: position + 1 of the record that it holds in full */
    uint64_t mask;                   /* capacity - 1 */
    char apart[64];               /* cache lines: writers' and reader's counters do not share one */
    atomic_uint_fast64_t claimed; /* by writers */
    char apart_too[64];
    atomic_uint_fast64_t stored; /* by the reader */
};

/* `capacity` is rounded up to a power of two. */
enum mgb_status mgb_ring_init(struct mgb_ring *out, size_t capacity);
void mgb_ring_done(struct mgb_ring *ring);

/* Copies the record in; false if the ring is full. *position: how many were pushed before it. */
bool mgb_ring_push(uint64_t *position, struct mgb_ring *ring, const struct mgb_record *record);

/* How many pushes have begun. */
uint64_t mgb_ring_claimed(struct mgb_ring *ring);

/* Reader: the longest run of published records that lie together, oldest first, at most up to position `until`. */
size_t mgb_ring_peek(const struct mgb_record **out, struct mgb_ring *ring, uint64_t until);
/* Reader: the oldest `count` records are stored, their places free. */
void mgb_ring_release(struct mgb_ring *ring, size_t count);

#endif
