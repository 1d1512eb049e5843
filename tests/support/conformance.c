/* Checks of operators, sums, updates, order and all-reduce. */
#include "tests/support/conformance.h"

#include "tests/support/check.h"

#include "engine/base/random.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRAIN_NS 60000000000

void conformance_close(const char *what, const float *got, const double *wanted, int64_t count,
                       double tolerance)
{
    double most = 1e-6;
    for (int64_t i = 0; i < count; i++)
        most = fabs(wanted[i]) > most ? fabs(wanted[i]) : most;
    for (int64_t i = 0; i < count; i++)
        if (!(fabs((double)got[i] - wanted[i]) <= tolerance * most))
            fail_msg("%s: element %lld of %lld is %.9g, the reference says %.9g (largest %.3g)",
                     what, (long long)i, (long long)count, (double)got[i], wanted[i], most);
}

static void tensors_check(const char *model, const struct reference *reference,
                          const struct rig_values *values)
{
    const struct mgb_graph *graph = reference->graph;
    for (int t = 0; t < graph->tensor_count; t++) {
        const struct mgb_node *node = &graph->nodes[graph->tensors[t].node];
        char what[256];
        if (!values->value[t])
            continue;
        snprintf(what, sizeof what, "%s, %s '%s' output %d", model, mgb_op_name(node->kind),
                 node->name, graph->tensors[t].slot);
        conformance_close(what, values->value[t], reference->value[t], reference->counts[t], 1e-4);
    }
}

/* What both runs could read must be the same bits, whatever the layouts in between. */
static void runs_compare(const char *model, const struct reference *reference,
                         const struct rig_values *a, const struct rig_values *b)
{
    for (int t = 0; t < reference->graph->tensor_count; t++) {
        const struct mgb_node *node = &reference->graph->nodes[reference->graph->tensors[t].node];
        if (a->value[t] && b->value[t] &&
            memcmp(a->value[t], b->value[t], sizeof(float) * (size_t)reference->counts[t]) != 0)
            fail_msg("%s, %s '%s': other bits with the device's own layouts", model,
                     mgb_op_name(node->kind), node->name);
    }
}

bool conformance_model_check(const struct rig *rig, const struct rig_play *play,
                             const struct conformance_model *model)
{
    struct mgb_graph *graph = model->make();
    struct reference reference = reference_make(graph, 3);
    struct rig_values plain = {0}, own = {0};
    struct rig_play first = *play, second = *play;
    first.plain = true;
    second.in_place = true;
    reference.first_row = 11;
    reference.step = 3;
    reference.scale = 0.25f;
    reference_fill(&reference, 42);
    reference_play(&reference, graph->node_count);
    enum mgb_status status = rig_run(&plain, rig, &reference, &first);
    if (status != MGB_UNSUPPORTED) {
        assert_int_equal(status, MGB_OK);
        tensors_check(model->name, &reference, &plain);
        assert_ok(rig_run(&own, rig, &reference, &second));
        runs_compare(model->name, &reference, &plain, &own);
    }
    rig_values_free(&plain);
    rig_values_free(&own);
    reference_free(&reference);
    mgb_graph_free(graph);
    return status == MGB_OK;
}

static float number_at(int stream, int64_t i)
{
    return 2.0f * mgb_random_unit(mgb_random_at(9, (uint64_t)i, (uint64_t)stream).v[0]) - 1.0f;
}

#define LONG 40003 /* not a multiple of any block */
#define SOURCES 5

struct sums_area {
    float source[SOURCES][LONG], to[LONG], copy[LONG], norms[SOURCES], clip[4];
};

static struct sums_area *area_fill(const struct rig *rig, int device, struct sums_area *base)
{
    struct sums_area *host = calloc(1, sizeof *host);
    for (int k = 0; k < SOURCES; k++)
        for (int64_t i = 0; i < LONG; i++)
            host->source[k][i] = number_at(k, i);
    for (int64_t i = 0; i < LONG; i++)
        host->to[i] = host->copy[i] = NAN;
    assert_ok(rig->backend->write(rig->context, device, base, host, sizeof *host));
    return host;
}

static double norm_reference(const float *x, int64_t count)
{
    double sum = 0;
    for (int64_t at = 0; at < count; at += 4096) {
        double chunk = 0;
        for (int64_t i = at; i < at + 4096 && i < count; i++)
            chunk += (double)x[i] * (double)x[i];
        sum += chunk;
    }
    return sum;
}

