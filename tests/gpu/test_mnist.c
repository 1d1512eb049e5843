/* mnist_cnn on a card: three epochs of the subset that ships reach 96.5 % on the test images, with one tower and with four
 * on logical devices. Where it must be brief, a few steps follow the host backend. */
#include "tests/gpu/card.h"
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 3 };

static struct mgb_graph *graph;
static struct mgb_source train, test;

static void images_open(struct mgb_source *out, const char *split, bool shuffle)
{
    const char *root = getenv("MGB_SOURCE_DIR");
    char image[512], label[512];
    snprintf(image, sizeof image, "%s/scripts/data/mnist-%s-images-idx3-ubyte.gz",
             root ? root : ".", split);
    snprintf(label, sizeof label, "%s/scripts/data/mnist-%s-labels-idx1-ubyte.gz",
             root ? root : ".", split);
    struct mgb_idx_file files[] = {{"image", image}, {"label", label}};
    assert_ok(mgb_source_idx(out, graph, files, 2, shuffle));
}

static int images_make(void **state)
{
    (void)state;
    graph = model_mnist_cnn();
    images_open(&train, "train", true);
    images_open(&test, "test", false);
    return 0;
}

static int images_free(void **state)
{
    (void)state;
    mgb_source_close(&train);
    mgb_source_close(&test);
    mgb_graph_free(graph);
    return 0;
}

static struct mgb_run *run_open(const char *options, const char *backend)
{
    struct training training = {.graph = graph,
                                .source = &train,
                                .options = options,
                                .backend = backend,
                                .optimizer = training_sgd(0.05f, 0.9f),
                                .seed = 1};
    return training_open(&training);
}

static void steps_follow_the_host(const char *options)
{
    double host[STEPS], cuda[STEPS];
    struct mgb_run *on_host = run_open(options, "host"), *on_cuda = run_open(options, "cuda");
    training_step(on_host, STEPS, host);
    training_step(on_cuda, STEPS, cuda);
    for (int i = 0; i < STEPS; i++)
        if (!(fabs(host[i] - cuda[i]) <= 1e-4 * fabs(host[i])))
            fail_msg("%s: step %d: loss %.9g on the host, %.9g on the card", options, i, host[i],
                     cuda[i]);
    mgb_run_close(on_host);
    mgb_run_close(on_cuda);
}

static void digits_are_learned(const char *options)
{
    struct mgb_step_request epoch = {.steps = 1000, .whole_epoch = true};
    struct mgb_evaluation result;
    int64_t done;
    struct mgb_run *run = run_open(options, "cuda");
    for (int i = 0; i < 3; i++)
        assert_ok(mgb_run_step(run, &done, &epoch, NULL));
    assert_ok(mgb_run_evaluate(run, &result, &test));
    printf("%s: accuracy %.4f, loss %.4f\n", options, result.metrics[0], result.loss);
    assert_true(result.metrics[0] >= 0.965);
    mgb_run_close(run);
}

static void three_epochs_of_digits_reach_96_5_percent(void **state)
{
    (void)state;
    static const char *const options[] = {
        "gpus=1 global_batch=64",
        "gpus=4 global_batch=64 logical=true cpu_merge=false",
    };
    for (int i = 0; i < 2; i++)
        if (card.brief)
            steps_follow_the_host(i ? "gpus=4 global_batch=8 logical=true"
                                    : "gpus=1 global_batch=8");
        else
            digits_are_learned(options[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_epochs_of_digits_reach_96_5_percent),
    };
    int missing = card_find();
    if (missing)
        return missing;
    return cmocka_run_group_tests_name("mnist", tests, images_make, images_free);
}
