/* Runs a grid: block after block on the stream's thread, the threads of a block as fibers.
 *
 * A fiber runs one thread of the block after another for as long as none of them waits; only when one waits does the
 * next fiber start. So a kernel without barriers costs one fiber, and barriers mean what they mean on a device: a
 * block barrier opens when all threads that have not returned are there, a warp barrier when the lanes of its mask are.
 *
 * ThreadSanitizer is not told of these fibers: to it they are one thread, which is right (a block's threads are ordered by
 * the order they run in) and a thousand times cheaper than a fiber of its own each. Calls and returns balance by the end
 * of a block. Races inside a block it does not see, then; a random order may show them. */
#include "tests/fake_cuda/block.h"
#include "tests/fake_cuda/context.h"
#include "tests/fake_cuda/device_runtime.h"

#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 1024
#define STACK_BYTES ((size_t)128 << 10)
#define NOBODY 0xffff

_Thread_local struct fake_indices fake_indices;

enum thread_state { THREAD_NEW, THREAD_READY, THREAD_AT_BLOCK, THREAD_AT_WARP, THREAD_DONE };

struct fiber {
    struct fake_context context;
    char *stack;
};

struct runner {
    const struct fake_kernel *kernel;
    const void *argument;
    struct fake_context home;
    const void *home_stack;
    size_t home_stack_bytes;
    struct fiber fibers[MAX_THREADS];
    unsigned fibers_made, fibers_used; /* in use by a waiting thread: those below fibers_used */
    unsigned running_fiber, running_thread;
    unsigned threads, started, done, at_block;
    unsigned short order[MAX_THREADS];
    unsigned short fiber_of[MAX_THREADS];
    unsigned char state[MAX_THREADS];
    unsigned warp_present[MAX_THREADS / 32];
    /* A shuffle: what a thread offers, whose offer it wants (NOBODY: none to be had), and what it got. */
    unsigned long long offered[MAX_THREADS], received[MAX_THREADS];
    unsigned short wanted[MAX_THREADS];
    unsigned char predicate[MAX_THREADS];
    unsigned ballot[MAX_THREADS];
    unsigned random;
};

static _Thread_local struct runner *runner;

static void fiber_enter(unsigned index)
{
    struct fiber *fiber = &runner->fibers[index];
    void *fake_stack = NULL;
    runner->running_fiber = index;
    fake_stack_leaving(&fake_stack, fiber->stack, STACK_BYTES);
    fake_context_switch(&runner->home, &fiber->context);
    fake_stack_entered(fake_stack, NULL, NULL);
}

static void fiber_leave(void)
{
    struct fiber *fiber = &runner->fibers[runner->running_fiber];
    void *fake_stack = NULL;
    fake_stack_leaving(&fake_stack, runner->home_stack, runner->home_stack_bytes);
    fake_context_switch(&fiber->context, &runner->home);
    fake_stack_entered(fake_stack, &runner->home_stack, &runner->home_stack_bytes);
}

static void thread_select(unsigned thread)
{
    dim3 size = fake_indices.block_size;
    runner->running_thread = thread;
    fake_indices.thread.x = thread % size.x;
    fake_indices.thread.y = thread / size.x % size.y;
    fake_indices.thread.z = thread / size.x / size.y;
}

/* Runs threads that have not begun, then goes home; entered again, it does the same for the next block. */
static void fiber_main(void)
{
    fake_stack_entered(NULL, &runner->home_stack, &runner->home_stack_bytes);
    for (;;) {
        while (runner->started < runner->threads) {
            unsigned thread = runner->order[runner->started++];
            runner->fiber_of[thread] = (unsigned short)runner->running_fiber;
            thread_select(thread);
            runner->kernel->call(runner->argument);
            runner->state[runner->running_thread] = THREAD_DONE;
            runner->done++;
        }
        fiber_leave();
    }
}

/* A stack's pages are not touched before they are used: most threads use one or two of them. */
static void fiber_make(struct fiber *fiber)
{
    fiber->stack = malloc(STACK_BYTES);
    if (!fiber->stack)
        abort();
    fake_context_make(&fiber->context, fiber->stack, STACK_BYTES, fiber_main);
}

static void thread_wait(enum thread_state state)
{
    unsigned thread = runner->running_thread;
    runner->state[thread] = (unsigned char)state;
    fiber_leave();
    thread_select(thread);
}

void fake_barrier(void)
{
    runner->at_block++;
    thread_wait(THREAD_AT_BLOCK);
}

/* The lane that comes last hands everyone of the mask what it asked for, before any of them can offer anew. */
static void warp_exchange(unsigned first, unsigned mask)
{
    unsigned ballot = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        if (mask >> lane & 1 && runner->predicate[first + lane])
            ballot |= 1u << lane;
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(mask >> lane & 1))
            continue;
        unsigned source = runner->wanted[first + lane];
        bool there = source != NOBODY && mask >> source % 32 & 1;
        runner->received[first + lane] = there ? runner->offered[source] : ~0ull;
        runner->ballot[first + lane] = ballot;
    }
}

