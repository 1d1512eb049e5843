/* See show_sections.h. A section without rows is left out. */
#include "app/cli/show_sections.h"
#include <stddef.h>

#define MIB "/ 1048576.0"

static const char run_sql[] =
    "SELECT r.id AS run, strftime('%Y-%m-%d %H:%M:%S UTC', r.started_ms / 1000, 'unixepoch') AS "
    "started,"
    " (r.finished_ms - r.started_ms) / 1e3 AS seconds, ?3 AS outcome, r.message,"
    " CASE r.log_complete WHEN 0 THEN 'incomplete: recording stopped before the run ended' END AS "
    "log,"
    " m.name AS model, nullif(m.options, '{}') AS model_options, m.parameters,"
    " r.backend, CASE WHEN r.simulated THEN 'simulated' WHEN r.backend = 'host'"
    "      THEN '/gpu:N are CPU devices' END AS devices,"
    " h.name AS machine, coalesce(r.data, 'random') AS data, s.optimizer, r.seed, r.script,"
    " r.script_digest, r.command AS command, r.program_version AS mgbench,"
    " (SELECT group_concat(name, ', ') FROM tag WHERE run_id = r.id) AS tags,"
    " (SELECT group_concat(DISTINCT b.name) FROM (SELECT name, segment_id FROM baseline UNION ALL"
    "    SELECT name, segment_id FROM baseline_segment) AS b"
    "    JOIN segment AS g ON g.id = b.segment_id WHERE g.run_id = r.id) AS baselines,"
    " (SELECT group_concat(place, '; ') FROM (SELECT DISTINCT"
    "    'sweep:' || w.name || '/' || p.point || ', repetition ' || p.repeat AS place"
    "    FROM sweep_point AS p JOIN sweep AS w ON w.id = p.sweep_id WHERE p.run_id = r.id)) AS "
    "\"point of\""
    "  FROM run AS r JOIN model AS m ON m.id = r.model_id JOIN machine AS h ON h.id = r.machine_id"
    "  LEFT JOIN segment AS s ON s.id = ?2 WHERE r.id = ?1";

static const char segments_sql[] =
    "SELECT ?1 || '.' || row_number() OVER (ORDER BY s.id) AS segment, s.gpus,"
    " s.batch_per_gpu AS batch, s.strategy, s.weights_at, coalesce(s.join_at, s.sum_at) AS meet_at,"
    " t.timed_steps AS steps, t.median_ns / 1e6 AS step_ms,"
    " t.examples * 1e9 / nullif(t.timed_ns, 0) AS examples_per_s, s.outcome"
    "  FROM segment AS s LEFT JOIN segment_stat AS t ON t.segment_id = s.id"
    " WHERE s.run_id = ?1 AND (SELECT count(*) FROM segment WHERE run_id = ?1) > 1";

static const char figures_sql[] =
    "SELECT ?1 || '.' || (SELECT count(*) FROM segment WHERE run_id = ?1 AND id <= ?2) AS segment,"
    " s.outcome, s.message, t.timed_steps AS steps, t.warmup_steps AS warmup_steps,"
    " s.warmup_rule AS warmup_rule, s.stop_reason AS stop_reason,"
    " s.target_noise * 100 AS target_noise_percent, s.max_time_ns / 1e9 AS max_time_s,"
    " t.median_ns / 1e6 AS step_ms_median, t.ci95_low_ns / 1e6 AS step_ms_ci95_low,"
    " t.ci95_high_ns / 1e6 AS step_ms_ci95_high, t.interval_method AS interval_method,"
    " t.noise * 100 AS noise_percent, t.p5_ns / 1e6 AS step_ms_p5, t.p95_ns / 1e6 AS step_ms_p95, "
    "t.p99_ns / 1e6 AS "
    "p99,"
    " t.mean_ns / 1e6 AS step_ms_mean, t.min_ns / 1e6 AS step_ms_min, t.max_ns / 1e6 AS "
    "step_ms_max,"
    " t.examples * 1e9 / nullif(t.timed_ns, 0) AS examples_per_s,"
    " CASE t.steady WHEN 1 THEN 'yes' WHEN 0 THEN 'no: ' || replace(coalesce(t.not_steady, ''), "
    "'not steady: ', '') END AS "
    "steady,"
    " t.drift * 100 AS drift_percent, t.outliers_mild AS outliers_mild,"
    " t.outliers_far AS outliers_far, t.unaccounted_ns / 1e6 AS unaccounted_ms,"
    " 100.0 * t.unaccounted_ns / nullif(t.unaccounted_ns + t.timed_ns, 0) AS unaccounted_percent,"
    " CASE s.oversubscribed WHEN 1 THEN 'the towers have more threads than there are cores' END"
    "  AS oversubscribed, nullif(s.ring_waits, 0) AS recorder_waits,"
    " CASE t.replicas_agree WHEN 1 THEN 'yes' WHEN 0 THEN 'NO: the copies of the weights differ' "
    "END"
    "  AS replicas_agree,"
    " (SELECT count(*) || ' of the variables are stored more often than the placement says'"
    "   FROM duplicate WHERE segment_id = ?2 AND variable <> twin HAVING count(*) > 0) AS "
    "duplicates,"
    " (SELECT coalesce(loss, nullif(loss_status, 'none')) FROM step WHERE segment_id = ?2"
    "   ORDER BY step DESC LIMIT 1) AS loss_last, s.digest AS weights_digest,"
    " s.oom_device AS oom_device, s.oom_needed_bytes " MIB " AS oom_needed_MiB,"
    " s.oom_available_bytes " MIB " AS oom_available_MiB"
    "  FROM segment AS s LEFT JOIN segment_stat AS t ON t.segment_id = s.id WHERE s.id = ?2";

