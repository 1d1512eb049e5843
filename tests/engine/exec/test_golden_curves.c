/* 200 steps on the data that ships, the digits and the novel, against stored PyTorch curves (tests/golden/make_curves.py): from
 * the same weights and batches the losses stay within 2 %, on one device and on two towers. */
#include "tests/support/check.h"

#include "tests/support/golden.h"
#include "tests/support/golden_net.h"
#include "tests/support/model.h"
#include "tests/support/training.h"
#include <math.h>
#include <mgb/data.h>
#include <mgb/op.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 200 };
#define TOLERANCE 0.02

/* uniform() of tests/golden/models.py: the finaliser of MurmurHash3 to [-scale, scale). */
static void values_draw(float *out, int64_t count, int salt, float scale)
{
    for (int64_t i = 0; i < count; i++) {
        uint32_t x = (uint32_t)((uint64_t)(i + 1) * 2654435761u + (uint64_t)salt * 40503u);
        x = (x ^ x >> 16) * 0x85ebca6bu;
        x = (x ^ x >> 13) * 0xc2b2ae35u;
        x ^= x >> 16;
        out[i] = (float)(((double)(x >> 8) / 8388608.0 - 1.0) * (double)scale);
    }
}

static void weights_write(struct mgb_run *run, const struct golden_net *net)
{
    for (int i = 0; i < net->variable_count; i++) {
        int64_t count = mgb_graph_variable_at(net->graph, net->variables[i]).count;
        float *values = calloc((size_t)count, sizeof *values);
        values_draw(values, count, 100 + i, net->scale[i]);
        assert_ok(mgb_run_write(run, values, net->variables[i], -1));
        free(values);
    }
}

static const char *data_file(char out[512], const char *name)
{
    const char *root = getenv("MGB_SOURCE_DIR");
    snprintf(out, 512, "%s/scripts/data/%s", root ? root : ".", name);
    return out;
}

static void curve_check(const struct golden_net *net, const char *name, struct mgb_source *source,
                        struct mgb_optimizer optimizer, const char *options)
{
    static float wanted[STEPS];
    static double got[STEPS];
    char path[64];
    snprintf(path, sizeof path, "curves/%s.txt", name);
    struct golden golden = golden_open(path);
    golden_read(&golden, "loss", wanted, STEPS);
    golden_close(&golden);
    struct training training = {
        .graph = net->graph, .source = source, .optimizer = optimizer, .options = options};
    struct mgb_run *run = training_open(&training);
    double most = 0;
    weights_write(run, net);
    training_step(run, STEPS, got);
    mgb_run_close(run);
    for (int i = 0; i < STEPS; i++) {
        double difference = fabs(got[i] - (double)wanted[i]) / (double)wanted[i];
        if (!(difference < TOLERANCE))
            fail_msg("%s, %s: step %d: loss %g, PyTorch %g", name, options, i, got[i],
                     (double)wanted[i]);
        most = difference > most ? difference : most;
    }
    print_message("%s, %s: loss %g after %d steps, at most %.3g %% from PyTorch\n", name, options,
                  got[STEPS - 1], STEPS, 100 * most);
}

static int conv(struct golden_net *net, int x, int in, int filters, float scale)
{
    struct mgb_window window = model_window(3, 1, MGB_SAME);
    int out = -1, k = golden_net_variable(net, "kernel", SHAPE(4, 3, 3, in, filters), scale);
    int b = golden_net_variable(net, "bias", SHAPE(1, filters), .1f);
    assert_ok(mgb_op_conv2d(net->graph, &out, "conv", x, k, b, &window, MGB_RELU));
    return out;
}

static void digits_are_learnt_as_in_pytorch(void **state)
{
    (void)state;
    char image[512], label[512];
    struct golden_net net = golden_net_make("digits");
    int x = golden_net_input(&net, "image", SHAPE(3, 8, 8, 1), MGB_F32);
    x = model_max_pool2d(net.graph, conv(&net, x, 1, 8, .5f), 2);
    x = model_flatten(net.graph, conv(&net, x, 8, 16, .25f));
    golden_net_classify(&net, golden_net_dense(&net, x, 10, .1f, .1f, MGB_LINEAR), SCALAR);
    struct mgb_idx_file files[] = {{"image", data_file(image, "digits-images-idx3-ubyte.gz")},
                                   {"label", data_file(label, "digits-labels-idx1-ubyte.gz")}};
    struct mgb_source all, part;
    assert_ok(mgb_source_idx(&all, net.graph, files, 2, false));
    assert_ok(mgb_source_take(&part, &all, net.graph, 0, 1600));
    curve_check(&net, "digits", &part, training_sgd(.02f, .9f), "gpus=1 global_batch=32");
    curve_check(&net, "digits", &part, training_sgd(.02f, .9f), "gpus=2 global_batch=32");
    mgb_source_close(&part);
    mgb_source_close(&all);
    mgb_graph_free(net.graph);
}

static void the_novel_is_learnt_as_in_pytorch(void **state)
{
    (void)state;
    enum { SEQ = 24, UNITS = 32, WIDTH = 16, WORDS = 75 };
    char path[512];
    struct mgb_corpus_options options = {.path = data_file(path, "northanger-abbey.txt.gz"),
                                         .unit = MGB_CHARACTERS};
    struct mgb_corpus *corpus;
    struct mgb_source source;
    assert_ok(mgb_corpus_text(&corpus, &options));
    assert_int_equal(mgb_corpus_vocabulary(corpus), WORDS);
    struct golden_net net = golden_net_make("novel");
    struct mgb_recurrent r = mgb_recurrent_init();
    int x = golden_net_input(&net, "input", SHAPE(1, SEQ), MGB_I32), y = -1;
    int table = golden_net_variable(&net, "table", SHAPE(2, WORDS, WIDTH), .5f);
    assert_ok(mgb_op_embedding(net.graph, &y, "embedding", x, table));
    r.kernel = golden_net_variable(&net, "kernel", SHAPE(2, WIDTH, 4 * UNITS), .3f);
    r.recurrent = golden_net_variable(&net, "recurrent", SHAPE(2, UNITS, 4 * UNITS), .3f);
    r.bias = golden_net_variable(&net, "bias", SHAPE(1, 4 * UNITS), .1f);
    r.sequences = true;
    assert_ok(mgb_op_lstm(net.graph, &y, "lstm", y, &r));
    golden_net_classify(&net, golden_net_dense(&net, y, WORDS, .3f, .1f, MGB_LINEAR),
                        SHAPE(1, SEQ));
    struct mgb_optimizer adam = mgb_optimizer_default(MGB_ADAM);
    adam.lr = .01f;
    adam.epsilon = 1e-12f; /* PyTorch adds epsilon elsewhere; so small, the two forms agree */
    assert_ok(mgb_source_text(&source, net.graph, corpus, "input", "label", SEQ, false));
    curve_check(&net, "novel", &source, adam, "gpus=1 global_batch=16");
    curve_check(&net, "novel", &source, adam, "gpus=2 global_batch=16");
    mgb_source_close(&source);
    mgb_corpus_free(corpus);
    mgb_graph_free(net.graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_are_learnt_as_in_pytorch),
        cmocka_unit_test(the_novel_is_learnt_as_in_pytorch),
    };
    return cmocka_run_group_tests_name("golden_curves", tests, NULL, NULL);
}
