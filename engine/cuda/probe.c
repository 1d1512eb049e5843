/* Which GPUs there are, and why none. Makes no context: a device that nobody chooses stays untouched. */
#include "engine/cuda/cuda.h"

#include "engine/base/memory.h"
#include "engine/cuda/nvml.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Without a driver the runtime answers 35, with the toolkit's stub of it 34, without a device 100, and in all three cases
 * it leaves the count alone. */
static enum mgb_status devices_missing(cudaError_t error)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    int version = 0;
    (void)cudaGetLastError();
    if (error == cudaErrorInsufficientDriver && cudaDriverGetVersion(&version) == cudaSuccess &&
        version > 0)
        return mgb_fail(
            MGB_MISSING,
            "no CUDA: the driver serves CUDA %d.%d, this build needs %d.%d (code %d); update it",
            version / 1000, version % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10,
            (int)error);
    if (error == cudaErrorInsufficientDriver || error == cudaErrorStubLibrary)
        return mgb_fail(MGB_MISSING, "no CUDA: no NVIDIA driver is installed (code %d)",
                        (int)error);
    if (error != cudaSuccess && error != cudaErrorNoDevice)
        return mgb_fail(MGB_MISSING, "no CUDA: the driver does not start: %s (code %d)",
                        cudaGetErrorString(error), (int)error);
    if (visible)
        return mgb_fail(MGB_MISSING, "no CUDA: CUDA_VISIBLE_DEVICES='%s' hides every device",
                        visible);
    return mgb_fail(MGB_MISSING, "no CUDA: the driver reports no device (code %d)", (int)error);
}

static void cpu_label(char *out, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    const char *model = NULL;
    while (file && !model && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (!colon || strncmp(line, "model name", 10) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        model = colon + 2;
    }
    if (file)
        fclose(file);
    snprintf(out, size, "%.70s, %d cores", model ? model : "CPU", cores);
}

static void uuid_format(char *out, size_t size, const cudaUUID_t *uuid)
{
    const unsigned char *b = (const unsigned char *)uuid->bytes;
    snprintf(out, size, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
             b[14], b[15]);
}

static enum mgb_status gpu_describe(struct mgb_device *out, int physical)
{
    struct cudaDeviceProp properties;
    MGB_CUDA_TRY(NULL, cudaGetDeviceProperties(&properties, physical));
    out->name = (struct mgb_device_name){.kind = MGB_DEVICE_GPU, .index = physical};
    out->class = MGB_CLASS_CUDA;
    snprintf(out->label, sizeof out->label, "%.90s", properties.name);
    out->memory_bytes = (int64_t)properties.totalGlobalMem;
    out->physical = physical;
    out->cores = properties.multiProcessorCount;
    snprintf(out->capability, sizeof out->capability, "%d.%d", properties.major & 0xff,
             properties.minor & 0xff);
    uuid_format(out->uuid, sizeof out->uuid, &properties.uuid);
    snprintf(out->pci, sizeof out->pci, "%04x:%02x:%02x.0",
             (unsigned)properties.pciDomainID & 0xffff, (unsigned)properties.pciBusID & 0xff,
             (unsigned)properties.pciDeviceID & 0xff);
    /* CUDA counts those alone that it may use. */
    out->driver_index = getenv("CUDA_VISIBLE_DEVICES") ? -1 : physical;
    mgb_nvml_describe(out);
    return MGB_OK;
}

static enum mgb_status links_fill(struct mgb_topology *topology)
{
    for (int from = 0; from < topology->device_count; from++)
        for (int to = 0; to < topology->device_count; to++) {
            int peer = 0;
            if (from == to)
                continue;
            if (from > 0 && to > 0)
                MGB_CUDA_TRY(NULL, cudaDeviceCanAccessPeer(&peer, topology->devices[from].physical,
                                                           topology->devices[to].physical));
            topology->links[topology->link_count++] =
                (struct mgb_link){.from = from, .to = to, .peer = peer != 0};
        }
    return MGB_OK;
}

static enum mgb_status topology_fill(struct mgb_topology *topology, int gpus)
{
    topology->device_count = gpus + 1;
    topology->devices = mgb_alloc(sizeof *topology->devices * (size_t)(gpus + 1));
    topology->links = mgb_alloc(sizeof *topology->links * (size_t)((gpus + 1) * gpus));
    if (!topology->devices || !topology->links)
        return mgb_fail(MGB_NO_MEMORY, "no memory to list %d CUDA devices", gpus);
    if (gethostname(topology->machine, sizeof topology->machine - 1) != 0)
        snprintf(topology->machine, sizeof topology->machine, "localhost");
    struct mgb_device *cpu = &topology->devices[0];
    cpu->name = (struct mgb_device_name){.kind = MGB_DEVICE_CPU};
    cpu->class = MGB_CLASS_CPU;
    cpu->physical = -1;
    cpu_label(cpu->label, sizeof cpu->label);
    for (int i = 0; i < gpus; i++)
        MGB_TRY(gpu_describe(&topology->devices[i + 1], i));
    return links_fill(topology);
}

enum mgb_status mgb_cuda_probe(struct mgb_topology *out)
{
    int gpus = 0;
    *out = (struct mgb_topology){0};
    cudaError_t error = cudaGetDeviceCount(&gpus);
    if (error != cudaSuccess || gpus < 1)
        return devices_missing(error);
    enum mgb_status status = topology_fill(out, gpus);
    if (status != MGB_OK)
        mgb_topology_done(out);
    return status;
}
