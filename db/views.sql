-- The documented views. They are dropped and made anew at every migration, so nothing here is data.
-- SQLite has no percentile function before 3.47 and other builds lack sqrt: neither is used.

-- One row a step, device and phase.
CREATE VIEW step_phase AS
SELECT segment_id, step, device, 'input' AS phase, input_busy_ns AS busy_ns, input_exposed_ns AS exposed_ns
  FROM step_device
UNION ALL
SELECT segment_id, step, device, 'fetch', fetch_busy_ns, fetch_exposed_ns FROM step_device
UNION ALL
SELECT segment_id, step, device, 'forward', forward_busy_ns, forward_exposed_ns FROM step_device
UNION ALL
SELECT segment_id, step, device, 'backward', backward_busy_ns, backward_exposed_ns FROM step_device
UNION ALL
SELECT segment_id, step, device, 'join', join_busy_ns, join_exposed_ns FROM step_device
UNION ALL
SELECT segment_id, step, device, 'sum', sum_busy_ns, sum_exposed_ns FROM step_device
UNION ALL
SELECT segment_id, step, device, 'update', update_busy_ns, update_exposed_ns FROM step_device
UNION ALL
SELECT segment_id, step, device, 'wait', wait_busy_ns, wait_exposed_ns FROM step_device;

-- Per segment, device and phase: mean time a timed step, and its share of the steps' wall time. Summed from the table
-- itself, not from step_phase, so that a question about one segment reads that segment only.
CREATE VIEW phase_share AS
WITH summed AS (
    SELECT d.segment_id, d.device, count(*) AS steps, sum(s.wall_ns) AS wall_ns,
           sum(d.input_busy_ns) AS input_busy, sum(d.input_exposed_ns) AS input_exposed,
           sum(d.fetch_busy_ns) AS fetch_busy, sum(d.fetch_exposed_ns) AS fetch_exposed,
           sum(d.forward_busy_ns) AS forward_busy, sum(d.forward_exposed_ns) AS forward_exposed,
           sum(d.backward_busy_ns) AS backward_busy, sum(d.backward_exposed_ns) AS backward_exposed,
           sum(d.join_busy_ns) AS join_busy, sum(d.join_exposed_ns) AS join_exposed,
           sum(d.sum_busy_ns) AS sum_busy, sum(d.sum_exposed_ns) AS sum_exposed,
           sum(d.update_busy_ns) AS update_busy, sum(d.update_exposed_ns) AS update_exposed,
           sum(d.wait_busy_ns) AS wait_busy, sum(d.wait_exposed_ns) AS wait_exposed
      FROM step_device AS d
      JOIN step AS s ON s.segment_id = d.segment_id AND s.step = d.step
     WHERE s.warmup = 0
     GROUP BY d.segment_id, d.device
),
phases (phase) AS (
    VALUES ('input'), ('fetch'), ('forward'), ('backward'), ('join'), ('sum'), ('update'), ('wait')
),
split AS (
    SELECT segment_id, device, phase, steps, wall_ns,
           CASE phase
               WHEN 'input' THEN input_busy
               WHEN 'fetch' THEN fetch_busy
               WHEN 'forward' THEN forward_busy
               WHEN 'backward' THEN backward_busy
               WHEN 'join' THEN join_busy
               WHEN 'sum' THEN sum_busy
               WHEN 'update' THEN update_busy
               WHEN 'wait' THEN wait_busy
           END AS busy_ns,
           CASE phase
               WHEN 'input' THEN input_exposed
               WHEN 'fetch' THEN fetch_exposed
               WHEN 'forward' THEN forward_exposed
               WHEN 'backward' THEN backward_exposed
               WHEN 'join' THEN join_exposed
               WHEN 'sum' THEN sum_exposed
               WHEN 'update' THEN update_exposed
               WHEN 'wait' THEN wait_exposed
           END AS exposed_ns
      FROM summed
      JOIN phases
)
SELECT segment_id,
       device,
       phase,
       steps,
       busy_ns / 1e6 / steps AS busy_ms_mean,
       exposed_ns / 1e6 / steps AS exposed_ms_mean,
       1.0 * busy_ns / nullif(wall_ns, 0) AS busy_share,
       1.0 * exposed_ns / nullif(wall_ns, 0) AS exposed_share
  FROM split;

