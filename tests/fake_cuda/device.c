/* Devices: which there are, which is current on a thread, what they say of themselves, who reaches whom. */
#include "tests/fake_cuda/capture.h"
#include "tests/fake_cuda/config.h"
#include "tests/fake_cuda/fake.h"
#include "tests/fake_cuda/fake_cuda.h"

#include <string.h>

static struct fake_device devices[FAKE_MAX_DEVICES];
static _Thread_local int current;

struct fake_device *fake_device_get(int device)
{
    return &devices[device];
}

bool fake_device_exists(int device)
{
    return device >= 0 && device < fake_config_get()->device_count;
}

int fake_device_current(void)
{
    return current;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    /* Like the real one, it leaves the count alone when there is no driver. */
    FAKE_ENTER(cudaErrorUnknown);
    *count = fake_config_get()->device_count;
    return cudaSuccess;
}

/* Since CUDA 12 this makes the device's context, so a device that nobody chose stays untouched. */
cudaError_t cudaSetDevice(int device)
{
    FAKE_ENTER(cudaErrorUnknown);
    if (!fake_device_exists(device))
        return fake_error(cudaErrorInvalidDevice);
    current = device;
    devices[device].touched = true;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    FAKE_ENTER(cudaErrorUnknown);
    *device = current;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

/* 0 when there is no driver, as the real one. */
cudaError_t cudaDriverGetVersion(int *version)
{
    int error = fake_config_get()->init_error;
    bool driver = error != cudaErrorInsufficientDriver && error != cudaErrorStubLibrary;
    *version = driver ? CUDART_VERSION : 0;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    FAKE_ENTER(cudaErrorUnknown);
    const struct fake_config *config = fake_config_get();
    fake_lock();
    *total_bytes = config->memory[config->physical[current]];
    *free_bytes = *total_bytes - devices[current].bytes;
    fake_unlock();
    return cudaSuccess;
}

static bool peer_possible(int device, int peer)
{
    const struct fake_config *config = fake_config_get();
    return config->peer[config->physical[device]][config->physical[peer]] != 0;
}

cudaError_t cudaDeviceCanAccessPeer(int *possible, int device, int peer)
{
    FAKE_ENTER(cudaErrorUnknown);
    if (!fake_device_exists(device) || !fake_device_exists(peer))
        return fake_error(cudaErrorInvalidDevice);
    *possible = peer_possible(device, peer);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int from,
                                      int to)
{
    FAKE_ENTER(cudaErrorUnknown);
    if (!fake_device_exists(from) || !fake_device_exists(to) || from == to)
        return fake_error(cudaErrorInvalidDevice);
    *value = attribute == cudaDevP2PAttrAccessSupported && peer_possible(from, to);
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    FAKE_ENTER(cudaErrorUnknown);
    if (!fake_device_exists(peer) || peer == current)
        return fake_error(cudaErrorInvalidDevice);
    if (flags != 0)
        return fake_error(cudaErrorInvalidValue);
    if (!peer_possible(current, peer))
        return fake_error(cudaErrorPeerAccessUnsupported);
    if (devices[current].reaches[peer])
        return fake_error(cudaErrorPeerAccessAlreadyEnabled);
    devices[current].reaches[peer] = true;
    return cudaSuccess;
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    FAKE_ENTER(cudaErrorUnknown);
    if (!fake_device_exists(peer))
        return fake_error(cudaErrorInvalidDevice);
    if (!devices[current].reaches[peer])
        return fake_error(cudaErrorPeerAccessNotEnabled);
    devices[current].reaches[peer] = false;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
    FAKE_ENTER(cudaErrorUnknown);
    FAKE_UNSAFE();
    fake_streams_wait(current);
    return fake_error((cudaError_t)atomic_load(&devices[current].fault));
}

struct fake_cuda_usage fake_cuda_usage_get(int device)
{
    const struct fake_device *it = &devices[device];
    fake_lock();
    struct fake_cuda_usage usage = {.bytes = it->bytes,
                                    .peak_bytes = it->peak_bytes,
                                    .allocations = it->allocations,
                                    .streams = it->streams,
                                    .events = it->events,
                                    .touched = it->touched};
    fake_unlock();
    return usage;
}

int fake_cuda_live(void)
{
    fake_lock();
    int live = fake_block_pinned_count() + fake_graphs_live() + fake_cudnn_live();
    for (int i = 0; i < FAKE_MAX_DEVICES; i++)
        live += devices[i].allocations + devices[i].streams + devices[i].events + devices[i].others;
    fake_unlock();
    return live;
}

void fake_cuda_reset(void)
{
    fake_calls_reset();
    fake_hangs_end();
    for (int i = 0; i < FAKE_MAX_DEVICES; i++) {
        devices[i].peak_bytes = devices[i].bytes;
        devices[i].touched = false;
        memset(devices[i].reaches, 0, sizeof devices[i].reaches);
        atomic_store(&devices[i].fault, 0);
    }
    current = 0;
}
