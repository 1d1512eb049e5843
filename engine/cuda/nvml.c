/* Sensors of GPUs; see nvml.h. Each reading stands alone: cards answer "not supported" to some. */
#include "engine/cuda/nvml.h"

#include "engine/base/library.h"
#include "engine/base/text.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLOCK_SM 1
#define CLOCK_MEMORY 2
#define SENSOR_GPU 0

struct rates {
    unsigned gpu, memory; /* per cent */
};
struct memory {
    unsigned long long total, free, used;
};

static struct {
    pthread_mutex_t lock;
    bool tried, ready;
    char why[200]; /* not ready */
    int (*init)(void);
    int (*find)(const char *pci, void **device);
    const char *(*words)(int code);
    int (*index)(void *device, unsigned *index);
    int (*clock)(void *device, int type, unsigned *mhz);
    int (*highest_clock)(void *device, int type, unsigned *mhz);
    int (*power)(void *device, unsigned *milliwatts);
    int (*temperature)(void *device, int sensor, unsigned *celsius);
    int (*rates)(void *device, struct rates *out);
    int (*memory)(void *device, struct memory *out);
    int (*reasons)(void *device, unsigned long long *out);
} nvml = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* POSIX' way from a data to a function pointer: both have one representation. */
static void symbol_load(void *library, void *function, const char *name)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
}

static void library_load(void)
{
    const char *given = getenv(MGB_NVML_VARIABLE);
    const char *file = given && *given ? given : MGB_NVML_FILE;
    bool whole = !strchr(file, '/') || mgb_library_check(file) == MGB_OK;
    void *library = whole ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        snprintf(nvml.why, sizeof nvml.why, "%.150s cannot be loaded", file);
        return;
    }
    symbol_load(library, &nvml.init, "nvmlInit_v2");
    symbol_load(library, &nvml.find, "nvmlDeviceGetHandleByPciBusId_v2");
    symbol_load(library, &nvml.words, "nvmlErrorString");
    symbol_load(library, &nvml.index, "nvmlDeviceGetIndex");
    symbol_load(library, &nvml.clock, "nvmlDeviceGetClockInfo");
    symbol_load(library, &nvml.highest_clock, "nvmlDeviceGetMaxClockInfo");
    symbol_load(library, &nvml.power, "nvmlDeviceGetPowerUsage");
    symbol_load(library, &nvml.temperature, "nvmlDeviceGetTemperature");
    symbol_load(library, &nvml.rates, "nvmlDeviceGetUtilizationRates");
    symbol_load(library, &nvml.memory, "nvmlDeviceGetMemoryInfo");
    symbol_load(library, &nvml.reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    if (!nvml.init || !nvml.find) {
        snprintf(nvml.why, sizeof nvml.why, "%.150s lacks functions", file);
        return;
    }
    int code = nvml.init();
    nvml.ready = code == 0;
    if (code != 0)
        snprintf(nvml.why, sizeof nvml.why, "NVML does not start: %.100s (code %d)",
                 nvml.words ? nvml.words(code) : "no words for it", code);
}

static enum mgb_status device_find(void **out, const char *pci)
{
    if (!nvml.tried)
        library_load();
    nvml.tried = true;
    if (!nvml.ready)
        return mgb_fail(MGB_UNSUPPORTED, "no sensors: %s", nvml.why);
    int code = nvml.find(pci, out);
    if (code == 0)
        return MGB_OK;
    return mgb_fail(MGB_UNSUPPORTED, "no sensors of the GPU at %s: %s (code %d)", pci,
                    nvml.words ? nvml.words(code) : "NVML does not know it", code);
}

/* Bits as in NVML's documentation ("Clocks Throttle Reasons"). Idleness and clocks that somebody set are none. */
static void throttle_read(struct mgb_sensed *out, void *device)
{
    static const struct {
        unsigned long long bit;
        const char *word;
    } reasons[] = {{0x04, "power"},   {0x08, "hardware"},         {0x10, "sync boost"},
                   {0x20, "thermal"}, {0x40, "hardware thermal"}, {0x80, "power brake"}};
    unsigned long long bits = 0;
    size_t used = 0;
    out->throttle_known = nvml.reasons && nvml.reasons(device, &bits) == 0;
    out->throttle[0] = '\0';
    for (size_t i = 0; out->throttle_known && i < sizeof reasons / sizeof *reasons; i++)
        if (bits & reasons[i].bit)
            used += (size_t)snprintf(out->throttle + used, sizeof out->throttle - used, "%s%s",
                                     used ? "," : "", reasons[i].word);
}

static void device_read(struct mgb_sensed *out, void *device)
{
    unsigned value;
    struct rates rates;
    struct memory memory;
    if (nvml.clock && nvml.clock(device, CLOCK_SM, &value) == 0)
        out->clock_khz = (int64_t)value * 1000;
    if (nvml.clock && nvml.clock(device, CLOCK_MEMORY, &value) == 0)
        out->memory_clock_khz = (int64_t)value * 1000;
    if (nvml.power && nvml.power(device, &value) == 0)
        out->power_mw = value;
    if (nvml.temperature && nvml.temperature(device, SENSOR_GPU, &value) == 0)
        out->temperature_mc = (int64_t)value * 1000;
    if (nvml.rates && nvml.rates(device, &rates) == 0)
        out->utilisation_ppm = (int64_t)rates.gpu * 10000;
    if (nvml.memory && nvml.memory(device, &memory) == 0)
        out->used_bytes = (int64_t)memory.used;
    throttle_read(out, device);
}

enum mgb_status mgb_cuda_sense(struct mgb_sensed *out, const struct mgb_device *device)
{
    void *handle = NULL;
    if (!device->pci[0])
        return mgb_fail(MGB_UNSUPPORTED, "no sensors: the device has no PCI address");
    pthread_mutex_lock(&nvml.lock);
    enum mgb_status status = device_find(&handle, device->pci);
    if (status == MGB_OK)
        device_read(out, handle);
    pthread_mutex_unlock(&nvml.lock);
    return status;
}

void mgb_nvml_describe(struct mgb_device *out)
{
    void *handle = NULL;
    unsigned value;
    pthread_mutex_lock(&nvml.lock);
    if (device_find(&handle, out->pci) == MGB_OK) {
        if (nvml.highest_clock && nvml.highest_clock(handle, CLOCK_SM, &value) == 0)
            out->clock_mhz = (int)value;
        if (nvml.index && nvml.index(handle, &value) == 0)
            out->driver_index = (int)value;
    }
    pthread_mutex_unlock(&nvml.lock);
}