-- Per segment, from the step rows: what segment_stat says of finished segments, for those still running too.
-- Median of an even count: mean of the middle two. Percentiles: nearest rank. Window functions all the way, since SQLite
-- pushes "WHERE segment_id = ..." through them and not through a GROUP BY.
CREATE VIEW step_stats AS
WITH ranked AS (
    SELECT segment_id, wall_ns, start_ns, examples,
           row_number() OVER (PARTITION BY segment_id ORDER BY wall_ns) AS place,
           count(*) OVER (PARTITION BY segment_id) AS n
      FROM step
     WHERE warmup = 0
),
figures AS (
    SELECT segment_id, place, n,
           sum(examples) OVER whole AS examples,
           sum(wall_ns) OVER whole AS timed_ns,
           avg(CASE WHEN place IN ((n + 1) / 2, n / 2 + 1) THEN wall_ns END) OVER whole AS median_ns,
           max(CASE WHEN place = (5 * n + 99) / 100 THEN wall_ns END) OVER whole AS p5_ns,
           max(CASE WHEN place = (95 * n + 99) / 100 THEN wall_ns END) OVER whole AS p95_ns,
           max(CASE WHEN n >= 100 AND place = (99 * n + 99) / 100 THEN wall_ns END) OVER whole AS p99_ns,
           min(wall_ns) OVER whole AS min_ns,
           max(wall_ns) OVER whole AS max_ns,
           max(start_ns + wall_ns) OVER whole - min(start_ns) OVER whole AS span_ns
      FROM ranked
    WINDOW whole AS (PARTITION BY segment_id)
)
SELECT segment_id,
       n AS timed_steps,
       examples,
       timed_ns,
       median_ns / 1e6 AS step_ms_median,
       p5_ns / 1e6 AS step_ms_p5,
       p95_ns / 1e6 AS step_ms_p95,
       p99_ns / 1e6 AS step_ms_p99,
       timed_ns / 1e6 / n AS step_ms_mean,
       min_ns / 1e6 AS step_ms_min,
       max_ns / 1e6 AS step_ms_max,
       examples * 1e9 / nullif(timed_ns, 0) AS examples_per_s,
       (span_ns - timed_ns) / 1e6 AS unaccounted_ms
  FROM figures
 WHERE place = 1;

