-- What an earlier process left in the database of a run, as the result that mgb.run gave then: what a resumed point of a
-- sweep is. Weights are gone, so that what needs them refuses; everything stored is there.
local _, _, host = ...

local bytes_of = { gpu_memory = "gpu_memory_bytes", batch = "batch_per_gpu" }
local yes_no = { cpu_relocation = true, cpu_merge = true, overlap = true, staged = true, stale = true, logical = true }
local words = { ["true"] = true, ["false"] = false }
local odd = { nan = 0 / 0, inf = math.huge, ["-inf"] = -math.huge }

-- A stored number, which is NULL beside a status when it was none.
local function number_read(value, status)
  if value == nil then return odd[status] end
  return value
end

local function effective_read(segment, asked)
  local effective = {}
  for _, name in ipairs(host.placement_options) do
    local value = segment[bytes_of[name] or name]
    if yes_no[name] and value ~= nil then value = value == 1 end
    if words[value] ~= nil then value = words[value] end
    if math.type(value) == "float" and math.tointeger(value) then value = math.tointeger(value) end
    effective[name] = value
  end
  if type(asked.gpus) == "table" then effective.gpus = asked.gpus end
  return effective
end

local categories = { "weights", "replicas", "gradients", "slots", "activations", "workspace", "merge", "leftover", "input" }

local function memory_read(id)
  local memory = {}
  for _, m in ipairs(host.query("SELECT device, planned_bytes, peak_bytes FROM memory_total WHERE segment_id = ?", id)) do
    local use = { planned = m.planned_bytes, peak = m.peak_bytes }
    for _, category in ipairs(categories) do use[category] = 0 end -- those without bytes are not stored
    memory[m.device] = use
  end
  for _, m in ipairs(host.query("SELECT device, category, planned_bytes FROM memory WHERE segment_id = ?", id)) do
    memory[m.device] = memory[m.device] or {}
    memory[m.device][m.category] = m.planned_bytes
  end
  return memory
end

local function counts_read(id)
  local c = host.query([[SELECT (SELECT count(*) FROM duplicate WHERE segment_id = ?1) AS duplicates,
    (SELECT coalesce(sum(bytes), 0) FROM duplicate WHERE segment_id = ?1) AS duplicate_bytes,
    (SELECT count(*) FROM variable WHERE segment_id = ?1 AND role = 'leftover') AS leftovers,
    (SELECT coalesce(sum(bytes), 0) FROM variable WHERE segment_id = ?1 AND role = 'leftover') AS leftover_bytes]], id)[1]
  return { count = c.duplicates, bytes = c.duplicate_bytes }, { count = c.leftovers, bytes = c.leftover_bytes }
end

-- The newest values of a split, by name.
local function metrics_read(id, split)
  local metrics = {}
  for _, m in ipairs(host.query([[SELECT name, value, value_status FROM metric WHERE segment_id = ?1 AND split = ?2
      AND step = (SELECT max(step) FROM metric WHERE segment_id = ?1 AND split = ?2) ORDER BY id]], id, split)) do
    metrics[m.name] = number_read(m.value, m.value_status)
  end
  return metrics
end

