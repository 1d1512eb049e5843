/* Peer access between two GPUs: enabled for the ordered pairs along which copies go, and only after it was tried. Each way,
 * with it and by way of the host, is timed, and the bytes that arrive are compared: there are machines where copies
 * between GPUs crawl or arrive damaged (an IOMMU in the way, PCIe access control). A copy without peer access is staged
 * through the host by the driver. */
#include "engine/cuda/peers.h"

#include "engine/base/memory.h"
#include <pthread.h>
#include <string.h>

#ifndef PROBE_BYTES /* tests in which nothing depends on it take less */
#define PROBE_BYTES ((int64_t)2 << 20)
#endif
#define LATENCY_BYTES 64
#define COPIES 8 /* a timing */
#define TRIES 3
#define SLOW_RATIO 0.5 /* of the other way: below it the difference is no noise */
#define SLOW_ROUNDS 3  /* that must all find a way slow: something else may have been busy in one */
#define MOST_GPUS 64

/* Enabling is the process's, not a context's: of several the last one disables. */
static struct {
    pthread_mutex_t lock;
    int users[MOST_GPUS][MOST_GPUS]; /* who reads, of whom */
} enabled = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct probe {
    struct mgb_cuda *cuda;
    int from, to; /* into gpus */
    void *source, *target;
    cudaEvent_t begin, end;
    unsigned char *pattern, *arrived;
};

struct mgb_cuda_peer *mgb_cuda_peer_find(const struct mgb_cuda *cuda, int from, int to)
{
    return &cuda->peers[from * cuda->gpu_count + to];
}

static void pattern_fill(unsigned char *out, int64_t bytes, uint32_t seed)
{
    uint32_t word = seed * 2654435761u + 1; /* Knuth's multiplicative hash */
    for (int64_t at = 0; at < bytes; at += (int64_t)sizeof word) {
        word = word * 1664525u +
               1013904223u; /* Numerical Recipes' generator: every byte differs from its place */
        memcpy(out + at, &word, sizeof word);
    }
}

/* Copies that run on the GPU they come to, as queues do. */
static enum mgb_status copy_push(const struct probe *probe, int64_t bytes)
{
    MGB_CUDA_TRY(probe->cuda,
                 cudaMemcpyAsync(probe->target, probe->source, (size_t)bytes, cudaMemcpyDefault,
                                 probe->cuda->gpus[probe->to].service));
    return MGB_OK;
}

static enum mgb_status bytes_compare(const struct probe *probe, int64_t bytes, bool *equal)
{
    struct mgb_cuda *cuda = probe->cuda;
    cudaStream_t stream = cuda->gpus[probe->to].service;
    MGB_CUDA_TRY(cuda, cudaMemsetAsync(probe->target, 0, PROBE_BYTES, stream));
    MGB_TRY(copy_push(probe, bytes));
    MGB_CUDA_TRY(cuda, cudaMemcpyAsync(probe->arrived, probe->target, PROBE_BYTES,
                                       cudaMemcpyDefault, stream));
    MGB_CUDA_TRY(cuda, cudaStreamSynchronize(stream));
    *equal = *equal && memcmp(probe->arrived, probe->pattern, (size_t)bytes) == 0;
    for (int64_t i = bytes; i < PROBE_BYTES && i < bytes + 4096; i++)
        *equal = *equal && probe->arrived[i] == 0; /* nothing beyond the end */
    return MGB_OK;
}

/* Of `copies` copies together the best time, ns. */
static enum mgb_status copies_time(const struct probe *probe, int64_t bytes, int copies,
                                   double *best_ns)
{
    struct mgb_cuda *cuda = probe->cuda;
    cudaStream_t stream = cuda->gpus[probe->to].service;
    for (int try = 0; try < TRIES; try++) {
        float ms = 0;
        MGB_CUDA_TRY(cuda, cudaEventRecord(probe->begin, stream));
        for (int i = 0; i < copies; i++)
            MGB_TRY(copy_push(probe, bytes));
        MGB_CUDA_TRY(cuda, cudaEventRecord(probe->end, stream));
        MGB_CUDA_TRY(cuda, cudaStreamSynchronize(stream));
        MGB_CUDA_TRY(cuda, cudaEventElapsedTime(&ms, probe->begin, probe->end));
        if (try == 0 || (double)ms * 1e6 < *best_ns)
            *best_ns = (double)ms * 1e6;
    }
    return MGB_OK;
}

