/* Work on queues: CUDA calls and kernels for GPUs, jobs for /cpu:0. */
#include "engine/cuda/queue.h"

#include "engine/cuda/kernel.h"

static enum mgb_status job_begin(struct mgb_cuda_job **out, struct mgb_queue *queue,
                                 enum mgb_cuda_job_kind kind, const char *what)
{
    MGB_TRY(mgb_cuda_begin(queue, what));
    *out = mgb_cuda_job_make(&queue->cuda->cpu);
    if (!*out)
        return mgb_fail(MGB_NO_MEMORY, "%s on /cpu:0: no memory for the job", what);
    (*out)->kind = kind;
    (*out)->threads = queue->request.threads;
    return MGB_OK;
}

static enum mgb_status job_end(struct mgb_queue *queue, struct mgb_cuda_job *job)
{
    MGB_CUDA_TRY(queue->cuda, cudaLaunchHostFunc(queue->stream, mgb_cuda_job_run, job));
    return MGB_OK;
}

enum mgb_status mgb_cuda_launch(struct mgb_queue *queue, struct mgb_kernel *kernel,
                                const struct mgb_launch *launch)
{
    if (!queue->on_cpu) {
        MGB_TRY(mgb_cuda_begin(queue, kernel->name));
        MGB_TRY(mgb_cuda_arithmetic_set(queue, kernel, launch->workspace));
        return kernel->start(queue, kernel, launch);
    }
    struct mgb_cuda_job *job;
    MGB_TRY(job_begin(&job, queue, MGB_CUDA_JOB_LAUNCH, kernel->name));
    job->launch.kernel = kernel->cpu;
    job->launch.launch = *launch;
    return job_end(queue, job);
}

enum mgb_status mgb_cuda_copy(struct mgb_queue *queue, void *to, const void *from, int64_t bytes)
{
    if (bytes == 0)
        return MGB_OK;
    if (!queue->on_cpu) {
        MGB_TRY(mgb_cuda_begin(queue, "a copy"));
        MGB_CUDA_TRY(queue->cuda,
                     cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDefault, queue->stream));
        return MGB_OK;
    }
    /* Between two places of the host CUDA copies at once, out of order with the stream. */
    struct mgb_cuda_job *job;
    MGB_TRY(job_begin(&job, queue, MGB_CUDA_JOB_COPY, "a copy"));
    job->copy.to = to;
    job->copy.from = from;
    job->copy.bytes = bytes;
    return job_end(queue, job);
}

enum mgb_status mgb_cuda_fill(struct mgb_queue *queue, void *to, int64_t bytes)
{
    if (bytes == 0)
        return MGB_OK;
    if (!queue->on_cpu) {
        MGB_TRY(mgb_cuda_begin(queue, "a fill"));
        MGB_CUDA_TRY(queue->cuda, cudaMemsetAsync(to, 0, (size_t)bytes, queue->stream));
        return MGB_OK;
    }
    struct mgb_cuda_job *job;
    MGB_TRY(job_begin(&job, queue, MGB_CUDA_JOB_FILL, "a fill"));
    job->copy.to = to;
    job->copy.bytes = bytes;
    return job_end(queue, job);
}

enum mgb_status mgb_cuda_start_quads(struct mgb_queue *queue, const void *kernel, int64_t count,
                                     void *args)
{
    return mgb_cuda_start(queue, kernel, mgb_cuda_blocks((count + 3) / 4, 256), 256, args);
}

/* Sixteen sources a launch; the sum so far is the first source of the next launch. */
static enum mgb_status gpu_reduce(struct mgb_queue *queue, float *to, const float *const *sources,
                                  int source_count, int64_t count)
{
    MGB_TRY(mgb_cuda_begin(queue, "a sum"));
    int done = 0;
    while (done < source_count) {
        struct mgb_gpu_sum_args args = {.to = to, .count = count};
        if (done > 0)
            args.from[args.sources++] = to;
        while (args.sources < 16 && done < source_count)
            args.from[args.sources++] = sources[done++];
        MGB_TRY(mgb_cuda_start_quads(queue, (const void *)mgb_gpu_sum, count, &args));
    }
    return MGB_OK;
}

