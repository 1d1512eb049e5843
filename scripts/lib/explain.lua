-- mgb.explain: what bounds the step of a stored run, by the critical path of its traced steps.
local mgb, _, host = ...

local most_steps = 50 -- of one segment; more say nothing new

-- A result, a row with its segment, a session, the number of a run, or words that name one.
local function segment_of(r)
  if type(r) == "number" or type(r) == "string" then return host.segment_find(tostring(r)) end
  if type(r) == "table" and (getmetatable(r) or {}).__name == "session" then r = r:figures() end
  if type(r) ~= "table" then
    host.fail("mgb.explain: a result, a row, a run's number or words as \"last\" expected, got " .. host.describe(r))
  end
  local run, segment = rawget(r, "run_id"), rawget(r, "segment_id")
  if segment then return run, segment end
  if run then return host.segment_find(tostring(run)) end
  host.fail("mgb.explain: this run was not recorded, so that there are no tasks to look at" ..
            (rawget(r, "message") and ": " .. r.message or ""))
end

local function facts_read(segment)
  local f = host.query([[SELECT s.*, r.backend, r.simulated, r.machine_id, m.name AS model, m.forward_flops, st.median_ns
    FROM segment AS s JOIN run AS r ON r.id = s.run_id JOIN model AS m ON m.id = r.model_id
    LEFT JOIN segment_stat AS st ON st.segment_id = s.id WHERE s.id = ?]], segment)[1]
  if not f then host.fail(("mgb.explain: there is no segment %s"):format(tostring(segment))) end
  if not f.median_ns then -- it still runs
    local walls = host.query("SELECT wall_ns FROM step WHERE segment_id = ? AND warmup = 0 ORDER BY step DESC LIMIT 1000", segment)
    table.sort(walls, function(a, b) return a.wall_ns < b.wall_ns end)
    if #walls > 0 then f.median_ns = (walls[(#walls + 1) // 2].wall_ns + walls[#walls // 2 + 1].wall_ns) / 2 end
  end
  f.gpus = f.gpus or 0
  f.first_gpu = tostring(f.gpu_list or ""):match('"([^"]+)"') or "/gpu:0"
  return f
end

-- Much longer than a step is: it says more of what came between than of the placement.
local function is_odd(f, step) return f.median_ns ~= nil and step.wall_ns > 1.5 * f.median_ns end

