/* See judge_side.h. What forbids a verdict in one side alone: logs with gaps, steps that never settled, variables stored more
 * often than the placement says. */
#include "app/session/judge_side.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void line_add(char *text, size_t size, const char *separator, const char *format,
                     va_list args)
{
    char line[300];
    size_t used = strlen(text);
    vsnprintf(line, sizeof line, format, args);
    if (strstr(text, line) == NULL && used + strlen(separator) + strlen(line) < size)
        snprintf(text + used, size - used, "%s%s", used ? separator : "", line);
}

void mgb_judge_refuse(struct mgb_judgement *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    line_add(out->refusal, sizeof out->refusal, "; ", format, args);
    va_end(args);
}

void mgb_judge_remark(struct mgb_judgement *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    line_add(out->remarks, sizeof out->remarks, "\n", format, args);
    va_end(args);
}

enum {
    FACT_RUN,
    FACT_BACKEND,
    FACT_SIMULATED,
    FACT_MACHINE_ID,
    FACT_MACHINE,
    FACT_MODEL_ID,
    FACT_MODEL,
    FACT_LOG_COMPLETE,
    FACT_OUTCOME,
    FACT_OVERSUBSCRIBED,
    FACT_GLOBAL_BATCH,
    FACT_STEADY,
    FACT_NOT_STEADY,
    FACT_TIMED_STEPS,
    FACT_DUPLICATES,
    FACT_LEFTOVERS,
    FACT_REPLICAS,
    FACT_ODD_LOSS,
    FACT_TARGET_MISSED,
    FACT_SETTINGS,
    FACT_THROTTLE,
    FACT_STARTED,
    FACT_THREADS,
    FACT_GPUS,
    FACT_NUMBER
};

static const char facts_sql[] =
    "SELECT r.id, r.backend, r.simulated, r.machine_id, h.name, r.model_id, m.name, "
    "r.log_complete, "
    "s.outcome,"
    "       s.oversubscribed, s.global_batch, t.steady, t.not_steady, t.timed_steps,"
    "       (SELECT count(*) FROM duplicate WHERE segment_id = s.id AND variable <> twin),"
    "       (SELECT count(*) FROM duplicate WHERE segment_id = s.id AND variable = twin),"
    "       t.replicas_agree,"
    "       (SELECT step FROM step WHERE segment_id = s.id AND loss_status IN ('nan', 'inf', "
    "'-inf')"
    "         LIMIT 1),"
    "       s.target_noise IS NOT NULL AND s.stop_reason = 'time',"
    "       json_array(s.strategy, s.gpu_list, s.global_batch, s.weights_at, s.join_at, s.loss_at, "
    "s.sum_at,"
    "                  s.update_at, s.allreduce, s.bucket_mib, s.wire_type, s.staged, s.stale, "
    "s.graph,"
    "                  s.precision, s.recompute, s.bn, s.optimizer),"
    "       (SELECT group_concat(DISTINCT throttle) FROM sample"
    "         WHERE segment_id = s.id AND throttle <> ''),"
    "       s.started_ms,"
    "       CASE r.backend WHEN 'host' THEN s.threads END, s.gpus,"
    "       (SELECT count(*) FROM segment WHERE run_id = s.run_id AND id <= s.id)"
    "  FROM segment AS s JOIN run AS r ON r.id = s.run_id JOIN machine AS h ON h.id = r.machine_id"
    "  JOIN model AS m ON m.id = r.model_id LEFT JOIN segment_stat AS t ON t.segment_id = s.id "
    "WHERE s.id = ?";

static void first_row_keep(struct side_look *l, const struct mgb_value *v)
{
    struct mgb_judged_side *side = l->side;
    snprintf(side->model, sizeof side->model, "%s", mgb_value_text(&v[FACT_MODEL]));
    snprintf(side->backend, sizeof side->backend, "%s", mgb_value_text(&v[FACT_BACKEND]));
    snprintf(side->machine, sizeof side->machine, "%s", mgb_value_text(&v[FACT_MACHINE]));
    side->simulated = v[FACT_SIMULATED].integer != 0;
    side->global_batch = mgb_value_int(&v[FACT_GLOBAL_BATCH]);
    side->threads = mgb_value_int(&v[FACT_THREADS]);
    side->gpus = mgb_value_int(&v[FACT_GPUS]);
    snprintf(l->settings, sizeof l->settings, "%s", mgb_value_text(&v[FACT_SETTINGS]));
    l->machine = v[FACT_MACHINE_ID].integer;
    l->model = v[FACT_MODEL_ID].integer;
}

/* What differs within one side: its runs are then no repetitions of one another. */
static void unlike_note(struct side_look *l, const struct mgb_value *v)
{
    struct mgb_judged_side *side = l->side;
    if (strcmp(side->backend, mgb_value_text(&v[FACT_BACKEND])) != 0)
        mgb_judge_refuse(l->out, "%s's runs are of several backends", l->name);
    if (l->machine != v[FACT_MACHINE_ID].integer)
        mgb_judge_remark(l->out, "%s's runs are of several machines", l->name);
    l->mixed_settings =
        l->mixed_settings || strcmp(l->settings, mgb_value_text(&v[FACT_SETTINGS])) != 0;
    l->mixed_model = l->mixed_model || l->model != v[FACT_MODEL_ID].integer;
    if (mgb_value_int(&v[FACT_THREADS]) != side->threads)
        mgb_judge_remark(l->out, "%s's runs have other CPU threads a device than each other",
                         l->name);
    if (v[FACT_GLOBAL_BATCH].kind != MGB_VALUE_INT ||
        v[FACT_GLOBAL_BATCH].integer != side->global_batch)
        side->global_batch = -1;
}

