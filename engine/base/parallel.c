/* parallel_for on GCC's OpenMP runtime, called by its entry points instead of by pragmas. oneDNN of the distributions
 * runs on libgomp, and only a team of that runtime shares its threads; clang's pragmas would bring a second runtime
 * (libomp), whose threads fight for the same cores, and -fopenmp=libgomp runs one thread. The entry points are libgomp's
 * stable ABI, which is what gcc makes of `#pragma omp parallel`. */
#include "engine/base/parallel.h"

#include <stdatomic.h>

void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
void omp_set_num_threads(int threads);
int omp_get_max_threads(void);
int omp_get_num_threads(void);
int omp_get_thread_num(void);

struct team_work {
    mgb_range_function *f;
    void *context;
    long long count, grain, chunks;
    /* libgomp's own barriers are futexes that ThreadSanitizer cannot see; these give it the same order. */
    atomic_int ready, finished;
};

static void team_body(void *data)
{
    struct team_work *work = data;
    (void)atomic_load_explicit(&work->ready, memory_order_acquire);
    long long threads = omp_get_num_threads(), me = omp_get_thread_num();
    long long begin = work->chunks * me / threads * work->grain;
    long long end = work->chunks * (me + 1) / threads * work->grain;
    if (end > work->count)
        end = work->count;
    if (begin < end)
        work->f(work->context, begin, end);
    atomic_fetch_add_explicit(&work->finished, 1, memory_order_release);
}

void mgb_parallel_set_threads(int threads)
{
    omp_set_num_threads(threads < 1 ? 1 : threads);
}

void mgb_parallel_for(long long count, long long grain, mgb_range_function *f, void *context)
{
    if (count <= 0)
        return;
    if (grain < 1)
        grain = 1;
    long long chunks = (count - 1) / grain + 1;
    long long threads = omp_get_max_threads();
    if (threads <= 1 || chunks == 1) {
        f(context, 0, count);
        return;
    }
    struct team_work work = {
        .f = f, .context = context, .count = count, .grain = grain, .chunks = chunks};
    /* The whole team even for few chunks: libgomp ends surplus threads of a smaller team and would start them anew. */
    atomic_store_explicit(&work.ready, 1, memory_order_release);
    GOMP_parallel(team_body, &work, (unsigned)threads, 0);
    (void)atomic_load_explicit(&work.finished, memory_order_acquire);
}
