/* The CPU's own thread and the jobs that streams hand to it. No CUDA call is made in this file. */
#include "engine/cuda/cpu.h"

#include <mgb/thread.h>

#include "engine/base/memory.h"
#include "engine/base/parallel.h"
#include "engine/cuda/fault.h"
#include <stdio.h>
#include <string.h>

static enum mgb_status job_perform(const struct mgb_cuda_job *job)
{
    const struct mgb_cpu_kernels *kernels = job->cpu->kernels;
    switch (job->kind) {
    case MGB_CUDA_JOB_LAUNCH:
        return kernels->run(job->launch.kernel, &job->launch.launch);
    case MGB_CUDA_JOB_COPY:
        memcpy(job->copy.to, job->copy.from, (size_t)job->copy.bytes);
        return MGB_OK;
    case MGB_CUDA_JOB_FILL:
        memset(job->copy.to, 0, (size_t)job->copy.bytes);
        return MGB_OK;
    case MGB_CUDA_JOB_REDUCE:
        kernels->reduce(job->sum.to, job->sum.sources, job->sum.source_count, job->sum.count);
        return MGB_OK;
    case MGB_CUDA_JOB_NORM:
        kernels->norm(job->sum.to, job->sum.sources, job->sum.counts, job->sum.source_count);
        return MGB_OK;
    case MGB_CUDA_JOB_CLIP:
        kernels->clip(job->sum.to, job->sum.sources, job->sum.counts, job->sum.source_count,
                      job->sum.clip);
        return MGB_OK;
    case MGB_CUDA_JOB_UPDATE:
        kernels->update(&job->update);
        return MGB_OK;
    case MGB_CUDA_JOB_CAST:
        kernels->cast(job->cast.to, job->cast.from, job->cast.count, job->cast.type, job->cast.way);
        return MGB_OK;
    case MGB_CUDA_JOB_MERGE:
        kernels->merge(job->merge.mean, job->merge.variance, job->merge.sources, job->merge.rows,
                       job->merge.towers, job->merge.count);
        return MGB_OK;
    }
    return MGB_STATE;
}

static void failure_keep(struct mgb_cuda_cpu *cpu, enum mgb_status status)
{
    cpu->status = status;
    cpu->oom = mgb_oom_get();
    snprintf(cpu->message, sizeof cpu->message, "%s", mgb_message_get());
    if (cpu->fault)
        (void)MGB_CUDA_CLAIM(&cpu->fault->code, MGB_CUDA_FAULT_CPU);
}

/* After a failure, here or on a GPU that this job comes after, the rest is skipped. */
static void job_try(struct mgb_cuda_cpu *cpu, const struct mgb_cuda_job *job)
{
    if (cpu->status != MGB_OK ||
        (cpu->fault && MGB_CUDA_PEEK(&cpu->fault->code) != MGB_CUDA_FAULT_NONE))
        return;
    mgb_parallel_set_threads(job->threads < 1 ? 1 : job->threads);
    enum mgb_status status = job_perform(job);
    if (status != MGB_OK)
        failure_keep(cpu, status);
}

static void *cpu_main(void *context)
{
    struct mgb_cuda_cpu *cpu = context;
    pthread_mutex_lock(&cpu->lock);
    for (;;) {
        while (!cpu->job && !cpu->stop)
            pthread_cond_wait(&cpu->changed, &cpu->lock);
        if (!cpu->job)
            break;
        job_try(cpu, cpu->job);
        cpu->job = NULL;
        pthread_cond_broadcast(&cpu->changed);
    }
    pthread_mutex_unlock(&cpu->lock);
    return NULL;
}

void mgb_cuda_job_run(void *context)
{
    struct mgb_cuda_job *job = context;
    struct mgb_cuda_cpu *cpu = job->cpu;
    pthread_mutex_lock(&cpu->lock);
    while (cpu->job)
        pthread_cond_wait(&cpu->changed, &cpu->lock);
    cpu->job = job;
    pthread_cond_broadcast(&cpu->changed);
    while (cpu->job == job)
        pthread_cond_wait(&cpu->changed, &cpu->lock);
    pthread_mutex_unlock(&cpu->lock);
}

enum mgb_status mgb_cuda_cpu_start(struct mgb_cuda_cpu *cpu)
{
    cpu->jobs = &cpu->step_jobs;
    pthread_mutex_init(&cpu->lock, NULL);
    pthread_cond_init(&cpu->changed, NULL);
    if (mgb_thread_start(&cpu->thread, "cpu:0", cpu_main, cpu) != 0) {
        pthread_cond_destroy(&cpu->changed);
        pthread_mutex_destroy(&cpu->lock);
        return mgb_fail(
            MGB_NO_MEMORY,
            "the thread of /cpu:0 could not be started: too many threads or too little memory");
    }
    cpu->started = true;
    return MGB_OK;
}

void mgb_cuda_cpu_stop(struct mgb_cuda_cpu *cpu)
{
    if (cpu->started) {
        pthread_mutex_lock(&cpu->lock);
        cpu->stop = true;
        pthread_cond_broadcast(&cpu->changed);
        pthread_mutex_unlock(&cpu->lock);
        pthread_join(cpu->thread, NULL);
        pthread_cond_destroy(&cpu->changed);
        pthread_mutex_destroy(&cpu->lock);
        cpu->started = false;
    }
    mgb_cuda_jobs_done(&cpu->step_jobs);
}

void mgb_cuda_jobs_done(struct mgb_cuda_jobs *jobs)
{
    while (jobs->blocks) {
        struct mgb_cuda_job_block *next = jobs->blocks->next;
        mgb_release(jobs->blocks);
        jobs->blocks = next;
    }
    *jobs = (struct mgb_cuda_jobs){0};
}

static bool block_next(struct mgb_cuda_jobs *jobs)
{
    struct mgb_cuda_job_block *next = jobs->filling ? jobs->filling->next : jobs->blocks;
    if (!next) {
        next = mgb_alloc(sizeof *next);
        if (!next)
            return false;
        if (jobs->filling)
            jobs->filling->next = next;
        else
            jobs->blocks = next;
    }
    jobs->filling = next;
    jobs->filled = 0;
    return true;
}

struct mgb_cuda_job *mgb_cuda_job_make(struct mgb_cuda_cpu *cpu)
{
    struct mgb_cuda_jobs *jobs = cpu->jobs;
    if ((!jobs->filling || jobs->filled == MGB_CUDA_JOB_BLOCK) && !block_next(jobs))
        return NULL;
    struct mgb_cuda_job *job = &jobs->filling->jobs[jobs->filled++];
    memset(job, 0, sizeof *job);
    job->cpu = cpu;
    return job;
}

void mgb_cuda_cpu_reset(struct mgb_cuda_cpu *cpu)
{
    cpu->step_jobs.filling = NULL;
    cpu->step_jobs.filled = 0;
}

enum mgb_status mgb_cuda_cpu_failure(struct mgb_cuda_cpu *cpu)
{
    enum mgb_status status = cpu->status;
    cpu->status = MGB_OK;
    if (status == MGB_OK)
        return MGB_OK;
    if (status == MGB_OOM)
        return mgb_fail_oom(cpu->oom.device, cpu->oom.needed, cpu->oom.available, cpu->message);
    return mgb_fail(status, "/cpu:0: %s", cpu->message);
}
