/* All-reduce in the process against its parts: n devices of one thread each, buffers of some MB.
 *     bench_allreduce [devices] [MB] [repeats]
 * Prints the median of the repeats; bytes moved count each buffer read once and written once. */
#include "engine/backend/backend.h"
#include "engine/base/clock.h"
#include <stdio.h>
#include <stdlib.h>

static const struct mgb_backend *const host = &mgb_host_backend;

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void check(enum mgb_status status)
{
    if (status == MGB_OK)
        return;
    fprintf(stderr, "%s\n", mgb_message_get());
    exit(1);
}

int main(int argc, char **argv)
{
    int devices = argc > 1 ? atoi(argv[1]) : 2, repeats = argc > 3 ? atoi(argv[3]) : 15;
    int64_t count = (argc > 2 ? atoll(argv[2]) : 100) * 250000;
    struct mgb_topology topology;
    struct mgb_backend_options options = {0};
    struct mgb_queue *queues[16];
    float *buffers[16];
    int64_t *ns = calloc((size_t)repeats, sizeof *ns);
    void *context;
    if (devices < 1 || devices > 16 || repeats < 1 || !ns)
        return 2;
    check(host->probe(&topology));
    check(host->open(&context, &topology, &options));
    for (int k = 0; k < devices; k++) {
        struct mgb_queue_request request = {.use = MGB_USE_COMPUTE, .device = k + 1, .threads = 1};
        void *base;
        check(host->queue_make(context, &queues[k], &request));
        check(host->arena_make(context, &base, k + 1, 4 * count));
        buffers[k] = base;
        for (int64_t i = 0; i < count; i++)
            buffers[k][i] = (float)(k + 1) / (float)devices;
    }
    for (int r = -2; r < repeats; r++) {
        int64_t begin = mgb_clock_ns();
        check(host->allreduce(queues, buffers, devices, count, MGB_ALLREDUCE_AUTO));
        check(host->drain(context, 0));
        if (r >= 0)
            ns[r] = mgb_clock_ns() - begin;
        for (int k = 0; k < devices && r < 2; k++) /* keeps the values finite */
            check(host->fill(queues[k], buffers[k], 4 * count));
        check(host->drain(context, 0));
    }
    qsort(ns, (size_t)repeats, sizeof *ns, compare);
    double ms = (double)ns[repeats / 2] * 1e-6;
    printf("%d devices, %.0f MB: %.2f ms, %.1f GB/s\n", devices, 4e-6 * (double)count, ms,
           8e-6 * (double)count * devices / ms);
    for (int k = 0; k < devices; k++) {
        host->queue_free(queues[k]);
        host->arena_free(context, k + 1, buffers[k], 4 * count);
    }
    host->close(context);
    mgb_topology_done(&topology);
    free(ns);
    return 0;
}
