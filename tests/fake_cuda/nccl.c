/* NCCL for all ranks of one process: communicators, and groups of calls that one thread makes for all ranks.
 *
 * A call outside a group, or a group in which a rank is missing or disagrees, would hang on devices; here it is
 * ncclInvalidUsage. collective.c does the work. */
#include "tests/fake_cuda/nccl.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CALLS 4096

static _Thread_local struct fake_collective_call *calls;
static _Thread_local int call_count;
static _Thread_local int depth;

#define ENTER()                                                                                    \
    do {                                                                                           \
        int entered_ = fake_enter_library(__func__, ncclInternalError, ncclUnhandledCudaError);    \
        if (entered_ != ncclSuccess)                                                               \
            return (ncclResult_t)entered_;                                                         \
    } while (0)

ncclResult_t ncclGetVersion(int *version)
{
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

ncclResult_t ncclCommInitAll(ncclComm_t *comms, int count, const int *devices)
{
    ENTER();
    if (count < 1 || count > FAKE_MAX_DEVICES)
        return ncclInvalidArgument;
    for (int i = 0; i < count; i++) {
        int device = devices ? devices[i] : i;
        if (!fake_device_exists(device))
            return ncclUnhandledCudaError;
        for (int j = 0; j < i; j++)
            if ((devices ? devices[j] : j) == device)
                return ncclInvalidUsage; /* no two ranks on a GPU */
    }
    struct fake_clique *clique = fake_allocate(sizeof *clique);
    clique->ranks = clique->live = count;
    for (int i = 0; i < count; i++) {
        comms[i] = fake_allocate(sizeof *comms[i]);
        *comms[i] = (struct ncclComm){clique, i, devices ? devices[i] : i};
        fake_lock();
        fake_device_get(comms[i]->device)->others++;
        fake_device_get(comms[i]->device)->touched = true;
        fake_unlock();
    }
    return ncclSuccess;
}

/* One that fails has given its communicator up all the same: nobody could ask for that again. */
ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    int entered = fake_enter_library(__func__, ncclInternalError, ncclUnhandledCudaError);
    if (!comm)
        return (ncclResult_t)entered;
    fake_lock();
    fake_device_get(comm->device)->others--;
    bool last = --comm->clique->live == 0;
    fake_unlock();
    if (last)
        free(comm->clique);
    free(comm);
    return (ncclResult_t)entered;
}

ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    return ncclCommDestroy(comm);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error)
{
    ENTER();
    bool fault = atomic_load(&fake_device_get(comm->device)->fault) != 0;
    *error = fault ? ncclUnhandledCudaError : ncclSuccess;
    return ncclSuccess;
}

ncclResult_t ncclGroupStart(void)
{
    ENTER();
    if (!calls)
        calls = fake_allocate(MAX_CALLS * sizeof *calls);
    depth++;
    return ncclSuccess;
}

/* Buffers and stream on the communicator's device? Caller holds the lock. */
static bool call_local(const struct fake_collective_call *call)
{
    int device = call->comm->device;
    size_t bytes = call->count * fake_type_size(call->type);
    bool sends = call->kind == FAKE_ALL_REDUCE || call->comm->rank == call->root;
    return fake_stream_device(call->stream) == device &&
           fake_block_holds(call->to, bytes, device) &&
           (!sends || fake_block_holds(call->from, bytes, device));
}

static ncclResult_t call_add(const struct fake_collective_call *call)
{
    if (!call->comm || call->root < 0 || call->root >= call->comm->clique->ranks)
        return ncclInvalidArgument;
    if (depth == 0 && call->comm->clique->ranks > 1) {
        fake_complain("a collective of %d ranks outside a group", call->comm->clique->ranks);
        return ncclInvalidUsage;
    }
    fake_lock();
    bool local = call->count == 0 || call_local(call);
    fake_unlock();
    if (!local) {
        fake_complain("rank %d: a buffer or the stream is not on device %d", call->comm->rank,
                      call->comm->device);
        return ncclInvalidArgument;
    }
    if (depth == 0)
        return fake_collectives_start(call, 1);
    if (call_count == MAX_CALLS)
        return ncclInternalError;
    calls[call_count++] = *call;
    return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream)
{
    ENTER();
    bool known = type == ncclFloat32 || type == ncclFloat16 || type == ncclBfloat16;
    if (!known || (operation != ncclSum && operation != ncclAvg))
        return ncclInvalidArgument;
    return call_add(&(struct fake_collective_call){.kind = FAKE_ALL_REDUCE,
                                                   .from = from,
                                                   .to = to,
                                                   .count = count,
                                                   .type = type,
                                                   .mean = operation == ncclAvg,
                                                   .comm = comm,
                                                   .stream = stream});
}

ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream)
{
    ENTER();
    if (type != ncclFloat32)
        return ncclInvalidArgument;
    return call_add(&(struct fake_collective_call){.kind = FAKE_BROADCAST,
                                                   .from = from,
                                                   .to = to,
                                                   .count = count,
                                                   .type = type,
                                                   .root = root,
                                                   .comm = comm,
                                                   .stream = stream});
}

ncclResult_t ncclGroupEnd(void)
{
    ENTER();
    if (depth == 0)
        return ncclInvalidUsage;
    if (--depth > 0)
        return ncclSuccess;
    ncclResult_t result = fake_collectives_start(calls, call_count);
    call_count = 0;
    free(calls);
    calls = NULL;
    return result;
}