void conformance_sums(const struct rig *rig, int device, int threads)
{
    const struct mgb_backend *b = rig->backend;
    struct sums_area *base = rig_arena(rig, device, sizeof *base),
                     *host = area_fill(rig, device, base);
    struct mgb_queue *queue = rig_compute(rig, device, threads);
    const float *sources[SOURCES], *norms[1] = {base->norms};
    const int64_t counts[SOURCES] = {LONG, 1, 4096, 4097, 12345}, norm_count[1] = {SOURCES};
    struct sums_area *got = malloc(sizeof *got);
    for (int k = 0; k < SOURCES; k++)
        sources[k] = base->source[k];
    assert_ok(b->reduce(queue, base->to, sources, SOURCES, LONG));
    assert_ok(b->copy(queue, base->copy, base->to, sizeof base->copy));
    assert_ok(b->norm(queue, base->norms, sources, counts, SOURCES));
    assert_ok(b->clip(queue, base->clip, norms, norm_count, 1, (struct mgb_clip){.norm = 0.5f}));
    assert_ok(
        b->clip(queue, base->clip + 1, norms, norm_count, 1, (struct mgb_clip){.norm = 1e9f}));
    assert_ok(b->reduce(queue, base->source[0], sources, 2, LONG)); /* onto its first source */
    assert_ok(b->fill(queue, base->source[4] + 1, 4 * (LONG - 2)));
    assert_ok(b->drain(rig->context, DRAIN_NS));
    assert_ok(b->read(rig->context, device, got, base, sizeof *got));
    double total = 0;
    for (int64_t i = 0; i < LONG; i++) {
        float sum = host->source[0][i];
        for (int k = 1; k < SOURCES; k++)
            sum += host->source[k][i];
        host->to[i] = sum;
        host->copy[i] = host->source[0][i] + host->source[1][i];
    }
    assert_memory_equal(got->to, host->to, sizeof got->to);
    assert_memory_equal(got->copy, host->to, sizeof got->copy);
    assert_memory_equal(got->source[0], host->copy, sizeof got->copy);
    for (int k = 0; k < SOURCES; k++) {
        host->norms[k] = (float)norm_reference(host->source[k], counts[k]);
        total += (double)host->norms[k];
    }
    assert_memory_equal(got->norms, host->norms, sizeof got->norms);
    float factor = (float)(0.5 / sqrt(total)), one = 1;
    assert_memory_equal(&got->clip[0], &factor, sizeof factor);
    assert_memory_equal(&got->clip[1], &one, sizeof one);
    assert_true(got->source[4][0] == host->source[4][0] &&
                got->source[4][LONG - 1] == host->source[4][LONG - 1]);
    for (int64_t i = 1; i < LONG - 1; i++)
        assert_true(got->source[4][i] == 0);
    b->queue_free(queue);
    b->arena_free(rig->context, device, base, sizeof *base);
    free(host);
    free(got);
}

/* The formulas of mgb/optimizer.h in double. */
static void update_reference(const struct mgb_optimizer *o, double *w, double g, double s[2],
                             double lr, double t)
{
    double rho = (double)o->rho, epsilon = (double)o->epsilon, momentum = (double)o->momentum, u,
           b1, b2;
    switch (o->kind) {
    case MGB_SGD:
        s[0] = momentum * s[0] - lr * g;
        *w += momentum == 0 ? -lr * g : o->nesterov ? momentum * s[0] - lr * g : s[0];
        break;
    case MGB_RMSPROP:
        s[0] = rho * s[0] + (1 - rho) * g * g;
        *w -= lr * g / (sqrt(s[0]) + epsilon);
        break;
    case MGB_ADAGRAD:
        s[0] += g * g;
        *w -= lr * g / (sqrt(s[0]) + epsilon);
        break;
    case MGB_ADADELTA:
        s[0] = rho * s[0] + (1 - rho) * g * g;
        u = g * sqrt(s[1] + epsilon) / sqrt(s[0] + epsilon);
        *w -= lr * u;
        s[1] = rho * s[1] + (1 - rho) * u * u;
        break;
    case MGB_ADAM:
        b1 = (double)o->beta1;
        b2 = (double)o->beta2;
        s[0] = b1 * s[0] + (1 - b1) * g;
        s[1] = b2 * s[1] + (1 - b2) * g * g;
        *w -= lr * sqrt(1 - pow(b2, t)) / (1 - pow(b1, t)) * s[0] / (sqrt(s[1]) + epsilon);
        break;
    }
}

#define WEIGHTS 20011

struct update_area {
    float weight[WEIGHTS], gradient[WEIGHTS], slot[2][WEIGHTS], clip[4];
};

