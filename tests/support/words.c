#include "tests/support/words.h"

#include "tests/support/check.h"
#include "tests/support/model.h"
#include <mgb/op.h>

static void words_build(struct mgb_graph *graph, struct words words)
{
    int ids = -1, x = -1, target, loss;
    assert_ok(mgb_graph_input(graph, &ids, "ids", SHAPE(1, words.positions), MGB_I32));
    target = model_input(graph, "target", SHAPE(2, words.positions, words.units));
    int table = model_weight(graph, "embeddings", SHAPE(2, words.vocabulary, words.units));
    assert_ok(mgb_op_embedding(graph, &x, "words", ids, table));
    for (int i = 1; i < words.uses; i++) {
        int more;
        assert_ok(mgb_op_embedding(graph, &more, "words", ids, table));
        assert_ok(mgb_op_add(graph, &x, "add", x, more));
    }
    assert_ok(mgb_op_mean_squared_error(graph, &loss, "distance", x, target));
    assert_ok(mgb_graph_loss(graph, loss, words.weight != 0 ? words.weight : 1));
}

struct mgb_graph *words_make(struct words words)
{
    struct mgb_graph *graph = model_make("words");
    for (int t = 0; t < words.towers; t++) {
        assert_ok(mgb_graph_begin_tower(graph, t));
        words_build(graph, words);
        assert_ok(mgb_graph_end_tower(graph));
    }
    if (words.towers == 0)
        words_build(graph, words);
    assert_ok(mgb_graph_finish(graph));
    return graph;
}

int64_t words_packed(struct words words, int rows)
{
    return (int64_t)4 * rows * words.positions * (1 + words.units);
}

int64_t words_whole(struct words words)
{
    return (int64_t)4 * words.vocabulary * words.units;
}
