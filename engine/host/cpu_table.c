/* The CPU kernels as a table, for a backend of other devices whose /cpu:0 work runs on a thread of its own. */
#include "engine/host/cpu.h"

#include "engine/base/parallel.h"
#include "engine/host/kernel.h"

static enum mgb_status table_kernel(struct mgb_kernel **out,
                                    const struct mgb_kernel_request *request)
{
    return mgb_host_kernel_make(out, &request->use, request->device);
}

static enum mgb_status table_describe(const struct mgb_node_use *use,
                                      struct mgb_operator_facts *out)
{
    struct mgb_kernel *kernel;
    MGB_TRY(mgb_host_kernel_make(&kernel, use, 0));
    *out = kernel->facts;
    mgb_host_kernel_free(kernel);
    return MGB_OK;
}

/* The caller's thread may have any team: a primitive must run with the one it was made for. */
static enum mgb_status table_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    mgb_parallel_set_threads(kernel->use.threads);
    return mgb_host_kernel_run(kernel, launch);
}

const struct mgb_cpu_kernels mgb_host_cpu_kernels = {
    .reduce = mgb_cpu_reduce,
    .norm = mgb_cpu_norm,
    .clip = mgb_cpu_clip,
    .update = mgb_cpu_update,
    .cast = mgb_cpu_cast,
    .merge = mgb_cpu_merge,
    .describe = table_describe,
    .kernel = table_kernel,
    .kernel_free = mgb_host_kernel_free,
    .run = table_run,
};