void fake_warp_barrier(unsigned mask)
{
    unsigned first = runner->running_thread / 32 * 32;
    unsigned *present = &runner->warp_present[first / 32];
    unsigned lanes = runner->threads - first;
    if (lanes < 32)
        mask &= (1u << lanes) - 1;
    *present |= 1u << runner->running_thread % 32;
    if ((*present & mask) != mask) {
        thread_wait(THREAD_AT_WARP);
        return;
    }
    *present &= ~mask;
    warp_exchange(first, mask);
    for (unsigned lane = 0; lane < 32; lane++)
        if (mask >> lane & 1 && runner->state[first + lane] == THREAD_AT_WARP)
            runner->state[first + lane] = THREAD_READY;
}

static unsigned long long lane_exchange(unsigned mask, unsigned long long bits, unsigned lane)
{
    unsigned thread = runner->running_thread;
    unsigned source = lane < 32 ? thread / 32 * 32 + lane : thread;
    runner->offered[thread] = bits;
    runner->wanted[thread] = (unsigned short)(source < runner->threads ? source : NOBODY);
    fake_warp_barrier(mask);
    return runner->received[thread];
}

unsigned long long fake_shuffle_xor(unsigned mask, unsigned long long bits, int lanes)
{
    return lane_exchange(mask, bits, (runner->running_thread % 32) ^ (unsigned)lanes);
}

unsigned long long fake_shuffle_up(unsigned mask, unsigned long long bits, unsigned lanes)
{
    return lane_exchange(mask, bits, runner->running_thread % 32 - lanes); /* wraps beyond 31 */
}

unsigned long long fake_shuffle_down(unsigned mask, unsigned long long bits, unsigned lanes)
{
    return lane_exchange(mask, bits, runner->running_thread % 32 + lanes);
}

unsigned long long fake_shuffle_from(unsigned mask, unsigned long long bits, int lane)
{
    return lane_exchange(mask, bits, (unsigned)lane % 32);
}

unsigned fake_ballot(unsigned mask, int predicate)
{
    unsigned thread = runner->running_thread;
    runner->predicate[thread] = predicate != 0;
    fake_warp_barrier(mask);
    return runner->ballot[thread];
}

static void barrier_open(void)
{
    if (runner->at_block == 0 || runner->at_block != runner->started - runner->done ||
        runner->started != runner->threads)
        return;
    runner->at_block = 0;
    for (unsigned i = 0; i < runner->threads; i++)
        if (runner->state[i] == THREAD_AT_BLOCK)
            runner->state[i] = THREAD_READY;
}

static void order_make(unsigned threads)
{
    for (unsigned i = 0; i < threads; i++)
        runner->order[i] = (unsigned short)i;
    if (!fake_config_get()->random_order)
        return;
    for (unsigned i = threads; i > 1; i--) {
        unsigned j = fake_random(&runner->random) % i;
        unsigned short swapped = runner->order[i - 1];
        runner->order[i - 1] = runner->order[j];
        runner->order[j] = swapped;
    }
}

static bool ready_run(void)
{
    bool any = false;
    for (unsigned i = 0; i < runner->threads; i++) {
        unsigned thread = runner->order[i];
        if (runner->state[thread] != THREAD_READY)
            continue;
        any = true;
        fiber_enter(runner->fiber_of[thread]);
    }
    return any;
}

/* False when some threads wait for others that never come. */
static bool block_run(unsigned threads)
{
    runner->threads = threads;
    runner->started = runner->done = runner->at_block = runner->fibers_used = 0;
    memset(runner->state, THREAD_NEW, threads);
    memset(runner->warp_present, 0, sizeof runner->warp_present);
    order_make(threads);
    while (runner->started < threads) {
        if (runner->fibers_used == runner->fibers_made)
            fiber_make(&runner->fibers[runner->fibers_made++]);
        fiber_enter(runner->fibers_used++);
    }
    while (runner->done < threads) {
        barrier_open();
        if (!ready_run())
            return false;
    }
    return true;
}

/* The waiting threads of a block that cannot end are given up with their fibers. */
void fake_grid_end(void)
{
    if (!runner)
        return;
    for (unsigned i = 0; i < runner->fibers_made; i++)
        free(runner->fibers[i].stack);
    free(runner);
    runner = NULL;
}

bool fake_grid_run(const struct fake_kernel *kernel, const void *argument, dim3 grid, dim3 block)
{
    unsigned threads = block.x * block.y * block.z;
    if (!runner) {
        runner = fake_allocate(sizeof *runner);
        runner->random = fake_config_get()->seed;
    }
    runner->kernel = kernel;
    runner->argument = argument;
    fake_indices.block_size = block;
    fake_indices.grid_size = grid;
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                fake_indices.block = (dim3){x, y, z};
                if (block_run(threads))
                    continue;
                fake_complain("%s: block %u,%u,%u: %u of %u threads wait for one that returned",
                              kernel->name, x, y, z, threads - runner->done, threads);
                fake_grid_end();
                return false;
            }
    return true;
}
