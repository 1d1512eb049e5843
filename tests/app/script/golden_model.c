/* Reads what make_models_*.py wrote and compares. */
#include "tests/app/script/golden_model.h"

#include "tests/app/script/script_model.h"
#include "tests/support/check.h"
#include "tests/support/golden.h"
#include "tests/support/rig.h"
#include "tests/support/training.h"
#include <mgb/op.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-4
#define MAX_INPUTS 8
#define TAKEN 6      /* values stored of a gradient */
#define OUTPUTS 4000 /* values stored of outputs that are more */

struct setting {
    const char *name;
    struct golden golden;
};

/* 32 mixed bits a number: bits() of tests/golden/models.py. */
static uint32_t mixed(int64_t k, int salt)
{
    uint32_t x = (uint32_t)((uint64_t)(k + 1) * 2654435761u + (uint64_t)salt * 40503u);
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    return x ^ x >> 16;
}

static void uniform(float *out, int64_t count, int salt, double scale, double shift)
{
    for (int64_t i = 0; i < count; i++) {
        double value = (double)(mixed(i, salt) >> 8) / 8388608.0 - 1.0;
        out[i] = (float)(shift + value * (double)(float)scale);
    }
}

/* Variable `number`, by the last part of its name: weight() of models.py. `rule`: gain of weights, middle of betas. */
static void weight_fill(float *out, const struct mgb_variable_info *variable, int number,
                        const float rule[2])
{
    const char *slash = strrchr(variable->name, '/');
    const char *name = slash ? slash + 1 : variable->name;
    const struct mgb_shape *shape = &variable->shape;
    int salt = 100 + number;
    double fan = 1;
    for (int i = 0; i + 1 < shape->rank; i++)
        fan *= (double)shape->dim[i];
    if (strcmp(name, "gamma") == 0 || strcmp(name, "moving_variance") == 0)
        uniform(out, variable->count, salt, 0.1, 1);
    else if (shape->rank < 2)
        uniform(out, variable->count, salt, 0.1, strcmp(name, "beta") == 0 ? rule[1] : 0);
    else if (strcmp(name, "embeddings") == 0)
        uniform(out, variable->count, salt, 1, 0);
    else
        uniform(out, variable->count, salt, rule[0] / sqrt(fan), 0);
}

/* Rows of input `index`; the caller frees. */
static void *input_make(const struct golden *golden, const struct mgb_graph *graph, int index,
                        int64_t *rows)
{
    float sizes[2];
    char label[32];
    snprintf(label, sizeof label, "input%d", index);
    golden_read(golden, label, sizes, 2);
    const struct mgb_shape *shape = mgb_tensor_shape(graph, mgb_graph_input_at(graph, index, NULL));
    int64_t count = *rows = (int64_t)sizes[0];
    for (int i = 0; i < shape->rank; i++)
        count *= shape->dim[i];
    float *values = calloc((size_t)count, sizeof *values);
    int32_t *classes = (int32_t *)(void *)values;
    assert_non_null(values);
    if (sizes[1] == 0)
        uniform(values, count, 1 + index, 1, 0);
    for (int64_t i = 0; i < count && sizes[1] > 0; i++)
        classes[i] = (int32_t)((mixed(i, 1 + index) >> 8) % (uint32_t)sizes[1]);
    return values;
}

/* The value of a variable; the caller frees. */
static float *variable_make(const struct golden *golden, const struct mgb_graph *graph, int number)
{
    struct mgb_variable_info variable = mgb_graph_variable_at(graph, number);
    float rule[2] = {0}, *values = calloc((size_t)variable.count, sizeof *values);
    assert_non_null(values);
    golden_read(golden, "gain", &rule[0], 1);
    if (strstr(golden->text, "\nbeta : "))
        golden_read(golden, "beta", &rule[1], 1);
    weight_fill(values, &variable, number, rule);
    return values;
}