#define WORD(value)                                                                                \
    "CASE " value " WHEN 'true' THEN 'yes' WHEN 'false' THEN 'no' ELSE " value " END"
#define SETTING(name)                                                                              \
    "SELECT '" name                                                                                \
    "' AS setting, " WORD("asked_" name) " AS asked, " WORD(name) " AS in_effect FROM s"
#define AND_SETTING(name) " UNION ALL " SETTING(name)
#define YES_NO(value) "CASE " value " WHEN 1 THEN 'yes' WHEN 0 THEN 'no' END"
#define AND_SWITCH(name)                                                                           \
    " UNION ALL SELECT '" name "', " YES_NO("asked_" name) ", " YES_NO(name) " FROM s"

static const char placement_sql[] =
    "WITH s AS (SELECT * FROM segment WHERE id = ?2 AND run_id = ?1) SELECT * FROM ("
    "SELECT 'like' AS setting, asked_like AS asked, NULL AS in_effect FROM s UNION ALL "
    "SELECT 'merge_at', asked_merge_at, NULL FROM s" AND_SETTING("strategy") AND_SETTING("gpus")
        AND_SETTING("gpu_list") AND_SETTING("batch_mode") AND_SETTING("batch_per_gpu") AND_SETTING(
            "global_batch") AND_SWITCH("cpu_relocation") AND_SWITCH("cpu_merge")
            AND_SETTING("weights_at") AND_SETTING("join_at") AND_SETTING("loss_at") AND_SETTING(
                "sum_at") AND_SETTING("update_at") AND_SETTING("relocation")
                AND_SETTING("allreduce") AND_SETTING("bucket_mib") AND_SWITCH("overlap")
                    AND_SETTING("wire_type") AND_SWITCH("staged") AND_SWITCH("stale") AND_SETTING(
                        "peer_access") AND_SETTING("pinned") AND_SETTING("graph") AND_SETTING("bn")
                        AND_SETTING("precision") AND_SETTING("recompute") AND_SWITCH("logical")
                            AND_SETTING("gpu_memory_bytes") AND_SETTING("threads") AND_SETTING(
                                "hosts") " UNION ALL SELECT 'gave way', NULL, gave_way FROM s"
                                         ") WHERE asked IS NOT NULL OR in_effect IS NOT NULL";

#define JSON_OF(column)                                                                            \
    "json_each(CASE WHEN json_valid(" column ") THEN " column " ELSE '{}' END) AS j"

static const char environment_sql[] =
    "WITH h AS (SELECT m.* FROM machine AS m JOIN run AS r ON r.machine_id = m.id WHERE r.id = ?1)"
    " SELECT name, value FROM (SELECT 'cpu' AS name, cpu AS value FROM h"
    " UNION ALL SELECT 'cores', cores FROM h UNION ALL SELECT 'hardware threads', threads FROM h"
    " UNION ALL SELECT 'memory GiB', memory_bytes / 1073741824.0 FROM h"
    " UNION ALL SELECT 'os', os FROM h UNION ALL SELECT 'kernel', kernel FROM h"
    " UNION ALL SELECT 'figures from', source FROM h"
    " UNION ALL SELECT j.key, j.value FROM run AS r JOIN " JSON_OF(
        "r.versions") " WHERE r.id = ?1"
                      " UNION ALL SELECT j.key, j.value FROM run AS r JOIN " JSON_OF(
                          "r.environment") " WHERE r.id = ?1) WHERE value IS NOT NULL";

