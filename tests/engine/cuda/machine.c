/* Environment of the fake runtime, and the backend's entry called without a plugin. */
#include "tests/engine/cuda/machine.h"

#include "engine/base/memory.h"
#include "tests/fake_cuda/fake_cuda.h"
#include "tests/support/check.h"
#include <stdlib.h>

const struct mgb_backend *cuda_entry(const struct mgb_cpu_kernels *cpu) __asm__(MGB_CUDA_ENTRY);

static const int *logical;
static int logical_count;

void machine_set(const char *gpus, const char *fail)
{
    static const char *const others[] = {"FAKE_CUDA_FAIL", "FAKE_CUDA_INIT", "FAKE_CUDA_PEER",
                                         "CUDA_VISIBLE_DEVICES"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        unsetenv(others[i]);
    setenv("FAKE_CUDA_DEVICES", gpus, 1);
    setenv("FAKE_CUDA_MEMORY", "64M", 1);
    if (fail)
        setenv("FAKE_CUDA_FAIL", fail, 1);
    fake_cuda_reset();
}

const struct mgb_backend *machine_cuda(void)
{
    return cuda_entry(&mgb_host_cpu_kernels);
}

static enum mgb_status logical_probe(struct mgb_topology *out)
{
    struct mgb_topology found;
    MGB_TRY(machine_cuda()->probe(&found));
    *out = (struct mgb_topology){.machine = "logical", .device_count = logical_count + 1};
    out->devices = mgb_alloc(sizeof *out->devices * (size_t)(logical_count + 1));
    assert_non_null(out->devices);
    out->devices[0] = found.devices[0];
    for (int i = 0; i < logical_count; i++) {
        out->devices[i + 1] = found.devices[logical[i] + 1];
        out->devices[i + 1].name.index = i;
    }
    mgb_topology_done(&found);
    return MGB_OK;
}

const struct mgb_backend *machine_logical(const int *physical, int count)
{
    static struct mgb_backend backend;
    backend = *machine_cuda();
    backend.probe = logical_probe;
    logical = physical;
    logical_count = count;
    return &backend;
}

void machine_check_empty(void)
{
    assert_int_equal(fake_cuda_live(), 0);
}
