/* What the files of the CUDA backend share: the context with its physical GPUs, logical devices, queues, events, kernels.
 * One thread, the submitter, owns all of it, except for the fault page (written by kernels) and CPU jobs (cpu.h).
 *
 * Why GPUs and devices are two arrays: several logical devices may share a physical GPU, and what CUDA knows (contexts,
 * streams, clocks) belongs to the physical one. */
#ifndef MGB_CUDA_CUDA_H
#define MGB_CUDA_CUDA_H

#include "engine/backend/backend.h"
#include "engine/cuda/arithmetic.h"
#include "engine/cuda/cpu.h"
#include "engine/cuda/fail.h"
#include "engine/cuda/kernels.h"
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <nccl.h>

/* A moment on a GPU's clock whose time on the session clock is known. */
struct mgb_cuda_anchor {
    cudaEvent_t event;
    int64_t ns, uncertainty_ns;
};

struct mgb_cuda_gpu { /* physical; opened when first used, so that others stay untouched */
    int physical;
    bool open;
    cudaStream_t service; /* synchronous copies and anchors */
    struct mgb_cuda_anchor anchors[2];
    uint64_t generation; /* anchors[generation % 2] is the newest */
};

struct mgb_cuda_device {
    char name[MGB_DEVICE_NAME_MAX];
    int gpu;             /* into gpus; -1: /cpu:0 */
    int64_t limit, used; /* bytes of arenas; limit 0: what there is */
};

enum mgb_cuda_dnn_mode { MGB_CUDA_DNN_OFF, MGB_CUDA_DNN_ON, MGB_CUDA_DNN_AUTO };

struct mgb_cuda {
    const struct mgb_topology *topology;
    struct mgb_backend_options options;
    int device_count, gpu_count;
    struct mgb_cuda_device *devices;
    struct mgb_cuda_gpu *gpus;
    struct mgb_cuda_peer *peers; /* peers.h: from * gpu_count + to */
    int current;                 /* CUDA's current physical device; -1: not known */
    struct mgb_queue *queues;    /* a list */
    struct mgb_kernel *kernels[256];
    struct mgb_cuda_clique *cliques; /* collective.c */
    struct mgb_cuda_fault *fault;    /* pinned; NULL before the first GPU is open */
    struct mgb_cuda_cpu cpu;
    struct mgb_replay *capture; /* replay.h: not NULL while a step is kept instead of played */
    uint64_t captures;          /* so far */
    bool sticky;                /* only closing is allowed */
    enum mgb_cuda_dnn_mode dnn_mode;
    const struct mgb_cudnn *dnn; /* dnn/library.h; NULL: not there, or not wanted */
    bool dnn_needed;             /* queues have handles of it */
    int dnn_offered, dnn_served; /* kernels that cuDNN could serve, and those that it does */
};

struct mgb_queue {
    struct mgb_cuda *cuda;
    struct mgb_queue *next;
    struct mgb_queue_request request;
    int gpu;     /* whose stream it is; work of /cpu:0 is ordered by a stream too */
    bool on_cpu; /* both ends are /cpu:0: its work is CPU jobs */
    cudaStream_t stream;
    cublasHandle_t blas;         /* compute queues of GPUs */
    struct cudnnContext *dnn;    /* there, where an operator needs it */
    cudaEvent_t arrived, served; /* collective.c */
    bool collective; /* it took part in one of NCCL's: `arrived` is where its newest one begins */
    int rank;        /* there */
    double *scratch; /* MGB_CUDA_SCRATCH numbers on the device, for norms and clipping */
    struct mgb_cuda_arithmetic arithmetic;
    uint64_t capture; /* the newest that its stream is or was part of */
    const char *last; /* the newest work, for messages */
};

struct mgb_event {
    struct mgb_cuda *cuda;
    int device;
    cudaEvent_t handle; /* made at the first record, on the GPU of that queue */
    cudaEvent_t knot;   /* the same inside of a capture, where waits look for it */
    uint64_t capture;   /* the one that the knot is of */
    int gpu;
    uint64_t generation; /* of the GPU's anchor at the record */
    bool recorded;
};

extern const struct mgb_cpu_kernels
    *mgb_cuda_cpu_kernels; /* entry.c: what the program handed over */

/* context.c: makes the GPU current, opening it if need be. */
enum mgb_status mgb_cuda_use(struct mgb_cuda *cuda, int gpu);
/* Which GPU's streams carry the work of /cpu:0: the first open one, so that no other is touched. */
int mgb_cuda_home(const struct mgb_cuda *cuda);
enum mgb_status mgb_cuda_open(void **out, const struct mgb_topology *topology,
                              const struct mgb_backend_options *options);
void mgb_cuda_close(void *context);
bool mgb_cuda_can(void *context, enum mgb_capability capability, int device, int other);

/* probe.c, versions.c */
enum mgb_status mgb_cuda_probe(struct mgb_topology *out);
void mgb_cuda_versions(char *out, size_t size);

/* clock.c */
enum mgb_status mgb_cuda_anchor_make(struct mgb_cuda *cuda, struct mgb_cuda_gpu *gpu);
/* A fresh anchor for every open GPU whose newest is older than a second; only while idle. */
enum mgb_status mgb_cuda_anchors_renew(struct mgb_cuda *cuda);
enum mgb_status mgb_cuda_event_make(void *context, struct mgb_event **out, int device);
void mgb_cuda_event_free(struct mgb_event *event);
enum mgb_status mgb_cuda_record(struct mgb_queue *queue, struct mgb_event *event);
enum mgb_status mgb_cuda_mark(struct mgb_queue *queue, struct mgb_event *event);
enum mgb_status mgb_cuda_wait(struct mgb_queue *queue, struct mgb_event *event);
enum mgb_status mgb_cuda_event_time(struct mgb_event *event, int64_t *ns, int64_t *uncertainty_ns);

#endif
