/* Splits [0, count) over the calling thread's team. The team's size is a property of the calling thread (each CPU device
 * thread has its own), the same OpenMP team that oneDNN uses there, so that the two never fight for cores.
 * Results must not depend on the split: callers that sum use fixed chunks, one index a chunk. */
#ifndef MGB_BASE_PARALLEL_H
#define MGB_BASE_PARALLEL_H

typedef void mgb_range_function(void *context, long long begin, long long end);

/* Sets the size of the calling thread's team (>= 1). */
void mgb_parallel_set_threads(int threads);
/* Runs f over disjoint ranges covering [0, count); ranges start at multiples of `grain` (>= 1). */
void mgb_parallel_for(long long count, long long grain, mgb_range_function *f, void *context);

#endif