static void losses_compare(const struct setting *s, struct mgb_run *run, int step)
{
    float want[3];
    double loss;
    golden_read(&s->golden, "losses", want, 3);
    training_step(run, 1, &loss);
    double difference = fabs(loss - want[step]) / fabs((double)want[step]);
    printf("%s: loss %d off by %.2g\n", s->name, step, difference);
    if (!(difference < TOLERANCE))
        fail_msg("%s: loss %d is %.9g, PyTorch has %.9g", s->name, step, loss, (double)want[step]);
}

struct gradients {
    float *norms, *values; /* PyTorch's */
    double least;          /* a gradient that is smaller counts as if it were so large */
    double norm_most, value_most;
    const char *norm_name, *value_name;
};

static void gradient_compare(struct gradients *all, struct mgb_run *run, const char *name,
                             int variable, int64_t count)
{
    float *got = calloc((size_t)count, sizeof *got);
    double norm = 0, want = all->norms[0];
    assert_ok(mgb_run_read_gradient(run, got, variable));
    for (int64_t i = 0; i < count; i++)
        norm += (double)got[i] * got[i];
    norm = sqrt(norm);
    double scale = want > all->least ? want : all->least;
    double difference = fabs(norm - want) / scale;
    if (!(difference <= all->norm_most)) {
        all->norm_most = difference;
        all->norm_name = name;
    }
    double largest = scale / sqrt((double)count);
    int64_t taken = count < TAKEN ? count : TAKEN;
    for (int64_t j = 0; j < taken; j++)
        largest = fmax(largest, fabs((double)all->values[j]));
    for (int64_t j = 0; j < taken; j++) {
        difference = fabs((double)got[j * count / taken] - all->values[j]) / largest;
        if (!(difference <= all->value_most)) {
            all->value_most = difference;
            all->value_name = name;
        }
    }
    all->norms++;
    all->values += taken;
    free(got);
}

static void gradients_compare(const struct setting *s, struct mgb_run *run,
                              const struct mgb_graph *graph)
{
    int trained = 0, values = 0;
    struct gradients all = {.norm_most = -1, .value_most = -1};
    for (int i = 0; i < mgb_graph_variable_count(graph); i++) {
        struct mgb_variable_info variable = mgb_graph_variable_at(graph, i);
        trained += variable.trainable;
        values += variable.trainable ? variable.count < TAKEN ? (int)variable.count : TAKEN : 0;
    }
    float *norms = all.norms = calloc((size_t)trained, sizeof(float));
    float *samples = all.values = calloc((size_t)values, sizeof(float));
    golden_read(&s->golden, "norms", norms, trained);
    golden_read(&s->golden, "values", samples, values);
    for (int i = 0; i < trained; i++)
        all.least = fmax(all.least, 1e-2 * (double)norms[i]);
    for (int i = 0; i < mgb_graph_variable_count(graph); i++) {
        struct mgb_variable_info variable = mgb_graph_variable_at(graph, i);
        if (variable.trainable)
            gradient_compare(&all, run, variable.name, i, variable.count);
    }
    printf("%s: gradients: norms off by %.2g at most (%s), values by %.2g (%s)\n", s->name,
           all.norm_most, all.norm_name, all.value_most, all.value_name);
    free(norms);
    free(samples);
    if (!(all.norm_most < TOLERANCE && all.value_most < TOLERANCE))
        fail_msg("%s: gradients differ from PyTorch's", s->name);
}

