/* Threads that sleep, so that libgomp does not let idle helpers spin where queues have more threads than there are
 * processors. Results do not depend on it; without one things are only slower. */
#ifndef MGB_HOST_CROWD_H
#define MGB_HOST_CROWD_H

#include <pthread.h>
#include <stdbool.h>

struct mgb_crowd { /* zeroed: nobody */
    int helpers;
    pthread_t leader;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stop;
};

/* Helpers that libgomp must be shown beside `teams` teams of `threads` threads in all; 0: none. */
int mgb_crowd_needed(int threads, int teams);
/* Makes the crowd that many at least; nobody when no thread can be had. Allocates nothing. */
void mgb_crowd_grow(struct mgb_crowd *crowd, int helpers);
void mgb_crowd_done(struct mgb_crowd *crowd);

#endif
