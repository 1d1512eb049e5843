/* Times of an operator on zeros: both implementations do the same work whatever the numbers are. */
#include "engine/cuda/dnn/measure.h"

#include "engine/cuda/queue.h"

#define ROUNDS 5
#define ALIGNMENT 256 /* bytes, of operands */

struct bench {
    struct mgb_queue *queue;
    const struct mgb_kernel *kernel;
    char *memory; /* of all operands */
    cudaEvent_t begin, end;
    void *inputs[MGB_MAX_INPUTS], *outputs[MGB_MAX_OUTPUTS];
    struct mgb_step_values values;
    struct mgb_launch launch;
};

typedef enum mgb_status start_function(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                       const struct mgb_launch *launch);

/* Where an operand of so many bytes goes. */
static int64_t operand_place(int64_t *used, int64_t bytes)
{
    int64_t at = *used;
    *used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

/* Offsets from `memory`, which may be NULL to ask for the bytes alone. */
static int64_t operands_place(struct bench *bench)
{
    const struct mgb_cuda_use *use = &bench->kernel->use;
    const struct mgb_operator_facts *facts = &bench->kernel->facts;
    int64_t used = 0;
    for (int i = 0; i < use->input_count; i++) {
        int64_t at = operand_place(&used, use->in[i].count * mgb_type_size(use->in[i].type));
        bench->inputs[i] = bench->memory ? bench->memory + at : NULL;
    }
    for (int i = 0; i < MGB_MAX_OUTPUTS; i++) {
        int64_t at = use->out[i].wanted ? operand_place(&used, facts->out_bytes[i]) : 0;
        bench->outputs[i] = bench->memory && use->out[i].wanted ? bench->memory + at : NULL;
    }
    int64_t at = operand_place(&used, facts->workspace_bytes);
    bench->launch = (struct mgb_launch){.inputs = bench->inputs,
                                        .outputs = bench->outputs,
                                        .workspace = bench->memory ? bench->memory + at : NULL,
                                        .scale = 1.0f,
                                        .values = &bench->values};
    return used;
}

static enum mgb_status bench_fill(struct bench *bench)
{
    struct mgb_cuda *cuda = bench->queue->cuda;
    size_t bytes = (size_t)operands_place(bench);
    MGB_TRY(mgb_cuda_begin(bench->queue, bench->kernel->name));
    MGB_CUDA_TRY(cuda, cudaEventCreate(&bench->begin));
    MGB_CUDA_TRY(cuda, cudaEventCreate(&bench->end));
    MGB_CUDA_TRY(cuda, cudaMalloc((void **)&bench->memory, bytes));
    (void)operands_place(bench);
    MGB_CUDA_TRY(cuda, cudaMemsetAsync(bench->memory, 0, bytes, bench->queue->stream));
    return MGB_OK;
}

static void bench_done(struct bench *bench)
{
    if (bench->memory)
        cudaFree(bench->memory);
    if (bench->begin)
        cudaEventDestroy(bench->begin);
    if (bench->end)
        cudaEventDestroy(bench->end);
}

static enum mgb_status round_time(int64_t *ns, struct bench *bench, start_function *start)
{
    struct mgb_queue *queue = bench->queue;
    float ms = 0;
    MGB_TRY(mgb_cuda_arithmetic_set(queue, bench->kernel, bench->launch.workspace));
    MGB_CUDA_TRY(queue->cuda, cudaEventRecord(bench->begin, queue->stream));
    MGB_TRY(start(queue, bench->kernel, &bench->launch));
    MGB_CUDA_TRY(queue->cuda, cudaEventRecord(bench->end, queue->stream));
    MGB_CUDA_TRY(queue->cuda, cudaStreamSynchronize(queue->stream));
    MGB_CUDA_TRY(queue->cuda, cudaEventElapsedTime(&ms, bench->begin, bench->end));
    *ns = (int64_t)((double)ms * 1e6);
    return MGB_OK;
}

/* The first round warms up. */
static enum mgb_status least_time(int64_t *least, struct bench *bench, start_function *start)
{
    int64_t ns;
    MGB_TRY(round_time(least, bench, start));
    MGB_TRY(round_time(least, bench, start));
    for (int i = 1; i < ROUNDS; i++) {
        MGB_TRY(round_time(&ns, bench, start));
        *least = ns < *least ? ns : *least;
    }
    return MGB_OK;
}

enum mgb_status mgb_cuda_dnn_measure(struct mgb_cuda_dnn_times *out, struct mgb_queue *queue,
                                     const struct mgb_kernel *kernel)
{
    struct bench bench = {.queue = queue, .kernel = kernel};
    enum mgb_status status = bench_fill(&bench);
    if (status == MGB_OK)
        status = least_time(&out->first_ns, &bench, kernel->op->start);
    if (status == MGB_OK)
        status = least_time(&out->second_ns, &bench, kernel->op->second->start);
    bench_done(&bench);
    return status;
}
