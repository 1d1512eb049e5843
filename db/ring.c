/* A bounded queue of records; see ring.h. */
#include "db/ring.h"

#include <stdlib.h>

enum mgb_status mgb_ring_init(struct mgb_ring *out, size_t capacity)
{
    size_t rounded = 2;
    while (rounded < capacity)
        rounded *= 2;
    *out = (struct mgb_ring){.mask = rounded - 1};
    out->records = calloc(rounded, sizeof *out->records);
    out->published = calloc(rounded, sizeof *out->published);
    if (!out->records || !out->published) {
        mgb_ring_done(out);
        return mgb_fail(MGB_NO_MEMORY, "no memory for a ring of %zu records", rounded);
    }
    return MGB_OK;
}

void mgb_ring_done(struct mgb_ring *ring)
{
    free(ring->records);
    free(ring->published);
    ring->records = NULL;
    ring->published = NULL;
}

bool mgb_ring_push(uint64_t *position, struct mgb_ring *ring, const struct mgb_record *record)
{
    uint_fast64_t at = atomic_load_explicit(&ring->claimed, memory_order_relaxed);
    do {
        /* Acquire: the reader is done with the slot before we write it. Signed: `at` may be out of date, behind even
         * what is stored; then the exchange fails and brings it up to date. */
        uint_fast64_t stored = atomic_load_explicit(&ring->stored, memory_order_acquire);
        if ((int64_t)(at - stored) > (int64_t)ring->mask)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&ring->claimed, &at, at + 1,
                                                    memory_order_relaxed, memory_order_relaxed));
    ring->records[at & ring->mask] = *record;
    atomic_store_explicit(&ring->published[at & ring->mask], at + 1, memory_order_release);
    *position = at;
    return true;
}

uint64_t mgb_ring_claimed(struct mgb_ring *ring)
{
    return atomic_load_explicit(&ring->claimed, memory_order_acquire);
}

size_t mgb_ring_peek(const struct mgb_record **out, struct mgb_ring *ring, uint64_t until)
{
    uint64_t first = atomic_load_explicit(&ring->stored, memory_order_relaxed);
    uint64_t at = first;
    *out = &ring->records[first & ring->mask];
    while (at < until && ((at & ring->mask) != 0 || at == first) &&
           atomic_load_explicit(&ring->published[at & ring->mask], memory_order_acquire) == at + 1)
        at++;
    return (size_t)(at - first);
}

void mgb_ring_release(struct mgb_ring *ring, size_t count)
{
    atomic_fetch_add_explicit(&ring->stored, count, memory_order_release);
}
