/* A fake libnvidia-ml: a library of its own, for dlopen, with the sensors of the fake machine's GPUs. Functions, codes and
 * units are those of NVIDIA's manual ("NVML API Reference"); it knows all GPUs, as the real one does, and nothing of
 * CUDA_VISIBLE_DEVICES.
 *
 * Environment, read at each call; lists have an entry a GPU, the last one holds for those after it, "-" is not supported:
 *   FAKE_CUDA_DEVICES=2              as for the fake CUDA runtime
 *   FAKE_NVML_INIT=9                 nvmlInit_v2 fails with this code (9: the driver is not loaded)
 *   FAKE_NVML_CLOCK=1410,900         MHz; FAKE_NVML_MAX_CLOCK, FAKE_NVML_MEMORY_CLOCK, FAKE_NVML_MAX_MEMORY_CLOCK alike
 *   FAKE_NVML_POWER=250000           milliwatts
 *   FAKE_NVML_TEMPERATURE=61         degrees Celsius
 *   FAKE_NVML_UTILISATION=97         per cent
 *   FAKE_NVML_REASONS=0x20,0         bits of what holds the clock down
 *   FAKE_NVML_USED=1000000,-         bytes of memory in use */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_GPUS 16
#define MEMORY_BYTES (1ull << 30)

enum { SUCCESS, UNINITIALIZED, INVALID, NOT_SUPPORTED, NOT_FOUND = 6, DRIVER_NOT_LOADED = 9 };

struct nvmlUtilization {
    unsigned gpu, memory;
};
struct nvmlMemory {
    unsigned long long total, free, used;
};

/* An exported function: declared and defined in one. */
#define NVML(name, ...)                                                                            \
    int name(__VA_ARGS__);                                                                         \
    int name(__VA_ARGS__)

static char gpus[MAX_GPUS]; /* a device's handle is its place here */
static int users;

static int gpu_count(void)
{
    const char *text = getenv("FAKE_CUDA_DEVICES");
    int count = text ? atoi(text) : 2;
    return count < 0 ? 0 : count > MAX_GPUS ? MAX_GPUS : count;
}

/* -1 for what is no handle. */
static int gpu_of(const void *device)
{
    const char *at = device;
    return at >= gpus && at < gpus + gpu_count() ? (int)(at - gpus) : -1;
}

/* The entry of a list for a GPU. */
static int value_read(const char *name, unsigned long long otherwise, const void *device,
                      unsigned long long *value)
{
    const char *text = getenv(name);
    int gpu = gpu_of(device);
    if (users == 0)
        return UNINITIALIZED;
    if (gpu < 0 || !value)
        return INVALID;
    *value = otherwise;
    if (!text)
        return SUCCESS;
    for (; gpu > 0 && strchr(text, ','); gpu--)
        text = strchr(text, ',') + 1;
    if (*text == '-')
        return NOT_SUPPORTED;
    *value = strtoull(text, NULL, 0);
    return SUCCESS;
}

static int number_read(const char *name, unsigned otherwise, const void *device, unsigned *value)
{
    unsigned long long wide = 0;
    int code = value_read(name, otherwise, device, &wide);
    if (code == SUCCESS && !value)
        return INVALID;
    if (code == SUCCESS)
        *value = (unsigned)wide;
    return code;
}

NVML(nvmlInit_v2, void)
{
    const char *code = getenv("FAKE_NVML_INIT");
    if (code && atoi(code) != SUCCESS)
        return atoi(code);
    users++;
    return SUCCESS;
}

NVML(nvmlShutdown, void)
{
    if (users == 0)
        return UNINITIALIZED;
    users--;
    return SUCCESS;
}

const char *nvmlErrorString(int code);
const char *nvmlErrorString(int code)
{
    switch (code) {
    case SUCCESS:
        return "Success";
    case UNINITIALIZED:
        return "Uninitialized";
    case INVALID:
        return "Invalid Argument";
    case NOT_SUPPORTED:
        return "Not Supported";
    case NOT_FOUND:
        return "Not Found";
    case DRIVER_NOT_LOADED:
        return "Driver Not Loaded";
    default: /* an int, as far as C knows */
        return "Unknown Error";
    }
}

NVML(nvmlDeviceGetCount_v2, unsigned *count)
{
    if (users == 0)
        return UNINITIALIZED;
    *count = (unsigned)gpu_count();
    return SUCCESS;
}

