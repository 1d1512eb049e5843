/* Why a crowd: between two parallel regions libgomp lets helpers spin, in case the next one comes soon: for some ten
 * milliseconds, or for microseconds once it manages more threads than there are processors (gomp_throttled_spin_count).
 * It counts helpers, but of the threads that lead teams only the process's first. With a device of two threads beside two
 * of one on two cores it counts two, and the helper of the first takes a core from the towers that work. So the missing
 * ones are made up for by a team that sleeps. */
#include "engine/host/crowd.h"

#include <mgb/thread.h>

void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
int omp_get_num_procs(void);

static void nothing_run(void *data)
{
    (void)data;
}

static void *crowd_main(void *argument)
{
    struct mgb_crowd *crowd = argument;
    GOMP_parallel(nothing_run, NULL, (unsigned)crowd->helpers + 1, 0);
    pthread_mutex_lock(&crowd->lock);
    while (!crowd->stop)
        pthread_cond_wait(&crowd->changed, &crowd->lock);
    pthread_mutex_unlock(&crowd->lock);
    return NULL; /* and libgomp ends the helpers */
}

int mgb_crowd_needed(int threads, int teams)
{
    int processors = omp_get_num_procs(), helpers = threads - teams;
    return helpers < 1 || threads <= processors || helpers >= processors ? 0 : processors - helpers;
}

static bool crowd_start(struct mgb_crowd *crowd, int helpers)
{
    *crowd = (struct mgb_crowd){.helpers = helpers};
    pthread_mutex_init(&crowd->lock, NULL);
    pthread_cond_init(&crowd->changed, NULL);
    return mgb_thread_start(&crowd->leader, "crowd", crowd_main, crowd) == 0;
}

void mgb_crowd_grow(struct mgb_crowd *crowd, int helpers)
{
    if (helpers <= crowd->helpers)
        return;
    mgb_crowd_done(crowd);
    if (!crowd_start(crowd, helpers))
        crowd->helpers = 0;
}

void mgb_crowd_done(struct mgb_crowd *crowd)
{
    if (crowd->helpers == 0)
        return;
    pthread_mutex_lock(&crowd->lock);
    crowd->stop = true;
    pthread_cond_signal(&crowd->changed);
    pthread_mutex_unlock(&crowd->lock);
    pthread_join(crowd->leader, NULL);
    pthread_cond_destroy(&crowd->changed);
    pthread_mutex_destroy(&crowd->lock);
    crowd->helpers = 0;
}
