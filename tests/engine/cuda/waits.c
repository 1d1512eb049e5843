/* Trains two steps on fake GPUs (three where steps are replayed) and leaves out the wait of that number: waits NUMBER MODEL OPTIONS [GPU GPU ...], 0 for none;
 * physical GPUs make devices logical. Or, as MODEL "reducer", sums over logical devices and overwrites what was summed. With
 * WAITS_SPOILED_ROW, a row of its batch, the last step fails, and must leave the weights alone.
 *
 * Prints every place in the backend's sources where a stream is made to wait, with how
 * often it was, then the place of each wait in order, and what was computed. test_waits.c runs it. */
#include "tests/engine/cuda/machine.h"
#include "tests/engine/cuda/models.h"
#include "tests/engine/cuda/wait_sites.h"

#include "tests/support/check.h"
#include "tests/support/rig.h"
#include "tests/support/training.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#undef cudaStreamWaitEvent

#define MOST_WAITS 4096
#define MOST_DEVICES 8
#define COUNT 512
#define BATCH 10 /* of all scenarios */

extern struct wait_site __start_wait_sites[], __stop_wait_sites[];
static const struct wait_site *order[MOST_WAITS];
static int waits, left_out;

cudaError_t wait_at(struct wait_site *site, cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    site->waits++;
    if (waits < MOST_WAITS)
        order[waits] = site;
    return ++waits == left_out ? cudaSuccess : cudaStreamWaitEvent(stream, event, flags);
}

static const char *name_of(const struct wait_site *site)
{
    const char *slash = strrchr(site->file, '/');
    return slash ? slash + 1 : site->file;
}

static void report(const double *losses, uint64_t digest)
{
    for (const struct wait_site *site = __start_wait_sites; site < __stop_wait_sites; site++)
        printf("site %s:%d %d\n", name_of(site), site->line, site->waits);
    for (int i = 0; i < waits && i < MOST_WAITS; i++)
        printf("wait %d %s:%d\n", i + 1, name_of(order[i]), order[i]->line);
    printf("numbers %.17g %.17g %016llx\n", losses[0], losses[1], (unsigned long long)digest);
}

static enum mgb_status reduce(const struct mgb_backend *cuda, struct mgb_queue **queues,
                              float **buffers, int devices, bool narrow)
{
    void *bytes[MOST_DEVICES];
    for (int i = 0; i < devices; i++)
        bytes[i] = buffers[i];
    return narrow ? cuda->allreduce_wire(queues, bytes, devices, COUNT, MGB_ALLREDUCE_AUTO,
                                         MGB_WIRE_F16)
                  : cuda->allreduce(queues, buffers, devices, COUNT, MGB_ALLREDUCE_AUTO);
}

/* A sum whose parts the queues make just before and overwrite just after, as a plan may that lays other things there. */
static void reducer_play(const struct mgb_backend *cuda, int devices, bool narrow)
{
    static float host[COUNT];
    struct mgb_queue *queues[MOST_DEVICES];
    float *buffers[MOST_DEVICES], *made[MOST_DEVICES];
    double sums[2] = {0, 0};
    struct rig rig = rig_open(cuda, 0);
    for (int i = 0; i < devices; i++) {
        queues[i] = rig_compute(&rig, i + 1, 1);
        buffers[i] = rig_arena(&rig, i + 1, sizeof host);
        made[i] = rig_arena(&rig, i + 1, sizeof host);
        for (int k = 0; k < COUNT; k++)
            host[k] = (float)(i + 1);
        assert_ok(cuda->write(rig.context, i + 1, buffers[i], host, sizeof host));
        assert_ok(cuda->write(rig.context, i + 1, made[i], host, sizeof host));
    }
    assert_ok(reduce(cuda, queues, buffers, devices, narrow)); /* opens what it needs */
    assert_ok(cuda->drain(rig.context, INT64_MAX));
    waits = 0;
    for (int i = 0; i < devices; i++)
        assert_ok(cuda->copy(queues[i], buffers[i], made[i], sizeof host));
    assert_ok(reduce(cuda, queues, buffers, devices, narrow));
    for (int i = 0; i < devices; i++) {
        assert_ok(cuda->copy(queues[i], made[i], buffers[i], sizeof host));
        assert_ok(cuda->fill(queues[i], buffers[i], sizeof host));
    }
    assert_ok(cuda->drain(rig.context, INT64_MAX));
    for (int i = 0; i < devices; i++) {
        assert_ok(cuda->read(rig.context, i + 1, host, made[i], sizeof host));
        for (int k = 0; k < COUNT; k++)
            sums[i % 2] += (double)host[k];
        cuda->queue_free(queues[i]);
        cuda->arena_free(rig.context, i + 1, buffers[i], sizeof host);
        cuda->arena_free(rig.context, i + 1, made[i], sizeof host);
    }
    rig_close(&rig);
    report(sums, 0);
}