static void graph_train(void *context, const struct mgb_graph *graph)
{
    const struct setting *s = context;
    void *data[MAX_INPUTS] = {0};
    int64_t rows = 0;
    float rate;
    char options[40];
    struct mgb_source source;
    assert_in_range(mgb_graph_input_count(graph), 1, MAX_INPUTS);
    for (int i = 0; i < mgb_graph_input_count(graph); i++)
        data[i] = input_make(&s->golden, graph, i, &rows);
    golden_read(&s->golden, "rate", &rate, 1);
    assert_ok(mgb_source_memory(&source, graph, (const void *const *)data, rows, false));
    snprintf(options, sizeof options, "gpus=1 global_batch=%lld", (long long)rows);
    struct training training = {.graph = graph,
                                .source = &source,
                                .optimizer = training_sgd(rate, 0),
                                .options = options,
                                .guarded = true};
    struct mgb_run *run = training_open(&training);
    for (int i = 0; i < mgb_graph_variable_count(graph); i++) {
        float *values = variable_make(&s->golden, graph, i);
        assert_ok(mgb_run_write(run, values, i, -1));
        free(values);
    }
    for (int step = 0; step < 3; step++) {
        losses_compare(s, run, step);
        if (step == 0 && strstr(s->golden.text, "\nnorms : "))
            gradients_compare(s, run, graph);
    }
    mgb_run_close(run);
    mgb_source_close(&source);
    for (int i = 0; i < MAX_INPUTS; i++)
        free(data[i]);
}

static void inputs_set(const struct setting *s, struct reference *reference)
{
    const struct mgb_graph *graph = reference->graph;
    int64_t rows;
    for (int i = 0; i < mgb_graph_input_count(graph); i++) {
        int tensor = mgb_graph_input_at(graph, i, NULL);
        void *values = input_make(&s->golden, graph, i, &rows);
        bool whole = mgb_tensor_type(graph, tensor) == MGB_I32;
        for (int64_t k = 0; k < reference->counts[tensor]; k++)
            reference->value[tensor][k] = whole ? ((int32_t *)values)[k] : ((float *)values)[k];
        free(values);
    }
}

/* Inputs and variables of a play. */
static void values_set(const struct setting *s, struct reference *reference)
{
    const struct mgb_graph *graph = reference->graph;
    inputs_set(s, reference);
    for (int n = 0; n < graph->node_count; n++) {
        const struct mgb_node *node = &graph->nodes[n];
        if (node->kind != MGB_OP_READ)
            continue;
        int tensor = node->outputs[0];
        float *values = variable_make(&s->golden, graph, node->a.variable);
        for (int64_t k = 0; k < reference->counts[tensor]; k++)
            reference->value[tensor][k] = values[k];
        free(values);
    }
}

static void graph_evaluate(void *context, const struct mgb_graph *graph)
{
    const struct setting *s = context;
    float rows[2];
    golden_read(&s->golden, "input0", rows, 2);
    struct reference reference = reference_make(graph, (int64_t)rows[0]);
    reference.training = false;
    struct rig rig = rig_open(&mgb_host_backend, 0);
    struct rig_play play = {
        .device = rig_device(&rig, "/gpu:0"), .threads = 1, .plain = true, .forward = true};
    struct rig_values values;
    values_set(s, &reference);
    assert_ok(rig_run(&values, &rig, &reference, &play));
    int output = mgb_graph_output_at(graph, 0, NULL);
    int64_t count = reference.counts[output], taken = count < OUTPUTS ? count : OUTPUTS;
    float *want = calloc((size_t)taken, sizeof *want), *got = calloc((size_t)taken, sizeof *got);
    golden_read(&s->golden, "outputs", want, taken);
    for (int64_t i = 0; i < taken; i++)
        got[i] = values.value[output][i * count / taken];
    double difference = golden_difference(got, want, taken);
    printf("%s: outputs off by %.2g of the largest\n", s->name, difference);
    free(got);
    free(want);
    rig_values_free(&values);
    rig_close(&rig);
    reference_free(&reference);
    if (!(difference < TOLERANCE))
        fail_msg("%s: outputs differ from PyTorch's by %g of the largest", s->name, difference);
}

static void golden_use(const char *name, const char *model,
                       void (*use)(void *context, const struct mgb_graph *graph))
{
    char path[80];
    snprintf(path, sizeof path, "models/%s.txt", name);
    struct setting setting = {.name = name, .golden = golden_open(path)};
    script_model_use(model, 1, use, &setting);
    golden_close(&setting.golden);
}

void golden_model_train(const char *name, const char *model)
{
    golden_use(name, model, graph_train);
}

void golden_model_evaluate(const char *name, const char *model)
{
    golden_use(name, model, graph_evaluate);
}
