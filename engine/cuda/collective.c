/* All-reduce: NCCL where every device has a GPU of its own, else (NCCL takes no two ranks on a GPU) a reducer of copies
 * and additions on the first queue. */
#include "engine/cuda/queue.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/cuda/peers.h"
#include <string.h>

#define MAX_RANKS 64
#define STAGING_FLOATS (1 << 20)
#define BFLOAT16 ((ncclDataType_t)9) /* ncclBfloat16, which NCCL 2.22 shows to C++ alone */

/* What a list of GPUs shares: communicators, or staging memory on the first GPU. Kept until close. */
struct mgb_cuda_clique {
    struct mgb_cuda_clique *next;
    int count;
    int gpus[MAX_RANKS];
    bool
        shared; /* two on one GPU, no peer access wanted, or the way between two damages bytes: not by NCCL */
    ncclComm_t comms[MAX_RANKS];
    float *staging;
    char *wire_staging; /* made when 16-bit numbers are first summed here: see wire_add */
};

/* NCCL copies by peer access too: where that damages bytes, the host stages, and NCCL does not serve. Nor does it where peer
 * access was turned down: it can be told so only for the whole process, before its first use (NCCL_P2P_DISABLE). */
static enum mgb_status ring_try(struct mgb_cuda *cuda, struct mgb_cuda_clique *clique)
{
    clique->shared |= cuda->options.peer_access == MGB_CHOICE_NO;
    for (int i = 0; i < clique->count && !clique->shared; i++) {
        int from = clique->gpus[i], to = clique->gpus[(i + 1) % clique->count];
        MGB_TRY(mgb_cuda_peer_open(cuda, from, to));
        clique->shared = mgb_cuda_peer_find(cuda, from, to)->verdict == MGB_PEER_BAD;
    }
    return MGB_OK;
}

static enum mgb_status clique_fill(struct mgb_cuda *cuda, struct mgb_cuda_clique *clique)
{
    int physical[MAX_RANKS];
    bool crosses = false;
    for (int i = 0; i < clique->count; i++) {
        physical[i] = cuda->gpus[clique->gpus[i]].physical;
        crosses |= clique->gpus[i] != clique->gpus[0];
        for (int j = 0; j < i; j++)
            clique->shared |= clique->gpus[i] == clique->gpus[j];
    }
    MGB_TRY(ring_try(cuda, clique));
    if (!clique->shared) {
        ncclResult_t result = ncclCommInitAll(clique->comms, clique->count, physical);
        cuda->current = -1; /* NCCL visits all of them */
        return result == ncclSuccess ? MGB_OK : mgb_nccl_fail(cuda, result, "ncclCommInitAll");
    }
    if (!crosses)
        return MGB_OK;
    MGB_TRY(mgb_cuda_use(cuda, clique->gpus[0]));
    MGB_CUDA_TRY(cuda, cudaMalloc((void **)&clique->staging, STAGING_FLOATS * sizeof(float)));
    return MGB_OK;
}

/* Communicators that are not whole can only be aborted. */
static void clique_free(struct mgb_cuda_clique *clique, bool whole)
{
    for (int i = 0; i < clique->count; i++)
        if (clique->comms[i])
            (void)(whole ? ncclCommDestroy : ncclCommAbort)(clique->comms[i]);
    if (clique->staging)
        cudaFree(clique->staging);
    if (clique->wire_staging)
        cudaFree(clique->wire_staging);
    mgb_release(clique);
}

void mgb_cuda_cliques_done(struct mgb_cuda *cuda)
{
    while (cuda->cliques) {
        struct mgb_cuda_clique *next = cuda->cliques->next;
        clique_free(cuda->cliques, true);
        cuda->cliques = next;
    }
}

static enum mgb_status clique_get(struct mgb_cuda_clique **out, struct mgb_queue *const *queues,
                                  int count)
{
    struct mgb_cuda *cuda = queues[0]->cuda;
    struct mgb_cuda_clique wanted = {.count = count};
    for (int i = 0; i < count; i++)
        wanted.gpus[i] = queues[i]->gpu;
    for (*out = cuda->cliques; *out; *out = (*out)->next)
        if ((*out)->count == count && memcmp((*out)->gpus, wanted.gpus, sizeof wanted.gpus) == 0)
            return MGB_OK;
    struct mgb_cuda_clique *clique = mgb_alloc(sizeof *clique);
    if (!clique)
        return mgb_fail(MGB_NO_MEMORY, "no memory for an all-reduce of %d devices", count);
    *clique = wanted;
    enum mgb_status status = clique_fill(cuda, clique);
    if (status != MGB_OK) {
        clique_free(clique, false);
        return status;
    }
    clique->next = cuda->cliques;
    cuda->cliques = *out = clique;
    return MGB_OK;
}