-- One row a segment with its run's columns. Figures of a finished segment come from segment_stat; those of one that is
-- still running are worked out from its steps (not through step_stats: SQLite would rank all steps of the file).
CREATE VIEW run_summary AS
SELECT r.id AS run_id,
       s.id AS segment_id,
       r.uuid AS run_uuid,
       datetime(s.started_ms / 1000, 'unixepoch') AS started,
       r.script,
       r.program_version,
       m.name AS model,
       m.options AS model_options,
       r.backend,
       h.name AS machine,
       r.simulated,
       r.seed,
       r.data,
       s.optimizer,
       s.strategy,
       s.gpus,
       s.gpu_list,
       s.batch_mode,
       s.batch_per_gpu,
       s.global_batch,
       s.cpu_relocation,
       s.cpu_merge,
       s.weights_at,
       s.join_at,
       s.loss_at,
       s.sum_at,
       s.update_at,
       s.relocation,
       s.allreduce,
       s.bucket_mib,
       s.overlap,
       s.wire_type,
       s.staged,
       s.stale,
       s.peer_access,
       s.pinned,
       s.graph,
       s.bn,
       s.precision,
       s.recompute,
       s.logical,
       s.gpu_memory_bytes,
       s.threads,
       s.hosts,
       s.gave_way,
       s.oversubscribed,
       CASE WHEN st.segment_id IS NOT NULL THEN st.timed_steps
            ELSE (SELECT count(*) FROM step WHERE segment_id = s.id AND warmup = 0) END AS steps,
       CASE WHEN st.segment_id IS NOT NULL THEN st.warmup_steps
            ELSE (SELECT count(*) FROM step WHERE segment_id = s.id AND warmup = 1) END AS warmup_steps,
       CASE WHEN st.segment_id IS NOT NULL THEN st.median_ns / 1e6
            ELSE (SELECT avg(wall_ns) / 1e6
                    FROM (SELECT wall_ns, row_number() OVER (ORDER BY wall_ns) AS place, count(*) OVER () AS n
                            FROM step WHERE segment_id = s.id AND warmup = 0)
                   WHERE place IN ((n + 1) / 2, n / 2 + 1)) END AS step_ms_median,
       CASE WHEN st.segment_id IS NOT NULL THEN st.p95_ns / 1e6
            ELSE (SELECT max(wall_ns) / 1e6
                    FROM (SELECT wall_ns, row_number() OVER (ORDER BY wall_ns) AS place, count(*) OVER () AS n
                            FROM step WHERE segment_id = s.id AND warmup = 0)
                   WHERE place = (95 * n + 99) / 100) END AS step_ms_p95,
       CASE WHEN st.segment_id IS NOT NULL THEN st.timed_ns / 1e6 / nullif(st.timed_steps, 0)
            ELSE (SELECT sum(wall_ns) / 1e6 / count(*)
                    FROM step WHERE segment_id = s.id AND warmup = 0) END AS step_ms_mean,
       st.ci95_low_ns / 1e6 AS step_ms_ci95_low,
       st.ci95_high_ns / 1e6 AS step_ms_ci95_high,
       CASE WHEN st.segment_id IS NOT NULL THEN st.examples * 1e9 / nullif(st.timed_ns, 0)
            ELSE (SELECT sum(examples) * 1e9 / nullif(sum(wall_ns), 0)
                    FROM step WHERE segment_id = s.id AND warmup = 0) END AS examples_per_s,
       st.steady,
       st.not_steady,
       st.noise, -- half width of the interval over the median
       st.unaccounted_ns / 1e6 AS unaccounted_ms,
       st.outliers_mild,
       st.outliers_far,
       s.stop_reason,
       s.warmup_rule,
       -- the fullest device of the kind; a simulated run has no measured peak, there the plan's is shown
       (SELECT max(CASE r.simulated WHEN 1 THEN planned_bytes ELSE peak_bytes END)
          FROM memory_total WHERE segment_id = s.id AND device LIKE '%/gpu:%') AS gpu_peak_bytes,
       (SELECT max(CASE r.simulated WHEN 1 THEN planned_bytes ELSE peak_bytes END)
          FROM memory_total WHERE segment_id = s.id AND device LIKE '%/cpu:%') AS cpu_peak_bytes,
       (SELECT count(*) FROM duplicate WHERE segment_id = s.id) AS duplicate_count,
       (SELECT coalesce(sum(bytes), 0) FROM duplicate WHERE segment_id = s.id) AS duplicate_bytes,
       -- NULL if it was not finite: step.loss_status says what it was
       coalesce(st.loss_last,
                (SELECT loss FROM step WHERE segment_id = s.id ORDER BY step DESC LIMIT 1)) AS loss_last,
       s.outcome,
       s.message,
       r.outcome AS run_outcome,
       r.log_complete,
       -- NULL: not a point of a sweep
       (SELECT w.name FROM sweep_point AS p JOIN sweep AS w ON w.id = p.sweep_id
         WHERE p.run_id = r.id ORDER BY p.sweep_id DESC LIMIT 1) AS sweep,
       (SELECT p.point FROM sweep_point AS p WHERE p.run_id = r.id ORDER BY p.sweep_id DESC LIMIT 1) AS sweep_point,
       (SELECT group_concat(t.name, ',') FROM tag AS t WHERE t.run_id = r.id) AS tags, -- in order of names
       r.machine_id,
       r.model_id
  FROM segment AS s
  JOIN run AS r ON r.id = s.run_id
  JOIN model AS m ON m.id = r.model_id
  JOIN machine AS h ON h.id = r.machine_id
  LEFT JOIN segment_stat AS st ON st.segment_id = s.id;

