/* From what was asked to what is in effect: explicit place > merge_at > the two flags > like >
 * defaults. This file has the order of the steps and `like`; places, towers and refusals have files
 * of their own. */
#include "engine/plan/placement.h"

/* What each system does (reference/ancestors.md):
 * keras (1.1): outputs are joined on the host or the first listed GPU as cpu_merge says; the loss,
 * the last gradient sum and the slots are made outside any scope and land on the first GPU;
 * relocation leaves the original behind.
 * deep_qa (3.1): variables are pinned to the host, gradients averaged there, the update beside the
 * variables.
 * tf_ps (4.1): tf_cnn_benchmarks' parameter_server with its default local_parameter_device = gpu:
 * each variable on the GPU that holds the fewest elements so far, its gradients summed and applied
 * beside it. Hence weights and sum are spread.
 * tf_replicated (4.1), ddp (4.3): mirrored weights, all-reduced gradients. The first adds where the
 * second averages; here both take the mean over the global batch, and they differ in name only
 * until the algorithm is given. */
static const struct mgb_like_preset presets[] = {
    [MGB_LIKE_KERAS] = {.name = "keras",
                        .strategy = MGB_OUTPUTS,
                        .first_gpu = true,
                        .relocation = MGB_CLONE},
    [MGB_LIKE_DEEP_QA] = {.name = "deep_qa",
                          .strategy = MGB_GRADIENTS,
                          .weights_at = {MGB_DEVICE_CPU, 0, 0},
                          .sum_at = {MGB_DEVICE_CPU, 0, 0}},
    [MGB_LIKE_TF_PS] = {.name = "tf_ps",
                        .strategy = MGB_GRADIENTS,
                        .weights_at = {MGB_DEVICE_SPREAD, 0, 0},
                        .sum_at = {MGB_DEVICE_SPREAD, 0, 0}},
    [MGB_LIKE_TF_REPLICATED] = {.name = "tf_replicated", .strategy = MGB_ALLREDUCE},
    [MGB_LIKE_DDP] = {.name = "ddp", .strategy = MGB_ALLREDUCE},
};

void mgb_resolve_strategy(struct mgb_resolver *resolver)
{
    const struct mgb_placement *asked = resolver->asked;
    resolver->like = asked->like == MGB_LIKE_NONE ? NULL : &presets[asked->like];
    resolver->out->strategy = mgb_option_given(asked, MGB_OPTION_STRATEGY) || !resolver->like
                                  ? asked->strategy
                                  : resolver->like->strategy;
    resolver->out->relocation = mgb_option_given(asked, MGB_OPTION_RELOCATION) || !resolver->like
                                    ? asked->relocation
                                    : resolver->like->relocation;
}

/* CPU devices: more threads than that for each core are a mistake, and one that takes the whole machine with it. */
enum { MOST_THREADS_A_CORE = 32 };

static enum mgb_status resolve_threads(struct mgb_resolver *resolver)
{
    struct mgb_effective *out = resolver->out;
    int cores = resolver->cores < 1 ? 1 : resolver->cores;
    bool cpu = resolver->topology->devices[resolver->towers[0]].class == MGB_CLASS_CPU;
    out->cpu_threads = cores;
    out->threads = cores / out->tower_count;
    if (out->threads < 1)
        out->threads = 1;
    if (resolver->asked->threads < 0)
        return mgb_fail(MGB_INVALID, "threads = %d: give a whole number from 1",
                        resolver->asked->threads);
    if (resolver->asked->threads > 0)
        out->threads = resolver->asked->threads;
    int64_t all = (int64_t)out->threads * out->tower_count;
    if (cpu && resolver->asked->threads > 1 && all > (int64_t)MOST_THREADS_A_CORE * cores)
        return mgb_fail(
            MGB_INVALID,
            "threads = %d: %d towers with so many are %lld threads on %d cores; at most "
            "%d a core are started",
            resolver->asked->threads, out->tower_count, (long long)all, cores, MOST_THREADS_A_CORE);
    out->oversubscribed = cpu && all > cores;
    return MGB_OK;
}

static enum mgb_status resolve_steps(struct mgb_resolver *resolver)
{
    const struct mgb_placement *asked = resolver->asked;
    mgb_resolve_strategy(resolver);
    MGB_TRY(mgb_resolve_contradictions(resolver));
    MGB_TRY(mgb_resolve_towers(resolver));
    MGB_TRY(mgb_resolve_unsupported(resolver));
    MGB_TRY(mgb_resolve_batch(resolver));
    MGB_TRY(mgb_resolve_places(resolver));
    mgb_resolve_exchange(resolver);
    MGB_TRY(resolve_threads(resolver));
    MGB_TRY(mgb_resolve_precision(resolver));
    resolver->out->logical = asked->logical;
    resolver->out->peer_access = asked->peer_access;
    resolver->out->pinned = asked->pinned;
    resolver->out->gpu_memory = asked->gpu_memory;
    return mgb_resolve_graph(resolver);
}

enum mgb_status mgb_placement_resolve(struct mgb_effective *out, const struct mgb_placement *asked,
                                      uint64_t fresh, const struct mgb_graph *graph,
                                      const struct mgb_topology *topology, int cores)
{
    struct mgb_effective result = {.variable_count = graph->variable_count};
    struct mgb_pool *pool = mgb_alloc(sizeof *pool);
    if (!pool)
        return mgb_fail(MGB_NO_MEMORY, "placement: out of memory");
    mgb_pool_init(pool);
    result.memory = pool;
    struct mgb_resolver resolver = {.asked = asked,
                                    .fresh = fresh,
                                    .graph = graph,
                                    .topology = topology,
                                    .cores = cores,
                                    .out = &result,
                                    .pool = pool};
    enum mgb_status status = resolve_steps(&resolver);
    if (status == MGB_OK)
        *out = result;
    else
        mgb_effective_done(&result);
    return status;
}

void mgb_effective_done(struct mgb_effective *effective)
{
    if (effective->memory)
        mgb_pool_done(effective->memory);
    mgb_release(effective->memory);
    *effective = (struct mgb_effective){0};
}
