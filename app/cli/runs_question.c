/* The question of mgbench runs. See runs_question.h. */
#include "app/cli/runs_question.h"

const char *const mgb_runs_columns[MGB_RUNS_COLUMNS] = {"run",
                                                        "segment_id",
                                                        "segment",
                                                        "started_ms",
                                                        "started",
                                                        "model",
                                                        "options",
                                                        "backend",
                                                        "simulated",
                                                        "machine",
                                                        "strategy",
                                                        "gpus",
                                                        "batch_per_gpu",
                                                        "global_batch",
                                                        "weights_at",
                                                        "join_at",
                                                        "sum_at",
                                                        "step_ms",
                                                        "step_ms_low",
                                                        "step_ms_high",
                                                        "examples_per_s",
                                                        "steps",
                                                        "steady",
                                                        "oversubscribed",
                                                        "log_complete",
                                                        "throttled",
                                                        "duplicates",
                                                        "replicas_agree",
                                                        "outcome",
                                                        "tags",
                                                        "baseline",
                                                        "baseline_run",
                                                        "baseline_ms",
                                                        "ratio"};

/* ?1 model, ?2 tag, ?3 sweep, ?4 outcome, ?5 baseline, ?6 lines (-1: all), ?7 selftest's and verifications, too. A run that says
 * "running" may have crashed: it is looked at before its outcome decides. The lines are chosen first, so that only theirs
 * is looked up. */
#define RUNS_SQL(segments, outcome)                                                                \
    "WITH held AS MATERIALIZED (SELECT b.name, b.set_ms, s.run_id, m.name AS model, m.options, "   \
    "r.machine_id,"                                                                                \
    "        r.backend, s.global_batch, coalesce((SELECT avg(u.median_ns) FROM baseline_segment "  \
    "        AS x JOIN segment_stat AS u ON u.segment_id = x.segment_id WHERE x.name = b.name),"   \
    "        t.median_ns) AS median_ns FROM baseline AS b"                                         \
    "        JOIN segment AS s ON s.id = b.segment_id JOIN run AS r ON r.id = s.run_id"            \
    "        JOIN model AS m ON m.id = r.model_id JOIN segment_stat AS t ON t.segment_id = s.id"   \
    "       WHERE ?5 IS NULL OR b.name = ?5),"                                                     \
    " held_newest AS MATERIALIZED (SELECT *, max(set_ms) FROM held GROUP BY model, options, "      \
    "backend,"                                                                                     \
    "        machine_id),"                                                                         \
    " line AS (SELECT r.id AS run, s.id AS segment, " outcome " AS outcome"                        \
    "            FROM run AS r JOIN model AS m ON m.id = r.model_id " segments                     \
    "           WHERE (?1 IS NULL OR m.name = ?1)"                                                 \
    "             AND (?2 IS NULL OR EXISTS (SELECT 1 FROM tag WHERE run_id = r.id AND name = "    \
    "?2))"                                                                                         \
    "             AND (?3 IS NULL OR EXISTS (SELECT 1 FROM sweep_point AS p JOIN sweep AS w"       \
    "                  ON w.id = p.sweep_id WHERE p.run_id = r.id AND w.name = ?3))"               \
    "             AND (?7 OR NOT EXISTS (SELECT 1 FROM tag WHERE run_id = r.id AND name IN "       \
    "('selftest', 'verify')))"                                                                     \
    "             AND (?4 IS NULL OR r.outcome = 'running' OR " outcome " = ?4)"                   \
    "           ORDER BY r.started_ms DESC, r.id DESC, s.id DESC LIMIT ?6)"                        \
    " SELECT r.id, s.id, (SELECT count(*) FROM segment WHERE run_id = r.id AND id <= s.id),"       \
    "        r.started_ms, strftime('%Y-%m-%dT%H:%M:%SZ', r.started_ms / 1000, 'unixepoch'),"      \
    "        m.name, m.options, r.backend, r.simulated, c.name, s.strategy, s.gpus,"               \
    "        s.batch_per_gpu, s.global_batch, s.weights_at, s.join_at, s.sum_at, t.median_ns / "   \
    "1e6,"                                                                                         \
    "        t.ci95_low_ns / 1e6, t.ci95_high_ns / 1e6, s.global_batch * 1e9 / "                   \
    "nullif(t.median_ns, 0),"                                                                      \
    "        t.timed_steps, t.steady, s.oversubscribed, r.log_complete,"                           \
    "        EXISTS (SELECT 1 FROM sample WHERE segment_id = s.id AND throttle <> ''),"            \
    "        (SELECT count(*) FROM duplicate WHERE segment_id = s.id AND variable <> twin),"       \
    "        t.replicas_agree, l.outcome,"                                                         \
    "        (SELECT group_concat(name, ' ') FROM tag WHERE run_id = r.id), h.name, h.run_id,"     \
    "        h.median_ns / 1e6, 1.0 * t.median_ns / s.global_batch * h.global_batch / h.median_ns" \
    "  FROM line AS l JOIN run AS r ON r.id = l.run JOIN model AS m ON m.id = r.model_id"          \
    "  JOIN machine AS c ON c.id = r.machine_id LEFT JOIN segment AS s ON s.id = l.segment"        \
    "  LEFT JOIN segment_stat AS t ON t.segment_id = l.segment"                                    \
    "  LEFT JOIN held_newest AS h ON h.model = m.name AND h.options = m.options"                   \
    "   AND h.backend = r.backend AND (?5 IS NOT NULL OR h.machine_id = r.machine_id)"             \
    " ORDER BY r.started_ms DESC, r.id DESC, s.id DESC"

static const char chosen_sql[] = RUNS_SQL(
    "LEFT JOIN segment AS s ON s.id = (SELECT g.id FROM segment AS g LEFT JOIN segment_stat AS u"
    " ON u.segment_id = g.id WHERE g.run_id = r.id ORDER BY u.timed_steps > 0 DESC, g.id DESC "
    "LIMIT 1)",
    "r.outcome");
static const char all_sql[] =
    RUNS_SQL("LEFT JOIN segment AS s ON s.run_id = r.id", "coalesce(s.outcome, r.outcome)");

enum mgb_status mgb_runs_query(struct mgb_reader *reader,
                               const struct mgb_value values[MGB_RUNS_VALUES], bool all_segments,
                               const struct mgb_query_sink *sink)
{
    return mgb_query_run(reader, all_segments ? all_sql : chosen_sql, values, MGB_RUNS_VALUES,
                         sink);
}
