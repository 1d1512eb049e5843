/* The host backend with a counter on every copy and all-reduce: what really moved, for comparison with what a plan says. */
#ifndef MGB_TESTS_COUNTING_BACKEND_H
#define MGB_TESTS_COUNTING_BACKEND_H

#include "engine/backend/backend.h"

extern const struct mgb_backend counting_backend;

void counting_reset(void);
/* Bytes of copies enqueued on the link since the last reset; from == to: none are counted. */
int64_t counting_copied(int from, int to);
int64_t counting_all_copied(void);
/* Arenas made inaccessible since then. */
int counting_closed(void);
/* From now on every launch first reads a byte of every arena of other devices, as faulty code might. */
void counting_peek(bool on);
/* From now on devices say that they lack the operator that packs gradients of tables: they travel whole. */
void counting_lack_rows(bool on);
/* Bytes that one participant put into all-reduces since then. */
int64_t counting_reduced(void);

#endif