static const char devices_sql[] =
    "SELECT d.name AS device, d.product, d.driver_version AS driver, d.memory_bytes / 1073741824.0"
    " AS memory_GiB, d.memory_gbps, d.f32_tflops"
    "  FROM run AS r JOIN device AS d ON d.machine_id = r.machine_id AND d.backend = r.backend"
    "  JOIN memory_total AS t ON t.segment_id = ?2 AND t.device = d.name WHERE r.id = ?1"
    " ORDER BY d.name";

static const char memory_sql[] =
    "SELECT device, category, planned_bytes " MIB " AS planned_MiB, peak_bytes " MIB " AS peak_MiB,"
    " capacity " MIB " AS capacity_MiB FROM ("
    "SELECT device, category, planned_bytes, peak_bytes, NULL AS capacity, 0 AS last FROM memory"
    " WHERE segment_id = ?2 AND (planned_bytes > 0 OR peak_bytes > 0) UNION ALL "
    "SELECT device, 'device as a whole', planned_bytes, peak_bytes, capacity_bytes, 1 FROM "
    "memory_total"
    " WHERE segment_id = ?2) ORDER BY device, last, category";

static const char traffic_sql[] =
    "SELECT from_device AS \"from\", to_device AS \"to\", bytes_per_step " MIB " AS MiB_a_step,"
    " time_per_step_ns / 1e6 AS ms_a_step, 1.0 * bytes_per_step / nullif(time_per_step_ns, 0) AS "
    "GB_per_s"
    "  FROM traffic WHERE segment_id = ?2 ORDER BY bytes_per_step DESC, from_device, to_device";

#define MEAN(kind, phase)                                                                          \
    "max(CASE phase WHEN '" phase "' THEN " kind "_ms_mean END) AS \"" phase "\""
#define MEANS(kind)                                                                                \
    "SELECT device, '" kind                                                                        \
    "' AS ms, " MEAN(kind, "input") ", " MEAN(kind, "fetch") ", " MEAN(kind, "forward") ", " MEAN( \
        kind,                                                                                      \
        "backward") ", " MEAN(kind,                                                                \
                              "join") ", " MEAN(kind,                                              \
                                                "sum") ", " MEAN(kind,                             \
                                                                 "update") ", " MEAN(kind,         \
                                                                                     "wait") " FR" \
                                                                                             "OM " \
                                                                                             "pha" \
                                                                                             "se_" \
                                                                                             "sha" \
                                                                                             "re " \
                                                                                             "WHE" \
                                                                                             "RE " \
                                                                                             "seg" \
                                                                                             "men" \
                                                                                             "t_"  \
                                                                                             "id " \
                                                                                             "= "  \
                                                                                             "?2 " \
                                                                                             "GRO" \
                                                                                             "UP " \
                                                                                             "BY " \
                                                                                             "dev" \
                                                                                             "ice"
static const char phases_sql[] =
    MEANS("busy") " UNION ALL " MEANS("exposed") " ORDER BY device, ms";

static const char first_sql[] =
    "SELECT step, step_ms, ratio AS times_median, cause AS grew_most,"
    " CASE WHEN step = 0 AND ratio > 2"
    "      THEN 'the first step of a run pays for allocation and for loading libraries' END AS why"
    "  FROM first_step WHERE segment_id = ?2";

static const char outliers_sql[] =
    "SELECT step, side, CASE far WHEN 1 THEN 'far' ELSE 'mild' END AS kind, ratio AS \"times the "
    "median\","
    " cause FROM outlier WHERE segment_id = ?2 ORDER BY abs(ratio - 1) DESC, step LIMIT 20";

static const char metrics_sql[] =
    "SELECT split, name, step, coalesce(value, value_status) AS value FROM metric AS m"
    " WHERE segment_id = ?2 AND step = (SELECT max(step) FROM metric WHERE segment_id = ?2"
    "   AND split = m.split AND name = m.name) ORDER BY split, name";

static const char samples_sql[] =
    "SELECT device, count(*) AS readings, min(clock_khz) / 1e3 AS least_MHz, max(clock_khz) / 1e3"
    " AS most_MHz, max(power_mw) / 1e3 AS most_W, max(temperature_mc) / 1e3 AS most_C,"
    " avg(utilisation_ppm) / 1e4 AS mean_use_percent, max(process_peak_bytes) " MIB
    " AS process_peak_MiB,"
    " (SELECT group_concat(DISTINCT t.throttle) FROM sample AS t WHERE t.run_id = ?1"
    "    AND t.device = s.device AND t.throttle <> '') AS throttled_by"
    "  FROM sample AS s WHERE run_id = ?1 GROUP BY device ORDER BY device";

