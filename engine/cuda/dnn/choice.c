/* Which implementation an operator has, decided once for each request and card in this process. The two may differ in the
 * last bits: towers must agree, and so must runs that differ in places only, so a choice is never measured anew. */
#include "engine/cuda/dnn/dnn.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/cuda/dnn/library.h"
#include "engine/cuda/dnn/measure.h"
#include "engine/cuda/queue.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A second implementation that is no faster than this is left alone: what is close would fall one way or the other from
 * process to process. */
#define GAIN_LEAST 1.05

#ifndef MGB_CUDNN_USUAL
#define MGB_CUDNN_USUAL "auto"
#endif

struct choice {
    struct choice *next;
    struct mgb_cuda_use use; /* with device and threads 0 */
    char card[64];
    enum mgb_cuda_dnn_mode mode;
    bool second;
    int algorithm;
};

static struct choice *choices; /* of the process; never freed */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum mgb_status mgb_cuda_dnn_open(struct mgb_cuda *cuda)
{
    static const char *const words[] = {"off", "on", "auto"};
    const char *given = getenv("MGBENCH_CUDNN");
    const char *word = given && *given ? given : MGB_CUDNN_USUAL;
    int mode = 0;
    while (mode < 3 && strcmp(word, words[mode]) != 0)
        mode++;
    if (mode == 3)
        return mgb_fail(MGB_INVALID, "MGBENCH_CUDNN is '%.100s'; it may be off, on or auto", word);
    cuda->dnn_mode = (enum mgb_cuda_dnn_mode)mode;
    if (cuda->dnn_mode != MGB_CUDA_DNN_OFF)
        cuda->dnn = mgb_cudnn_find();
    return MGB_OK;
}

static bool is_offered(const struct mgb_cuda *cuda, const struct mgb_cuda_op *op,
                       const struct mgb_cuda_use *use)
{
    return cuda->dnn && op->second && op->second->serves(use);
}

void mgb_cuda_dnn_facts(struct mgb_operator_facts *facts, const struct mgb_cuda *cuda,
                        const struct mgb_cuda_op *op, const struct mgb_cuda_use *use)
{
    if (!is_offered(cuda, op, use))
        return;
    int64_t bytes = op->second->workspace(use);
    if (bytes > facts->workspace_bytes)
        facts->workspace_bytes = bytes;
}

enum mgb_status mgb_cuda_dnn_queue_open(struct mgb_queue *queue)
{
    struct mgb_cuda *cuda = queue->cuda;
    if (!cuda->dnn || !cuda->dnn_needed || queue->dnn || !queue->blas)
        return MGB_OK;
    MGB_TRY(mgb_cuda_use(cuda, queue->gpu));
    MGB_CUDNN_TRY(cuda->dnn, cuda, cudnnCreate, &queue->dnn);
    MGB_CUDNN_TRY(cuda->dnn, cuda, cudnnSetStream, queue->dnn, queue->stream);
    return MGB_OK;
}

void mgb_cuda_dnn_queue_close(struct mgb_queue *queue)
{
    if (queue->dnn)
        queue->cuda->dnn->cudnnDestroy(queue->dnn);
    queue->dnn = NULL;
}

/* Queues are made before kernels are prepared; those that come later get theirs when they are made. */
static enum mgb_status queues_open(struct mgb_cuda *cuda)
{
    cuda->dnn_needed = true;
    for (struct mgb_queue *queue = cuda->queues; queue; queue = queue->next)
        MGB_TRY(mgb_cuda_dnn_queue_open(queue));
    return MGB_OK;
}

static struct choice choice_ask(const struct mgb_cuda *cuda, const struct mgb_kernel *kernel)
{
    struct choice choice;
    memset(&choice, 0, sizeof choice);
    memcpy(&choice.use, &kernel->use, sizeof choice.use);
    choice.use.device = choice.use.threads = 0;
    mgb_format(choice.card, sizeof choice.card, "%s",
               cuda->topology->devices[kernel->use.device].label);
    choice.mode = cuda->dnn_mode;
    choice.algorithm = -1;
    return choice;
}

static struct choice *choice_find(const struct choice *asked)
{
    for (struct choice *it = choices; it; it = it->next)
        if (it->mode == asked->mode && strcmp(it->card, asked->card) == 0 &&
            memcmp(&it->use, &asked->use, sizeof it->use) == 0)
            return it;
    return NULL;
}

static enum mgb_status kernel_prepare(struct mgb_kernel *kernel, struct mgb_queue *queue,
                                      int *algorithm)
{
    enum mgb_status status = kernel->op->second->prepare(kernel, queue, algorithm);
    if (status != MGB_OK)
        mgb_cuda_dnn_kernel_done(kernel);
    return status;
}