static enum mgb_status way_measure(const struct probe *probe, bool *equal, double *gbps,
                                   double *latency_us)
{
    static const int64_t sizes[] = {1,          64, 4099, PROBE_BYTES / 32, PROBE_BYTES / 2 + 1,
                                    PROBE_BYTES};
    double ns = 0;
    *equal = true;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        MGB_TRY(bytes_compare(probe, sizes[i], equal));
    MGB_TRY(copies_time(probe, PROBE_BYTES, COPIES, &ns));
    *gbps = ns > 0 ? (double)PROBE_BYTES * COPIES / ns : 0;
    MGB_TRY(copies_time(probe, LATENCY_BYTES, 1, &ns));
    *latency_us = ns > 0 ? ns / 1e3 : 0;
    return MGB_OK;
}

/* The reading GPU is current afterwards. *refused: the driver cannot, for this pair. */
static enum mgb_status access_set(struct mgb_cuda *cuda, int from, int to, bool wanted,
                                  bool *refused)
{
    int other = cuda->gpus[from].physical;
    MGB_TRY(mgb_cuda_use(cuda, to));
    cudaError_t error =
        wanted ? cudaDeviceEnablePeerAccess(other, 0) : cudaDeviceDisablePeerAccess(other);
    *refused = false;
    if (error == cudaSuccess)
        return MGB_OK;
    if (error == (wanted ? cudaErrorPeerAccessAlreadyEnabled : cudaErrorPeerAccessNotEnabled)) {
        (void)cudaGetLastError();
        return MGB_OK;
    }
    /* A GPU maps the memory of eight others at most on some machines; then the host stages. */
    if (error == cudaErrorPeerAccessUnsupported || error == cudaErrorTooManyPeers) {
        (void)cudaGetLastError();
        *refused = true;
        return MGB_OK;
    }
    return mgb_cuda_fail(cuda, error,
                         wanted ? "cudaDeviceEnablePeerAccess" : "cudaDeviceDisablePeerAccess");
}

static int *users_of(const struct mgb_cuda *cuda, int from, int to)
{
    return &enabled.users[cuda->gpus[to].physical][cuda->gpus[from].physical];
}

/* Both ways in turn; the pair is left with peer access. Either GPU's access may make a copy direct, so that the other one's
 * is taken away meanwhile. */
static enum mgb_status ways_measure(const struct probe *probe, struct mgb_cuda_peer *peer)
{
    bool staged, direct, refused;
    int back = *users_of(probe->cuda, probe->to, probe->from);
    if (back > 0)
        MGB_TRY(access_set(probe->cuda, probe->to, probe->from, false, &refused));
    MGB_TRY(access_set(probe->cuda, probe->from, probe->to, false, &refused));
    MGB_TRY(way_measure(probe, &staged, &peer->staged_gbps, &peer->staged_latency_us));
    if (back > 0)
        MGB_TRY(access_set(probe->cuda, probe->to, probe->from, true, &refused));
    MGB_TRY(access_set(probe->cuda, probe->from, probe->to, true, &refused));
    if (!staged)
        return mgb_fail(MGB_DEVICE,
                        "copies from GPU %d to GPU %d arrive damaged, by way of the host too; use "
                        "other GPUs, and look at the driver's log (dmesg)",
                        probe->cuda->gpus[probe->from].physical,
                        probe->cuda->gpus[probe->to].physical);
    if (refused) {
        peer->verdict = MGB_PEER_REFUSED;
        return MGB_OK;
    }
    MGB_TRY(way_measure(probe, &direct, &peer->peer_gbps, &peer->peer_latency_us));
    peer->verdict = !direct                                            ? MGB_PEER_BAD
                    : peer->peer_gbps < SLOW_RATIO * peer->staged_gbps ? MGB_PEER_SLOW
                                                                       : MGB_PEER_GOOD;
    return MGB_OK;
}

static enum mgb_status probe_make(struct probe *probe)
{
    struct mgb_cuda *cuda = probe->cuda;
    probe->pattern = mgb_alloc(PROBE_BYTES);
    probe->arrived = mgb_alloc(PROBE_BYTES);
    if (!probe->pattern || !probe->arrived)
        return mgb_fail(MGB_NO_MEMORY, "no memory to try peer access");
    pattern_fill(
        probe->pattern, PROBE_BYTES,
        (uint32_t)(cuda->gpus[probe->from].physical * 64 + cuda->gpus[probe->to].physical));
    MGB_TRY(mgb_cuda_use(cuda, probe->from));
    MGB_CUDA_TRY(cuda, cudaMalloc(&probe->source, PROBE_BYTES));
    MGB_CUDA_TRY(cuda, cudaMemcpyAsync(probe->source, probe->pattern, PROBE_BYTES,
                                       cudaMemcpyDefault, cuda->gpus[probe->from].service));
    MGB_CUDA_TRY(cuda, cudaStreamSynchronize(cuda->gpus[probe->from].service));
    MGB_TRY(mgb_cuda_use(cuda, probe->to));
    MGB_CUDA_TRY(cuda, cudaMalloc(&probe->target, PROBE_BYTES));
    MGB_CUDA_TRY(cuda, cudaEventCreate(&probe->begin));
    MGB_CUDA_TRY(cuda, cudaEventCreate(&probe->end));
    return MGB_OK;
}