static void gate_note(struct side_look *l, const struct mgb_value *v)
{
    long long run = v[FACT_RUN].integer;
    if (!v[FACT_LOG_COMPLETE].integer)
        mgb_judge_refuse(l->out, "the log of run %lld is incomplete", run);
    if (v[FACT_STEADY].kind == MGB_VALUE_INT && !v[FACT_STEADY].integer) {
        static const char said[] = "not steady: "; /* what is stored begins with it */
        const char *why = mgb_value_text(&v[FACT_NOT_STEADY]);
        why += strncmp(why, said, strlen(said)) == 0 ? strlen(said) : 0;
        if (run == l->run)
            mgb_judge_refuse(l->out, "seg %lld unsteady%s%s",
                             (long long)mgb_value_int(&v[FACT_NUMBER]), *why ? ": " : "", why);
        else
            mgb_judge_refuse(l->out, "run %lld is not steady%s%s", run, *why ? ": " : "", why);
        l->out->unsteady = true;
    }
    if (v[FACT_DUPLICATES].integer > 0)
        mgb_judge_refuse(l->out, "run %lld stores %lld variable%s twice (mgbench show %lld)", run,
                         (long long)v[FACT_DUPLICATES].integer,
                         v[FACT_DUPLICATES].integer == 1 ? "" : "s", run);
    if (v[FACT_REPLICAS].kind == MGB_VALUE_INT && v[FACT_REPLICAS].integer == 0)
        mgb_judge_refuse(l->out, "the replicas of run %lld did not agree at its end", run);
    if (v[FACT_TIMED_STEPS].kind == MGB_VALUE_INT && v[FACT_TIMED_STEPS].integer == 0)
        mgb_judge_refuse(l->out, "run %lld has no timed steps (%s)", run,
                         mgb_value_text(&v[FACT_OUTCOME]));
}

static void remark_note(struct side_look *l, const struct mgb_value *v)
{
    long long run = v[FACT_RUN].integer;
    const char *outcome = mgb_value_text(&v[FACT_OUTCOME]);
    bool timed = v[FACT_TIMED_STEPS].kind == MGB_VALUE_INT && v[FACT_TIMED_STEPS].integer > 0;
    if (strcmp(outcome, "ok") != 0 && timed)
        mgb_judge_remark(l->out, "run %lld: %s; its figures are of the steps until then", run,
                         outcome);
    if (*mgb_value_text(&v[FACT_THROTTLE]))
        mgb_judge_remark(l->out, "run %lld was throttled: %s", run,
                         mgb_value_text(&v[FACT_THROTTLE]));
    if (v[FACT_LEFTOVERS].integer > 0)
        mgb_judge_remark(l->out, "run %lld leaves copies of %lld variables behind", run,
                         (long long)v[FACT_LEFTOVERS].integer);
    if (v[FACT_OVERSUBSCRIBED].kind == MGB_VALUE_INT && v[FACT_OVERSUBSCRIBED].integer)
        mgb_judge_remark(l->out,
                         "%s is oversubscribed: its towers have more threads than there are cores",
                         l->name);
    if (v[FACT_ODD_LOSS].kind == MGB_VALUE_INT)
        mgb_judge_remark(l->out, "run %lld: the loss is no number from step %lld on", run,
                         (long long)v[FACT_ODD_LOSS].integer);
    if (v[FACT_TARGET_MISSED].kind == MGB_VALUE_INT && v[FACT_TARGET_MISSED].integer)
        mgb_judge_remark(l->out, "run %lld ran out of time before its noise was below its target",
                         run);
}

bool mgb_judge_is_earlier(const int64_t a[2], const int64_t b[2])
{
    return a[0] != b[0] ? a[0] < b[0] : a[1] < b[1];
}

static enum mgb_status facts_take(void *context, const struct mgb_value *v, int count)
{
    struct side_look *l = context;
    int64_t run = v[FACT_RUN].integer;
    (void)count;
    const int64_t began[2] = {mgb_value_int(&v[FACT_STARTED]), run};
    if (l->rows == 0 || mgb_judge_is_earlier(began, l->oldest))
        memcpy(l->oldest, began, sizeof began);
    if (l->rows == 0 || mgb_judge_is_earlier(l->newest, began))
        memcpy(l->newest, began, sizeof began);
    l->unjudged = l->unjudged || (v[FACT_STEADY].kind == MGB_VALUE_NULL &&
                                  mgb_value_int(&v[FACT_TIMED_STEPS]) > 0);
    if (l->rows++ == 0)
        first_row_keep(l, v);
    else
        unlike_note(l, v);
    gate_note(l, v);
    remark_note(l, v);
    return MGB_OK;
}

enum mgb_status mgb_judge_side_look(struct side_look *l, struct mgb_reader *reader,
                                    const struct mgb_selection *side)
{
    struct mgb_query_sink sink = {.context = l, .row = facts_take};
    for (size_t i = 0; i < side->count; i++) {
        struct mgb_value id = mgb_value_of_int(side->segments[i].segment);
        if (!side->segments[i].segment)
            mgb_judge_refuse(l->out, "run %lld did not begin", (long long)side->segments[i].run);
        else
            MGB_TRY(mgb_query_run(reader, facts_sql, &id, 1, &sink));
    }
    if (l->mixed_model || l->mixed_settings)
        mgb_judge_remark(l->out,
                         "%s's runs are of several %s, taken for repetitions of one another",
                         l->name, l->mixed_model ? "models" : "settings");
    return MGB_OK;
}