-- Speed-up (median time an example of the baseline by that of the segment, so that one stalled step changes nothing) and
-- efficiency (speed-up / gpus); examples_per_s is the total rate, stalls and all. The baseline is a one-GPU segment that
-- ended well and was no verification (tag `verify`), of the same model, options, data, optimizer, machine, backend, precision
-- and recompute, with the same batch: per GPU in weak scaling, in all in strong scaling. Of several the one with the same CPU
-- threads a device, then of the same strategy, then of the same placement, then the newest. NULL without one. `definition`
-- says what the efficiency is. Where `threads` and `baseline_threads` differ on CPU devices, the speed-up is of threads as
-- well as of devices.
CREATE VIEW scaling AS
WITH rated AS (
    SELECT s.id AS segment_id, s.run_id, r.model_id, r.machine_id, r.backend, r.simulated, coalesce(r.data, '') AS data,
           s.optimizer, s.recompute, s.precision, s.batch_mode,
           CASE s.batch_mode WHEN 'strong' THEN s.global_batch ELSE s.batch_per_gpu END AS batch,
           s.batch_per_gpu, s.global_batch, s.strategy, s.gpus, s.cpu_relocation, s.cpu_merge, s.threads,
           CASE r.backend WHEN 'host' THEN coalesce(s.threads, 0) ELSE 0 END AS team,
           coalesce(s.strategy, '') || '|' || coalesce(s.weights_at, '') || '|' || coalesce(s.join_at, '')
             || '|' || coalesce(s.loss_at, '') || '|' || coalesce(s.sum_at, '') || '|' || coalesce(s.update_at, '')
             || '|' || coalesce(s.relocation, '') || '|' || coalesce(s.allreduce, '')
             || '|' || coalesce(s.bucket_mib, '') || '|' || coalesce(s.overlap, '')
             || '|' || coalesce(s.wire_type, '') || '|' || coalesce(s.staged, '') || '|' || coalesce(s.stale, '')
             || '|' || coalesce(s.peer_access, '') || '|' || coalesce(s.pinned, '') || '|' || coalesce(s.graph, '')
             || '|' || coalesce(s.bn, '') || '|' || coalesce(s.hosts, '') AS settings,
           st.median_ns / 1e6 AS step_ms_median,
           st.median_ns * 1.0 / nullif(s.global_batch, 0) AS example_ns,
           st.examples * 1e9 / st.timed_ns AS examples_per_s
      FROM segment AS s
      JOIN run AS r ON r.id = s.run_id
      JOIN segment_stat AS st ON st.segment_id = s.id
     WHERE s.outcome = 'ok' AND st.timed_ns > 0
),
alone AS (
    SELECT *, row_number() OVER (PARTITION BY model_id, machine_id, backend, simulated, data, optimizer, recompute,
                                              precision, global_batch, team, settings
                                 ORDER BY segment_id DESC) AS age
      FROM rated
     WHERE gpus = 1 AND NOT EXISTS (SELECT 1 FROM tag WHERE run_id = rated.run_id AND name = 'verify')
),
chosen AS (
    SELECT x.*, a.threads AS baseline_threads, a.segment_id AS baseline_segment_id,
           a.examples_per_s AS baseline_examples_per_s, a.example_ns AS baseline_example_ns,
           row_number() OVER (PARTITION BY x.segment_id
                              ORDER BY a.team = x.team DESC, a.strategy = x.strategy DESC, a.settings = x.settings DESC,
                                       a.segment_id DESC) AS place
      FROM rated AS x
      LEFT JOIN alone AS a
        ON a.age = 1 AND a.model_id = x.model_id AND a.machine_id = x.machine_id AND a.backend = x.backend
           AND a.simulated = x.simulated AND a.data = x.data AND a.optimizer IS x.optimizer
           AND a.recompute IS x.recompute AND a.precision IS x.precision AND a.global_batch IS x.batch
     WHERE x.gpus >= 1
)
SELECT x.run_id, x.segment_id, m.name AS model, m.options AS model_options, h.name AS machine, x.backend, x.simulated,
       x.precision, x.strategy, x.cpu_relocation, x.cpu_merge, x.batch_mode, x.batch_per_gpu, x.global_batch, x.gpus,
       x.threads, x.baseline_threads, x.step_ms_median, x.examples_per_s, x.baseline_segment_id, x.baseline_examples_per_s,
       x.baseline_example_ns / nullif(x.example_ns, 0) AS speedup,
       x.baseline_example_ns / nullif(x.example_ns, 0) / x.gpus AS efficiency,
       CASE x.batch_mode
           WHEN 'weak' THEN 'weak: time(1 GPU, b) / time(N GPUs, N b)'
           WHEN 'strong' THEN 'strong: time(1 GPU, B) / (N time(N GPUs, B))'
       END AS definition
  FROM chosen AS x
  JOIN model AS m ON m.id = x.model_id
  JOIN machine AS h ON h.id = x.machine_id
 WHERE x.place = 1;