static void probe_free(struct probe *probe)
{
    if (probe->source)
        cudaFree(probe->source);
    if (probe->target)
        cudaFree(probe->target);
    if (probe->begin)
        cudaEventDestroy(probe->begin);
    if (probe->end)
        cudaEventDestroy(probe->end);
    mgb_release(probe->pattern);
    mgb_release(probe->arrived);
}

static bool way_serves(const struct mgb_cuda *cuda, const struct mgb_cuda_peer *peer)
{
    return peer->verdict == MGB_PEER_GOOD || peer->verdict == MGB_PEER_UNTRIED ||
           (peer->verdict == MGB_PEER_SLOW && cuda->options.peer_access == MGB_CHOICE_YES);
}

/* No peer access from here on, as far as this context is concerned. */
static enum mgb_status way_leave(struct mgb_cuda *cuda, int from, int to)
{
    struct mgb_cuda_peer *peer = mgb_cuda_peer_find(cuda, from, to);
    bool refused;
    if (!peer->direct)
        return MGB_OK;
    peer->direct = false;
    return --*users_of(cuda, from, to) == 0 ? access_set(cuda, from, to, false, &refused) : MGB_OK;
}

/* Caller holds the lock. */
static enum mgb_status peer_try(struct mgb_cuda *cuda, struct mgb_cuda_peer *peer, int from, int to)
{
    struct probe probe = {.cuda = cuda, .from = from, .to = to};
    bool refused;
    enum mgb_status status = probe_make(&probe);
    bool slow = true;
    for (int i = 0; status == MGB_OK && slow && i < SLOW_ROUNDS; i++) {
        status = ways_measure(&probe, peer);
        slow = peer->verdict == MGB_PEER_SLOW;
    }
    if (status != MGB_OK) /* else all of it was waited for */
        (void)cudaStreamSynchronize(cuda->gpus[to].service);
    probe_free(&probe);
    if (status == MGB_OOM) /* no room to try it: as CUDA has it */
        status = access_set(cuda, from, to, true, &refused);
    MGB_TRY(status);
    (*users_of(cuda, from, to))++;
    peer->direct = true;
    struct mgb_cuda_peer *back = mgb_cuda_peer_find(cuda, to, from);
    if (way_serves(cuda, peer) && (!back->tried || way_serves(cuda, back)))
        return MGB_OK;
    MGB_TRY(way_leave(cuda, from, to));
    return way_leave(cuda, to, from);
}

enum mgb_status mgb_cuda_peer_open(struct mgb_cuda *cuda, int from, int to)
{
    struct mgb_cuda_peer *peer = mgb_cuda_peer_find(cuda, from, to);
    int possible = 0;
    if (peer->tried || from == to || cuda->options.peer_access == MGB_CHOICE_NO)
        return MGB_OK;
    MGB_CUDA_TRY(cuda, cudaDeviceCanAccessPeer(&possible, cuda->gpus[to].physical,
                                               cuda->gpus[from].physical));
    peer->tried = true;
    if (!possible || cuda->gpus[from].physical >= MOST_GPUS || cuda->gpus[to].physical >= MOST_GPUS)
        return MGB_OK;
    pthread_mutex_lock(&enabled.lock);
    enum mgb_status status = peer_try(cuda, peer, from, to);
    pthread_mutex_unlock(&enabled.lock);
    return status;
}

void mgb_cuda_peers_close(struct mgb_cuda *cuda)
{
    pthread_mutex_lock(&enabled.lock);
    for (int pair = 0; cuda->peers && pair < cuda->gpu_count * cuda->gpu_count; pair++)
        (void)way_leave(cuda, pair / cuda->gpu_count, pair % cuda->gpu_count);
    pthread_mutex_unlock(&enabled.lock);
    mgb_release(cuda->peers);
    cuda->peers = NULL;
}

enum mgb_status mgb_cuda_path(void *context, struct mgb_link *link)
{
    struct mgb_cuda *cuda = context;
    int from = cuda->devices[link->from].gpu, to = cuda->devices[link->to].gpu;
    if (from < 0 || to < 0 || from == to)
        return MGB_OK;
    MGB_TRY(mgb_cuda_peer_open(cuda, from, to));
    const struct mgb_cuda_peer *peer = mgb_cuda_peer_find(cuda, from, to);
    link->direct = peer->direct;
    link->verdict = peer->verdict;
    link->peer_gbps = peer->peer_gbps;
    link->peer_latency_us = peer->peer_latency_us;
    link->staged_gbps = peer->staged_gbps;
    link->staged_latency_us = peer->staged_latency_us;
    return MGB_OK;
}
