-- mgb.whatif: what a step of a run would take under another placement, predicted by playing the other plan: on the same machine where
-- the run is simulated, else with the durations of the run's own traced tasks.
local mgb, _, host = ...

local prediction = { __name = "whatif" }
prediction.__index = prediction

function prediction:__tostring()
  return ("%.4g ms a step [%.4g, %.4g], predicted from run %s%s"):format(self.step_ms, self.low, self.high, tostring(self.of or "-"),
         self.simulated and " (simulated " .. self.machine.name .. ")" or ", which took " .. ("%.4g ms"):format(self.of_ms))
end

-- Of the step's wall time what GPUs do, in the mean, by phase: it adds up to what was played.
local function phases_mean(devices)
  local sums, count = {}, 0
  for _, d in ipairs(devices) do
    if d.device:find("gpu") or #devices == 1 then
      count = count + 1
      for phase, ms in pairs(d.exposed) do sums[phase] = (sums[phase] or 0) + ms end
    end
  end
  for phase, ms in pairs(sums) do sums[phase] = ms / count end
  return sums
end

-- Latency and rate of copies of one kind, ns and bytes a ns: least squares over the shares that a line misses them by; one size
-- alone is all rate. nil: nothing was copied so.
local function line_fit(list)
  local n, sx, sy, sxx, sxy = 0, 0, 0, 0, 0 -- of duration = a + b * bytes, each divided by its duration
  for _, copy in ipairs(list) do
    local w = 1 / copy.ns
    local x = copy.bytes
    n, sx, sy, sxx, sxy = n + w * w, sx + x * w * w, sy + w, sxx + x * x * w * w, sxy + x * w
  end
  if n == 0 then return nil end
  local det = n * sxx - sx * sx
  if det > 1e-9 * n * sxx then
    local a, b = (sy * sxx - sx * sxy) / det, (n * sxy - sx * sy) / det
    if a >= 0 and b > 0 then return a, 1 / b end
  end
  return 0, sxx / sxy
end

local function kind_of(from, to)
  return from == "/cpu:0" and "down" or to == "/cpu:0" and "up" or "across"
end