/* Prepared for the second implementation where that is chosen. No memory to measure in: the first one stays. */
static enum mgb_status choice_make(struct choice *choice, struct mgb_kernel *kernel,
                                   struct mgb_queue *queue)
{
    struct mgb_cuda_dnn_times times;
    enum mgb_status status = kernel_prepare(kernel, queue, &choice->algorithm);
    if (status == MGB_UNSUPPORTED)
        return MGB_OK;
    MGB_TRY(status);
    choice->second = true;
    if (choice->mode == MGB_CUDA_DNN_ON)
        return MGB_OK;
    status = mgb_cuda_dnn_measure(&times, queue, kernel);
    if (status != MGB_OK && status != MGB_OOM && status != MGB_UNSUPPORTED)
        return status;
    choice->second =
        status == MGB_OK && (double)times.first_ns > GAIN_LEAST * (double)times.second_ns;
    if (!choice->second)
        mgb_cuda_dnn_kernel_done(kernel);
    return MGB_OK;
}

static enum mgb_status choice_add(struct choice *choice, struct mgb_kernel *kernel,
                                  struct mgb_queue *queue)
{
    MGB_TRY(choice_make(choice, kernel, queue));
    struct choice *kept = mgb_alloc(sizeof *kept);
    if (!kept)
        return mgb_fail(MGB_NO_MEMORY, "no memory to keep which %s is faster", kernel->name);
    memcpy(kept, choice, sizeof *kept);
    kept->next = choices;
    choices = kept;
    return MGB_OK;
}

/* On a queue of its own: what others still have to do must not be in the times. */
static enum mgb_status choice_get(struct choice *choice, struct mgb_cuda *cuda,
                                  struct mgb_kernel *kernel)
{
    const struct mgb_queue_request request = {
        .use = MGB_USE_COMPUTE, .device = kernel->use.device, .threads = 1};
    const struct choice *known = choice_find(choice);
    struct mgb_queue *queue = NULL;
    if (known && !known->second)
        return MGB_OK;
    MGB_TRY(mgb_cuda_queue_make(cuda, &queue, &request));
    enum mgb_status status;
    if (known) {
        choice->second = true;
        choice->algorithm = known->algorithm;
        status = kernel_prepare(kernel, queue, &choice->algorithm);
    } else {
        status = choice_add(choice, kernel, queue);
    }
    mgb_cuda_queue_free(queue);
    return status;
}

enum mgb_status mgb_cuda_dnn_choose(struct mgb_cuda *cuda, struct mgb_kernel *kernel)
{
    if (!is_offered(cuda, kernel->op, &kernel->use))
        return MGB_OK;
    struct choice choice = choice_ask(cuda, kernel);
    MGB_TRY(queues_open(cuda));
    pthread_mutex_lock(&lock);
    enum mgb_status status = choice_get(&choice, cuda, kernel);
    pthread_mutex_unlock(&lock);
    MGB_TRY(status);
    cuda->dnn_offered++;
    if (!choice.second)
        return MGB_OK;
    cuda->dnn_served++;
    kernel->start = kernel->op->second->start;
    return MGB_OK;
}

void mgb_cuda_dnn_kernel_done(struct mgb_kernel *kernel)
{
    if (kernel->prepared)
        kernel->op->second->done(kernel->prepared);
    kernel->prepared = NULL;
}

void mgb_cuda_dnn_version(char *out, size_t size)
{
    const struct mgb_cudnn *lib = mgb_cudnn_find();
    size_t version = lib ? lib->cudnnGetVersion() : 0;
    if (size > 0)
        out[0] = '\0';
    if (lib)
        mgb_format(out, size, "%zu.%zu.%zu", version / MGB_CUDNN_MAJOR_UNIT,
                   version % MGB_CUDNN_MAJOR_UNIT / 100, version % 100);
}

void mgb_cuda_dnn_remark(void *context, char *out, size_t size)
{
    const struct mgb_cuda *cuda = context;
    if (size > 0)
        out[0] = '\0';
    if (cuda->dnn_mode == MGB_CUDA_DNN_OFF)
        return;
    if (!cuda->dnn)
        mgb_format(out, size, "%s", mgb_cudnn_find() ? "" : mgb_message_get());
    else if (cuda->dnn_offered > 0)
        mgb_format(out, size, "cuDNN serves %d of %d operators that it has", cuda->dnn_served,
                   cuda->dnn_offered);
}
