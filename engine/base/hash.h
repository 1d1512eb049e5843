/* 64-bit digests for equality checks (weights, graphs, scripts); not for security. */
#ifndef MGB_BASE_HASH_H
#define MGB_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Digest of `bytes` bytes, chained: pass the last result (or 0) as `seed`. Same on every machine for the same bytes. */
uint64_t mgb_hash(uint64_t seed, const void *data, size_t bytes);

#endif