static void optimizer_check(const struct rig *rig, int device, struct mgb_queue *queue,
                            const struct mgb_optimizer *o)
{
    const struct mgb_backend *b = rig->backend;
    struct update_area *base = rig_arena(rig, device, sizeof *base),
                       *host = calloc(1, sizeof *host);
    double *wanted = calloc(WEIGHTS, sizeof *wanted);
    for (int64_t i = 0; i < WEIGHTS; i++) {
        host->weight[i] = number_at(1, i);
        host->gradient[i] = number_at(2, i);
    }
    host->clip[0] = 0.5f;
    assert_ok(b->write(rig->context, device, base, host, sizeof *host));
    struct mgb_update_item
        items[2]; /* the second one element, so that a short item is there, too */
    for (int k = 0; k < 2; k++) {
        int64_t at = k == 0 ? 0 : WEIGHTS - 1;
        items[k] =
            (struct mgb_update_item){.weight = base->weight + at, .gradient = base->gradient + at};
        items[k].count = k == 0 ? WEIGHTS - 1 : 1;
        for (int slot = 0; slot < mgb_optimizer_slots(o); slot++)
            items[k].slots[slot] = base->slot[slot] + at;
    }
    struct mgb_step_values values[3];
    for (int step = 0; step < 3; step++) {
        values[step] = (struct mgb_step_values){.step = step, .lr = o->lr, .updates = step};
        struct mgb_update update = {.optimizer = o,
                                    .items = items,
                                    .item_count = 2,
                                    .clip = base->clip,
                                    .values = &values[step]};
        assert_ok(b->update(queue, &update));
        assert_ok(b->drain(rig->context, DRAIN_NS));
    }
    for (int64_t i = 0; i < WEIGHTS; i++) {
        double s[2] = {0, 0};
        wanted[i] = (double)host->weight[i];
        for (int step = 0; step < 3; step++)
            update_reference(o, &wanted[i], (double)host->gradient[i] * 0.5, s, (double)o->lr,
                             step + 1);
    }
    assert_ok(b->read(rig->context, device, host, base, sizeof *host));
    conformance_close(mgb_optimizer_name(o->kind), host->weight, wanted, WEIGHTS, 2e-6);
    b->arena_free(rig->context, device, base, sizeof *base);
    free(host);
    free(wanted);
}

void conformance_updates(const struct rig *rig, int device, int threads)
{
    struct mgb_queue *queue = rig_compute(rig, device, threads);
    for (int kind = MGB_SGD; kind <= MGB_ADAM; kind++) {
        struct mgb_optimizer o = mgb_optimizer_default((enum mgb_optimizer_kind)kind);
        o.momentum = 0;
        optimizer_check(rig, device, queue, &o);
    }
    struct mgb_optimizer o = mgb_optimizer_default(MGB_SGD);
    o.momentum = 0.9f;
    o.nesterov = false;
    optimizer_check(rig, device, queue, &o);
    o.nesterov = true;
    optimizer_check(rig, device, queue, &o);
    rig->backend->queue_free(queue);
}

#define ROUNDS 20