-- What merging costs: the median step of a segment of several GPUs that ended well, less that of the newest `independent`
-- one (towers that exchange nothing) of the same model, options, data, optimizer, machine, backend, precision, recompute,
-- GPUs, batch, and on CPU devices threads. NULL without one; may be negative by noise.
CREATE VIEW exchange AS
WITH rated AS (
    SELECT s.id AS segment_id, s.run_id, r.model_id, r.machine_id, r.backend, r.simulated, coalesce(r.data, '') AS data,
           s.optimizer, s.recompute, s.precision, s.strategy, s.gpus, s.cpu_relocation, s.cpu_merge, s.batch_mode,
           s.batch_per_gpu, s.global_batch, st.median_ns,
           CASE r.backend WHEN 'host' THEN coalesce(s.threads, 0) ELSE 0 END AS team
      FROM segment AS s
      JOIN run AS r ON r.id = s.run_id
      JOIN segment_stat AS st ON st.segment_id = s.id
     WHERE s.outcome = 'ok' AND st.median_ns > 0 AND s.gpus > 1
),
apart AS (
    SELECT *, row_number() OVER (PARTITION BY model_id, machine_id, backend, simulated, data, optimizer, recompute,
                                              precision, gpus, global_batch, team
                                 ORDER BY segment_id DESC) AS age
      FROM rated
     WHERE strategy = 'independent'
)
SELECT x.run_id, x.segment_id, m.name AS model, m.options AS model_options, h.name AS machine, x.backend, x.simulated,
       x.precision, x.strategy, x.cpu_relocation, x.cpu_merge, x.batch_mode, x.batch_per_gpu, x.global_batch, x.gpus,
       x.median_ns / 1e6 AS step_ms_median,
       b.segment_id AS independent_segment_id,
       b.median_ns / 1e6 AS independent_step_ms_median,
       (x.median_ns - b.median_ns) / 1e6 AS exchange_ms,
       (x.median_ns - b.median_ns) * 1.0 / x.median_ns AS exchange_share
  FROM rated AS x
  JOIN model AS m ON m.id = x.model_id
  JOIN machine AS h ON h.id = x.machine_id
  LEFT JOIN apart AS b
    ON b.age = 1 AND b.model_id = x.model_id AND b.machine_id = x.machine_id AND b.backend = x.backend
       AND b.simulated = x.simulated AND b.data = x.data AND b.optimizer IS x.optimizer AND b.recompute IS x.recompute
       AND b.precision IS x.precision AND b.gpus = x.gpus AND b.global_batch IS x.global_batch AND b.team = x.team
 WHERE x.strategy <> 'independent';

