/* What devices say of themselves: all alike but for memory, multiprocessors and address. */
#include "tests/fake_cuda/fake.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static int pci_bus_get(int device)
{
    return 0x10 + fake_config_get()->physical[device];
}

/* -1 for one that the fake does not know. */
static int attribute_get(enum cudaDeviceAttr attribute, int device)
{
    static const struct {
        enum cudaDeviceAttr attribute;
        int value;
    } same[] = {
        {cudaDevAttrMaxThreadsPerBlock, 1024},
        {cudaDevAttrMaxSharedMemoryPerBlock, 48 << 10},
        {cudaDevAttrWarpSize, 32},
        {cudaDevAttrMaxRegistersPerBlock, 65536},
        {cudaDevAttrClockRate, 1500000},
        {cudaDevAttrKernelExecTimeout, 0},
        {cudaDevAttrIntegrated, 0},
        {cudaDevAttrCanMapHostMemory, 1},
        {cudaDevAttrComputeMode, 0},
        {cudaDevAttrConcurrentKernels, 1},
        {cudaDevAttrEccEnabled, 0},
        {cudaDevAttrPciDeviceId, 0},
        {cudaDevAttrPciDomainId, 0},
        {cudaDevAttrMemoryClockRate, 2000000},
        {cudaDevAttrGlobalMemoryBusWidth, 1024},
        {cudaDevAttrL2CacheSize, 4 << 20},
        {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
        {cudaDevAttrAsyncEngineCount, 2},
        {cudaDevAttrUnifiedAddressing, 1},
        {cudaDevAttrComputeCapabilityMajor, 9},
        {cudaDevAttrComputeCapabilityMinor, 0},
    };
    const struct fake_config *config = fake_config_get();
    if (attribute == cudaDevAttrMultiProcessorCount)
        return config->multiprocessors[config->physical[device]];
    if (attribute == cudaDevAttrPciBusId)
        return pci_bus_get(device);
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        if (same[i].attribute == attribute)
            return same[i].value;
    return -1;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    FAKE_ENTER(cudaErrorUnknown);
    if (!fake_device_exists(device))
        return fake_error(cudaErrorInvalidDevice);
    int found = attribute_get(attribute, device);
    if (found >= 0)
        *value = found;
    return fake_error(found >= 0 ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    FAKE_ENTER(cudaErrorUnknown);
    if (!fake_device_exists(device))
        return fake_error(cudaErrorInvalidDevice);
    int physical = fake_config_get()->physical[device];
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "Fake GPU");
    memset(properties->uuid.bytes, 0xfa, sizeof properties->uuid.bytes);
    properties->uuid.bytes[15] = (char)physical;
    properties->totalGlobalMem = fake_config_get()->memory[physical];
    properties->sharedMemPerBlock =
        (size_t)attribute_get(cudaDevAttrMaxSharedMemoryPerBlock, device);
    properties->regsPerBlock = attribute_get(cudaDevAttrMaxRegistersPerBlock, device);
    properties->warpSize = attribute_get(cudaDevAttrWarpSize, device);
    properties->maxThreadsPerBlock = attribute_get(cudaDevAttrMaxThreadsPerBlock, device);
    properties->maxThreadsPerMultiProcessor =
        attribute_get(cudaDevAttrMaxThreadsPerMultiProcessor, device);
    properties->major = attribute_get(cudaDevAttrComputeCapabilityMajor, device);
    properties->minor = attribute_get(cudaDevAttrComputeCapabilityMinor, device);
    properties->multiProcessorCount = attribute_get(cudaDevAttrMultiProcessorCount, device);
    properties->canMapHostMemory = attribute_get(cudaDevAttrCanMapHostMemory, device);
    properties->concurrentKernels = attribute_get(cudaDevAttrConcurrentKernels, device);
    properties->memoryBusWidth = attribute_get(cudaDevAttrGlobalMemoryBusWidth, device);
    properties->l2CacheSize = attribute_get(cudaDevAttrL2CacheSize, device);
    properties->pciBusID = pci_bus_get(device);
    properties->asyncEngineCount = attribute_get(cudaDevAttrAsyncEngineCount, device);
    properties->unifiedAddressing = attribute_get(cudaDevAttrUnifiedAddressing, device);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int device)
{
    FAKE_ENTER(cudaErrorUnknown);
    if (!fake_device_exists(device))
        return fake_error(cudaErrorInvalidDevice);
    int needed = snprintf(text, (size_t)length, "0000:%02X:00.0", pci_bus_get(device));
    return needed < length ? cudaSuccess : fake_error(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text)
{
    FAKE_ENTER(cudaErrorUnknown);
    for (int i = 0; i < fake_config_get()->device_count; i++) {
        char own[32];
        snprintf(own, sizeof own, "0000:%02X:00.0", pci_bus_get(i));
        if (strcasecmp(own, text) != 0)
            continue;
        *device = i;
        return cudaSuccess;
    }
    return fake_error(cudaErrorInvalidDevice);
}