static enum mgb_status nccl_reduce(const struct mgb_cuda_clique *clique,
                                   struct mgb_queue *const *queues, void *const *buffers,
                                   int64_t count, ncclDataType_t type)
{
    if (queues[0]->cuda->capture)
        return mgb_fail(MGB_UNSUPPORTED,
                        "an all-reduce of NCCL over %d GPUs of one process cannot be captured",
                        clique->count);
    for (int i = 0; i < clique->count; i++) {
        queues[i]->rank = i;
        MGB_TRY(mgb_cuda_begin(queues[i], "all-reduce"));
        MGB_CUDA_TRY(queues[i]->cuda, cudaEventRecord(queues[i]->arrived, queues[i]->stream));
        queues[i]->collective = true;
    }
    ncclResult_t result = ncclGroupStart();
    for (int i = 0; i < clique->count && result == ncclSuccess; i++)
        result = ncclAllReduce(buffers[i], buffers[i], (size_t)count, type, ncclSum,
                               clique->comms[i], queues[i]->stream);
    ncclResult_t ended = ncclGroupEnd();
    queues[0]->cuda->current = -1;
    if (result == ncclSuccess)
        result = ended;
    return result == ncclSuccess ? MGB_OK : mgb_nccl_fail(queues[0]->cuda, result, "ncclAllReduce");
}

void mgb_cuda_collective_missing(const struct mgb_cuda *cuda, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (const struct mgb_queue *queue = cuda->queues; queue && used < size; queue = queue->next)
        if (queue->collective && cudaEventQuery(queue->arrived) == cudaErrorNotReady)
            used += (size_t)mgb_format(out + used, size - used,
                                       "; rank %d (%s) never came to its all-reduce", queue->rank,
                                       cuda->devices[queue->request.device].name);
}

/* `other` finds in `from` what was enqueued so far. */
static enum mgb_status queue_follow(struct mgb_queue *other, struct mgb_queue *from,
                                    cudaEvent_t event)
{
    MGB_TRY(mgb_cuda_begin(from, "all-reduce"));
    MGB_CUDA_TRY(from->cuda, cudaEventRecord(event, from->stream));
    MGB_CUDA_TRY(from->cuda, cudaStreamWaitEvent(other->stream, event, 0));
    return MGB_OK;
}

/* to += from, through staging memory when `from` is on another GPU. */
static enum mgb_status buffer_add(const struct mgb_cuda_clique *clique, struct mgb_queue *root,
                                  float *to, const float *from, bool far, int64_t count)
{
    int64_t step = far ? STAGING_FLOATS : count;
    for (int64_t at = 0; at < count; at += step) {
        int64_t now = count - at < step ? count - at : step;
        const float *sources[2] = {to + at, from + at};
        if (far) {
            MGB_CUDA_TRY(root->cuda,
                         cudaMemcpyAsync(clique->staging, from + at, (size_t)now * sizeof(float),
                                         cudaMemcpyDefault, root->stream));
            sources[1] = clique->staging;
        }
        MGB_TRY(mgb_cuda_reduce(root, to + at, sources, 2, now));
    }
    return MGB_OK;
}

/* 16-bit numbers: staging holds the sum so far, one tower's part in f32 and what has arrived from another GPU. */
static enum mgb_status wire_add(const struct mgb_cuda_clique *clique,
                                struct mgb_queue *const *queues, void *const *buffers,
                                int64_t count, enum mgb_wire_type type)
{
    struct mgb_queue *root = queues[0];
    float *sum = (float *)clique->wire_staging, *part = sum + STAGING_FLOATS;
    void *arrived = part + STAGING_FLOATS;
    for (int64_t at = 0; at < count; at += STAGING_FLOATS) {
        int64_t now = count - at < STAGING_FLOATS ? count - at : STAGING_FLOATS;
        for (int i = 0; i < clique->count; i++) {
            const void *from = (const char *)buffers[i] + 2 * at;
            const float *sources[2] = {sum, part};
            if (queues[i]->gpu != root->gpu) {
                MGB_CUDA_TRY(root->cuda, cudaMemcpyAsync(arrived, from, 2 * (size_t)now,
                                                         cudaMemcpyDefault, root->stream));
                from = arrived;
            }
            MGB_TRY(mgb_cuda_cast(root, i == 0 ? sum : part, from, now, type, MGB_CAST_WIDEN));
            if (i > 0)
                MGB_TRY(mgb_cuda_reduce(root, sum, sources, 2, now));
        }
        MGB_TRY(mgb_cuda_cast(root, (char *)buffers[0] + 2 * at, sum, now, type, MGB_CAST_NARROW));
    }
    return MGB_OK;
}

