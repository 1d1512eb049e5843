/* Evaluation: every row of a source once, in stored order, without update. It borrows the input slots, so reading ahead for
 * training starts anew afterwards; the training position stays. */
#include "engine/exec/run_state.h"

#include <string.h>

#define MAX_METRICS (sizeof((struct mgb_evaluation *)0)->metrics / sizeof(double))

struct evaluation {
    struct mgb_prefetch *prefetch;
    int64_t rows, batch; /* of the source, of a full batch */
    struct mgb_program *full, *rest;
};

static struct mgb_batch_request batch_at(const struct evaluation *evaluation, int64_t first)
{
    int64_t rows = evaluation->batch;
    if (first + rows > evaluation->rows)
        rows = evaluation->rows - first;
    return (struct mgb_batch_request){.epoch = -1, .first = first, .rows = rows};
}

static enum mgb_status programs_make(struct mgb_run *run, struct evaluation *evaluation)
{
    int batch = (int)evaluation->batch, rest = (int)(evaluation->rows % evaluation->batch);
    mgb_setting_trim(run->setting, MGB_PLAN_EVALUATE, batch, rest);
    if (evaluation->rows >= evaluation->batch)
        MGB_TRY(mgb_setting_program(&run->settings, run->setting, &evaluation->full,
                                    MGB_PLAN_EVALUATE, batch));
    if (rest > 0)
        MGB_TRY(mgb_setting_program(&run->settings, run->setting, &evaluation->rest,
                                    MGB_PLAN_EVALUATE, rest));
    return mgb_run_arrange_step(run, run->setting);
}

static enum mgb_status programs_prepare(struct mgb_run *run, struct evaluation *evaluation)
{
    enum mgb_status status = programs_make(run, evaluation);
    if (status != MGB_OK) { /* training must go on without them */
        mgb_setting_trim(run->setting, MGB_PLAN_EVALUATE, 0, 0);
        return status;
    }
    if (evaluation->full)
        MGB_TRY(mgb_program_bind(evaluation->full, false));
    return evaluation->rest ? mgb_program_bind(evaluation->rest, false) : MGB_OK;
}

static enum mgb_status batch_evaluate(struct mgb_run *run, struct evaluation *evaluation,
                                      struct mgb_evaluation *out, int64_t first, int slot)
{
    struct mgb_batch_request batch = batch_at(evaluation, first);
    struct mgb_program *program =
        batch.rows == evaluation->batch ? evaluation->full : evaluation->rest;
    struct mgb_play play = {
        .slot = slot,
        .timeout_ns = run->step_timeout_ns,
        .values = {.step = run->step, .seed = run->seed, .updates = run->updates}};
    MGB_TRY(mgb_prefetch_wait(evaluation->prefetch, slot, batch));
    if (!run->guarded && first + batch.rows < evaluation->rows)
        mgb_prefetch_begin(evaluation->prefetch, 1 - slot,
                           batch_at(evaluation, first + batch.rows));
    MGB_TRY(mgb_run_play(run, program, &play));
    double loss;
    MGB_TRY(mgb_run_read_results(run, program, &loss, run->metrics));
    out->rows += batch.rows;
    out->loss += loss;
    for (int i = 0; i < out->metric_count; i++)
        out->metrics[i] += run->metrics[i];
    return MGB_OK;
}

enum mgb_status mgb_run_evaluate(struct mgb_run *run, struct mgb_evaluation *out,
                                 const struct mgb_source *source)
{
    struct evaluation evaluation = {.batch = run->setting->effective.global_batch,
                                    .rows = source->rows};
    int metrics = mgb_graph_metric_count(run->graph);
    *out = (struct mgb_evaluation){.metric_count = metrics};
    MGB_TRY(mgb_run_needs_values(run, "evaluation"));
    if (metrics > (int)MAX_METRICS)
        return mgb_fail(MGB_UNSUPPORTED, "an evaluation has at most %zu metrics, model '%s' has %d",
                        MAX_METRICS, mgb_graph_name(run->graph), metrics);
    if (evaluation.rows == 0) /* endless: one batch stands for all */
        evaluation.rows = evaluation.batch;
    mgb_run_free_prefetch(run);
    enum mgb_status status;
    MGB_TRY_GOTO(status, programs_prepare(run, &evaluation), end);
    MGB_TRY_GOTO(status, mgb_run_make_prefetch(run, &evaluation.prefetch, source), end);
    int slot = 0;
    for (int64_t first = 0; first < evaluation.rows && status == MGB_OK;
         first += evaluation.batch, slot = 1 - slot)
        status = batch_evaluate(run, &evaluation, out, first, slot);
end:
    mgb_prefetch_free(evaluation.prefetch);
    if (status != MGB_OK)
        return mgb_run_failed(run, status);
    out->loss /= (double)out->rows;
    for (int i = 0; i < metrics; i++)
        out->metrics[i] /= (double)out->rows;
    return MGB_OK;
}