-- Traced steps: the timed ones, those near the median where there are any, or those of the warm-up when only they were.
local function steps_read(f)
  local steps = host.query([[SELECT t.step, s.warmup, s.wall_ns FROM (SELECT DISTINCT step FROM task WHERE segment_id = ?) AS t
    JOIN step AS s ON s.segment_id = ? AND s.step = t.step ORDER BY s.warmup, t.step]], f.id, f.id)
  if #steps == 0 then
    host.fail(('mgb.explain: no step of run %d was traced: trace some with trace_steps = "5-8" (mgbench run --trace 5-8)')
              :format(f.run_id))
  end
  local kept, like = {}, {}
  for _, step in ipairs(steps) do
    if step.warmup == steps[1].warmup and #kept < most_steps then kept[#kept + 1] = step end
  end
  for _, step in ipairs(kept) do
    if not is_odd(f, step) then like[#like + 1] = step end
  end
  if #like == 0 then return kept end
  like.left_out = #kept - #like
  return like
end

host.traced_segment, host.traced_facts, host.traced_steps = segment_of, facts_read, steps_read

-- What is wrong with them as an example of a step.
local function doubt_text(f, steps)
  local warmup, odd = steps[1].warmup == 1, is_odd(f, steps[1])
  if not (f.median_ns and (warmup or odd)) then return nil end
  return ("Traced was only %s: it may be bound by something else than the others. Trace another: key t in mgbench-tui, or " ..
          "mgbench run --trace 5-8."):format(warmup and "the warm-up" or "a step of more than 1.5 times the median")
end

local function where_of(task)
  if task.from == nil then return task.device or "host" end
  return task.from == "" and "all-reduce " .. task.device or task.from .. "->" .. task.device
end

local function numbers(steps)
  local list = {}
  for i, step in ipairs(steps) do list[i] = ("%d"):format(step.step) end
  return table.concat(list, ",")
end

-- The place of each phase in the explanation, made when first met.
local function row_get(e, phase, where)
  local key = phase .. " " .. where
  if not e.by[key] then
    e.by[key] = { phase = phase, where = where, critical_ns = 0 }
    e.rows[#e.rows + 1] = e.by[key]
  end
  return e.by[key]
end

-- The host waits for the batch before anything starts: what every device counts of a step as input, exposed.
local function batch_wait(f, step)
  local row = host.query("SELECT min(input_exposed_ns) AS ns FROM step_device WHERE segment_id = ? AND step = ?", f.id, step)[1]
  return row and row.ns or 0
end

local function path_add(e, f, step)
  local parts, wall, known = host.critical(f.id, step.step)
  e.wall_ns = e.wall_ns + wall
  e.known = e.known and known
  for i, part in ipairs(parts) do
    if not part.gap then
      local row = row_get(e, part.phase, where_of(part))
      row.critical_ns = row.critical_ns + part.ns
    else
      local batch = i == 1 and math.min(part.ns, batch_wait(f, step.step)) or 0
      if batch > 0 then
        local row = row_get(e, "input", "host")
        row.critical_ns = row.critical_ns + batch
      end
      local row = row_get(e, "wait", part.device and part.from == nil and part.device or "host")
      row.critical_ns = row.critical_ns + part.ns - batch
    end
  end
end

local function links_read(f)
  local gbps = {}
  for _, link in ipairs(host.query("SELECT from_device, to_device, gbps FROM link WHERE machine_id = ? AND backend = ?",
                                   f.machine_id, f.backend)) do
    gbps[link.from_device .. "->" .. link.to_device] = link.gbps
  end
  return gbps
end

-- What ran, on the path or not.
local function busy_add(e, f, steps)
  local links = links_read(f)
  local tasks = host.query(([[SELECT phase, device, queue, kind = 'allreduce' OR queue = 'collective' AS meets, count(*) AS tasks,
    sum(duration_ns) AS ns, sum(bytes) AS bytes FROM task WHERE segment_id = ? AND step IN (%s) GROUP BY 1, 2, 3, 4]])
    :format(numbers(steps)), f.id)
  for _, task in ipairs(tasks) do
    local from = task.meets == 1 and "" or task.queue ~= task.device and task.queue or nil
    local where = where_of{ device = task.device, from = from }
    local row = row_get(e, task.phase, where)
    row.busy_ns = (row.busy_ns or 0) + task.ns
    row.tasks = (row.tasks or 0) + task.tasks
    row.bytes = (row.bytes or 0) + task.bytes
    row.link_gbps = links[where]
    row.moves = from ~= nil
  end
end

local function rows_finish(e, steps)
  for _, row in ipairs(e.rows) do
    row.share = row.critical_ns / e.wall_ns
    row.critical_ms, row.busy_ms = row.critical_ns / #steps / 1e6, row.busy_ns and row.busy_ns / #steps / 1e6
    row.gbps = row.moves and row.bytes > 0 and row.busy_ns > 0 and row.bytes / row.busy_ns or nil
    row.mb = row.bytes and row.bytes > 0 and row.bytes / #steps / 1e6 or nil
    row.tasks = row.tasks and row.tasks // #steps
    row.percent = 100 * row.share
    row.critical_ns, row.busy_ns, row.bytes, row.moves = nil, nil, nil, nil
  end
  local rank = {}
  for i, row in ipairs(e.rows) do rank[row] = i end
  table.sort(e.rows, function(a, b)
    if a.share ~= b.share then return a.share > b.share end
    return rank[a] < rank[b]
  end)
end

local function percent(share) return ("%.0f %%"):format(100 * share) end

-- Of a core, times those that a tower may use; of a GPU the whole.
local function peaks_read(f)
  local gflops = {}
  for _, d in ipairs(host.query([[SELECT d.name, d.f32_tflops, d.kind = 'cpu' AS shared, coalesce(d.cores, m.threads) AS cores
    FROM device AS d JOIN machine AS m ON m.id = d.machine_id WHERE m.id = ? AND d.backend = ? AND d.f32_tflops IS NOT NULL]],
    f.machine_id, f.backend)) do
    local part = d.shared == 0 and 1 or f.threads and d.cores and math.min(1, f.threads / d.cores) or nil
    gflops[d.name] = part and 1e3 * d.f32_tflops * part
  end
  return gflops
end

-- Model operations of a tower over the time that its device computed. Backward is counted as twice forward, as is usual
-- (A. Chowdhery and others, PaLM, 2022, appendix B): a product for the inputs' gradient, one for the weights'.
local function compute_list(e, f)
  local list, by = {}, {}
  if f.simulated == 1 or not f.forward_flops or not f.batch_per_gpu then return list end
  local peaks, times = peaks_read(f), { forward = 1, backward = 2 }
  for _, row in ipairs(e.rows) do
    local factor = times[row.phase]
    if factor and row.where:find("^/gpu:%d+$") and (row.busy_ms or 0) > 0 then
      local d = by[row.where] or { device = row.where, peak_gflops = peaks[row.where] }
      if not by[row.where] then list[#list + 1], by[row.where] = d, d end
      row.gflops = factor * f.forward_flops * f.batch_per_gpu / (row.busy_ms * 1e6)
      d[row.phase .. "_gflops"] = row.gflops
    end
  end
  table.sort(list, function(a, b) return a.device < b.device end)
  return list
end

-- Of the slowest device.
local function compute_text(e, f)
  local d = e.compute[1]
  for _, other in ipairs(e.compute) do
    if e.devices[1] and other.device == e.devices[1].device then d = other end
  end
  if not d then return nil end
  local parts = {}
  for _, phase in ipairs{ "forward", "backward" } do
    local reached = d[phase .. "_gflops"]
    if reached then
      parts[#parts + 1] = phase .. " " .. host.number_text(reached) .. " GFLOP/s" ..
        (d.peak_gflops and (" (%s of peak)"):format(percent(reached / d.peak_gflops)) or "")
    end
  end
  local threads = ("%d thread%s"):format(f.threads or 1, f.threads == 1 and "" or "s")
  return ("%s computes at %s;\n  %s; backward counts as twice forward."):format(d.device, table.concat(parts, ", "),
    not d.peak_gflops and "its peak is not known"
    or f.backend == "host" and ("peak: %s GFLOP/s, products of matrices on %s, measured when a run began"):format(
      host.number_text(d.peak_gflops), threads)
    or ("peak: %s GFLOP/s"):format(host.number_text(d.peak_gflops)))
end

local phases = { "input", "fetch", "join", "sum", "update", "wait" }

-- Devices with a tower by when it was done with backward, latest first, over the newest timed steps.
local function devices_read(f)
  local sums = {}
  for _, phase in ipairs(phases) do sums[#sums + 1] = ("1.0 * sum(d.%s_exposed_ns) / sum(s.wall_ns) AS \"%s\""):format(phase, phase) end
  return host.query(([[SELECT d.device, avg(d.finish_ns) / 1e6 AS finish_ms, count(*) AS steps, min(s.warmup) AS warmup, %s FROM step_device AS d
    JOIN (SELECT step, wall_ns, warmup FROM step WHERE segment_id = ? ORDER BY warmup, step DESC LIMIT
          (SELECT min(1000, max(1, sum(warmup = 0))) FROM step WHERE segment_id = ?)) AS s ON s.step = d.step
    WHERE d.segment_id = ? AND d.finish_ns IS NOT NULL GROUP BY d.device ORDER BY finish_ms DESC]])
    :format(table.concat(sums, ", ")), f.id, f.id, f.id)
end

-- Of the newest one-GPU run that is otherwise alike.
local function alone_read(f)
  if f.gpus < 2 then return nil end
  return host.query([[SELECT s.run_id, s.threads, x.speedup FROM scaling AS x JOIN segment AS s ON s.id = x.baseline_segment_id
    WHERE x.segment_id = ? AND x.speedup IS NOT NULL]], f.id)[1]
end

local function row_words(row)
  local joint = (row.where:find("->", 1, true) or row.where:find("^all%-reduce")) and " " or " on "
  local words = (row.phase == "wait" and "waiting" or row.phase) .. joint .. row.where .. " " .. percent(row.share)
  if row.gbps then
    words = words .. (" (%s MB at %s GB/s%s)"):format(host.number_text(row.mb), host.number_text(row.gbps),
      row.link_gbps and row.link_gbps > row.gbps and ", the link can " .. host.number_text(row.link_gbps) or "")
  end
  return words
end

-- Parts until nine tenths of the step are told.
local function bound_text(e)
  local words, told = {}, 0
  for _, row in ipairs(e.rows) do
    if #words == 5 or told > 0.899 or row.share < 0.01 then break end
    words[#words + 1] = row_words(row)
    told = told + row.share
  end
  return "Bound by " .. table.concat(words, ",\n  ") .. "."
end

local function slowest_text(e)
  local late = e.devices[1]
  if not late then return nil end
  local hidden = {}
  for _, phase in ipairs(phases) do
    if (late[phase] or 0) >= 0.005 then hidden[#hidden + 1] = phase .. " " .. percent(late[phase]) end
  end
  local text
  if #e.devices == 1 then
    text = ("%s is done with backward after %s ms"):format(late.device, host.number_text(late.finish_ms))
  else
    local first = e.devices[#e.devices]
    text = ("Slowest is %s, done with backward after %s ms, %s ms (%.0f %%) later than %s"):format(late.device,
      host.number_text(late.finish_ms), host.number_text(late.finish_ms - first.finish_ms),
      100 * (late.finish_ms / first.finish_ms - 1), first.device)
  end
  -- The parts above are of the traced steps alone.
  text = text .. (late.warmup == 1 and " (of the newest step)" or " (mean of %d timed step%s)"):format(late.steps, late.steps == 1 and "" or "s")
  return text .. (#hidden > 0 and ";\n  it does not compute during: " .. table.concat(hidden, ", ") or "") .. "."
end

local function head_text(e, f, steps)
  local on = f.simulated == 1 and ("%d simulated GPU%s"):format(f.gpus, f.gpus == 1 and "" or "s")
    or f.backend == "host" and ("%d CPU device%s"):format(f.gpus, f.gpus == 1 and "" or "s")
    or ("%d GPU%s"):format(f.gpus, f.gpus == 1 and "" or "s")
  local text = ("Run %d, %s on %s (backend %s), strategy %s: %d traced %s step%s, %s ms%s"):format(f.run_id, f.model, on, f.backend,
    f.strategy or "-", #steps, steps[1].warmup == 1 and "warm-up" or "timed", #steps == 1 and "" or "s",
    host.number_text(e.wall_ns / #steps / 1e6), #steps == 1 and "" or " in the mean")
  if f.median_ns then text = text .. (" (median of all timed steps: %s ms)"):format(host.number_text(f.median_ns / 1e6)) end
  if (steps.left_out or 0) > 0 then
    text = text .. ("; %d of more than 1.5 times that %s left out"):format(steps.left_out, steps.left_out == 1 and "is" or "are")
  end
  return text .. "."
end

-- A lone CPU device that had other threads makes the speed-up one of threads, too.
local function threads_text(e, f)
  if f.backend ~= "host" or not f.threads or not e.alone.threads or f.threads == e.alone.threads then return nil end
  return ("The one-GPU baseline ran %d thread%s a device, these %d: give threads = %d to all."):format(e.alone.threads,
    e.alone.threads == 1 and "" or "s", f.threads, math.min(f.threads, e.alone.threads))
end

-- The part that bounds comes first; when no place concerns it, what a place can change is named beside it.
local function hints_list(e, f)
  local texts = {}
  for i, toggle in ipairs(host.explain_toggles(f, e.groups)) do
    local beside = #texts == 1 and not e.hints[1].placement and toggle.placement
    if toggle.share >= 0.05 and (i == 1 or beside) then
      local words = ("%s: %s of the step; try: %s\n  (%s)"):format(table.concat(toggle.of, ", "), percent(toggle.share),
                                                                  toggle.option, toggle.why)
      texts[#texts + 1] = words:gsub("^%l", string.upper)
      e.hints[#e.hints + 1] = toggle
    end
  end
  if #texts > 0 then texts[#texts + 1] = (f.simulated == 1 and "Comparison" or "Measured comparison") .. ": mgbench compare " .. f.run_id .. " NEW" end
  return texts
end

local explanation_type = { __name = "explanation" }

local columns = { "phase", "where", "percent", "critical_ms", "busy_ms", "tasks", "mb", "gbps", "link_gbps" }

-- Names in it may come from a results file of others.
function explanation_type.__tostring(e) return host.shown_text(e.text) end

local function text_make(e, f, steps)
  local lines = { head_text(e, f, steps) }
  lines[#lines + 1] = doubt_text(f, steps)
  lines[#lines + 1] = bound_text(e)
  lines[#lines + 1] = slowest_text(e)
  lines[#lines + 1] = compute_text(e, f)
  lines[#lines + 1] = host.explain_staged(f, e.rows)
  if not e.known then lines[#lines + 1] = "An older version stored these tasks: only the order of queues is known, not what waits for what." end
  if e.alone then
    local words = ("%.2f times the rate of run %d on one GPU"):format(e.alone.speedup, e.alone.run_id)
    lines[#lines + 1] = e.slower and "Slower than one GPU: " .. words .. "." or words:gsub("^%l", string.upper) .. "."
    lines[#lines + 1] = threads_text(e, f)
    if e.alone.speedup / f.gpus > 1.05 then
      lines[#lines + 1] = "More than ideal: look for other threads a device, or data that fits the caches only when split."
    end
  end
  for _, hint in ipairs(hints_list(e, f)) do lines[#lines + 1] = hint end
  return table.concat(lines, "\n")
end

-- The text that people read, and as fields: step_ms, rows (by phase and place: share of the critical path, busy_ms, mb, gbps,
-- link_gbps, gflops), devices, compute (by device: forward_gflops, backward_gflops, peak_gflops), hints, speedup.
function mgb.explain(r)
  local run, segment = segment_of(r)
  local f = facts_read(segment)
  local steps = steps_read(f)
  local e = setmetatable({ run_id = run or f.run_id, segment_id = segment, rows = {}, by = {}, wall_ns = 0, known = true, groups = {},
                           hints = {}, backend = f.backend, simulated = f.simulated == 1 }, explanation_type)
  for _, step in ipairs(steps) do path_add(e, f, step) end
  busy_add(e, f, steps)
  e.step_ms, e.steps = e.wall_ns / #steps / 1e6, #steps
  rows_finish(e, steps)
  for _, row in ipairs(e.rows) do
    local group = host.explain_group(f, row)
    e.groups[group] = (e.groups[group] or 0) + row.share
  end
  e.devices, e.alone, e.columns = devices_read(f), alone_read(f), columns
  e.compute = compute_list(e, f)
  e.speedup = e.alone and e.alone.speedup
  e.slower = e.alone ~= nil and e.alone.speedup < 1
  e.text = text_make(e, f, steps)
  e.by, e.wall_ns, e.alone = nil, nil, nil
  return e
end
