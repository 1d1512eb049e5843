/* Requests without their graph, kernels made from them, and the cache that finds them again. */
#include "engine/host/kernel.h"

#include "engine/backend/backend.h"
#include "engine/base/hash.h"
#include "engine/base/memory.h"
#include "engine/base/parallel.h"
#include "engine/host/attributes.h"
#include "engine/host/dnnl_shim.h"
#include <string.h>

static void tensor_copy(struct mgb_host_tensor *to, const struct mgb_graph *graph, int tensor,
                        int64_t rows)
{
    const struct mgb_tensor *from = &graph->tensors[tensor];
    mgb_host_shape_copy(&to->shape, &from->shape);
    to->type = from->type;
    to->batched = from->batched;
    to->count = mgb_shape_count(&from->shape) * (from->batched ? rows : 1);
}

/* Only where something is dropped at random, or by which statistics is normalised. */
static bool training_matters(const struct mgb_node *node)
{
    bool attention = node->kind == MGB_OP_ATTENTION || node->kind == MGB_OP_ATTENTION_GRAD;
    bool batch = node->kind == MGB_OP_BATCH_STATS || node->kind == MGB_OP_BATCH_NORM_GRAD;
    return batch || node->kind == MGB_OP_DROPOUT || (attention && node->a.attention.dropout > 0);
}

static void use_fill(struct mgb_host_use *out, const struct mgb_node_use *use, int device)
{
    const struct mgb_node *node = &use->graph->nodes[use->node];
    memset(out, 0, sizeof *out);
    out->kind = node->kind;
    out->device = device;
    out->threads = use->threads < 1 ? 1 : use->threads;
    out->rows = use->rows;
    out->training = use->training && training_matters(node);
    out->input_count = node->input_count;
    mgb_host_attributes_copy(&out->a, node);
    for (int i = 0; i < node->input_count; i++) {
        tensor_copy(&out->in[i], use->graph, node->inputs[i], use->rows);
        out->in[i].layout = use->in_layout[i];
    }
    for (int i = 0; i < node->output_count; i++) {
        if (node->outputs[i] < 0)
            continue;
        tensor_copy(&out->out[i], use->graph, node->outputs[i], use->rows);
        out->out[i].wanted = true;
        out->plain[i] = use->plain[i];
    }
}

static enum mgb_status use_check(const struct mgb_node_use *use)
{
    const struct mgb_node *node = &use->graph->nodes[use->node];
    if (node->input_count > MGB_MAX_INPUTS)
        return mgb_fail(MGB_UNSUPPORTED,
                        "%s '%s' has %d inputs; a CPU device takes at most %d, so join in steps",
                        mgb_op_name(node->kind), node->name, node->input_count, MGB_MAX_INPUTS);
    if (!mgb_host_attributes_known(node->kind))
        return mgb_fail(MGB_UNSUPPORTED, "%s '%s': a CPU device does not know its attributes",
                        mgb_op_name(node->kind), node->name);
    if (use->rows <= 0)
        return mgb_fail(MGB_INVALID,
                        "%s '%s': asked for %lld rows; an operator runs on at least one",
                        mgb_op_name(node->kind), node->name, (long long)use->rows);
    for (int i = 0; i < node->input_count; i++)
        if (use->in_layout[i] < 0 || use->in_layout[i] >= MGB_LAYOUT_COUNT)
            return mgb_fail(MGB_INVALID,
                            "%s '%s': input %d has layout %d, which no CPU device ever answered",
                            mgb_op_name(node->kind), node->name, i, use->in_layout[i]);
    return MGB_OK;
}

static void facts_preset(struct mgb_kernel *kernel)
{
    kernel->facts.alias = kernel->facts.in_place = -1;
    for (int i = 0; i < MGB_MAX_OUTPUTS; i++) {
        struct mgb_host_tensor *out = &kernel->use.out[i];
        kernel->facts.out_bytes[i] = out->wanted ? out->count * mgb_type_size(out->type) : 0;
    }
}

