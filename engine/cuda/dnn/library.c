/* Loads libcudnn and says what it answers; see library.h. With MGB_CUDNN_LINKED its functions are in this program already,
 * as those of a fake are, unless a file is named. */
#include "engine/cuda/dnn/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF(number) #number
#define FILE_OF(major) "libcudnn.so." TEXT_OF(major)

static struct {
    pthread_mutex_t lock;
    char file[256]; /* that was tried; "": none yet */
    char why[200];  /* not ready */
    bool ready;
    struct mgb_cudnn functions;
} library = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *file_name(void)
{
    const char *given = getenv(MGB_CUDNN_VARIABLE);
    return given && *given ? given : FILE_OF(CUDNN_MAJOR);
}

/* POSIX' way from a data to a function pointer: both have one representation. */
static bool symbol_load(void *from, void *function, const char *name)
{
    void *address = dlsym(from, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

/* False with the reason in library.why. */
static bool file_load(struct mgb_cudnn *out, const char *name)
{
    void *from = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const char *missing = NULL;
    if (!from) {
        snprintf(library.why, sizeof library.why, "%.150s cannot be loaded", name);
        return false;
    }
#define X(function)                                                                                \
    if (!symbol_load(from, &out->function, #function))                                             \
        missing = #function;
    MGB_CUDNN_FUNCTIONS(X)
#undef X
    if (missing) {
        snprintf(library.why, sizeof library.why, "%.120s has no %s", name, missing);
        return false;
    }
    size_t version = out->cudnnGetVersion();
    snprintf(library.why, sizeof library.why, "%.120s is version %zu, built for %d", name, version,
             CUDNN_VERSION);
    return version / MGB_CUDNN_MAJOR_UNIT == CUDNN_MAJOR;
}

static bool library_load(struct mgb_cudnn *out, const char *name)
{
#ifdef MGB_CUDNN_LINKED
    if (!getenv(MGB_CUDNN_VARIABLE)) {
#define X(function) out->function = function;
        MGB_CUDNN_FUNCTIONS(X)
#undef X
        return true;
    }
#endif
    return file_load(out, name);
}

const struct mgb_cudnn *mgb_cudnn_find(void)
{
    const char *name = file_name();
    pthread_mutex_lock(&library.lock);
    if (strcmp(library.file, name) != 0) {
        snprintf(library.file, sizeof library.file, "%s", name);
        library.ready = library_load(&library.functions, name);
    }
    bool ready = library.ready;
    if (!ready)
        (void)mgb_fail(MGB_MISSING, "no cuDNN: %s", library.why);
    pthread_mutex_unlock(&library.lock);
    return ready ? &library.functions : NULL;
}

static bool is_unsupported(cudnnStatus_t status)
{
#if CUDNN_MAJOR >= 9
    return CUDNN_STATUS_CATEGORY((int)status) == (int)CUDNN_STATUS_NOT_SUPPORTED;
#else
    return status == CUDNN_STATUS_NOT_SUPPORTED || status == CUDNN_STATUS_ARCH_MISMATCH;
#endif
}

static bool is_memory(cudnnStatus_t status)
{
#if CUDNN_MAJOR >= 9
    if (status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED)
        return true;
#endif
    return status == CUDNN_STATUS_ALLOC_FAILED;
}

enum mgb_status mgb_cudnn_fail(struct mgb_cuda *cuda, cudnnStatus_t status, const char *call)
{
    const struct mgb_cudnn *lib = mgb_cudnn_find();
    cudaError_t below = cudaPeekAtLastError();
    const char *words = lib ? lib->cudnnGetErrorString(status) : "";
    if (below != cudaSuccess)
        return mgb_cuda_fail(cuda, below, call);
    if (is_memory(status))
        return mgb_cuda_fail_memory(cuda, 0, call);
    return mgb_fail(is_unsupported(status) ? MGB_UNSUPPORTED : MGB_DEVICE,
                    "cuDNN: %s: %s (code %d)", call, words, (int)status);
}
