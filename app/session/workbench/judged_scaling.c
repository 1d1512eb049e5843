/* The segment in force against one GPU, by the rules of view scaling but from one segment's look-up; see
 * judged_private.h. */
#include "app/session/workbench/judged_private.h"

#include "db/load.h"
#include "db/scaling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENOUGH_STEPS = 10 }; /* fewer are no base to lean on where there is another */

static int time_compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

enum mgb_status mgb_judged_median(int64_t *out_ns, struct mgb_reader *reader, int64_t segment)
{
    struct mgb_loaded_side loaded;
    *out_ns = 0;
    MGB_TRY(mgb_side_load(&loaded, reader, &segment, 1));
    size_t count = loaded.series[0].count;
    if (count > 0) {
        qsort(loaded.wall_ns, count, sizeof *loaded.wall_ns, time_compare);
        int64_t low = loaded.wall_ns[(count - 1) / 2], high = loaded.wall_ns[count / 2];
        *out_ns = low + (high - low) / 2;
    }
    mgb_side_done(&loaded);
    return MGB_OK;
}

static enum mgb_status now_take(void *context, const struct mgb_value *v, int count)
{
    struct mgb_judged_base *s = context;
    (void)count;
    s->found = true;
    s->run = mgb_value_int(&v[0]);
    s->gpus = mgb_value_int(&v[1]);
    s->global_batch = mgb_value_int(&v[2]);
    s->strong = mgb_value_int(&v[3]) != 0;
    s->batch = mgb_value_int(&v[4]);
    s->threads = mgb_value_int(&v[5]);
    return MGB_OK;
}

static const char now_sql[] =
    "SELECT s.run_id, s.gpus, s.global_batch, s.batch_mode IS 'strong',"
    "       CASE s.batch_mode WHEN 'strong' THEN s.global_batch ELSE s.batch_per_gpu END,"
    "       CASE r.backend WHEN 'host' THEN coalesce(s.threads, 0) ELSE 0 END"
    "  FROM segment AS s JOIN run AS r ON r.id = s.run_id WHERE s.id = ?";

static enum mgb_status base_take(void *context, const struct mgb_value *v, int count)
{
    struct mgb_judged_base *s = context;
    (void)count;
    s->based = true;
    s->base_run = mgb_value_int(&v[0]);
    s->base_number = mgb_value_int(&v[1]);
    s->base_batch = mgb_value_int(&v[2]);
    s->step_ns = (double)mgb_value_int(&v[3]);
    s->base_threads = mgb_value_int(&v[4]);
    s->base_steps = mgb_value_int(&v[5]);
    s->base_steady = mgb_value_int(&v[6]) != 0;
    return MGB_OK;
}

#define PLACED(t)                                                                                  \
    "(" t ".weights_at, " t ".join_at, " t ".loss_at, " t ".sum_at, " t ".update_at, " t           \
    ".relocation, " t ".allreduce, " t ".bucket_mib, " t ".overlap, " t ".wire_type, " t           \
    ".staged, " t ".stale, " t ".peer_access, " t ".pinned, " t ".graph, " t ".bn, " t ".hosts)"
#define TEAM(t) "CASE r.backend WHEN 'host' THEN coalesce(" t ".threads, 0) ELSE 0 END"

/* ?1 the segment, ?2 the batch. Its model's runs only, by their index; the rest narrows those. */
static const char base_sql[] =
    "SELECT a.run_id, (SELECT count(*) FROM segment WHERE run_id = a.run_id AND id <= a.id),"
    "       a.global_batch, t.median_ns, " TEAM(
        "a") ", t.timed_steps, t.steady IS NOT 0  FROM segment AS k CROSS JOIN run AS o ON "
             "o.id = k.run_id"
             "  CROSS JOIN run AS r ON r.model_id = o.model_id CROSS JOIN segment AS a ON a.run_id "
             "= r.id"
             "  CROSS JOIN segment_stat AS t ON t.segment_id = a.id"
             " WHERE k.id = ?1 AND +r.machine_id = o.machine_id AND r.backend = o.backend"
             "   AND r.simulated = o.simulated AND coalesce(r.data, '') = coalesce(o.data, '')"
             "   AND a.gpus = 1 AND a.global_batch = ?2 AND a.outcome = 'ok' AND a.optimizer IS "
             "k.optimizer"
             "   AND a.recompute IS k.recompute AND a.precision IS k.precision AND t.median_ns > 0"
             "   AND NOT EXISTS (SELECT 1 FROM tag WHERE run_id = r.id AND name = 'verify')"
             " ORDER BY " TEAM("a") " = " TEAM(
                 "k") " DESC, (t.timed_steps >= 10 AND t.steady IS NOT 0) DESC, t.timed_steps >= "
                      "10 DESC, a.strategy IS k.strategy DESC,"
                      "          " PLACED("a") " IS " PLACED("k") " DESC, a.id DESC LIMIT 1";

