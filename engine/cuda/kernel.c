/* Requests without their graph, and the cache of prepared ones. */
#include "engine/cuda/kernel.h"

#include "engine/base/hash.h"
#include "engine/base/memory.h"
#include "engine/cuda/dnn/dnn.h"
#include "engine/cuda/ops/ops.h"
#include "engine/cuda/product.h"
#include <string.h>

static struct mgb_cuda_tensor tensor_of(const struct mgb_graph *graph, int index, int64_t rows)
{
    const struct mgb_tensor *from = &graph->tensors[index];
    struct mgb_cuda_tensor tensor;
    memset(&tensor, 0, sizeof tensor);
    tensor.positions = mgb_shape_count(&from->shape);
    tensor.count = tensor.positions * (from->batched ? rows : 1);
    tensor.last = from->shape.rank > 0 ? from->shape.dim[from->shape.rank - 1] : 1;
    tensor.type = from->type;
    tensor.batched = from->batched;
    tensor.shape.rank = from->shape.rank;
    memcpy(tensor.shape.dim, from->shape.dim, sizeof from->shape.dim[0] * (size_t)from->shape.rank);
    return tensor;
}

static void use_fill(struct mgb_cuda_use *out, const struct mgb_node_use *use, int device)
{
    const struct mgb_node *node = &use->graph->nodes[use->node];
    memset(out, 0, sizeof *out);
    out->kind = node->kind;
    out->device = device;
    out->threads = use->threads;
    out->rows = use->rows;
    out->training = use->training;
    if (mgb_cuda_ops[out->kind] && mgb_cuda_ops[out->kind]->narrow)
        out->precision = use->precision;
    out->input_count = node->input_count;
    memcpy(&out->a, &node->a, sizeof out->a);
    for (int i = 0; i < node->input_count; i++) {
        out->in[i] = tensor_of(use->graph, node->inputs[i], use->rows);
        out->in[i].layout = use->in_layout[i];
    }
    for (int i = 0; i < node->output_count; i++) {
        if (node->outputs[i] < 0)
            continue;
        out->out[i] = tensor_of(use->graph, node->outputs[i], use->rows);
        out->out[i].wanted = true;
        out->out[i].plain = use->plain[i];
    }
}

static enum mgb_status use_check(const struct mgb_cuda *cuda, const struct mgb_node_use *use,
                                 int device)
{
    const struct mgb_node *node = &use->graph->nodes[use->node];
    if (node->input_count > MGB_MAX_INPUTS)
        return mgb_fail(MGB_UNSUPPORTED, "%s '%s' has %d inputs; at most %d",
                        mgb_op_name(node->kind), node->name, node->input_count, MGB_MAX_INPUTS);
    if (device > 0 && !mgb_cuda_ops[node->kind])
        return mgb_fail(MGB_UNSUPPORTED,
                        "%s '%s' on %s: the CUDA backend has no such operator; use --backend host",
                        mgb_op_name(node->kind), node->name, cuda->devices[device].name);
    return MGB_OK;
}

/* An operator's own workspace is followed by what operands are narrowed in and by cuBLAS's, so that its products allocate
 * nothing, also where they are captured, and take no more than was planned. */
