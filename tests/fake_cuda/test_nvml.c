/* The fake libnvidia-ml, loaded as a backend loads it. */
#include "tests/fake_cuda/support.h"

#include <dlfcn.h>
#include <string.h>

typedef int plain_call(void);
typedef int find_call(const char *text, void **device);
typedef int number_call(void *device, unsigned *value);
typedef int clock_call(void *device, int type, unsigned *value);
typedef int reasons_call(void *device, unsigned long long *value);

static void *library;

static void *symbol(const char *name)
{
    void *address = dlsym(library, name);
    if (!address)
        fail_msg("%s is missing", name);
    return address;
}

static int library_open(void **state)
{
    (void)state;
    library = dlopen(FAKE_NVML_FILE, RTLD_NOW | RTLD_LOCAL);
    return library ? 0 : -1;
}

static int library_close(void **state)
{
    (void)state;
    return dlclose(library);
}

static void *device_find(const char *function, const char *text)
{
    void *device = NULL;
    ok(((find_call *)symbol(function))(text, &device));
    assert_non_null(device);
    return device;
}

static void device_is_found_by_the_identity_that_cuda_tells(void **state)
{
    (void)state;
    char pci[32];
    char uuid[64] = "GPU-";
    struct cudaDeviceProp properties;
    unsigned index = 77;
    machine("FAKE_CUDA_DEVICES=4", "CUDA_VISIBLE_DEVICES=3");
    ok(cudaDeviceGetPCIBusId(pci, sizeof pci, 0));
    ok(cudaGetDeviceProperties(&properties, 0));
    for (int i = 0; i < 16; i++)
        snprintf(uuid + strlen(uuid), sizeof uuid - strlen(uuid), "%s%02x",
                 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                 (unsigned)properties.uuid.bytes[i] & 0xff);
    ok(((plain_call *)symbol("nvmlInit_v2"))());
    void *device = device_find("nvmlDeviceGetHandleByPciBusId_v2", pci);
    assert_ptr_equal(device, device_find("nvmlDeviceGetHandleByPciBusId_v2", "00000000:13:00.0"));
    assert_ptr_equal(device, device_find("nvmlDeviceGetHandleByUUID", uuid));
    ok(((number_call *)symbol("nvmlDeviceGetIndex"))(device, &index));
    assert_int_equal(index, 3);
    assert_int_equal(
        ((find_call *)symbol("nvmlDeviceGetHandleByUUID"))("GPU-something-else", &device), 6);
    ok(((plain_call *)symbol("nvmlShutdown"))());
    machine_plain();
}

static void sensors_say_what_the_environment_has_for_each_gpu(void **state)
{
    (void)state;
    unsigned value;
    unsigned long long reasons;
    machine("FAKE_CUDA_DEVICES=3", "FAKE_NVML_CLOCK=1410,900", "FAKE_NVML_POWER=-,250000",
            "FAKE_NVML_REASONS=0x24,0");
    ok(((plain_call *)symbol("nvmlInit_v2"))());
    void *first = device_find("nvmlDeviceGetHandleByPciBusId_v2", "0000:10:00.0");
    void *last = device_find("nvmlDeviceGetHandleByPciBusId_v2", "0000:12:00.0");
    clock_call *clock = (clock_call *)symbol("nvmlDeviceGetClockInfo");
    ok(clock(first, 1, &value));
    assert_int_equal(value, 1410);
    ok(clock(last, 1, &value));
    assert_int_equal(value, 900);
    ok(clock(last, 2, &value));
    assert_int_equal(value, 2000);
    number_call *power = (number_call *)symbol("nvmlDeviceGetPowerUsage");
    assert_int_equal(power(first, &value), 3);
    ok(power(last, &value));
    assert_int_equal(value, 250000);
    ok(((reasons_call *)symbol("nvmlDeviceGetCurrentClocksThrottleReasons"))(first, &reasons));
    assert_int_equal(reasons, 0x24);
    ok(((reasons_call *)symbol("nvmlDeviceGetCurrentClocksEventReasons"))(last, &reasons));
    assert_int_equal(reasons, 0);
    ok(((clock_call *)symbol("nvmlDeviceGetTemperature"))(first, 0, &value));
    assert_int_equal(value, 50);
    assert_int_equal(power(&value, &value), 2); /* no handle */
    ok(((plain_call *)symbol("nvmlShutdown"))());
    assert_int_equal(power(last, &value), 1);
    machine_plain();
}

static void library_does_not_start_without_a_driver(void **state)
{
    (void)state;
    machine("FAKE_NVML_INIT=9");
    assert_int_equal(((plain_call *)symbol("nvmlInit_v2"))(), 9);
    assert_int_equal(((plain_call *)symbol("nvmlShutdown"))(), 1);
    machine_plain();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_is_found_by_the_identity_that_cuda_tells),
        cmocka_unit_test(sensors_say_what_the_environment_has_for_each_gpu),
        cmocka_unit_test(library_does_not_start_without_a_driver),
    };
    return cmocka_run_group_tests(tests, library_open, library_close);
}