static void words_write(struct mgb_bench_answer *out, const struct mgb_judged_base *s)
{
    char whom[25], threads[24] = "", steps[16] = "";
    const char *mode = s->strong ? "strong" : "weak";
    if (!s->based) {
        snprintf(out->scaling, sizeof out->scaling,
                 "no stored one-GPU run of this model with a batch of %lld", (long long)s->batch);
        return;
    }
    if (s->base_run == s->run)
        snprintf(whom, sizeof whom, "segment %d", (int)s->base_number);
    else
        snprintf(whom, sizeof whom, "run %lld", (long long)s->base_run);
    if (s->base_threads != s->threads)
        snprintf(threads, sizeof threads, " of %d threads", (int)s->base_threads);
    if (s->base_steps < ENOUGH_STEPS)
        snprintf(steps, sizeof steps, ", %d step%s", (int)s->base_steps,
                 s->base_steps == 1 ? "" : "s");
    else if (!s->base_steady)
        snprintf(steps, sizeof steps, ", not steady");
    out->doubtful = *threads || *steps;
    snprintf(out->scaling, sizeof out->scaling, "%s, against %s%s%s", mode, whom, threads, steps);
}

static enum mgb_status base_find(struct mgb_judged_base *base, struct mgb_reader *reader,
                                 int64_t now)
{
    struct mgb_query_sink now_sink = {.context = base, .row = now_take};
    struct mgb_query_sink base_sink = {.context = base, .row = base_take};
    struct mgb_value values[] = {mgb_value_of_int(now), {0}};
    *base = (struct mgb_judged_base){.of = 0};
    MGB_TRY(mgb_query_run(reader, now_sql, values, 1, &now_sink));
    if (!base->found)
        return mgb_fail(MGB_MISSING, "there is no segment %lld", (long long)now);
    values[1] = mgb_value_of_int(base->batch);
    if (base->gpus > 1)
        MGB_TRY(mgb_query_run(reader, base_sql, values, 2, &base_sink));
    base->of = now;
    return MGB_OK;
}

static void scaling_set(struct mgb_bench_answer *out, const struct mgb_judged_base *base,
                        double median_ns)
{
    struct mgb_scaling_point one = {1, base->base_batch, base->step_ns};
    struct mgb_scaling_point many = {base->gpus, base->global_batch, median_ns};
    struct mgb_maybe_real efficiency =
        base->strong ? mgb_scaling_strong(&one, &many) : mgb_scaling_weak(&one, &many);
    if (efficiency.known) {
        out->efficiency = efficiency.value;
        out->speedup = efficiency.value * (double)base->gpus;
    } else { /* the last tower is smaller: no whole multiple of the batch */
        out->speedup =
            one.step_ns / (double)one.global_batch / (many.step_ns / (double)many.global_batch);
        out->efficiency = out->speedup / (double)base->gpus;
    }
}

enum mgb_status mgb_judged_scaling(struct mgb_bench_answer *out, struct mgb_reader *reader,
                                   int64_t now, struct mgb_judged_base *base)
{
    int64_t median_ns = 0;
    out->speedup = out->efficiency = (double)NAN;
    out->doubtful = false;
    if (base->of != now)
        MGB_TRY(base_find(base, reader, now));
    if (base->gpus < 2) {
        snprintf(out->scaling, sizeof out->scaling, base->gpus == 1 ? "one GPU" : "no GPU");
        return MGB_OK;
    }
    words_write(out, base);
    if (base->based)
        MGB_TRY(mgb_judged_median(&median_ns, reader, now));
    if (median_ns > 0)
        scaling_set(out, base, (double)median_ns);
    return MGB_OK;
}