static const char notes_sql[] =
    "SELECT strftime('%Y-%m-%d %H:%M:%S', at_ms / 1000, 'unixepoch') AS at, text FROM note"
    " WHERE run_id = ?1 ORDER BY id";

/* The newest baseline of the same model, machine and backend, as in mgbench runs; and the same towers without exchange. */
static const char beside_sql[] =
    "WITH x AS (SELECT s.id, s.global_batch, t.median_ns, m.name, m.options, r.machine_id, "
    "r.backend"
    "   FROM segment AS s JOIN run AS r ON r.id = s.run_id JOIN model AS m ON m.id = r.model_id"
    "   JOIN segment_stat AS t ON t.segment_id = s.id WHERE s.id = ?2),"
    " held AS (SELECT b.name, g.run_id, g.global_batch, coalesce((SELECT avg(u.median_ns)"
    "     FROM baseline_segment AS k JOIN segment_stat AS u ON u.segment_id = k.segment_id"
    "    WHERE k.name = b.name), t.median_ns) AS median_ns FROM x, baseline AS b"
    "   JOIN segment AS g ON g.id = b.segment_id JOIN run AS r ON r.id = g.run_id"
    "   JOIN model AS m ON m.id = r.model_id JOIN segment_stat AS t ON t.segment_id = g.id"
    "  WHERE m.name = x.name AND m.options = x.options AND r.machine_id = x.machine_id"
    "    AND r.backend = x.backend AND ?2 NOT IN (SELECT b.segment_id UNION ALL SELECT segment_id"
    "     FROM baseline_segment WHERE name = b.name) ORDER BY b.set_ms DESC LIMIT 1)"
    " SELECT beside.* FROM (SELECT"
    " (SELECT printf('%.4g of the time an example of baseline %s (run %d: %.4g ms a step)',"
    "    1.0 * x.median_ns / x.global_batch * held.global_batch / held.median_ns, held.name,"
    "    held.run_id, held.median_ns / 1e6) FROM x, held WHERE x.median_ns > 0) AS baseline,"
    " (SELECT printf('%.4g ms, %.3g %% of the step, beside independent towers (run %d: %.4g ms a "
    "step)',"
    "    e.exchange_ms, 100 * e.exchange_share, i.run_id, e.independent_step_ms_median)"
    "   FROM exchange AS e JOIN segment AS i ON i.id = e.independent_segment_id"
    "  WHERE e.segment_id = ?2) AS exchange) AS beside"
    "  WHERE baseline IS NOT NULL OR exchange IS NOT NULL";

const struct mgb_show_section mgb_show_sections[] = {
    {"run", "run", MGB_SHOW_WIDE, run_sql, 3},
    {"notes", "notes", MGB_SHOW_PAIRS, notes_sql, 1},
    {"segments", "segments (what follows is of one of them)", MGB_SHOW_TABLE, segments_sql, 1},
    {"figures", "figures, over the timed steps", MGB_SHOW_WIDE, figures_sql, 2},
    {"beside", "beside other runs (no verdict: mgbench compare gives one)", MGB_SHOW_WIDE,
     beside_sql, 2},
    {"placement", "placement: as asked, and in effect (- has no meaning here)", MGB_SHOW_TABLE,
     placement_sql, 2},
    {"phases", "phases, ms a step; exposed: nothing else computed meanwhile", MGB_SHOW_TABLE,
     phases_sql, 2},
    {"memory", "memory: planned, and measured on traced steps", MGB_SHOW_TABLE, memory_sql, 2},
    {"traffic", "traffic between devices", MGB_SHOW_TABLE, traffic_sql, 2},
    {"duplicates", "variables stored more often than the placement says", MGB_SHOW_TABLE,
     "SELECT variable, twin, device, bytes, why FROM duplicate WHERE segment_id = ?2 ORDER BY id",
     2},
    {"first step", "first step", MGB_SHOW_WIDE, first_sql, 2},
    {"outliers", "outliers, the 20 that lie farthest; they stay in every figure", MGB_SHOW_TABLE,
     outliers_sql, 2},
    {"metrics", "metrics, newest", MGB_SHOW_TABLE, metrics_sql, 2},
    {"samples", "readings of the devices", MGB_SHOW_TABLE, samples_sql, 1},
    {"devices", "devices in use", MGB_SHOW_TABLE, devices_sql, 2},
    {"environment", "environment", MGB_SHOW_PAIRS, environment_sql, 1},
    {NULL, NULL, MGB_SHOW_WIDE, NULL, 0}};
