/* NCCL for all ranks of one process: communicators, and groups of calls that one thread makes for all ranks.
 *
 * A call outside a group, or a group in which a rank is missing, hangs on devices, and so it does here when the test
 * wants it (FAKE_CUDA_MISSING_RANK); else it is ncclInvalidUsage. collective.c does the work. */
#include "tests/fake_cuda/capture.h"
#include "tests/fake_cuda/nccl.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CALLS 4096

static _Thread_local struct fake_collective_call *calls;
static _Thread_local int call_count;
static _Thread_local int depth;
static _Thread_local ncclResult_t group_result; /* the first that went wrong in the group */
static struct fake_clique *cliques;             /* under the lock */
static const char *last_words = "";

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

/* Caller holds the lock. */
static ncclComm_t comm_make(struct fake_clique *clique, int rank, int device)
{
    ncclComm_t comm = fake_allocate(sizeof *comm);
    *comm = (struct ncclComm){clique, rank, device};
    fake_device_get(device)->others++;
    fake_device_get(device)->touched = true;
    return comm;
}

/* One that fails leaves the first communicator half made, to be given up with ncclCommAbort. */
ncclResult_t ncclCommInitAll(ncclComm_t *comms, int count, const int *devices)
{
    int entered = fake_enter_library(__func__, ncclInternalError, ncclUnhandledCudaError);
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
    clique->ranks = count;
    fake_lock();
    clique->next = cliques;
    cliques = clique;
    for (int i = 0; i < (entered ? 1 : count); i++)
        comms[i] = comm_make(clique, i, devices ? devices[i] : i);
    if (entered == ncclUnhandledCudaError)
        last_words = "fake: Cuda failure 2 'out of memory'"; /* what most often it is */
    fake_unlock();
    return (ncclResult_t)entered;
}

/* One that fails has given its communicator up all the same: nobody could ask for that again. */
ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    int entered = fake_enter_library(__func__, ncclInternalError, ncclUnhandledCudaError);
    if (!comm)
        return (ncclResult_t)entered;
    fake_lock();
    fake_device_get(comm->device)->others--;
    fake_unlock();
    free(comm);
    return (ncclResult_t)entered;
}

/* Ends what the rank has under way, with nothing sure about its results. */
ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    int entered = fake_enter_library(__func__, ncclInternalError, ncclUnhandledCudaError);
    if (!comm)
        return (ncclResult_t)entered;
    atomic_store(&comm->clique->aborted[comm->rank], 1);
    fake_hangs_look();
    fake_lock();
    fake_device_get(comm->device)->others--;
    fake_unlock();
    free(comm);
    return (ncclResult_t)entered;
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int *count)
{
    ENTER();
    *count = comm->clique->ranks;
    return ncclSuccess;
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank)
{
    ENTER();
    *rank = comm->rank;
    return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device)
{
    ENTER();
    *device = comm->device;
    return ncclSuccess;
}

const char *ncclGetLastError(ncclComm_t comm)
{
    (void)comm;
    return last_words;
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
    bool root = call->comm->rank == call->root;
    bool sends = call->kind != FAKE_BROADCAST || root;
    bool receives = call->kind != FAKE_REDUCE || root;
    return fake_stream_device(call->stream) == device &&
           (!receives || fake_block_holds(call->to, bytes, device)) &&
           (!sends || fake_block_holds(call->from, bytes, device));
}

/* Devices that one thread captures together would each wait for the others' launch. Caller holds the lock. */
static bool call_capturable(const struct fake_collective_call *call)
{
    if (fake_stream_device(call->stream) < 0 || !fake_stream_chain(call->stream) ||
        call->comm->clique->ranks == 1)
        return true;
    fake_complain("a collective of %d ranks in a capture", call->comm->clique->ranks);
    fake_chain_spoil(fake_stream_chain(call->stream), cudaErrorStreamCaptureUnsupported);
    return false;
}

static ncclResult_t call_try(struct fake_collective_call *call)
{
    if (!call->comm || call->root < 0 || call->root >= call->comm->clique->ranks)
        return ncclInvalidArgument;
    if (depth == 0 && call->comm->clique->ranks > 1 && !fake_config_get()->missing_rank_hangs) {
        fake_complain("a collective of %d ranks outside a group", call->comm->clique->ranks);
        return ncclInvalidUsage;
    }
    fake_lock();
    bool local = call->count == 0 || call_local(call);
    bool capturable = call_capturable(call);
    fake_unlock();
    if (!capturable)
        return ncclInvalidUsage;
    if (!local) {
        fake_complain("rank %d: a buffer or the stream is not on device %d", call->comm->rank,
                      call->comm->device);
        return ncclInvalidArgument;
    }
    call->wish = fake_injection_take();
    if (depth == 0)
        return fake_collectives_start(call, 1);
    if (call_count == MAX_CALLS)
        return ncclInternalError;
    calls[call_count++] = *call;
    return ncclSuccess;
}

static ncclResult_t result_note(ncclResult_t result)
{
    if (depth > 0 && group_result == ncclSuccess)
        group_result = result;
    return result;
}

static ncclResult_t call_add(struct fake_collective_call *call)
{
    return result_note(call_try(call));
}

static bool sum_possible(ncclDataType_t type, ncclRedOp_t operation)
{
    return (type == ncclFloat32 || type == ncclFloat16 || type == ncclBfloat16) &&
           (operation == ncclSum || operation == ncclAvg);
}

ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream)
{
    ENTER();
    if (!sum_possible(type, operation))
        return result_note(ncclInvalidArgument);
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
    if (fake_type_size(type) == 0)
        return result_note(ncclInvalidArgument);
    return call_add(&(struct fake_collective_call){.kind = FAKE_BROADCAST,
                                                   .from = from,
                                                   .to = to,
                                                   .count = count,
                                                   .type = type,
                                                   .root = root,
                                                   .comm = comm,
                                                   .stream = stream});
}

ncclResult_t ncclReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                        ncclRedOp_t operation, int root, ncclComm_t comm, cudaStream_t stream)
{
    ENTER();
    if (!sum_possible(type, operation))
        return result_note(ncclInvalidArgument);
    return call_add(&(struct fake_collective_call){.kind = FAKE_REDUCE,
                                                   .from = from,
                                                   .to = to,
                                                   .count = count,
                                                   .type = type,
                                                   .mean = operation == ncclAvg,
                                                   .root = root,
                                                   .comm = comm,
                                                   .stream = stream});
}

/* A call that went wrong inside takes the whole group with it. */
ncclResult_t ncclGroupEnd(void)
{
    ENTER();
    if (depth == 0)
        return ncclInvalidUsage;
    if (--depth > 0)
        return ncclSuccess;
    ncclResult_t result = group_result;
    group_result = ncclSuccess;
    if (result == ncclSuccess)
        result = fake_collectives_start(calls, call_count);
    call_count = 0;
    free(calls);
    calls = NULL;
    return result;
}
