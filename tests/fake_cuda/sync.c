/* Records, the lock, and what sanitizers are told. Their entry points are weak: without them they are null. */
#include "tests/fake_cuda/fake.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void __tsan_acquire(void *) __attribute__((weak));
void __tsan_release(void *) __attribute__((weak));
void __tsan_read_range(void *, unsigned long) __attribute__((weak));
void __tsan_write_range(void *, unsigned long) __attribute__((weak));
void *__tsan_get_current_fiber(void) __attribute__((weak));
void *__tsan_create_fiber(unsigned) __attribute__((weak));
void __tsan_destroy_fiber(void *) __attribute__((weak));
void __tsan_switch_to_fiber(void *, unsigned) __attribute__((weak));
void __sanitizer_start_switch_fiber(void **, const void *, size_t) __attribute__((weak));
void __sanitizer_finish_switch_fiber(void *, const void **, size_t *) __attribute__((weak));

static atomic_int lock_word; /* 0 free, 1 held, 2 held and awaited */

void fake_futex_wait(atomic_int *word, int seen)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

void fake_futex_wake(atomic_int *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void fake_lock(void)
{
    int seen = 0;
    if (atomic_compare_exchange_strong(&lock_word, &seen, 1))
        return;
    while (atomic_exchange(&lock_word, 2) != 0)
        fake_futex_wait(&lock_word, 2);
}

void fake_unlock(void)
{
    if (atomic_exchange(&lock_word, 0) == 2)
        fake_futex_wake(&lock_word);
}

void *fake_allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory) {
        fputs("fake cuda: the host has no memory left\n", stderr);
        abort();
    }
    return memory;
}

void fake_order_release(void *key)
{
    if (__tsan_release)
        __tsan_release(key);
}

void fake_order_acquire(void *key)
{
    if (__tsan_acquire)
        __tsan_acquire(key);
}

struct fake_record *fake_record_make(int refs)
{
    struct fake_record *record = fake_allocate(sizeof *record);
    atomic_init(&record->refs, refs);
    return record;
}

void fake_record_finish(struct fake_record *record)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    record->at_ns = now.tv_sec * 1000000000LL + now.tv_nsec;
    fake_order_release(record);
    atomic_store(&record->done, 1);
    fake_futex_wake(&record->done);
}

bool fake_record_poll(struct fake_record *record)
{
    if (!atomic_load(&record->done))
        return false;
    fake_order_acquire(record);
    return true;
}

void fake_record_wait(struct fake_record *record)
{
    while (!fake_record_poll(record))
        fake_futex_wait(&record->done, 0);
}

bool fake_record_wait_unless(struct fake_record *record, const atomic_int *given_up)
{
    while (!fake_record_poll(record)) {
        struct timespec slice = {.tv_nsec = 5000000};
        if (atomic_load(given_up))
            return false;
        syscall(SYS_futex, &record->done, FUTEX_WAIT_PRIVATE, 0, &slice, NULL, 0);
    }
    return true;
}

void fake_record_drop(struct fake_record *record)
{
    if (record && atomic_fetch_sub(&record->refs, 1) == 1)
        free(record);
}

void fake_touch_read(const void *data, size_t bytes)
{
    if (__tsan_read_range && bytes)
        __tsan_read_range((void *)data, bytes);
}

void fake_touch_write(void *data, size_t bytes)
{
    if (__tsan_write_range && bytes)
        __tsan_write_range(data, bytes);
}

void *fake_fiber_here(void)
{
    return __tsan_get_current_fiber ? __tsan_get_current_fiber() : NULL;
}

void *fake_fiber_make(void)
{
    return __tsan_create_fiber ? __tsan_create_fiber(0) : NULL;
}

void fake_fiber_free(void *fiber)
{
    if (__tsan_destroy_fiber && fiber)
        __tsan_destroy_fiber(fiber);
}

void fake_fiber_switch(void *fiber)
{
    if (__tsan_switch_to_fiber)
        __tsan_switch_to_fiber(fiber, 1);
}

void fake_stack_leaving(void **keep, const void *to, size_t bytes)
{
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(keep, to, bytes);
}

void fake_stack_entered(void *kept, const void **from, size_t *bytes)
{
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(kept, from, bytes);
}
