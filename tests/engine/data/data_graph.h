/* A small model for the tests of data: "image" of 4x3x1 and "label" of `classes` classes. */
#ifndef MGB_TESTS_DATA_GRAPH_H
#define MGB_TESTS_DATA_GRAPH_H

#include "tests/support/check.h"
#include <mgb/model.h>
#include <mgb/op.h>

static inline struct mgb_graph *data_graph_make(int classes)
{
    struct mgb_graph *graph;
    struct mgb_shape image = {3, {4, 3, 1}}, scalar = {0, {0}};
    struct mgb_shape weight = {2, {12, classes}};
    struct mgb_init init = {.kind = MGB_GLOROT_UNIFORM, .fan_in = 12, .fan_out = classes};
    int x, label, flat, w, read, logits, loss;
    assert_ok(mgb_graph_make(&graph, "small"));
    assert_ok(mgb_graph_input(graph, &x, "image", &image, MGB_F32));
    assert_ok(mgb_graph_input(graph, &label, "label", &scalar, MGB_I32));
    assert_ok(mgb_op_flatten(graph, &flat, "flatten", x));
    assert_ok(mgb_graph_variable(graph, &w, "kernel", &weight, &init));
    assert_ok(mgb_graph_read(graph, &read, w));
    assert_ok(mgb_op_dense(graph, &logits, "dense", flat, read, -1, MGB_LINEAR));
    assert_ok(mgb_op_softmax_cross_entropy(graph, &loss, "loss", logits, label));
    assert_ok(mgb_graph_loss(graph, loss, 1.0f));
    assert_ok(mgb_graph_finish(graph));
    return graph;
}

#endif
