/* The context: which physical GPUs stand behind the devices of a topology, opened when first used. */
#include "engine/cuda/queue.h"

#include "engine/base/memory.h"
#include "engine/cuda/dnn/dnn.h"
#include "engine/cuda/kernel.h"
#include "engine/cuda/peers.h"

static enum mgb_status fault_make(struct mgb_cuda *cuda)
{
    if (cuda->fault)
        return MGB_OK;
    MGB_CUDA_TRY(cuda,
                 cudaHostAlloc((void **)&cuda->fault, sizeof *cuda->fault, cudaHostAllocPortable));
    *cuda->fault = (struct mgb_cuda_fault){.code = MGB_CUDA_FAULT_NONE};
    cuda->cpu.fault = cuda->fault;
    return MGB_OK;
}

static enum mgb_status gpu_open(struct mgb_cuda *cuda, int index)
{
    struct mgb_cuda_gpu *gpu = &cuda->gpus[index];
    MGB_TRY(fault_make(cuda));
    if (!gpu->service)
        MGB_CUDA_TRY(cuda, cudaStreamCreateWithFlags(&gpu->service, cudaStreamNonBlocking));
    MGB_TRY(mgb_cuda_anchor_make(cuda, gpu));
    gpu->open = true;
    return MGB_OK;
}

/* CUDA's current device is the thread's, not the context's: what another context made current does not count. */
static _Thread_local const struct mgb_cuda *current_owner;

static enum mgb_status current_set(struct mgb_cuda *cuda, int physical)
{
    if (current_owner == cuda && cuda->current == physical)
        return MGB_OK;
    MGB_CUDA_TRY(cuda, cudaSetDevice(physical));
    current_owner = cuda;
    cuda->current = physical;
    return MGB_OK;
}

enum mgb_status mgb_cuda_use(struct mgb_cuda *cuda, int index)
{
    struct mgb_cuda_gpu *gpu = &cuda->gpus[index];
    MGB_TRY(current_set(cuda, gpu->physical));
    if (gpu->open)
        return MGB_OK;
    return gpu_open(cuda, index);
}

int mgb_cuda_home(const struct mgb_cuda *cuda)
{
    for (int i = 0; i < cuda->gpu_count; i++)
        if (cuda->gpus[i].open)
            return i;
    return 0;
}

/* The index of a physical GPU in gpus, added when it is new. MGB_INVALID when two devices share one unasked. */
static enum mgb_status gpu_place(struct mgb_cuda *cuda, int device)
{
    const struct mgb_device *wanted = &cuda->topology->devices[device];
    struct mgb_cuda_device *it = &cuda->devices[device];
    for (int other = 1; other < device; other++) {
        if (cuda->topology->devices[other].physical != wanted->physical)
            continue;
        if (!cuda->options.logical)
            return mgb_fail(MGB_INVALID,
                            "%s and %s are the same GPU (%d, %s); give different ids, or logical = "
                            "true to share it",
                            cuda->devices[other].name, it->name, wanted->physical, wanted->label);
        it->gpu = cuda->devices[other].gpu;
        return MGB_OK;
    }
    it->gpu = cuda->gpu_count;
    cuda->gpus[cuda->gpu_count++].physical = wanted->physical;
    return MGB_OK;
}

static enum mgb_status devices_fill(struct mgb_cuda *cuda)
{
    for (int i = 0; i < cuda->device_count; i++) {
        struct mgb_cuda_device *it = &cuda->devices[i];
        mgb_device_format(it->name, cuda->topology->devices[i].name);
        it->gpu = -1;
        if (i == 0)
            continue;
        it->limit = cuda->options.gpu_memory;
        MGB_TRY(gpu_place(cuda, i));
    }
    return MGB_OK;
}

static enum mgb_status context_fill(struct mgb_cuda *cuda)
{
    cuda->devices = mgb_alloc(sizeof *cuda->devices * (size_t)cuda->device_count);
    cuda->gpus = mgb_alloc(sizeof *cuda->gpus * (size_t)cuda->device_count);
    if (!cuda->devices || !cuda->gpus)
        return mgb_fail(MGB_NO_MEMORY, "no memory for a CUDA context of %d devices",
                        cuda->device_count);
    MGB_TRY(mgb_cuda_dnn_open(cuda));
    MGB_TRY(devices_fill(cuda));
    cuda->peers = mgb_alloc(sizeof *cuda->peers * (size_t)(cuda->gpu_count * cuda->gpu_count));
    if (!cuda->peers)
        return mgb_fail(MGB_NO_MEMORY, "no memory for the pairs of %d GPUs", cuda->gpu_count);
    return mgb_cuda_cpu_start(&cuda->cpu);
}

enum mgb_status mgb_cuda_open(void **out, const struct mgb_topology *topology,
                              const struct mgb_backend_options *options)
{
    if (topology->device_count < 2)
        return mgb_fail(MGB_MISSING, "CUDA: the topology '%s' has no GPU", topology->machine);
    struct mgb_cuda *cuda = mgb_alloc(sizeof *cuda);
    if (!cuda)
        return mgb_fail(MGB_NO_MEMORY, "no memory for a CUDA context");
    cuda->topology = topology;
    cuda->options = *options;
    cuda->device_count = topology->device_count;
    cuda->current = -1;
    cuda->cpu.kernels = mgb_cuda_cpu_kernels;
    enum mgb_status status = context_fill(cuda);
    if (status != MGB_OK) {
        mgb_cuda_close(cuda);
        return status;
    }
    *out = cuda;
    return MGB_OK;
}

static void gpu_close(struct mgb_cuda_gpu *gpu)
{
    if (!gpu->service)
        return;
    cudaSetDevice(gpu->physical);
    current_owner = NULL;
    for (int i = 0; i < 2; i++)
        if (gpu->anchors[i].event)
            cudaEventDestroy(gpu->anchors[i].event);
    cudaStreamDestroy(gpu->service);
}

void mgb_cuda_close(void *context)
{
    struct mgb_cuda *cuda = context;
    if (!cuda)
        return;
    mgb_cuda_cpu_stop(&cuda->cpu);
    mgb_cuda_cliques_done(cuda);
    mgb_cuda_kernels_done(cuda);
    mgb_cuda_peers_close(cuda);
    for (int i = 0; i < cuda->gpu_count; i++)
        gpu_close(&cuda->gpus[i]);
    if (cuda->fault)
        cudaFreeHost(cuda->fault);
    mgb_release(cuda->gpus);
    mgb_release(cuda->devices);
    mgb_release(cuda);
}

bool mgb_cuda_can(void *context, enum mgb_capability capability, int device, int other)
{
    struct mgb_cuda *cuda = context;
    int from = cuda->devices[device].gpu;
    int to = cuda->devices[other].gpu;
    int possible = 0;
    switch (capability) {
    case MGB_CAN_ALLREDUCE:
        return from >= 0 && to >= 0;
    case MGB_CAN_PEER_COPY:
        if (from < 0 || to < 0 || from == to)
            return from >= 0 && from == to;
        if (mgb_cuda_peer_find(cuda, from, to)->tried)
            return mgb_cuda_peer_find(cuda, from, to)->direct;
        return cuda->options.peer_access != MGB_CHOICE_NO &&
               cudaDeviceCanAccessPeer(&possible, cuda->gpus[to].physical,
                                       cuda->gpus[from].physical) == cudaSuccess &&
               possible;
    case MGB_CAN_PROTECT:
        return false;
    case MGB_CAN_REPLAY:
    case MGB_CAN_LIMIT_MEMORY:
        return true;
    }
    return false;
}
