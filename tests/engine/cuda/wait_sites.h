/* Put before the sources of the CUDA backend that make streams wait for events, in the build of engine_cuda_waits: every
 * such place in them enters itself into a list, and whether its wait is done is for waits.c to say. */
#ifndef MGB_TESTS_CUDA_WAIT_SITES_H
#define MGB_TESTS_CUDA_WAIT_SITES_H

#include <cuda_runtime_api.h>

struct wait_site {
    const char *file;
    int line;
    int waits; /* done or left out so far */
};

cudaError_t wait_at(struct wait_site *site, cudaStream_t stream, cudaEvent_t event, unsigned flags);

/* The linker gives the section's ends names (waits.c). */
#define cudaStreamWaitEvent(stream, event, flags)                                                  \
    __extension__({                                                                                \
        static struct wait_site here_                                                              \
            __attribute__((section("wait_sites"), used)) = {__FILE__, __LINE__, 0};                \
        wait_at(&here_, stream, event, flags);                                                     \
    })

#endif
