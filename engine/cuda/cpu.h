/* Work of /cpu:0: CPU kernels that a stream runs in order with everything else. A host function in the stream hands a job
 * to the CPU's own thread (whose team of threads is the device's) and waits for it; neither makes a CUDA call.
 *
 * Jobs come from blocks that live until close and are used anew after each drain, so that a step allocates nothing; those of
 * a step that is kept to be replayed live as long as it does. */
#ifndef MGB_CUDA_CPU_H
#define MGB_CUDA_CPU_H

#include "engine/backend/backend.h"
#include <pthread.h>

enum mgb_cuda_job_kind {
    MGB_CUDA_JOB_LAUNCH,
    MGB_CUDA_JOB_COPY,
    MGB_CUDA_JOB_FILL,
    MGB_CUDA_JOB_REDUCE,
    MGB_CUDA_JOB_NORM,
    MGB_CUDA_JOB_CLIP,
    MGB_CUDA_JOB_UPDATE,
    MGB_CUDA_JOB_CAST,
    MGB_CUDA_JOB_MERGE,
};

struct mgb_cuda_job {
    enum mgb_cuda_job_kind kind;
    struct mgb_cuda_cpu *cpu;
    int threads;
    union {
        struct {
            struct mgb_kernel *kernel;
            struct mgb_launch launch;
        } launch;
        struct {
            void *to;
            const void *from;
            int64_t bytes;
        } copy; /* fill too */
        struct {
            void *to;
            const void *from;
            int64_t count;
            enum mgb_wire_type type;
            enum mgb_cast way;
        } cast;
        struct { /* reduce, norm, clip */
            float *to;
            const float *const *sources;
            const int64_t *counts;
            int64_t count;
            int source_count;
            struct mgb_clip clip;
        } sum;
        struct {
            float *mean, *variance;
            const float *const *sources;
            const int64_t *rows;
            int towers;
            int64_t count;
        } merge;
        struct mgb_update update;
    };
};

#define MGB_CUDA_JOB_BLOCK 256
struct mgb_cuda_job_block {
    struct mgb_cuda_job_block *next;
    struct mgb_cuda_job jobs[MGB_CUDA_JOB_BLOCK];
};

struct mgb_cuda_jobs { /* zeros: none */
    struct mgb_cuda_job_block *blocks, *filling;
    int filled; /* jobs of `filling` in use */
};

struct mgb_cuda_fault;

struct mgb_cuda_cpu {
    const struct mgb_cpu_kernels *kernels;
    struct mgb_cuda_fault *fault; /* pinned, the context's */
    struct mgb_cuda_jobs step_jobs;
    struct mgb_cuda_jobs
        *jobs; /* that a new job is one of: the step's, or those of a step that is kept */
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    struct mgb_cuda_job *job; /* handed over, not yet done */
    bool stop;
    enum mgb_status status; /* the first failure since the last drain, with its message */
    struct mgb_oom oom;
    char message[1024];
};

enum mgb_status mgb_cuda_cpu_start(struct mgb_cuda_cpu *cpu);
void mgb_cuda_cpu_stop(struct mgb_cuda_cpu *cpu);
/* A job of `jobs` to fill in; NULL when the heap is exhausted. Borrowed until they are reset or done. */
struct mgb_cuda_job *mgb_cuda_job_make(struct mgb_cuda_cpu *cpu);
/* All jobs of the step are done: their memory may be used anew. */
void mgb_cuda_cpu_reset(struct mgb_cuda_cpu *cpu);
void mgb_cuda_jobs_done(struct mgb_cuda_jobs *jobs);
/* The first failure since the last call, left as this thread's message, and clears it. */
enum mgb_status mgb_cuda_cpu_failure(struct mgb_cuda_cpu *cpu);
/* What the stream calls, with a job. */
void mgb_cuda_job_run(void *job);

#endif