-- { number, ns, ... } of all traced steps, and copies by kind.
local function tasks_read(f, steps)
  local numbers, copies, walls = {}, { down = {}, up = {}, across = {} }, 0
  local tasks, compute_ns, moved, moving_ns = {}, 0, 0, 0
  for i, step in ipairs(steps) do
    numbers[i] = ("%d"):format(step.step)
    walls = walls + step.wall_ns
  end
  -- What was traced may have been a slower or faster step than most: its tasks take so much less or more.
  local scale = f.median_ns and walls > 0 and f.median_ns * #steps / walls or 1
  for _, t in ipairs(host.query(([[SELECT task, device, queue, kind, phase, bytes, duration_ns FROM task WHERE segment_id = ? AND
    step IN (%s) AND task IS NOT NULL ORDER BY step, task]]):format(table.concat(numbers, ",")), f.id)) do
    local ns = t.duration_ns * scale
    tasks[#tasks + 1], tasks[#tasks + 2] = t.task, math.floor(ns + 0.5)
    if t.kind == "copy" and t.queue ~= t.device and t.bytes > 0 and t.duration_ns > 0 then
      local list = copies[kind_of(t.queue, t.device)]
      list[#list + 1] = { bytes = t.bytes, ns = ns }
      moved, moving_ns = moved + t.bytes, moving_ns + ns
    elseif (t.phase == "forward" or t.phase == "backward") and t.device ~= "/cpu:0" then
      compute_ns = compute_ns + ns
    end
  end
  return tasks, copies, compute_ns, moving_ns > 0 and moved / moving_ns or nil
end

local function links_median(f)
  local by = {}
  for _, l in ipairs(host.query("SELECT from_device, to_device, gbps, latency_ns FROM link WHERE machine_id = ? AND backend = ? AND gbps > 0",
                                f.machine_id, f.backend)) do
    local kind = kind_of(l.from_device, l.to_device)
    by[kind] = by[kind] or { gbps = l.gbps, latency_us = (l.latency_ns or 0) / 1e3 }
  end
  return by
end

-- What is not in the trace: copies as those of its kind, or as a probe of the idle link showed; other operators as fast as those traced.
local function machine_build(f, steps)
  local tasks, copies, compute_ns, rate = tasks_read(f, steps)
  local probes, ways = links_median(f), {}
  for kind, list in pairs(copies) do
    local a, b = line_fit(list)
    ways[kind] = a and { gbps = b, latency_us = a / 1e3 } or probes[kind]
  end
  local any = ways.down or ways.up or ways.across or probes.down or probes.up or { gbps = rate or 10, latency_us = 0 }
  for _, kind in ipairs{ "down", "up", "across" } do ways[kind] = ways[kind] or any end
  local hostly, count = f.backend == "host", 0
  for _, d in ipairs(host.query("SELECT name FROM device WHERE machine_id = ? AND backend = ? AND name LIKE '/gpu:%'", f.machine_id, f.backend)) do
    count = math.max(count, 1 + (math.tointeger(tonumber(d.name:match("%d+"))) or 0))
  end
  count = math.max(count, 1)
  local rows = (f.global_batch or 1) * #steps
  local flops = 3 * (f.forward_flops or 0) * rows -- backward as twice forward
  local tflops = flops > 0 and compute_ns > 0 and flops / compute_ns / 1e3 or 0.05
  local widest = math.max(ways.down.gbps, ways.up.gbps, ways.across.gbps)
  local links = {}
  for i = 0, count - 1 do
    links[#links + 1] = { "/cpu:0", "/gpu:" .. i, gbps = ways.down.gbps, back_gbps = ways.up.gbps,
                          latency_us = (ways.down.latency_us + ways.up.latency_us) / 2 }
  end
  local across = { gbps = ways.across.gbps, latency_us = ways.across.latency_us }
  return mgb.machine{
    name = ("run-%d"):format(f.run_id), cpu_devices = hostly or nil, source = ("traced steps of run %d"):format(f.run_id),
    host = { cores = mgb.cores, f32_tflops = tflops, memory_gbps = hostly and 2 * widest or nil, reduce_gbps = 2 * widest },
    gpu = { count = count, name = hostly and "CPU device" or "GPU", f32_tflops = tflops, memory_gbps = 2 * widest },
    links = links, peers = count > 1 and { on = across, off = across } or nil,
  }, tasks
end

-- What plays placements with the tasks of a run that was measured: player(changes), play(player), and what its own placement, played,
-- leaves of the median that was measured: the program's own, which no task shows (`measured`, `rest`: ms).
function host.whatif_make(what, r, s)
  local _, segment = host.traced_segment(r)
  local f = host.traced_facts(segment)
  local machine, tasks = machine_build(f, host.traced_steps(f))
  local w = { machine = machine }
  function w.player(changes)
    local request = host.request_with(what, s, changes)
    request.machine = machine
    return host.player(request)
  end
  function w.play(player) return player:replay(machine, s.session, tasks) end
  local own = w.play(w.player{}) / 1e6
  w.measured = f.median_ns and f.median_ns / 1e6 or own
  w.rest = w.measured - own
  -- The step with the rest, and from where to where it may be: as far off as playing its own placement is.
  function w.figures(ns)
    local ms = math.max(ns / 1e6 + w.rest, 0)
    return ms, math.max(ms - math.abs(w.rest), 0), ms + math.abs(w.rest)
  end
  return w
end

local function admitted(player)
  local fits, why = player:admit()
  if not fits then host.fail("mgb.whatif: " .. why) end
  return player
end

-- On the machine that the run was simulated on.
local function simulated_play(s, changes)
  local player = admitted(host.player(host.request_with("mgb.whatif", s, changes)))
  local ns, devices = player:play(s.request.machine, s.seed)
  return { step_ms = ns / 1e6, low = ns / 1e6, high = ns / 1e6, devices = devices, machine = s.request.machine, simulated = true }
end

local function measured_play(r, s, changes)
  local w = host.whatif_make("mgb.whatif", r, s)
  local ns, devices = w.play(admitted(w.player(changes)))
  local ms, low, high = w.figures(ns)
  return { step_ms = ms, low = low, high = high, devices = devices, machine = w.machine, of_ms = w.measured, rest_ms = w.rest }
end

-- r: a result of mgb.run or a session, still open; changes: placement options. step_ms, low and high, phases and devices as played, of:
-- the run's number.
function mgb.whatif(r, changes)
  local s = host.result_state(r) or host.session_state(r)
  if not s or s.gone or not s.session then
    host.fail("mgb.whatif: the result of a run, or a session, that is still open expected, got " .. host.describe(r))
  end
  local kinds = {}
  for name in pairs(host.is_place) do kinds[name] = "any" end
  host.read("mgb.whatif: changes", changes, kinds)
  local out = s.request.machine and simulated_play(s, changes or {}) or measured_play(r, s, changes or {})
  local figures = host.result_state(r) and r or s.session:figures()
  out.of, out.predicted, out.phases = rawget(figures, "run_id"), true, phases_mean(out.devices)
  return setmetatable(out, prediction)
end