/* A value goes round: device -> other -> device, a sum on each, ROUNDS times without waiting on the host. */
void conformance_order(const struct rig *rig, int device, int other)
{
    const struct mgb_backend *b = rig->backend;
    float *here = rig_arena(rig, device, 3 * 4096), *there = rig_arena(rig, other, 3 * 4096),
          host[3 * 1024];
    struct mgb_queue *queues[4] = {rig_compute(rig, device, 1), rig_copy(rig, device, other),
                                   rig_compute(rig, other, 1), rig_copy(rig, other, device)};
    const int places[4] = {device, other, other, device};
    struct mgb_event *events[4];
    for (int k = 0; k < 4; k++)
        assert_ok(b->event_make(rig->context, &events[k], places[k]));
    for (int i = 0; i < 3 * 1024; i++)
        host[i] = i < 1024 ? 0 : 1; /* the value, then two arrays of ones */
    assert_ok(b->write(rig->context, device, here, host, sizeof host));
    assert_ok(b->write(rig->context, other, there, host, sizeof host));
    const float *sum_here[2] = {here, here + 1024}, *sum_there[2] = {there, there + 1024};
    for (int step = 0; step < 3; step++) {
        for (int round = 0; round < ROUNDS; round++) {
            assert_ok(b->wait(
                queues[0], events[3])); /* not yet recorded the first time: nothing to wait for */
            assert_ok(b->reduce(queues[0], here, sum_here, 2, 1024));
            assert_ok(b->record(queues[0], events[0]));
            assert_ok(b->wait(queues[1], events[0]));
            assert_ok(b->copy(queues[1], there, here, 4096));
            assert_ok(b->record(queues[1], events[1]));
            assert_ok(b->wait(queues[2], events[1]));
            assert_ok(b->reduce(queues[2], there, sum_there, 2, 1024));
            assert_ok(b->record(queues[2], events[2]));
            assert_ok(b->wait(queues[3], events[2]));
            assert_ok(b->copy(queues[3], here, there, 4096));
            assert_ok(b->record(queues[3], events[3]));
        }
        assert_ok(b->drain(rig->context, DRAIN_NS));
        int64_t times[4], uncertainty = 0,
                          own; /* clocks of several devices: each may be off by its own */
        for (int k = 0; k < 4; k++) {
            assert_ok(b->event_time(events[k], &times[k], &own));
            assert_true(own >= 0);
            uncertainty += own;
        }
        assert_true(times[0] <= times[1] + uncertainty && times[1] <= times[2] + uncertainty &&
                    times[2] <= times[3] + uncertainty);
        assert_ok(b->read(rig->context, device, host, here, 4096));
        for (int i = 0; i < 1024; i++)
            assert_true(host[i] == (float)((step + 1) * ROUNDS * 2));
    }
    for (int k = 0; k < 4; k++) {
        b->event_free(events[k]);
        b->queue_free(queues[k]);
    }
    b->arena_free(rig->context, device, here, 3 * 4096);
    b->arena_free(rig->context, other, there, 3 * 4096);
}

#define MOST 16

void conformance_allreduce(const struct rig *rig, int count, int64_t elements)
{
    const struct mgb_backend *b = rig->backend;
    struct mgb_queue *queues[MOST];
    float *buffers[MOST], *host = malloc(sizeof(float) * (size_t)elements);
    float *first = malloc(sizeof(float) * (size_t)elements);
    double *wanted = calloc((size_t)elements, sizeof *wanted);
    if (!b->can(rig->context, MGB_CAN_ALLREDUCE, 1, 2))
        count = 0;
    for (int k = 0; k < count; k++) {
        buffers[k] = rig_arena(rig, k + 1, 4 * elements);
        queues[k] = rig_compute(rig, k + 1, 1);
        for (int64_t i = 0; i < elements; i++)
            wanted[i] += (double)(host[i] = number_at(k, i));
        assert_ok(b->write(rig->context, k + 1, buffers[k], host, 4 * elements));
    }
    if (count > 0)
        assert_ok(b->allreduce(queues, buffers, count, elements, MGB_ALLREDUCE_AUTO));
    assert_ok(b->drain(rig->context, DRAIN_NS));
    for (int k = 0; k < count; k++) {
        assert_ok(b->read(rig->context, k + 1, k == 0 ? first : host, buffers[k], 4 * elements));
        if (k == 0)
            conformance_close("all-reduce", first, wanted, elements, 1e-6);
        else
            assert_memory_equal(first, host, sizeof(float) * (size_t)elements);
        b->queue_free(queues[k]);
        b->arena_free(rig->context, k + 1, buffers[k], 4 * elements);
    }
    free(host);
    free(first);
    free(wanted);
}

double conformance_distance(const struct reference *reference, const struct mgb_node *node,
                            const struct rig_values *a, const struct rig_values *b)
{
    double apart = 0, all = 1e-12;
    for (int o = 0; o < node->output_count; o++) {
        int t = node->outputs[o];
        for (int64_t i = 0; t >= 0 && a->value[t] && b->value[t] && i < reference->counts[t]; i++) {
            double x = (double)a->value[t][i], y = (double)b->value[t][i];
            apart += (x - y) * (x - y);
            all += y * y;
        }
    }
    return sqrt(apart / all);
}

static bool is_index(const struct mgb_graph *graph, int tensor)
{
    return graph->nodes[graph->tensors[tensor].node].kind == MGB_OP_MAX_POOL2D &&
           graph->tensors[tensor].slot == 1;
}

bool conformance_parts(const struct reference *reference, const struct rig_values *a,
                       const struct rig_values *b)
{
    const struct mgb_graph *graph = reference->graph;
    for (int t = 0; t < graph->tensor_count; t++) {
        bool index = is_index(graph, t);
        for (int64_t i = 0; a->value[t] && b->value[t] && i < reference->counts[t]; i++)
            if ((a->value[t][i] == 0) != (b->value[t][i] == 0) ||
                (index && a->value[t][i] != b->value[t][i]))
                return true;
    }
    return false;
}
