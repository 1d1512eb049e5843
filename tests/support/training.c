#include "tests/support/training.h"

#include "tests/support/check.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One "name=value" word into its parts; returns what follows. */
static const char *word_read(const char *at, char name[64], char value[64])
{
    at += strspn(at, " ");
    size_t length = strcspn(at, " ");
    const char *equals = memchr(at, '=', length);
    if (!equals) {
        name[0] = '\0';
        return at + length;
    }
    snprintf(name, 64, "%.*s", (int)(equals - at), at);
    snprintf(value, 64, "%.*s", (int)(at + length - equals - 1), equals + 1);
    return at + length;
}

static enum mgb_status options_set(struct mgb_placement *placement, uint64_t *fresh,
                                   const char *options)
{
    char name[64], value[64];
    *fresh = 0;
    while (*options) {
        options = word_read(options, name, value);
        if (!name[0])
            continue;
        MGB_TRY(mgb_placement_set(placement, name, value));
        *fresh |= (uint64_t)1 << mgb_placement_find_option(name)->id;
    }
    return MGB_OK;
}

void placement_apply(struct mgb_placement *placement, const char *options)
{
    uint64_t fresh;
    assert_ok(options_set(placement, &fresh, options));
}

enum mgb_status training_try_open(struct mgb_run **out, const struct training *training)
{
    struct mgb_run_options options = {.graph = training->graph,
                                      .backend = training->backend ? training->backend : "host",
                                      .optimizer = training->optimizer,
                                      .seed = training->seed,
                                      .source = training->source,
                                      .cores = training->cores ? training->cores : 1,
                                      .step_timeout_ns = training->timeout_ns,
                                      .guarded = training->guarded,
                                      .play_on = training->play_on};
    mgb_placement_init(&options.placement);
    MGB_TRY(options_set(&options.placement, &options.fresh, training->options));
    return mgb_run_open(out, &options);
}

struct mgb_run *training_open(const struct training *training)
{
    struct mgb_run *run = NULL;
    assert_ok(training_try_open(&run, training));
    return run;
}

struct mgb_optimizer training_sgd(float lr, float momentum)
{
    struct mgb_optimizer optimizer = mgb_optimizer_default(MGB_SGD);
    optimizer.lr = lr;
    optimizer.momentum = momentum;
    return optimizer;
}

static bool loss_keep(void *context, const struct mgb_step_result *result)
{
    double **next = context;
    if (*next)
        *(*next)++ = result->loss;
    return true;
}

void training_step(struct mgb_run *run, int steps, double *losses)
{
    struct mgb_step_sink sink = {&losses, loss_keep};
    struct mgb_step_request request = {.steps = steps};
    int64_t done;
    assert_ok(mgb_run_step(run, &done, &request, &sink));
    assert_int_equal(done, steps);
}

static enum mgb_status set(struct mgb_run *run, struct mgb_change *change, const char *options)
{
    struct mgb_placement placement = *mgb_run_placement(run);
    uint64_t fresh;
    MGB_TRY(options_set(&placement, &fresh, options));
    return mgb_run_set(run, change, &placement, fresh);
}

enum mgb_status training_try_set(struct mgb_run *run, const char *options)
{
    struct mgb_change change;
    return set(run, &change, options);
}

struct mgb_change training_set(struct mgb_run *run, const char *options)
{
    struct mgb_change change;
    enum mgb_status status = set(run, &change, options);
    if (status != MGB_OK)
        fail_msg("set %s: %s", options, mgb_message_get());
    return change;
}

uint64_t training_digest(struct mgb_run *run)
{
    uint64_t digest;
    assert_ok(mgb_run_digest(run, &digest));
    return digest;
}

float *training_weights(struct mgb_run *run, int64_t *count)
{
    const struct mgb_graph *graph = mgb_run_plan(run)->graph;
    int64_t total = 0, at = 0;
    for (int i = 0; i < mgb_graph_variable_count(graph); i++)
        total += mgb_graph_variable_at(graph, i).count;
    float *values = calloc((size_t)total + 1, sizeof *values);
    assert_non_null(values);
    for (int i = 0; i < mgb_graph_variable_count(graph); i++) {
        assert_ok(mgb_run_read(run, values + at, i, -1));
        at += mgb_graph_variable_at(graph, i).count;
    }
    if (count)
        *count = total;
    return values;
}

double training_difference(const float *a, const float *b, int64_t count)
{
    double most = 0, scale = 1e-12;
    for (int64_t i = 0; i < count; i++) {
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
        scale = fmax(scale, fabs((double)a[i]));
    }
    return most / scale;
}

int64_t training_held(struct mgb_run *run)
{
    struct mgb_memory_use uses[MGB_MAX_LISTED_GPUS + 1];
    int count;
    int64_t bytes = 0;
    assert_ok(mgb_run_memory(run, uses, MGB_MAX_LISTED_GPUS + 1, &count));
    for (int i = 0; i < count; i++)
        bytes += uses[i].held_bytes;
    return bytes;
}

struct training_data training_data_make(const struct mgb_graph *graph, int64_t rows, bool shuffle,
                                        uint64_t seed)
{
    struct training_data data = {.inputs = mgb_graph_input_count(graph)};
    struct mgb_source random;
    assert_ok(mgb_source_random(&random, graph, seed));
    data.arrays = calloc((size_t)data.inputs, sizeof *data.arrays);
    assert_non_null(data.arrays);
    for (int i = 0; i < data.inputs; i++) {
        const char *name;
        int tensor = mgb_graph_input_at(graph, i, &name);
        int64_t bytes = mgb_shape_count(mgb_tensor_shape(graph, tensor)) *
                        mgb_type_size(mgb_tensor_type(graph, tensor));
        data.arrays[i] = calloc((size_t)rows, (size_t)bytes);
        assert_non_null(data.arrays[i]);
        assert_ok(random.fill(random.context, 0, 0, 0, rows, i, data.arrays[i]));
    }
    mgb_source_close(&random);
    assert_ok(
        mgb_source_memory(&data.source, graph, (const void *const *)data.arrays, rows, shuffle));
    return data;
}

void training_data_done(struct training_data *data)
{
    mgb_source_close(&data->source);
    for (int i = 0; i < data->inputs; i++)
        free(data->arrays[i]);
    free(data->arrays);
}