local function towers_read(segment)
  local towers, names = {}, {}
  for name in (segment.gpu_list or ""):gmatch('"([^"]+)"') do names[#names + 1] = name end
  for rows in (segment.tower_rows or ""):gmatch("%d+") do
    towers[#towers + 1] = { device = names[#towers + 1] or "/cpu:0", rows = math.tointeger(tonumber(rows)) }
  end
  return towers
end

local function losses_read(id)
  local losses = {}
  for i, s in ipairs(host.query("SELECT loss, loss_status FROM step WHERE segment_id = ? ORDER BY step", id)) do
    losses[i] = number_read(s.loss, s.loss_status)
  end
  return losses
end

-- What was judged of the steps together, as figures of a run that was just made have it.
local function judgement_read(result, segment)
  local stat = host.query("SELECT * FROM segment_stat WHERE segment_id = ?", segment.id)[1] or {}
  result.noise, result.not_steady, result.stop_reason = stat.noise, stat.not_steady, segment.stop_reason
  if stat.steady ~= nil then result.steady = stat.steady == 1 end
  if stat.outliers_mild and stat.outliers_far then
    result.outliers, result.outliers_far = stat.outliers_mild + stat.outliers_far, stat.outliers_far
  end
  if stat.max_ns and stat.median_ns then result.worst_ratio = stat.max_ns / stat.median_ns end
  if stat.unaccounted_ns and stat.timed_ns > 0 then
    result.unaccounted_ms = stat.unaccounted_ns / 1e6
    result.unaccounted_share = stat.unaccounted_ns / (stat.unaccounted_ns + stat.timed_ns)
  end
  local first = host.query("SELECT wall_ns, warmup FROM step WHERE segment_id = ? ORDER BY step LIMIT 1", segment.id)[1]
  if first and first.warmup == 1 and stat.median_ns then result.first_ratio = first.wall_ns / stat.median_ns end
  result.first_phase = stat.first_step_cause
  result.target_noise, result.max_time_ms = segment.target_noise, segment.max_time_ns and segment.max_time_ns / 1e6
  result.ring_waits = segment.ring_waits
end

-- Completes the figures that the database gave for a point.
function host.result_recall(s, figures)
  local id = figures.segment_id
  local segment = host.query([[SELECT s.*, r.backend, r.seed, r.message AS run_message, r.outcome AS run_outcome FROM segment s
    JOIN run r ON r.id = s.run_id WHERE s.id = ?]], id)[1]
  local asked, gone = host.asked_read(s), "this run was made earlier: its figures are in the database, its weights are gone"
  if not segment then -- deleted meanwhile
    figures.model, figures.metrics, figures.placement = s.model, {}, { asked = asked }
    figures.batch_mode = asked.global_batch and "strong" or "weak"
    figures.global_batch = asked.global_batch or (asked.batch or 32) * s.request.placement:towers()
    return host.result_gone(figures, gone)
  end
  if segment.run_outcome == "oom" then
    local refused = host.result_refused(s, "oom", segment.run_message, { run_id = figures.run_id, device = segment.oom_device,
      needed = segment.oom_needed_bytes, available = segment.oom_available_bytes })
    refused.phase = segment.plan_digest and "training" or "opening" -- one that was refused has no plan
    return refused
  end
  local result = figures
  result.model, result.seed, result.backend = s.model, segment.seed, segment.backend
  result.placement = { asked = asked, effective = effective_read(segment, asked) }
  result.batch_mode, result.gpus = segment.batch_mode, segment.gpus
  result.batch, result.global_batch = segment.batch_per_gpu, segment.global_batch
  result.parallel = (segment.gpus or 0) > 1
  result.remark, result.digest = segment.gave_way, segment.digest
  result.message = segment.message or segment.run_message
  if segment.oversubscribed then result.oversubscribed = segment.oversubscribed == 1 end
  local steps = host.query([[SELECT count(*) AS n, coalesce(sum(warmup), 0) AS warm FROM step WHERE segment_id = ?]], id)[1]
  local last = host.query("SELECT loss, loss_status FROM step WHERE segment_id = ? ORDER BY step DESC LIMIT 1", id)[1]
  result.steps, result.warmup_steps = steps.n - steps.warm, steps.warm
  result.loss = last and number_read(last.loss, last.loss_status)
  judgement_read(result, segment)
  if result.outcome ~= "ok" then result.phase = steps.n > 0 and "training" or "opening" end
  result.metrics, result.test_metrics = metrics_read(id, "train"), metrics_read(id, "test")
  result.memory, result.towers = memory_read(id), towers_read(segment)
  result.traffic = host.query([[SELECT from_device AS "from", to_device AS "to", bytes_per_step AS bytes FROM traffic
    WHERE segment_id = ? ORDER BY from_device, to_device]], id)
  result.duplicates, result.leftovers = counts_read(id)
  return host.result_gone(result, gone, function() return losses_read(id) end)
end