static enum mgb_status cpu_sum(struct mgb_queue *queue, enum mgb_cuda_job_kind kind,
                               const char *what, const struct mgb_cuda_job *wanted)
{
    struct mgb_cuda_job *job;
    MGB_TRY(job_begin(&job, queue, kind, what));
    job->sum = wanted->sum;
    return job_end(queue, job);
}

enum mgb_status mgb_cuda_reduce(struct mgb_queue *queue, float *to, const float *const *sources,
                                int source_count, int64_t count)
{
    if (!queue->on_cpu)
        return gpu_reduce(queue, to, sources, source_count, count);
    struct mgb_cuda_job job = {
        .sum = {.to = to, .sources = sources, .source_count = source_count, .count = count}};
    return cpu_sum(queue, MGB_CUDA_JOB_REDUCE, "a sum", &job);
}

enum mgb_status mgb_cuda_merge(struct mgb_queue *queue, float *mean, float *variance,
                               const float *const *sources, const int64_t *rows, int towers,
                               int64_t count)
{
    struct mgb_cuda_job *job;
    if (!queue->on_cpu)
        return mgb_cuda_gpu_merge(queue, mean, variance, sources, rows, towers, count);
    MGB_TRY(job_begin(&job, queue, MGB_CUDA_JOB_MERGE, "a merge of statistics"));
    job->merge.mean = mean;
    job->merge.variance = variance;
    job->merge.sources = sources;
    job->merge.rows = rows;
    job->merge.towers = towers;
    job->merge.count = count;
    return job_end(queue, job);
}

enum mgb_status mgb_cuda_norm(struct mgb_queue *queue, float *to, const float *const *sources,
                              const int64_t *counts, int source_count)
{
    if (queue->on_cpu) {
        struct mgb_cuda_job job = {
            .sum = {.to = to, .sources = sources, .counts = counts, .source_count = source_count}};
        return cpu_sum(queue, MGB_CUDA_JOB_NORM, "a norm", &job);
    }
    MGB_TRY(mgb_cuda_begin(queue, "a norm"));
    return mgb_cuda_many_norm(queue, to, sources, counts, source_count);
}

enum mgb_status mgb_cuda_clip(struct mgb_queue *queue, float *to, const float *const *sources,
                              const int64_t *counts, int source_count, struct mgb_clip clip)
{
    if (queue->on_cpu) {
        struct mgb_cuda_job job = {.sum = {.to = to,
                                           .sources = sources,
                                           .counts = counts,
                                           .source_count = source_count,
                                           .clip = clip}};
        return cpu_sum(queue, MGB_CUDA_JOB_CLIP, "clipping", &job);
    }
    MGB_TRY(mgb_cuda_begin(queue, "clipping"));
    return mgb_cuda_many_clip(queue, to, sources, counts, source_count, clip);
}

enum mgb_status mgb_cuda_cast(struct mgb_queue *queue, void *to, const void *from, int64_t count,
                              enum mgb_wire_type type, enum mgb_cast way)
{
    struct mgb_cuda_job *job;
    if (!queue->on_cpu) {
        struct mgb_gpu_cast_args args = {.to = to,
                                         .from = from,
                                         .count = count,
                                         .brain = type == MGB_WIRE_BF16,
                                         .narrow = way != MGB_CAST_WIDEN,
                                         .widen = way != MGB_CAST_NARROW};
        MGB_TRY(mgb_cuda_begin(queue, "a cast"));
        return mgb_cuda_start_quads(queue, (const void *)mgb_gpu_cast, count, &args);
    }
    MGB_TRY(job_begin(&job, queue, MGB_CUDA_JOB_CAST, "a cast"));
    job->cast.to = to;
    job->cast.from = from;
    job->cast.count = count;
    job->cast.type = type;
    job->cast.way = way;
    return job_end(queue, job);
}

enum mgb_status mgb_cuda_update(struct mgb_queue *queue, const struct mgb_update *update)
{
    struct mgb_cuda_job *job;
    if (!queue->on_cpu) {
        MGB_TRY(mgb_cuda_begin(queue, "an update"));
        return mgb_cuda_many_update(queue, update);
    }
    MGB_TRY(job_begin(&job, queue, MGB_CUDA_JOB_UPDATE, "an update"));
    job->update = *update;
    return job_end(queue, job);
}