NVML(nvmlDeviceGetHandleByIndex_v2, unsigned index, void **device)
{
    if (users == 0)
        return UNINITIALIZED;
    if (index >= (unsigned)gpu_count())
        return INVALID;
    *device = &gpus[index];
    return SUCCESS;
}

static int gpu_match(const char *format, const char *text, void **device)
{
    if (users == 0)
        return UNINITIALIZED;
    for (int i = 0; i < gpu_count(); i++) {
        char own[64];
        snprintf(own, sizeof own, format, i);
        if (strcasecmp(own, text) != 0)
            continue;
        *device = &gpus[i];
        return SUCCESS;
    }
    return NOT_FOUND;
}

#define UUID_FORMAT "GPU-fafafafa-fafa-fafa-fafa-fafafafafa%02x" /* as the fake CUDA runtime's */

NVML(nvmlDeviceGetHandleByUUID, const char *uuid, void **device)
{
    return gpu_match(UUID_FORMAT, uuid, device);
}

/* Domains of four digits and, as NVML itself writes them, of eight. */
NVML(nvmlDeviceGetHandleByPciBusId_v2, const char *address, void **device)
{
    int code = gpu_match("0000:1%x:00.0", address, device);
    return code == NOT_FOUND ? gpu_match("00000000:1%x:00.0", address, device) : code;
}

NVML(nvmlDeviceGetIndex, void *device, unsigned *index)
{
    int gpu = gpu_of(device);
    if (users == 0 || gpu < 0)
        return users == 0 ? UNINITIALIZED : INVALID;
    *index = (unsigned)gpu;
    return SUCCESS;
}

NVML(nvmlDeviceGetUUID, void *device, char *uuid, unsigned length)
{
    int gpu = gpu_of(device);
    if (users == 0 || gpu < 0)
        return users == 0 ? UNINITIALIZED : INVALID;
    snprintf(uuid, length, UUID_FORMAT, gpu);
    return SUCCESS;
}

/* Types 0 graphics, 1 SM, 3 video are one here; 2 is memory. */
NVML(nvmlDeviceGetClockInfo, void *device, int type, unsigned *mhz)
{
    return type == 2 ? number_read("FAKE_NVML_MEMORY_CLOCK", 2000, device, mhz)
                     : number_read("FAKE_NVML_CLOCK", 1500, device, mhz);
}

NVML(nvmlDeviceGetMaxClockInfo, void *device, int type, unsigned *mhz)
{
    return type == 2 ? number_read("FAKE_NVML_MAX_MEMORY_CLOCK", 2000, device, mhz)
                     : number_read("FAKE_NVML_MAX_CLOCK", 1500, device, mhz);
}

NVML(nvmlDeviceGetPowerUsage, void *device, unsigned *milliwatts)
{
    return number_read("FAKE_NVML_POWER", 100000, device, milliwatts);
}

NVML(nvmlDeviceGetTemperature, void *device, int sensor, unsigned *celsius)
{
    return sensor == 0 ? number_read("FAKE_NVML_TEMPERATURE", 50, device, celsius) : INVALID;
}

NVML(nvmlDeviceGetUtilizationRates, void *device, struct nvmlUtilization *percent)
{
    int code = number_read("FAKE_NVML_UTILISATION", 0, device, percent ? &percent->gpu : NULL);
    if (code == SUCCESS)
        percent->memory = percent->gpu;
    return code;
}

NVML(nvmlDeviceGetMemoryInfo, void *device, struct nvmlMemory *bytes)
{
    unsigned long long used = 0;
    int code = value_read("FAKE_NVML_USED", 0, device, &used);
    if (code == SUCCESS)
        *bytes =
            (struct nvmlMemory){.total = MEMORY_BYTES, .free = MEMORY_BYTES - used, .used = used};
    return code;
}

/* The name until driver 535, and the one since. */
NVML(nvmlDeviceGetCurrentClocksThrottleReasons, void *device, unsigned long long *reasons)
{
    return value_read("FAKE_NVML_REASONS", 0, device, reasons);
}

NVML(nvmlDeviceGetCurrentClocksEventReasons, void *device, unsigned long long *reasons)
{
    return value_read("FAKE_NVML_REASONS", 0, device, reasons);
}
