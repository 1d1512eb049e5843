/* Steps of a session whose record is kept, or not: what the record costs a run.
 *     bench_recording none|FILE [batch] [steps] [gpus] [threads]
 * mnist_cnn, batch and threads a device; FILE is a results database that is made and removed. loop_ms is the time of a step with what
 * lies between it and the next; cpu_ms the process' CPU time a step, warm-up and the thread that stores included, which
 * other programs disturb less. recording.sh compares the two. */
#include "app/session/hub.h"
#include "tests/support/check.h"
#include "tests/support/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void files_remove(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal", ".lock"};
    char file[512];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(file, sizeof file, "%s%s", path, endings[i]);
        unlink(file);
    }
}

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void request_make(struct script_open_request *out, const struct mgb_graph *graph,
                         const char *gpus, const char *batch, const char *threads)
{
    *out = (struct script_open_request){.graph = graph,
                                        .model = "mnist_cnn",
                                        .model_options = "{}",
                                        .data = "",
                                        .optimizer = mgb_optimizer_default(MGB_SGD),
                                        .seed = 1,
                                        .backend = "host",
                                        .warmup = 5};
    mgb_placement_init(&out->placement);
    assert_ok(mgb_placement_set(&out->placement, "gpus", gpus));
    assert_ok(mgb_placement_set(&out->placement, "batch", batch));
    assert_ok(mgb_placement_set(&out->placement, "threads", threads));
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s none|FILE [batch] [steps] [gpus] [threads]\n", argv[0]);
        return 2;
    }
    const char *path = strcmp(argv[1], "none") == 0 ? NULL : argv[1];
    int64_t steps = argc > 3 ? atoll(argv[3]) : 100;
    struct mgb_graph *graph = model_mnist_cnn();
    struct mgb_hub *hub;
    struct script_services services;
    struct script_session *session;
    struct script_open_request request;
    struct script_figures f;
    struct script_losses losses;
    if (path)
        files_remove(path);
    assert_ok(mgb_hub_open(
        &hub, &(struct mgb_hub_options){.database = path, .program_version = "bench"}));
    mgb_hub_services(&services, hub);
    request_make(&request, graph, argc > 4 ? argv[4] : "2", argc > 2 ? argv[2] : "8",
                 argc > 5 ? argv[5] : "1");
    assert_ok(services.open(services.context, &session, &request));
    double began_ms = cpu_ms();
    assert_ok(services.step(session, &f, &losses,
                            &(struct script_step_request){.steps = steps + 5, .whole = true}));
    printf("%s: median_ms=%.5f cpu_ms=%.5f loop_ms=%.5f unaccounted_ms=%.5f loss=%.9g waits=%lld\n",
           path ? "recorded" : "not recorded", f.median_ms,
           (cpu_ms() - began_ms) / (double)(steps + 5),
           f.mean_ms + f.unaccounted_ms / (double)f.steps, f.unaccounted_ms, f.loss,
           (long long)f.ring_waits);
    services.close(session);
    mgb_hub_close(hub);
    mgb_graph_free(graph);
    if (path)
        files_remove(path);
    return 0;
}
