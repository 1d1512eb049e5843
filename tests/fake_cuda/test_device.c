/* Devices: how many there are and why none, what they say of themselves, peers, injected failures. */
#include "tests/fake_cuda/support.h"

#include <string.h>

#include "tests/fake_cuda/kernels.h"

static void without_a_driver_the_count_is_left_alone(void **state)
{
    (void)state;
    static const char *const settings[] = {"FAKE_CUDA_INIT=34", "FAKE_CUDA_INIT=35",
                                           "FAKE_CUDA_INIT=100"};
    static const int codes[] = {34, 35, 100};
    for (int i = 0; i < 3; i++) {
        int count = 77;
        machine(settings[i]);
        assert_int_equal(cudaGetDeviceCount(&count), codes[i]);
        assert_int_equal(count, 77);
    }
}

static void driver_version_is_zero_without_a_driver(void **state)
{
    (void)state;
    int version = -1;
    machine("FAKE_CUDA_INIT=35");
    ok(cudaDriverGetVersion(&version));
    assert_int_equal(version, 0);
    machine("FAKE_CUDA_INIT=100");
    ok(cudaDriverGetVersion(&version));
    assert_int_equal(version, CUDART_VERSION);
}

static void hidden_devices_are_not_there(void **state)
{
    (void)state;
    int count = 0;
    machine("FAKE_CUDA_DEVICES=4", "CUDA_VISIBLE_DEVICES=2,0,7,1");
    ok(cudaGetDeviceCount(&count));
    assert_int_equal(count, 2);
    char address[32];
    ok(cudaDeviceGetPCIBusId(address, sizeof address, 0));
    assert_string_equal(address, "0000:12:00.0");
    machine("CUDA_VISIBLE_DEVICES=");
    assert_int_equal(cudaGetDeviceCount(&count), cudaErrorNoDevice);
}

static void device_that_is_not_there_is_refused(void **state)
{
    (void)state;
    struct cudaDeviceProp properties;
    machine_plain();
    assert_int_equal(cudaSetDevice(2), cudaErrorInvalidDevice);
    assert_int_equal(cudaSetDevice(-1), cudaErrorInvalidDevice);
    assert_int_equal(cudaGetDeviceProperties(&properties, 2), cudaErrorInvalidDevice);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidDevice);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
}

static void properties_tell_memory_and_identity(void **state)
{
    (void)state;
    struct cudaDeviceProp first;
    struct cudaDeviceProp second;
    machine("FAKE_CUDA_MEMORY=64M,32M");
    ok(cudaGetDeviceProperties(&first, 0));
    ok(cudaGetDeviceProperties(&second, 1));
    assert_int_equal(first.totalGlobalMem, 64 << 20);
    assert_int_equal(second.totalGlobalMem, 32 << 20);
    assert_memory_not_equal(&first.uuid, &second.uuid, sizeof first.uuid);
    assert_int_not_equal(first.pciBusID, second.pciBusID);
}

static void attributes_agree_with_properties(void **state)
{
    (void)state;
    struct cudaDeviceProp second;
    int value;
    machine("FAKE_CUDA_SMS=4,3");
    ok(cudaGetDeviceProperties(&second, 1));
    assert_int_equal(second.multiProcessorCount, 3);
    ok(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    assert_int_equal(value, 4);
    ok(cudaDeviceGetAttribute(&value, cudaDevAttrPciBusId, 1));
    assert_int_equal(value, second.pciBusID);
    assert_int_equal(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)9999, 0),
                     cudaErrorInvalidValue);
    assert_int_equal(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 2),
                     cudaErrorInvalidDevice);
    machine_plain();
}

static void device_is_found_by_its_address(void **state)
{
    (void)state;
    int device = -1;
    machine("FAKE_CUDA_DEVICES=4", "CUDA_VISIBLE_DEVICES=3,1");
    ok(cudaDeviceGetByPCIBusId(&device, "0000:11:00.0"));
    assert_int_equal(device, 1);
    assert_int_equal(cudaDeviceGetByPCIBusId(&device, "0000:10:00.0"), cudaErrorInvalidDevice);
    machine_plain();
}

