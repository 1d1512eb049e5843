/* Memory: poison, limits that are real, and copies that say where their ends lie. */
#include "tests/fake_cuda/support.h"

#include <math.h>

static void fresh_memory_is_not_a_number(void **state)
{
    (void)state;
    machine_plain();
    float *pinned;
    float host[8] = {0};
    float *memory = floats_make_on(0, 8);
    ok(cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost));
    ok(cudaMallocHost((void **)&pinned, sizeof host));
    for (int i = 0; i < 8; i++) {
        assert_true(isnan(host[i]));
        assert_true(isnan(pinned[i]));
    }
    ok(cudaFreeHost(pinned));
    ok(cudaFree(memory));
}

static void memory_of_a_device_is_limited_and_accounted(void **state)
{
    (void)state;
    machine("FAKE_CUDA_MEMORY=1M,64K");
    void *half;
    void *more;
    size_t free_bytes;
    size_t total;
    ok(cudaSetDevice(0));
    ok(cudaMalloc(&half, 512 << 10));
    ok(cudaMemGetInfo(&free_bytes, &total));
    assert_int_equal(total, 1 << 20);
    assert_int_equal(free_bytes, 512 << 10);
    assert_int_equal(cudaMalloc(&more, (512 << 10) + 1), cudaErrorMemoryAllocation);
    assert_null(more);
    ok(cudaMalloc(&more, 512 << 10));
    ok(cudaFree(half));
    ok(cudaFree(more));
    ok(cudaSetDevice(1));
    assert_int_equal(cudaMalloc(&more, 65 << 10), cudaErrorMemoryAllocation);
    assert_int_equal(fake_cuda_usage_get(0).bytes, 0);
    assert_int_equal(fake_cuda_usage_get(0).peak_bytes, 1 << 20);
}

static void small_blocks_are_charged_as_the_device_rounds(void **state)
{
    (void)state;
    machine_plain();
    void *memory;
    ok(cudaMalloc(&memory, 1));
    assert_int_equal(fake_cuda_usage_get(0).bytes, 512);
    ok(cudaFree(memory));
}

static void address_that_was_not_allocated_cannot_be_freed(void **state)
{
    (void)state;
    machine_plain();
    char *memory;
    void *pinned;
    ok(cudaMalloc((void **)&memory, 64));
    ok(cudaMallocHost(&pinned, 64));
    assert_int_equal(cudaFree(memory + 4), cudaErrorInvalidValue);
    assert_int_equal(cudaFree(pinned), cudaErrorInvalidValue);
    assert_int_equal(cudaFreeHost(memory), cudaErrorInvalidValue);
    ok(cudaFree(memory));
    assert_int_equal(cudaFree(memory), cudaErrorInvalidValue);
    ok(cudaFreeHost(pinned));
    ok(cudaFree(NULL));
    assert_int_equal(fake_cuda_live(), 0);
}

static void copies_move_values_between_host_and_devices(void **state)
{
    (void)state;
    machine_plain();
    float from[4] = {1, 2, 3, 4};
    float to[4] = {0};
    cudaStream_t stream = stream_make_on(0);
    float *first = floats_make_on(0, 4);
    float *second = floats_make_on(1, 4);
    ok(cudaMemcpyAsync(first, from, sizeof from, cudaMemcpyHostToDevice, stream));
    ok(cudaMemcpyPeerAsync(second, 1, first, 0, sizeof from, stream));
    ok(cudaMemsetAsync(second + 3, 0, sizeof(float), stream));
    ok(cudaMemcpyAsync(to, second, sizeof to, cudaMemcpyDefault, stream));
    ok(cudaStreamSynchronize(stream));
    assert_int_equal((int)to[0], 1);
    assert_int_equal((int)to[2], 3);
    assert_int_equal((int)to[3], 0);
    ok(cudaStreamDestroy(stream));
    ok(cudaFree(first));
    ok(cudaFree(second));
}

static void copy_with_an_end_elsewhere_is_refused(void **state)
{
    (void)state;
    machine_plain();
    float host[4] = {0};
    size_t bytes = sizeof host;
    cudaStream_t stream = stream_make_on(0);
    float *first = floats_make_on(0, 4);
    float *second = floats_make_on(1, 4);
    int refused = cudaErrorInvalidValue;
    assert_int_equal(cudaMemcpyAsync(host, first, bytes, cudaMemcpyHostToDevice, stream), refused);
    assert_int_equal(cudaMemcpyAsync(first, host, bytes, cudaMemcpyDeviceToDevice, stream),
                     refused);
    assert_int_equal(cudaMemcpyAsync(first + 1, host, bytes, cudaMemcpyDefault, stream), refused);
    assert_int_equal(cudaMemcpyPeerAsync(second, 0, first, 1, bytes, stream), refused);
    assert_int_equal(cudaMemsetAsync(host, 0, bytes, stream), refused);
    assert_int_equal(cudaMemcpyPeerAsync(second, 5, first, 0, bytes, stream),
                     cudaErrorInvalidDevice);
    ok(cudaStreamDestroy(stream));
    ok(cudaFree(first));
    ok(cudaFree(second));
}

static void pointer_tells_where_it_lies(void **state)
{
    (void)state;
    machine_plain();
    struct cudaPointerAttributes attributes;
    float host;
    float *memory = floats_make_on(1, 4);
    ok(cudaPointerGetAttributes(&attributes, memory + 1));
    assert_int_equal(attributes.type, cudaMemoryTypeDevice);
    assert_int_equal(attributes.device, 1);
    ok(cudaPointerGetAttributes(&attributes, &host));
    assert_int_equal(attributes.type, cudaMemoryTypeUnregistered);
    ok(cudaFree(memory));
}

static void host_memory_is_registered_once_and_keeps_its_content(void **state)
{
    (void)state;
    machine_plain();
    float host[16] = {7.0f};
    void *pointer;
    struct cudaPointerAttributes attributes;
    ok(cudaHostRegister(host, sizeof host, cudaHostRegisterPortable));
    assert_int_equal((int)host[0], 7);
    assert_int_equal(cudaHostRegister(host + 8, 4, 0), cudaErrorHostMemoryAlreadyRegistered);
    ok(cudaPointerGetAttributes(&attributes, host + 1));
    assert_int_equal(attributes.type, cudaMemoryTypeHost);
    ok(cudaHostGetDevicePointer(&pointer, host + 2, 0));
    assert_ptr_equal(pointer, host + 2);
    assert_int_equal(cudaFreeHost(host), cudaErrorInvalidValue);
    assert_int_equal(fake_cuda_live(), 1);
    ok(cudaHostUnregister(host));
    assert_int_equal(cudaHostUnregister(host), cudaErrorHostMemoryNotRegistered);
    assert_int_equal(cudaHostGetDevicePointer(&pointer, host, 0), cudaErrorInvalidValue);
    assert_int_equal(fake_cuda_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fresh_memory_is_not_a_number),
        cmocka_unit_test(memory_of_a_device_is_limited_and_accounted),
        cmocka_unit_test(small_blocks_are_charged_as_the_device_rounds),
        cmocka_unit_test(address_that_was_not_allocated_cannot_be_freed),
        cmocka_unit_test(copies_move_values_between_host_and_devices),
        cmocka_unit_test(copy_with_an_end_elsewhere_is_refused),
        cmocka_unit_test(pointer_tells_where_it_lies),
        cmocka_unit_test(host_memory_is_registered_once_and_keeps_its_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