static enum mgb_status kernel_make(struct mgb_kernel **out, const struct mgb_host_use *use,
                                   const char *name)
{
    const struct mgb_host_op *op = mgb_host_op_find(use->kind);
    if (!op)
        return mgb_fail(MGB_UNSUPPORTED, "%s '%s': CPU devices have no such operator",
                        mgb_op_name(use->kind), name);
    struct mgb_kernel *kernel = mgb_alloc(sizeof *kernel);
    if (!kernel)
        return mgb_fail(MGB_NO_MEMORY, "%s '%s': no memory to prepare it", mgb_op_name(use->kind),
                        name);
    memcpy(&kernel->use, use, sizeof *use); /* bytes between fields too: it is a key */
    kernel->op = op;
    pthread_mutex_init(&kernel->lock, NULL);
    facts_preset(kernel);
    int before = mgb_dnnl_team();
    mgb_parallel_set_threads(use->threads);
    enum mgb_status status = op->make(kernel);
    mgb_parallel_set_threads(before);
    if (status != MGB_OK) {
        mgb_host_kernel_free(kernel);
        return mgb_fail_in(status, "%s '%s'", mgb_op_name(use->kind), name);
    }
    *out = kernel;
    return MGB_OK;
}

enum mgb_status mgb_host_kernel_make(struct mgb_kernel **out, const struct mgb_node_use *use,
                                     int device)
{
    struct mgb_host_use key;
    MGB_TRY(use_check(use));
    use_fill(&key, use, device);
    return kernel_make(out, &key, use->graph->nodes[use->node].name);
}

void mgb_host_kernel_free(struct mgb_kernel *kernel)
{
    if (!kernel)
        return;
    if (kernel->op->done)
        kernel->op->done(kernel);
    pthread_mutex_destroy(&kernel->lock);
    mgb_release(kernel);
}

enum mgb_status mgb_host_kernel_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    pthread_mutex_lock(&kernel->lock);
    enum mgb_status status = kernel->op->run(kernel, launch);
    pthread_mutex_unlock(&kernel->lock);
    return status;
}

enum mgb_status mgb_host_cache_get(struct mgb_kernel_cache *cache, struct mgb_kernel **out,
                                   const struct mgb_node_use *use, int device)
{
    struct mgb_host_use key;
    MGB_TRY(use_check(use));
    use_fill(&key, use, device);
    uint64_t hash = mgb_hash(0, &key, sizeof key);
    struct mgb_kernel **slot = &cache->slot[hash % MGB_KERNEL_SLOTS];
    for (struct mgb_kernel *kernel = *slot; kernel; kernel = kernel->next)
        if (kernel->hash == hash && memcmp(&kernel->use, &key, sizeof key) == 0) {
            *out = kernel;
            return MGB_OK;
        }
    struct mgb_kernel *kernel;
    MGB_TRY(kernel_make(&kernel, &key, use->graph->nodes[use->node].name));
    kernel->hash = hash;
    kernel->next = *slot;
    *out = *slot = kernel;
    return MGB_OK;
}

void mgb_host_cache_done(struct mgb_kernel_cache *cache)
{
    for (int i = 0; i < MGB_KERNEL_SLOTS; i++)
        while (cache->slot[i]) {
            struct mgb_kernel *next = cache->slot[i]->next;
            mgb_host_kernel_free(cache->slot[i]);
            cache->slot[i] = next;
        }
}

int64_t mgb_host_take_workspace(struct mgb_kernel *kernel, int64_t bytes)
{
    int64_t offset = kernel->facts.workspace_bytes;
    kernel->facts.workspace_bytes += (bytes + 63) / 64 * 64;
    return offset;
}

struct mgb_image mgb_host_image(const struct mgb_host_tensor *tensor, int64_t rows)
{
    const struct mgb_shape *shape = &tensor->shape;
    struct mgb_image image = {tensor->batched ? rows : 1, 1, 1};
    if (shape->rank == 3) {
        image.pixels = shape->dim[0] * shape->dim[1];
        image.channels = shape->dim[2];
    } else {
        image.channels = tensor->count / image.rows;
    }
    return image;
}
