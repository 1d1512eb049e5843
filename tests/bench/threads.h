/* Processor time of another process, thread by thread, in ns; threads are told apart by their names. */
#ifndef MGB_TESTS_BENCH_THREADS_H
#define MGB_TESTS_BENCH_THREADS_H

#include <stdint.h>
#include <sys/types.h>

enum { THREADS_MOST = 64, THREADS_NAME = 32 };

struct threads {
    int count;
    struct {
        char name[THREADS_NAME]; /* "screen": the first of the process */
        int64_t cpu_ns;          /* of all threads of that name */
    } at[THREADS_MOST];
};

/* What each has used since it began. A thread that has ended is missing. */
void threads_read(struct threads *out, pid_t process);
/* Share of one core, in percent, that `name` took from one reading to another `wall_ns` later; "*": all of them. */
double threads_share(const struct threads *before, const struct threads *after, const char *name,
                     int64_t wall_ns);

#endif
