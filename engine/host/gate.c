/* The gate, on Linux futexes. The order between threads comes from the atomics, which ThreadSanitizer sees. */
#include "engine/host/gate.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SPINS 64
#define LONGEST_SLEEP_NS 100000000

static void spin_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void gate_sleep(struct mgb_gate *gate, unsigned seen, int64_t ns)
{
    struct timespec time = {.tv_sec = 0, .tv_nsec = (long)ns};
    syscall(SYS_futex, &gate->sequence, FUTEX_WAIT_PRIVATE, seen, &time, NULL, 0);
}

bool mgb_gate_wait(struct mgb_gate *gate, mgb_gate_test *test, void *context,
                   struct mgb_deadline *deadline)
{
    for (int i = 0; i < SPINS; i++) {
        if (test(context))
            return true;
        spin_pause();
    }
    bool done = false;
    atomic_fetch_add(&gate->sleepers, 1);
    while (!done) {
        unsigned seen = atomic_load(&gate->sequence);
        done = test(context);
        if (done)
            break;
        int64_t left = deadline ? mgb_deadline_left_ns(deadline) : LONGEST_SLEEP_NS;
        if (left <= 0)
            break;
        gate_sleep(gate, seen, left < LONGEST_SLEEP_NS ? left : LONGEST_SLEEP_NS);
    }
    atomic_fetch_sub(&gate->sleepers, 1);
    return done;
}

void mgb_gate_notify(struct mgb_gate *gate)
{
    atomic_fetch_add(&gate->sequence, 1);
    if (atomic_load(&gate->sleepers) > 0)
        syscall(SYS_futex, &gate->sequence, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