/* All arrive at the first queue, which adds in order; each takes the result, and the first goes on when all have. */
static enum mgb_status copy_reduce(const struct mgb_cuda_clique *clique,
                                   struct mgb_queue *const *queues, void *const *buffers,
                                   int64_t count, enum mgb_wire_type type)
{
    struct mgb_queue *root = queues[0];
    size_t size = type == MGB_WIRE_F32 ? 4 : 2;
    for (int i = 1; i < clique->count; i++)
        MGB_TRY(queue_follow(root, queues[i], queues[i]->arrived));
    MGB_TRY(mgb_cuda_begin(root, "all-reduce"));
    if (type != MGB_WIRE_F32)
        MGB_TRY(wire_add(clique, queues, buffers, count, type));
    for (int i = 1; type == MGB_WIRE_F32 && i < clique->count; i++)
        MGB_TRY(
            buffer_add(clique, root, buffers[0], buffers[i], queues[i]->gpu != root->gpu, count));
    MGB_CUDA_TRY(root->cuda, cudaEventRecord(root->arrived, root->stream));
    for (int i = 1; i < clique->count; i++) {
        struct mgb_queue *queue = queues[i];
        MGB_TRY(mgb_cuda_begin(queue, "all-reduce"));
        MGB_CUDA_TRY(queue->cuda, cudaStreamWaitEvent(queue->stream, root->arrived, 0));
        MGB_CUDA_TRY(queue->cuda, cudaMemcpyAsync(buffers[i], buffers[0], (size_t)count * size,
                                                  cudaMemcpyDefault, queue->stream));
        MGB_TRY(queue_follow(root, queue, queue->served));
    }
    return MGB_OK;
}

static enum mgb_status wire_staging_make(struct mgb_cuda *cuda, struct mgb_cuda_clique *clique)
{
    if (clique->wire_staging)
        return MGB_OK;
    MGB_TRY(mgb_cuda_use(cuda, clique->gpus[0]));
    MGB_CUDA_TRY(cuda, cudaMalloc((void **)&clique->wire_staging, STAGING_FLOATS * (size_t)10));
    return MGB_OK;
}

static enum mgb_status allreduce_any(struct mgb_queue *const *queues, void *const *buffers,
                                     int count_of_queues, int64_t count, enum mgb_wire_type type)
{
    static const ncclDataType_t types[] = {
        [MGB_WIRE_F32] = ncclFloat32, [MGB_WIRE_F16] = ncclFloat16, [MGB_WIRE_BF16] = BFLOAT16};
    struct mgb_cuda_clique *clique;
    if (count_of_queues < 2 || count == 0)
        return MGB_OK;
    if (count_of_queues > MAX_RANKS)
        return mgb_fail(MGB_UNSUPPORTED, "an all-reduce over %d devices; at most %d",
                        count_of_queues, MAX_RANKS);
    for (int i = 0; i < count_of_queues; i++) {
        if (queues[i]->on_cpu)
            return mgb_fail(MGB_UNSUPPORTED,
                            "an all-reduce with /cpu:0 among CUDA devices; use strategy gradients");
        MGB_TRY(mgb_cuda_begin(queues[i], "all-reduce"));
    }
    MGB_TRY(clique_get(&clique, queues, count_of_queues));
    if (!clique->shared)
        return nccl_reduce(clique, queues, buffers, count, types[type]);
    if (type != MGB_WIRE_F32)
        MGB_TRY(wire_staging_make(queues[0]->cuda, clique));
    return copy_reduce(clique, queues, buffers, count, type);
}

/* NCCL chooses between its own algorithms. */
enum mgb_status mgb_cuda_allreduce(struct mgb_queue *const *queues, float *const *buffers,
                                   int count_of_queues, int64_t count, enum mgb_allreduce algorithm)
{
    (void)algorithm;
    return allreduce_any(queues, (void *const *)buffers, count_of_queues, count, MGB_WIRE_F32);
}

enum mgb_status mgb_cuda_allreduce_wire(struct mgb_queue *const *queues, void *const *buffers,
                                        int count_of_queues, int64_t count,
                                        enum mgb_allreduce algorithm, enum mgb_wire_type type)
{
    (void)algorithm;
    return allreduce_any(queues, buffers, count_of_queues, count, type);
}
