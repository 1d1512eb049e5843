/* Host functions: all streams' on one thread of the process, as the driver does it, and no CUDA call inside.
 *
 * That they share a thread is no promise of order between streams. For ThreadSanitizer each runs as a fiber that the
 * stream made, on a stack of its own, so it comes after what is before it in its stream and after nothing else.
 * (Thread-local variables that functions of unordered streams share are reported: on a driver they may race too.) */
#include "tests/fake_cuda/context.h"
#include "tests/fake_cuda/fake.h"

#include <pthread.h>
#include <stdlib.h>

#define STACK_BYTES ((size_t)256 << 10)

struct call {
    struct call *next;
    cudaHostFn_t function;
    void *argument;
    struct fake_context context;
    char *stack;
    void *fiber;
    struct fake_record *record;
    atomic_int left; /* the thread no longer uses the fiber */
};

struct host_op {
    struct fake_op op;
    cudaHostFn_t function;
    void *argument;
};

static struct call *first, *last; /* under the lock */
static atomic_int posted;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool started;
static struct fake_context home;
static void *home_fiber;
static struct call *running;

static struct call *call_take(void)
{
    for (;;) {
        int seen = atomic_load(&posted);
        fake_lock();
        struct call *call = first;
        if (call)
            first = call->next;
        if (!first)
            last = NULL;
        fake_unlock();
        if (call)
            return call;
        fake_futex_wait(&posted, seen);
    }
}

static void call_main(void)
{
    const void *home_stack;
    size_t home_bytes;
    fake_stack_entered(NULL, &home_stack, &home_bytes);
    running->function(running->argument);
    fake_record_finish(running->record);
    fake_stack_leaving(NULL, home_stack, home_bytes);
    fake_fiber_switch(home_fiber);
    fake_context_switch(&running->context, &home);
}

static void call_run(struct call *call)
{
    void *fake_stack = NULL;
    running = call;
    fake_context_make(&call->context, call->stack, STACK_BYTES, call_main);
    fake_stack_leaving(&fake_stack, call->stack, STACK_BYTES);
    fake_fiber_switch(call->fiber);
    fake_context_switch(&home, &call->context);
    fake_stack_entered(fake_stack, NULL, NULL);
}

static void *host_main(void *argument)
{
    (void)argument;
    home_fiber = fake_fiber_here();
    fake_inside_host_function(true);
    for (;;) {
        struct call *call = call_take();
        call_run(call);
        atomic_store(&call->left, 1);
        fake_futex_wake(&call->left);
    }
    return NULL;
}

static void host_start(void)
{
    pthread_t thread;
    started = pthread_create(&thread, NULL, host_main, NULL) == 0;
    if (started)
        pthread_detach(thread);
}

/* On the stream's thread. `call` is on its stack and outlives the fiber's use of it, hence the second wait. */
static void host_run(struct fake_op *op)
{
    const struct host_op *host = (const struct host_op *)op;
    struct call call = {.function = host->function,
                        .argument = host->argument,
                        .stack = fake_allocate(STACK_BYTES),
                        .fiber = fake_fiber_make(),
                        .record = fake_record_make(1)};
    fake_lock();
    if (last)
        last->next = &call;
    else
        first = &call;
    last = &call;
    fake_unlock();
    atomic_fetch_add(&posted, 1);
    fake_futex_wake(&posted);
    fake_record_wait(call.record);
    while (!atomic_load(&call.left))
        fake_futex_wait(&call.left, 0);
    fake_record_drop(call.record);
    fake_fiber_free(call.fiber);
    free(call.stack);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *argument)
{
    FAKE_ENTER(cudaErrorUnknown);
    pthread_once(&once, host_start);
    if (!started)
        return fake_error(cudaErrorUnknown);
    cudaError_t error = function ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
    fake_lock();
    if (function && fake_stream_device(stream) >= 0) {
        struct host_op *op = fake_allocate(sizeof *op);
        *op = (struct host_op){.op.run = host_run, .function = function, .argument = argument};
        fake_stream_push(stream, &op->op);
        error = cudaSuccess;
    }
    fake_unlock();
    return fake_error(error);
}
