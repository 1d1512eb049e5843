-- mgb.best: which placement of a model is the fastest. All that differ in effect are predicted, and the best few of them measured; on a
-- simulated machine predictions are all there is.
local mgb, _, host = ...

local columns = { "strategy", "weights_at", "join_at", "sum_at", "update_at", "allreduce", "overlap", "predicted_ms", "step_ms", "verdict",
                  "memory" }

local function options_of(given, more)
  local all = {}
  for key, value in pairs(given) do all[key] = value end
  for key, value in pairs(more or {}) do all[key] = value end
  all.measure = nil
  return all
end

-- Rows predicted from a run under the placement that was given, which is measured for that. Those that its own error does not tell
-- from the first are ties.
local function rows_predict(given)
  local result <close> = mgb.run(options_of(given, { trace_steps = given.trace_steps or "0" }))
  local s = host.result_state(result)
  local w = host.whatif_make("mgb.best", result, s)
  local rows = host.ranking_rows(host.ranking_candidates(options_of(given), s, w.machine), w.player, w.play)
  host.ranking_sort(rows)
  for _, row in ipairs(rows) do
    row.simulated, row.backend = nil, result.backend
    if row.predicted_ms then
      row.predicted_ms, row.low_ms, row.high_ms = w.figures(row.predicted_ms * 1e6)
      row.examples_per_s = row.effective.global_batch * 1e3 / row.predicted_ms
      row.verdict = row.low_ms <= rows[1].predicted_ms and "tie" or "slower"
    else
      row.verdict = "-"
    end
  end
  rows.of, rows.of_ms, rows.rest_ms, rows.columns = result.run_id, w.measured, w.rest, columns
  return rows
end

-- The first so many, each in a run of its own; those measured come first then, the fastest as the best.
local function rows_measure(rows, given, most)
  local measured, others = {}, {}
  for i, row in ipairs(rows) do
    if i <= most and row.fits then
      host.progress(("measuring placement %d of %d"):format(i, math.min(most, #rows)))
      local result <close> = mgb.run(options_of(given, row.placement))
      row.step_ms, row.run_id = result.step_ms.median, result.run_id
      row.examples_per_s = result.examples_per_s
      measured[#measured + 1] = row
    else
      others[#others + 1] = row
    end
  end
  host.progress("")
  table.sort(measured, function(a, b) return a.step_ms < b.step_ms end)
  for i, row in ipairs(measured) do rows[i], row.verdict = row, i == 1 and "fastest measured" or "measured" end
  table.move(others, 1, #others, #measured + 1, rows)
end

-- Options as of mgb.run, and measure, how many of the best to run (3; 0: none). Rows the best first, with predicted_ms, step_ms where
-- measured, verdict, and `placement`, options for mgb.run.
function mgb.best(given)
  local own = { measure = "count" }
  for name, kind in pairs(host.run_options) do own[name] = kind end
  local o = host.options_check("mgb.best", given, own)
  local _, machine = host.machine_of("mgb.best", o.backend, o.machine)
  if machine then return host.ranking_make("mgb.best", options_of(given or {})) end
  local rows = rows_predict(given or {})
  rows_measure(rows, given or {}, o.measure or 3)
  return rows
end