static void device_that_nobody_chose_is_untouched(void **state)
{
    (void)state;
    int possible;
    machine_plain();
    struct cudaDeviceProp properties;
    ok(cudaGetDeviceProperties(&properties, 1));
    ok(cudaDeviceCanAccessPeer(&possible, 0, 1));
    float *memory = floats_make_on(0, 16);
    ok(cudaFree(memory));
    assert_int_equal(fake_cuda_usage_get(0).touched, 1);
    assert_int_equal(fake_cuda_usage_get(1).touched, 0);
}

static void peer_access_is_enabled_once_and_only_where_possible(void **state)
{
    (void)state;
    int possible;
    machine("FAKE_CUDA_DEVICES=3", "FAKE_CUDA_PEER=0-1");
    ok(cudaSetDevice(0));
    ok(cudaDeviceCanAccessPeer(&possible, 0, 2));
    assert_int_equal(possible, 0);
    assert_int_equal(cudaDeviceEnablePeerAccess(2, 0), cudaErrorPeerAccessUnsupported);
    ok(cudaDeviceEnablePeerAccess(1, 0));
    assert_int_equal(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
    ok(cudaDeviceDisablePeerAccess(1));
    assert_int_equal(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
    machine_plain();
}

static cudaError_t remote_fill(void)
{
    cudaStream_t stream = stream_make_on(0);
    float *remote = floats_make_on(1, 64);
    struct fill_args args = {remote, 1.0f, 64};
    ok(cudaSetDevice(0));
    ok(launch((const void *)fill, 1, 64, &args, stream));
    cudaError_t error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess) {
        /* A sticky error: nothing works on the device until it is reset. */
        void *memory;
        assert_int_equal(cudaMalloc(&memory, 4), error);
        fake_cuda_reset();
    }
    ok(cudaStreamDestroy(stream));
    ok(cudaFree(remote));
    return error;
}

static void kernel_reaches_a_peer_only_with_access(void **state)
{
    (void)state;
    machine_plain();
    assert_int_equal(remote_fill(), cudaErrorIllegalAddress);
    ok(cudaSetDevice(0));
    ok(cudaDeviceEnablePeerAccess(1, 0));
    ok(remote_fill());
    machine_plain();
}

static void chosen_call_fails_with_the_chosen_code(void **state)
{
    (void)state;
    void *memory[3] = {NULL};
    machine("FAKE_CUDA_FAIL=cudaMalloc:2,cudaFree:1=719");
    ok(cudaMalloc(&memory[0], 64));
    assert_int_equal(cudaMalloc(&memory[1], 64), cudaErrorMemoryAllocation);
    ok(cudaMalloc(&memory[2], 64));
    assert_int_equal(cudaFree(memory[0]), cudaErrorLaunchFailure);
    ok(cudaFree(memory[0]));
    ok(cudaFree(memory[2]));
    assert_int_equal(fake_cuda_calls("cudaMalloc"), 3);
    assert_int_equal(fake_cuda_calls(NULL), 6);
    assert_int_equal(fake_cuda_live(), 0);
}

static void any_call_can_be_chosen_by_its_number(void **state)
{
    (void)state;
    int count;
    machine("FAKE_CUDA_FAIL=*:2");
    ok(cudaGetDeviceCount(&count));
    assert_int_equal(cudaSetDevice(0), cudaErrorUnknown);
    ok(cudaSetDevice(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_driver_the_count_is_left_alone),
        cmocka_unit_test(driver_version_is_zero_without_a_driver),
        cmocka_unit_test(hidden_devices_are_not_there),
        cmocka_unit_test(device_that_is_not_there_is_refused),
        cmocka_unit_test(properties_tell_memory_and_identity),
        cmocka_unit_test(attributes_agree_with_properties),
        cmocka_unit_test(device_is_found_by_its_address),
        cmocka_unit_test(device_that_nobody_chose_is_untouched),
        cmocka_unit_test(peer_access_is_enabled_once_and_only_where_possible),
        cmocka_unit_test(kernel_reaches_a_peer_only_with_access),
        cmocka_unit_test(chosen_call_fails_with_the_chosen_code),
        cmocka_unit_test(any_call_can_be_chosen_by_its_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
