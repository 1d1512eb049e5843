/* Random models on random placements, with plain facts and with facts of an imagined device that blocks its tensors: every
 * plan and every move between two of them passes the verifier, is made twice alike, and keeps its lasting arenas. */
#include "engine/base/random.h"
#include "engine/graph/facts.h"
#include "tests/support/check.h"
#include "tests/support/plan.h"
#include "tests/support/random_model.h"

#define MODELS 30
#define PLACEMENTS 6

struct dice {
    uint64_t seed, turn;
};

static int roll(struct dice *dice, int sides)
{
    struct mgb_random4 r = mgb_random_at(dice->seed, dice->turn++, 77);
    return (int)mgb_random_below(r.v[0], (uint32_t)sides);
}

static int place_draw(struct dice *dice, int gpus, bool spread)
{
    int place = roll(dice, gpus + (spread && gpus > 0 ? 2 : 1));
    return place > gpus ? PLAN_SPREAD : place;
}

/* Blocked layouts that pad by a third, work space by node; layout and size depend on the node and the rows alone. */
static enum mgb_status blocked_describe(void *context, int device, const struct mgb_node_use *use,
                                        struct mgb_operator_facts *out)
{
    struct mgb_fact_source plain = mgb_plain_facts();
    (void)context;
    MGB_TRY(plain.describe(plain.context, device, use, out));
    const struct mgb_node *node = &use->graph->nodes[use->node];
    if (out->alias >= 0)
        out->out_layout[0] = use->in_layout[out->alias];
    if (out->alias >= 0 && use->plain[0] && out->out_layout[0] != 0)
        out->alias = -1; /* has to be reordered */
    if (out->alias >= 0)
        return MGB_OK;
    out->out_layout[0] = 0;
    for (int o = 0; o < node->output_count; o++)
        if (node->outputs[o] >= 0 && !use->plain[o] && (use->node + o) % 3 != 0) {
            out->out_layout[o] = 1 + (use->node + o) % 3;
            out->out_bytes[o] += out->out_bytes[o] / 3;
        }
    out->in_place = out->out_layout[0] == use->in_layout[0] ? out->in_place : -1;
    out->workspace_bytes = use->node % 2 ? 100 + 40 * use->node : 0;
    return MGB_OK;
}

static const struct mgb_fact_source blocked = {.describe = blocked_describe};

static void setup_draw(struct plan_setup *out, struct dice *dice, int *order)
{
    static const int64_t buckets[] = {64, 300, 1000, 1 << 20};
    int gpus = 6;
    *out = (struct plan_setup){
        .strategy = (enum mgb_strategy)roll(dice, 4), .gpus = gpus, .batch = 1 + roll(dice, 20)};
    out->home = place_draw(dice, gpus, true);
    out->original = roll(dice, 2) ? out->home : place_draw(dice, gpus, false);
    out->join = place_draw(dice, gpus, false);
    out->loss = roll(dice, 2) ? out->join : place_draw(dice, gpus, false);
    out->sum = place_draw(dice, gpus, true);
    out->update = roll(dice, 2) ? out->home : place_draw(dice, gpus, true);
    out->clone = roll(dice, 3) == 0;
    out->no_overlap = roll(dice, 3) == 0;
    out->bucket_bytes = buckets[roll(dice, 4)];
    out->allreduce = roll(dice, 2) ? MGB_ALLREDUCE_RING : MGB_ALLREDUCE_TREE;
    out->optimizer = mgb_optimizer_default((enum mgb_optimizer_kind)roll(dice, 5));
    out->optimizer.clip_norm = roll(dice, 2) ? 0.5f : 0;
    out->facts = roll(dice, 2) ? &blocked : NULL;
    for (int t = 0; t < gpus; t++) {
        int k = roll(dice, t + 1);
        order[t] = order[k];
        order[k] = t;
    }
    out->order = order;
}

/* What placements have besides places. */
static void ways_draw(struct mgb_effective *placement, struct dice *dice)
{
    bool mirrored = placement->home == NULL;
    placement->recompute = (enum mgb_recompute)roll(dice, 2);
    if (placement->strategy == MGB_INDEPENDENT)
        return;
    placement->bn = (enum mgb_batch_norm)roll(dice, 2);
    placement->wire_type = (enum mgb_wire_type)roll(dice, 3);
    placement->stale = roll(dice, 3) == 0;
    placement->staged = !mirrored && roll(dice, 2) == 0;
}

static struct mgb_plan *plan_of(struct plan_world *world, uint64_t seed, int number)
{
    struct mgb_plan *plan = NULL;
    if (mgb_plan_make(&plan, &world->request) != MGB_OK || mgb_plan_verify(plan) != MGB_OK)
        fail_msg("model %llu, placement %d: %s", (unsigned long long)seed, number,
                 mgb_message_get());
    return plan;
}

/* The remainder and the evaluation of the same placement. */
static void kinds_check(struct plan_world *world, const struct mgb_plan *plan, uint64_t seed,
                        int number, int rows)
{
    for (int evaluate = 0; evaluate < 2; evaluate++) {
        world->request.kind = evaluate ? MGB_PLAN_EVALUATE : MGB_PLAN_TRAIN;
        world->request.rows = rows;
        struct mgb_plan *other = plan_of(world, seed, number);
        assert_true(mgb_plan_same_lasting(plan, other));
        mgb_plan_free(other);
    }
}

static void text_check(struct plan_world *world, const struct mgb_plan *plan, uint64_t seed,
                       int number)
{
    struct mgb_plan *again = plan_of(world, seed, number);
    char *one, *two;
    assert_ok(mgb_plan_text(&one, plan));
    assert_ok(mgb_plan_text(&two, again));
    assert_string_equal(one, two);
    mgb_text_free(one);
    mgb_text_free(two);
    mgb_plan_free(again);
}

static void model_check(uint64_t seed)
{
    struct mgb_graph *graph;
    struct plan_world worlds[PLACEMENTS];
    struct mgb_plan *plans[PLACEMENTS], *move;
    struct dice dice = {.seed = seed};
    int order[PLACEMENTS][8];
    assert_ok(random_model_make(&graph, seed));
    for (int i = 0; i < PLACEMENTS; i++) {
        struct plan_setup setup;
        setup_draw(&setup, &dice, order[i]);
        plan_world_make(&worlds[i], graph, &setup);
        ways_draw(worlds[i].placement, &dice);
        plans[i] = plan_of(&worlds[i], seed, i);
        text_check(&worlds[i], plans[i], seed, i);
        kinds_check(&worlds[i], plans[i], seed, i, 1 + roll(&dice, setup.batch));
    }
    for (int i = 0; i < PLACEMENTS; i++) {
        assert_ok(mgb_plan_make_move(&move, plans[i], plans[(i + 1) % PLACEMENTS]));
        if (mgb_plan_verify(move) != MGB_OK)
            fail_msg("model %llu, move from %d: %s", (unsigned long long)seed, i,
                     mgb_message_get());
        mgb_plan_free(move);
    }
    for (int i = 0; i < PLACEMENTS; i++) {
        mgb_plan_free(plans[i]);
        plan_world_done(&worlds[i]);
    }
    mgb_graph_free(graph);
}

static void every_plan_of_every_model_is_sound(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= MODELS; seed++)
        model_check(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_plan_of_every_model_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
