/* Trains one step on two fake GPUs and leaves out the wait of that number: waits NUMBER OPTIONS (0: none). Prints how many
 * waits there were. test_waits.c runs it under ThreadSanitizer. */
#include "tests/engine/cuda/machine.h"

#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/training.h"
#include <stdio.h>
#include <stdlib.h>

static const struct mgb_backend *cuda;
static int waits, left_out;

static enum mgb_status wait_unless_left_out(struct mgb_queue *queue, struct mgb_event *event)
{
    return ++waits == left_out ? MGB_OK : cuda->wait(queue, event);
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    machine_set("2", NULL);
    cuda = machine_cuda();
    left_out = atoi(arguments[1]);
    struct mgb_backend careless = *cuda;
    careless.wait = wait_unless_left_out;
    struct mgb_graph *graph = model_mlp();
    struct training_data data = training_data_make(graph, 30, true, 3);
    struct training training = {.graph = graph,
                                .source = &data.source,
                                .options = arguments[2],
                                .optimizer = training_sgd(0.1f, 0.9f),
                                .play_on = &careless};
    struct mgb_run *run = training_open(&training);
    training_step(run, 1, NULL);
    (void)training_digest(run);
    mgb_run_close(run);
    training_data_done(&data);
    mgb_graph_free(graph);
    printf("waits %d\n", waits);
    return 0;
}
