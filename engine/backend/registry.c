/* Which backends there are: the only place that knows. The CUDA backend is a plugin, loaded on first use, so that the
 * program starts without CUDA installed. It is sought in MGBENCH_PLUGIN_DIR, in ../lib/mgbench beside the program, where
 * it was installed, and in the build tree. */
#include "engine/backend/backend.h"

#include "engine/backend/mgb_contract.h"
#include "engine/base/library.h"
#include "engine/base/text.h"
#include <dlfcn.h>
#include <mgb/run.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if MGB_WITH_HOST
static const struct mgb_backend *const host_backend = &mgb_host_backend;
static const struct mgb_cpu_kernels *const cpu_kernels = &mgb_host_cpu_kernels;
#else
static const struct mgb_backend *const host_backend = NULL;
static const struct mgb_cpu_kernels *const cpu_kernels = NULL;
#endif
#ifndef MGB_PLUGIN_DIR
#define MGB_PLUGIN_DIR ""
#endif
#ifndef MGB_BUILD_PLUGIN_DIR
#define MGB_BUILD_PLUGIN_DIR ""
#endif

#define PLUGIN_FILE "libmgb_cuda.so"
#define PATH_BYTES 4096

static pthread_mutex_t cuda_lock = PTHREAD_MUTEX_INITIALIZER;
static const struct mgb_backend *cuda_backend;

/* The folder of the program, "" when unknown. */
static void program_folder(char out[PATH_BYTES])
{
    ssize_t length = readlink("/proc/self/exe", out, PATH_BYTES - 1);
    out[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(out, '/');
    if (slash)
        *slash = '\0';
}

/* The plugin's path; false when it is nowhere. `looked` receives the places. */
static bool plugin_find(char out[PATH_BYTES], char *looked, size_t size)
{
    char folder[PATH_BYTES / 2], beside[PATH_BYTES];
    char program[PATH_BYTES];
    program_folder(program);
    snprintf(folder, sizeof folder, "%.2000s", program);
    snprintf(beside, sizeof beside, "%s/../lib/mgbench", folder);
    const char *given = getenv("MGBENCH_PLUGIN_DIR");
    const char *const places[] = {given && *given ? given : "", folder[0] ? beside : "",
                                  MGB_PLUGIN_DIR, MGB_BUILD_PLUGIN_DIR};
    size_t used = 0;
    looked[0] = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!places[i][0])
            continue;
        mgb_format(out, PATH_BYTES, "%s/%s", places[i], PLUGIN_FILE);
        if (access(out, R_OK) == 0)
            return true;
        if (used < size)
            used +=
                (size_t)snprintf(looked + used, size - used, "%s%s", used ? ", " : "", places[i]);
    }
    return false;
}

static enum mgb_status plugin_get(char path[PATH_BYTES])
{
    char looked[PATH_BYTES];
    if (plugin_find(path, looked, sizeof looked))
        return MGB_OK;
    return mgb_fail(MGB_MISSING,
                    "the CUDA plugin " PLUGIN_FILE
                    " is not there (looked in %s); build it where nvcc is, or set "
                    "MGBENCH_PLUGIN_DIR",
                    looked);
}

enum mgb_status mgb_backend_plugin_find(char *out, size_t size)
{
    char path[PATH_BYTES];
    MGB_TRY(plugin_get(path));
    mgb_format(out, size, "%s", path);
    return MGB_OK;
}

/* Nothing of a plugin is called before this finds that both were built from the same headers. */
static enum mgb_status entry_find(mgb_cuda_entry **out, void *library, const char *path)
{
    union { /* POSIX' way from a data to a function pointer */
        void *data;
        mgb_cuda_entry *function;
    } entry = {.data = dlsym(library, MGB_CUDA_ENTRY)};
    const char *contract = dlsym(library, MGB_CUDA_CONTRACT);
    if (!entry.data)
        return mgb_fail(MGB_MISSING, "%s is no CUDA plugin of this program; build it anew", path);
    if (!contract || strcmp(contract, MGB_CONTRACT) != 0)
        return mgb_fail(MGB_MISSING,
                        "%s was built from other sources than this program; build both anew from "
                        "the same",
                        path);
    *out = entry.function;
    return MGB_OK;
}

static enum mgb_status cuda_load(const struct mgb_backend **out)
{
    char path[PATH_BYTES];
    mgb_cuda_entry *entry = NULL;
    MGB_TRY(plugin_get(path));
    MGB_TRY(mgb_library_check(path));
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return mgb_fail(MGB_MISSING,
                        "the CUDA plugin cannot be loaded: %s; are the CUDA libraries installed?",
                        dlerror());
    /* One that is refused stays loaded: its kernels were registered as it came, for good. */
    MGB_TRY(entry_find(&entry, library, path));
    *out = entry(cpu_kernels);
    return MGB_OK;
}

bool mgb_backend_lost(void)
{
    pthread_mutex_lock(&cuda_lock);
    const struct mgb_backend *backend = cuda_backend;
    pthread_mutex_unlock(&cuda_lock);
    return backend && backend->lost && backend->lost();
}

static const struct mgb_backend *cuda_find(void)
{
    pthread_mutex_lock(&cuda_lock);
    if (!cuda_backend)
        (void)cuda_load(&cuda_backend); /* leaves its message */
    const struct mgb_backend *backend = cuda_backend;
    pthread_mutex_unlock(&cuda_lock);
    return backend;
}

const struct mgb_backend *mgb_backend_find(const char *name)
{
    if (strcmp(name, "cuda") == 0)
        return cuda_find();
    if (strcmp(name, "host") == 0 && host_backend)
        return host_backend;
    if (strcmp(name, "host") == 0)
        (void)mgb_fail(
            MGB_MISSING,
            "this program was built without CPU devices; install oneDNN and build again");
    else
        (void)mgb_fail(MGB_MISSING, "there is no backend '%s'; the backends are host and cuda",
                       name);
    return NULL;
}

static enum mgb_status backend_probe(const struct mgb_backend **out, struct mgb_topology *topology,
                                     const char *name)
{
    const struct mgb_backend *backend = mgb_backend_find(name);
    if (!backend)
        return MGB_MISSING;
    MGB_TRY(backend->probe(topology));
    *out = backend;
    return MGB_OK;
}

enum mgb_status mgb_backend_choose(const struct mgb_backend **out, struct mgb_topology *topology,
                                   const char *name, char *remark, size_t size)
{
    if (remark && size > 0)
        remark[0] = '\0';
    if (strcmp(name, "auto") != 0)
        return backend_probe(out, topology, name);
    enum mgb_status status = backend_probe(out, topology, "cuda");
    if (status == MGB_OK)
        return MGB_OK;
    if (remark && size > 0)
        mgb_format(remark, size, "CPU devices, because %s", mgb_message_get());
    return backend_probe(out, topology, "host");
}