/* Row `row` has a label that no class has: its step must fail and leave all weights alone. */
static void label_spoil(const struct training_data *data, const struct mgb_graph *graph, int row)
{
    const char *name;
    int64_t width = mgb_shape_count(mgb_tensor_shape(graph, mgb_graph_input_at(graph, 1, &name)));
    ((int32_t *)data->arrays[1])[row * width] = 99;
}

/* What another batch loses after that tells of the weights of every tower. */
static void failure_play(struct mgb_run *run, int steps)
{
    struct mgb_step_request request = {.steps = 1};
    double losses[2] = {0, 0};
    int64_t done;
    training_step(run, steps - 1, NULL);
    uint64_t before = training_digest(run);
    assert_status(mgb_run_step(run, &done, &request, NULL), MGB_INVALID);
    uint64_t after = training_digest(run);
    struct mgb_progress progress = mgb_run_progress(run);
    progress.row = 0;
    assert_ok(mgb_run_set_progress(run, &progress));
    training_step(run, 1, losses);
    report(losses, after ^ before);
}

/* The last step but one counts: what is opened at the first use of a pair of GPUs orders them in the first one, and the third
 * one is kept for replay; and some waits are for the step that follows. */
static void training_play(struct mgb_run *run, int steps)
{
    double losses[2];
    training_step(run, steps - 1, NULL);
    printf("first %d\n", waits + 1);
    training_step(run, 1, NULL);
    printf("last %d\n", waits);
    training_step(run, 2, losses);
    report(losses, training_digest(run));
}

int main(int count, char **arguments)
{
    int physical[MOST_DEVICES];
    const char *spoiled = getenv("WAITS_SPOILED_ROW");
    if (count < 4 || count > 4 + MOST_DEVICES)
        return 2;
    for (int i = 4; i < count; i++)
        physical[i - 4] = atoi(arguments[i]);
    left_out = atoi(arguments[1]);
    machine_set("4", NULL);
    if (strcmp(arguments[2], "reducer") == 0) {
        reducer_play(machine_logical(physical, count - 4), count - 4,
                     strcmp(arguments[3], "f16") == 0);
        return 0;
    }
    struct mgb_graph *graph = machine_model(atoi(arguments[2]));
    int steps = strstr(arguments[3], "graph=true") ? 3 : 2;
    struct training_data data = training_data_make(graph, 3 * BATCH, !spoiled, 3);
    if (spoiled)
        label_spoil(&data, graph, BATCH * (steps - 1) + atoi(spoiled));
    struct training training = {.graph = graph,
                                .source = &data.source,
                                .options = arguments[3],
                                .optimizer = training_sgd(0.1f, 0.9f),
                                .play_on = count > 4 ? machine_logical(physical, count - 4)
                                                     : machine_cuda()};
    training.optimizer.clip_norm = 0.5f;
    struct mgb_run *run = training_open(&training);
    if (spoiled)
        failure_play(run, steps);
    else
        training_play(run, steps);
    mgb_run_close(run);
    training_data_done(&data);
    mgb_graph_free(graph);
    return 0;
}
