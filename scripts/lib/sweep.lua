-- mgb.sweep: a grid of runs. Each point is a run of its own with its row in the database; what cannot be run is a row too.
local mgb, _, host = ...

-- Keys in a fixed order, for Lua tables have none: gpus, batch, global_batch, other placement options as their table has
-- them, then the rest by name. The first varies slowest.
local function keys_sort(grid)
  local rank, keys = {}, {}
  for i, name in ipairs(host.placement_options) do rank[name] = i end
  for key in pairs(grid) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b)
    local x, y = rank[a] or 1000, rank[b] or 1000
    if x ~= y then return x < y end
    return a < b
  end)
  return keys
end

local function grid_check(grid)
  local kinds = {}
  for key, values in pairs(grid) do
    if type(values) ~= "table" or #values == 0 then
      host.fail(("mgb.sweep: grid: %s: list of values expected, got %s"):format(tostring(key), host.describe(values)))
    end
    kinds[key] = values[1]
  end
  host.options_check("mgb.sweep: grid", kinds, host.run_options)
end

-- All points in grid order, without those to be skipped. A point answers for the common options too.
local function points_list(grid, keys, common, skip)
  local points, point = {}, {}
  local function descend(depth)
    local key = keys[depth]
    if not key then
      local copy = setmetatable({}, { __index = common })
      for k, v in pairs(point) do copy[k] = v end
      if not (skip and skip(copy)) then points[#points + 1] = copy end
      return
    end
    for _, value in ipairs(grid[key]) do
      point[key] = value
      descend(depth + 1)
    end
    point[key] = nil
  end
  descend(1)
  return points
end

local function point_options(point, common)
  local all = {}
  for key, value in pairs(common) do all[key] = value end
  for key, value in pairs(point) do all[key] = value end
  return all
end

local function value_text(value)
  return type(value) == "table" and #value > 0 and table.concat(value, ",") or tostring(value)
end

local function point_text(point, keys)
  local parts = {}
  for i, key in ipairs(keys) do parts[i] = key .. "=" .. value_text(point[key]) end
  return table.concat(parts, " ")
end

-- Digest of everything that makes two runs the same point. Of a schedule that is the rates, whatever function gives them.
local function point_digest(s, o)
  local request, asked = s.request, {}
  for _, name in ipairs(host.placement_options) do asked[name] = request.placement:get(name) end
  local _, _, graph = s.graph:facts()
  return host.digest(host.json{ model = s.model, options = request.model_options, graph = graph, data = request.data,
    optimizer = s.optimizer, steps = o.steps or 100, epochs = o.epochs or 0, warmup = s.warmup, seed = s.seed,
    placement = asked, backend = request.backend or "", machine = request.machine or "",
    rates = host.run_rates(s, o) or "", doubt = s.doubt and host.unique() or "" })
end

local function gpu_count(row)
  local gpus = row.gpus
  if gpus == nil and row.placement then gpus = row.placement.asked.gpus end
  if type(gpus) == "table" then return #gpus end
  return math.max(gpus or 1, 1)
end

local function row_finish(row, point, keys, common, repetition, position)
  for key, value in pairs(common) do
    if host.is_place[key] and row[key] == nil then row[key] = value end
  end
  for _, key in ipairs(keys) do
    if key ~= "model" then row[key] = point[key] end
  end
  row.repetition, row.position = repetition, position
  row.label = point_text(point, keys)
  return row
end

local function batch_of(row)
  if row.batch_mode == "strong" or row.batch_mode == nil and row.global_batch ~= nil then
    return "strong", row.global_batch
  end
  return "weak", row.batch or 32
end

-- In how many options of the grid two rows agree; nil when they differ in what is no placement: model, data and such.
local function likeness(row, other, keys)
  local count = 0
  for _, key in ipairs(keys) do
    local same = host.json(row[key]) == host.json(other[key]) and
      (key ~= "model" or row.model_options == other.model_options)
    if not same and not host.is_place[key] then return nil end
    if same and key ~= "gpus" then count = count + 1 end
  end
  return count
end

-- Only what came to its end has a rate that means something: who crashed half way may have been slow before.
local function rates_count(row) return row.outcome == "ok" and row.step_ms.median ~= nil end

-- The row that `row` is measured against: `says(row, rows)` gives it, or says of a row whether it is one; without it the
-- one-GPU row of the same batch, the most alike in the rest of the grid.
local function baseline_find(row, rows, keys, says)
  local given = says and says(row, rows)
  if type(given) == "table" then return given end
  local mode, batch = batch_of(row)
  local best, best_likeness
  for _, other in ipairs(rows) do
    local other_mode, other_batch = batch_of(other)
    local is = not says and gpu_count(other) == 1 or says and says(other, rows) == true
    if is and rates_count(other) and other.repetition == row.repetition and other_mode == mode and other_batch == batch then
      local alike = likeness(row, other, keys)
      if alike and (not best or alike > best_likeness) then best, best_likeness = other, alike end
    end
  end
  return best
end

-- Median step time by examples a step: one stalled step must not decide what a GPU more is worth.
local function example_ms(row) return row.step_ms.median / row.global_batch end

local function speedups_fill(rows, keys, says)
  for _, row in ipairs(rows) do
    local base = rates_count(row) and baseline_find(row, rows, keys, says)
    row.baseline = row.baseline or false
    if base and rates_count(base) then
      base.baseline = true
      row.speedup = example_ms(base) / example_ms(row)
      row.efficiency = row.speedup * gpu_count(base) / gpu_count(row)
    end
  end
end

-- Runs one point. A failure that says nothing about the point ends the sweep.
local function point_run(s, o)
  s.request.expect_oom = true
  local row, status, message, details = host.run_prepared(s, o)
  if row then return row end
  if status == host.status_oom then return host.result_refused(s, "oom", message, details) end
  if host.status_of_machine[status] then host.raise(status, message) end
  host.progress(("%s: %s\n"):format(s.what, message))
  return host.result_refused(s, "error", message, details)
end

local function time_left(began, done, left)
  if done == 0 then return "" end
  return (", %d s left"):format(math.ceil((os.time() - began) / done * left))
end

-- A point that cannot be told from another is run again; said once.
local function doubt_tell(w, s)
  if not s.doubt or not w.resume or w.doubted then return end
  w.doubted = true
  host.remark(("%s: points are run again, for they cannot be compared with those of before: %s"):format(s.what, s.doubt))
end

-- One point of the sweep `w` (what mgb.sweep found out at its start): its row, from the database or from a run.
local function cell_run(w, point, number, repetition)
  local position = (repetition - 1) * #w.points + number
  local all = point_options(point, w.common)
  local what = ("mgb.sweep '%s': %s"):format(w.name, point_text(point, w.keys))
  local o = host.options_check(what, all, host.run_options)
  local s = host.prepare(what, o, all, 10)
  s.request.point = { sweep = w.name, sweep_settings = w.settings, settings = host.json(point_options(point, {})),
                      digest = point_digest(s, o), point = number - 1, repetition = repetition - 1, position = position - 1 }
  doubt_tell(w, s)
  local row = w.resume and host.sweep_find(s.request.point)
  if row then
    row = host.result_recall(s, row)
    row.resumed = true
  else
    host.progress(("point %d of %d, %s%s"):format(position, w.total, point_text(point, w.keys),
                  time_left(w.began, w.done, w.total - position + 1)))
    host.restartable(("sweep %s, point %d of %d"):format(w.name, position, w.total))
    row = point_run(s, o)
    row.resumed = false
    row:close()
    w.done = w.done + 1
  end
  row.model_options = s.request.model_options
  return row_finish(row, point, w.keys, w.common, repetition, position)
end

local own = { name = "text!", grid = "table!", skip = "function", repeats = "positive", resume = "boolean",
              baseline = "function" }

-- What the sweep consists of; a misspelt value is found here, before the first run.
local function sweep_prepare(o, options)
  local common = {}
  for key, value in pairs(options) do
    if not own[key] then common[key] = value end
  end
  local keys = keys_sort(o.grid)
  local points = points_list(o.grid, keys, common, o.skip)
  for i, point in ipairs(points) do
    host.placement_fill("mgb.sweep: point " .. i, host.placement(), point_options(point, common))
  end
  local repeats = o.repeats or 1
  return { name = o.name, common = common, keys = keys, points = points, repeats = repeats, total = #points * repeats,
           settings = host.json{ grid = o.grid, repeats = repeats, common = common },
           resume = o.resume or host.restarted(), began = os.time(), done = 0 }
end

function mgb.sweep(options)
  local kinds = {}
  for name, kind in pairs(own) do kinds[name] = kind end
  for name, kind in pairs(host.run_options) do kinds[name] = kind end
  local o = host.options_check("mgb.sweep", options, kinds)
  host.name_check("mgb.sweep: name", o.name)
  grid_check(o.grid)
  host.check_flags()
  local w, rows = sweep_prepare(o, options), {}
  for repetition = 1, w.repeats do
    for i, point in ipairs(w.points) do
      rows[(i - 1) * w.repeats + repetition] = cell_run(w, point, i, repetition)
    end
  end
  host.progress("")
  host.restartable(nil)
  if w.done > 0 then host.sweep_finish(w.name) end
  speedups_fill(rows, w.keys, o.baseline)
  return rows
end