static int64_t narrow_begin(int64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static int64_t blas_room(const struct mgb_cuda *cuda, const struct mgb_cuda_use *use,
                         int64_t narrow)
{
    return mgb_cuda_blas_room(cuda->topology->devices[use->device].capability, narrow);
}

/* All tensors plain on GPUs. */
static enum mgb_status gpu_facts(struct mgb_operator_facts *out, const struct mgb_cuda *cuda,
                                 const struct mgb_cuda_op *op, const struct mgb_cuda_use *use)
{
    *out = (struct mgb_operator_facts){.alias = -1, .in_place = -1};
    for (int i = 0; i < MGB_MAX_OUTPUTS; i++)
        if (use->out[i].wanted)
            out->out_bytes[i] = use->out[i].count * mgb_type_size(use->out[i].type);
    if (op->facts)
        MGB_TRY(op->facts(out, use));
    mgb_cuda_dnn_facts(out, cuda, op, use);
    if (!op->narrow)
        return MGB_OK;
    int64_t narrow = op->narrow(use);
    out->workspace_bytes = narrow_begin(out->workspace_bytes) + blas_room(cuda, use, narrow);
    if (mgb_precision_narrow(use->precision))
        out->workspace_bytes += narrow;
    return MGB_OK;
}

enum mgb_status mgb_cuda_arithmetic_set(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                        void *workspace)
{
    queue->arithmetic = (struct mgb_cuda_arithmetic){.precision = kernel->use.precision};
    if (!kernel->op->narrow)
        return MGB_OK;
    int64_t narrow = kernel->op->narrow(&kernel->use);
    int64_t bytes = blas_room(queue->cuda, &kernel->use, narrow);
    char *room = (char *)workspace + kernel->facts.workspace_bytes - bytes;
    if (mgb_precision_narrow(kernel->use.precision)) {
        queue->arithmetic.bytes = narrow;
        queue->arithmetic.narrow = room - narrow;
    }
    return mgb_cuda_blas_room_set(queue, room, bytes);
}

enum mgb_status mgb_cuda_describe(void *context, int device, const struct mgb_node_use *use,
                                  struct mgb_operator_facts *out)
{
    struct mgb_cuda *cuda = context;
    const struct mgb_node *node = &use->graph->nodes[use->node];
    struct mgb_cuda_use wanted;
    MGB_TRY(use_check(cuda, use, device));
    if (device == 0)
        return cuda->cpu.kernels->describe(use, out);
    use_fill(&wanted, use, device);
    enum mgb_status status = gpu_facts(out, cuda, mgb_cuda_ops[node->kind], &wanted);
    return status == MGB_OK ? MGB_OK
                            : mgb_fail_in(status, "%s '%s'", mgb_op_name(node->kind), node->name);
}

static void kernel_free(struct mgb_cuda *cuda, struct mgb_kernel *kernel)
{
    if (kernel->cpu)
        cuda->cpu.kernels->kernel_free(kernel->cpu);
    mgb_cuda_dnn_kernel_done(kernel);
    mgb_release(kernel);
}

static enum mgb_status kernel_make(struct mgb_cuda *cuda, struct mgb_kernel **out,
                                   const struct mgb_kernel_request *request,
                                   const struct mgb_cuda_use *use)
{
    struct mgb_kernel *kernel = mgb_alloc(sizeof *kernel);
    if (!kernel)
        return mgb_fail(MGB_NO_MEMORY, "no memory to prepare %s", mgb_op_name(use->kind));
    memcpy(&kernel->use, use, sizeof *use);
    kernel->facts = request->facts;
    kernel->name = mgb_op_name(use->kind);
    enum mgb_status status = MGB_OK;
    if (request->device == 0) {
        status = cuda->cpu.kernels->kernel(&kernel->cpu, request);
    } else {
        kernel->op = mgb_cuda_ops[use->kind];
        kernel->start = kernel->op->start;
        status = gpu_facts(&kernel->facts, cuda, kernel->op, use);
        if (status == MGB_OK)
            status = mgb_cuda_dnn_choose(cuda, kernel);
    }
    if (status != MGB_OK) {
        kernel_free(cuda, kernel);
        return status;
    }
    *out = kernel;
    return MGB_OK;
}

enum mgb_status mgb_cuda_kernel(void *context, struct mgb_kernel **out,
                                const struct mgb_kernel_request *request)
{
    struct mgb_cuda *cuda = context;
    struct mgb_cuda_use use;
    MGB_TRY(use_check(cuda, &request->use, request->device));
    use_fill(&use, &request->use, request->device);
    uint64_t hash = mgb_hash(0, &use, sizeof use);
    struct mgb_kernel **slot =
        &cuda->kernels[hash % (sizeof cuda->kernels / sizeof cuda->kernels[0])];
    for (struct mgb_kernel *kernel = *slot; kernel; kernel = kernel->next)
        if (kernel->hash == hash && memcmp(&kernel->use, &use, sizeof use) == 0) {
            *out = kernel;
            return MGB_OK;
        }
    struct mgb_kernel *kernel = NULL;
    MGB_TRY(kernel_make(cuda, &kernel, request, &use));
    kernel->hash = hash;
    kernel->next = *slot;
    *out = *slot = kernel;
    return MGB_OK;
}

void mgb_cuda_kernels_done(struct mgb_cuda *cuda)
{
    for (size_t i = 0; i < sizeof cuda->kernels / sizeof cuda->kernels[0]; i++)
        while (cuda->kernels[i]) {
            struct mgb_kernel *next = cuda->kernels[i]->next;
            kernel_free(cuda, cuda->kernels[i]);
            cuda->kernels[i] = next;
        }
}
