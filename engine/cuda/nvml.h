/* Sensors of GPUs through NVML, loaded on first use: machines without it run, without readings. Functions in use are
 * declared here, since NVIDIA's header is often not installed (NVML API reference, "Device Queries").
 *
 * MGBENCH_NVML names another library instead of libnvidia-ml.so.1, as tests do. */
#ifndef MGB_CUDA_NVML_H
#define MGB_CUDA_NVML_H

#include "engine/backend/backend.h"

/* What is asked of the library, by its exported names. Every one but the first two may be missing or say "not supported"
 * (3): that reading is then unknown. All return 0 when they succeed, but for the string.
 *   int nvmlInit_v2(void);
 *   int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device);
 *   const char *nvmlErrorString(int code);
 *   int nvmlDeviceGetIndex(void *device, unsigned *index);
 *   int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz);          type 1: SM, 2: memory
 *   int nvmlDeviceGetMaxClockInfo(void *device, int type, unsigned *mhz);
 *   int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
 *   int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);  sensor 0: the GPU
 *   int nvmlDeviceGetUtilizationRates(void *device, struct { unsigned gpu, memory; } *percent);
 *   int nvmlDeviceGetMemoryInfo(void *device, struct { unsigned long long total, free, used; } *bytes);
 *   int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);
 * pci is "0000:65:00.0" in any case of letters. Process listing is never asked for: it costs milliseconds. */
#define MGB_NVML_VARIABLE "MGBENCH_NVML"
#define MGB_NVML_FILE "libnvidia-ml.so.1"

/* The slot of the backend. Devices are found by PCI address: NVML counts those that CUDA_VISIBLE_DEVICES hides. */
enum mgb_status mgb_cuda_sense(struct mgb_sensed *out, const struct mgb_device *device);
/* Fills in the highest clock of the multiprocessors and the number that the driver gives the GPU, where they are known. */
void mgb_nvml_describe(struct mgb_device *out);

#endif
