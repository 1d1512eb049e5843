/* Operations that never end, and operations after which a device is lost. */
#include "tests/fake_cuda/fake.h"

struct hang_op {
    struct fake_op op;
    const atomic_int *until; /* or NULL */
    int begun;               /* `ends` at the call */
};

struct fault_op {
    struct fake_op op;
    int device, fault;
};

static atomic_int looks, ends; /* grow; `looks` is what hanging streams sleep on */

static void hang_run(struct fake_op *op)
{
    const struct hang_op *hang = (const struct hang_op *)op;
    for (;;) {
        int seen = atomic_load(&looks);
        if (atomic_load(&ends) != hang->begun || (hang->until && atomic_load(hang->until)))
            return;
        fake_futex_wait(&looks, seen);
    }
}

static void fault_run(struct fake_op *op)
{
    const struct fault_op *fault = (const struct fault_op *)op;
    atomic_store(&fake_device_get(fault->device)->fault, fault->fault);
}

struct fake_op *fake_hang_make(const atomic_int *until)
{
    struct hang_op *hang = fake_allocate(sizeof *hang);
    *hang = (struct hang_op){.op.run = hang_run, .until = until, .begun = atomic_load(&ends)};
    return &hang->op;
}

struct fake_op *fake_fault_make(int device, int fault)
{
    struct fault_op *it = fake_allocate(sizeof *it);
    *it = (struct fault_op){.op.run = fault_run, .device = device, .fault = fault};
    return &it->op;
}

void fake_hangs_look(void)
{
    atomic_fetch_add(&looks, 1);
    fake_futex_wake(&looks);
}

void fake_hangs_end(void)
{
    atomic_fetch_add(&ends, 1);
    fake_hangs_look();
}