-- The first step of a segment beside its median step: loading, allocating and tuning are paid there. `cause` is the phase
-- and device that took longer than usual, from 1.5 medians on.
CREATE VIEW first_step AS
SELECT s.run_id,
       s.id AS segment_id,
       s.first_step AS step,
       st.first_step_ns / 1e6 AS step_ms,
       st.median_ns / 1e6 AS step_ms_median,
       st.first_step_ns * 1.0 / nullif(st.median_ns, 0) AS ratio,
       st.first_step_cause AS cause
  FROM segment AS s
  JOIN segment_stat AS st ON st.segment_id = s.id
 WHERE st.first_step_ns IS NOT NULL;

-- The four placements of the two flags side by side: median step time in ms of the newest segment that ended well, of
-- each number of CPU threads a device. What the model's own device scopes say belongs to it; segments for which another
-- place was asked are in none of the four.
CREATE VIEW placement AS
WITH newest AS (
    SELECT r.model_id, r.machine_id, r.backend, r.simulated, s.precision, s.strategy, s.gpus, s.batch_mode,
           s.batch_per_gpu, s.global_batch, s.threads, s.cpu_relocation, s.cpu_merge,
           st.median_ns / 1e6 AS ms,
           row_number() OVER (PARTITION BY r.model_id, r.machine_id, r.backend, r.simulated, s.precision, s.strategy,
                                           s.gpus, s.batch_mode, s.batch_per_gpu, s.global_batch, s.threads,
                                           s.cpu_relocation, s.cpu_merge
                              ORDER BY s.id DESC) AS age
      FROM segment AS s
      JOIN run AS r ON r.id = s.run_id
      JOIN segment_stat AS st ON st.segment_id = s.id
     WHERE s.outcome = 'ok' AND st.median_ns IS NOT NULL AND s.cpu_relocation IS NOT NULL AND s.cpu_merge IS NOT NULL
       AND s.asked_like IS NULL AND s.asked_join_at IS NULL AND s.asked_loss_at IS NULL AND s.asked_sum_at IS NULL
       AND s.asked_update_at IS NULL AND s.asked_weights_at IS NULL
       AND (s.asked_merge_at IS NULL OR (s.cpu_merge = 1 AND s.asked_merge_at = '/cpu:0')
            OR (s.cpu_merge = 0 AND instr(s.gpu_list, '["' || s.asked_merge_at || '"') = 1)) -- the first listed
)
SELECT m.name AS model, m.options AS model_options, h.name AS machine, n.backend, n.simulated, n.precision, n.strategy,
       n.gpus, n.batch_mode, n.batch_per_gpu, n.global_batch, n.threads,
       max(CASE WHEN n.cpu_relocation = 0 AND n.cpu_merge = 1 THEN n.ms END) AS reloc_off_merge_cpu,
       max(CASE WHEN n.cpu_relocation = 0 AND n.cpu_merge = 0 THEN n.ms END) AS reloc_off_merge_gpu,
       max(CASE WHEN n.cpu_relocation = 1 AND n.cpu_merge = 1 THEN n.ms END) AS reloc_on_merge_cpu,
       max(CASE WHEN n.cpu_relocation = 1 AND n.cpu_merge = 0 THEN n.ms END) AS reloc_on_merge_gpu
  FROM newest AS n
  JOIN model AS m ON m.id = n.model_id
  JOIN machine AS h ON h.id = n.machine_id
 WHERE n.age = 1
 GROUP BY n.model_id, n.machine_id, n.backend, n.simulated, n.precision, n.strategy, n.gpus, n.batch_mode,
          n.batch_per_gpu, n.global_batch, n.threads
 ORDER BY model, model_options, machine, n.backend, n.simulated, n.precision, n.strategy, n.gpus, n.batch_mode,
          n.batch_per_gpu, n.global_batch, n.threads;
