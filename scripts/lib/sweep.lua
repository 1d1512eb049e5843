-- mgb.sweep: a grid of runs. Each point is a run of its own with its row in the database; what cannot be run is a row too.
local mgb, _, host = ...

mgb.cores = host.cores -- CPU cores that this process may use

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

host.sweep_keys = keys_sort

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

-- Where strategies are compared, an option that means nothing under a point's is parked there: it is not given.
local function parked_drop(options)
  local dropped = {}
  for key in pairs(options) do
    if not host.option_in_effect(key, options.strategy) then dropped[#dropped + 1] = key end
  end
  for _, key in ipairs(dropped) do options[key] = nil end
  return dropped
end

local function point_options(point, common)
  local all, strategies = {}, rawget(point, "strategy") ~= nil
  for key, value in pairs(common) do all[key] = value end
  for key, value in pairs(point) do all[key] = value end
  if strategies then parked_drop(all) end
  return all
end

-- Points without what is parked, equal ones as one, and words for what became of them; nil: nothing did.
local function points_park(points, keys)
  local kept, there, under, order = {}, {}, {}, {}
  for _, point in ipairs(points) do
    for _, key in ipairs(rawget(point, "strategy") and parked_drop(point) or {}) do
      under[key] = under[key] or {}
      if #under[key] == 0 then order[#order + 1] = key end
      if not under[key][point.strategy] then
        under[key][point.strategy] = true
        table.insert(under[key], point.strategy)
      end
    end
    local parts = {}
    for i, key in ipairs(keys) do parts[i] = host.json(rawget(point, key)) end
    local same = table.concat(parts, ",")
    if not there[same] then there[same], kept[#kept + 1] = true, point end
  end
  if #order == 0 then return points end
  table.sort(order)
  for i, key in ipairs(order) do order[i] = ("%s (%s)"):format(key, table.concat(under[key], ", ")) end
  return kept, ("%s without meaning under the strategy of some points: not given there%s"):format(table.concat(order, ", "),
    #kept < #points and ("; left out as equal to others then: %d"):format(#points - #kept) or "")
end

local function point_text(point, keys)
  local parts = {}
  for _, key in ipairs(keys) do
    local value = rawget(point, key)
    if type(value) == "boolean" then value = value and "yes" or "no" end -- as tables show it
    if value ~= nil then parts[#parts + 1] = key .. "=" .. host.point_value(value) end
  end
  return table.concat(parts, " ")
end

-- Digest of everything that makes two runs the same point. Of a schedule that is the rates, whatever function gives them.
local function point_digest(s, o)
  local request, asked = s.request, {}
  for _, name in ipairs(host.placement_options) do asked[name] = request.placement:get(name) end
  local _, _, graph = s.graph:facts()
  return host.digest(host.json{ model = s.model, options = request.model_options, graph = graph, data = request.data,
    optimizer = s.optimizer, steps = o.steps or 100, epochs = o.epochs or 0, warmup = o.warmup or s.warmup, seed = s.seed,
    target_noise = s.target_noise or "", max_time = s.max_time or "", build = o.build or "",
    placement = asked, backend = request.backend or host.backend,
    machine = request.machine and request.machine.name .. " " .. request.machine.digest or "",
    rates = host.run_rates(s, o) or "", doubt = s.doubt and host.unique() or "" })
end

-- A permutation of 1 .. n by Fisher and Yates, drawn from splitmix64 (Steele, Lea and Flood 2014): of the seed and the
-- repetition alone, so that a restart finds the same order, and the script's own random numbers stay what they are.
local function order_draw(n, seed, repetition)
  local order, state = {}, seed * 0x9E3779B97F4A7C15 + repetition
  local function draw()
    state = state + 0x9E3779B97F4A7C15
    local z = (state ~ (state >> 30)) * 0xBF58476D1CE4E5B9
    z = (z ~ (z >> 27)) * 0x94D049BB133111EB
    return (z ~ (z >> 31)) >> 1
  end
  for i = 1, n do order[i] = i end
  for i = n, 2, -1 do
    local k = draw() % i + 1
    order[i], order[k] = order[k], order[i]
  end
  return order
end

local function row_finish(row, w, point, repetition, position, number)
  for key, value in pairs(w.common) do
    local parked = rawget(point, "strategy") and not host.option_in_effect(key, point.strategy)
    if host.is_place[key] and row[key] == nil and not parked then row[key] = value end
  end
  for _, key in ipairs(w.keys) do
    if key ~= "model" then row[key] = point[key] elseif host.is_model(point.model) then row.model = host.model_text(point.model) end
  end
  row.sweep, row.point, row.repetition, row.position = w.name, number - 1, repetition, position
  row.label = point_text(point, w.keys)
  return row
end

-- A loss that is no number any more: the run trained nothing, and ends as one that failed.
local function loss_judge(s, loss, losses)
  if loss == nil or loss == loss and math.abs(loss) < math.huge then return end
  local first = 0
  for i = #losses, 1, -1 do
    if losses[i] == losses[i] and math.abs(losses[i]) < math.huge then break end
    first = i - 1
  end
  s.odd = ("loss is not finite from step %d on: it is %s"):format(first,
    loss ~= loss and "not a number" or loss > 0 and "infinite" or "minus infinite")
  s.session:fail(s.odd)
end

-- Runs one point. A failure that says nothing about the point ends the sweep.
local function point_run(s, o)
  s.request.expect_oom, s.judge = true, loss_judge
  local row, status, message, details = host.run_prepared(s, o)
  if row then
    if s.odd then row.outcome, row.message, row.phase = "error", s.odd, "training" end
    return row
  end
  if host.status_of_machine[status] then host.raise(status, message) end
  row = host.result_refused(s, status == host.status_oom and "oom" or "error", message, details)
  row.phase = s.session and "training" or "opening"
  return row
end

-- Seconds since the sweep began, and how many are left if the rest takes as long as what was run; nil before that is known.
local function times_get(w, position)
  local elapsed = os.time() - w.began
  return elapsed, w.done > 0 and math.ceil(elapsed / w.done * (w.total - position)) or nil
end

-- A point that cannot be told from another is run again; said once.
local function doubt_tell(w, s)
  if not s.doubt or not w.resume or w.doubted then return end
  w.doubted = true
  host.remark(("%s: points are run again, for they cannot be compared with those of before: %s"):format(s.what, s.doubt), "resume")
end

-- What would be run for one point of the sweep `w`: as host.prepare makes it, and its options.
local function cell_prepare(w, point, number, repetition, position)
  local all = point_options(point, w.common)
  local what = ("mgb.sweep '%s': %s"):format(w.name, point_text(point, w.keys))
  local o = host.options_check(what, all, host.run_options)
  local s = host.prepare(what, o, all, 10)
  s.request.point = { sweep = w.name, sweep_settings = w.settings, settings = host.json(point_options(point, {})),
                      digest = point_digest(s, o), point = number - 1, repetition = repetition - 1, position = position - 1,
                      backend = s.request.backend, order_seed = w.order_seed, own = not w.resume, dry = w.dry }
  return s, o
end

-- "gpus=2 batch=32 ...": in effect, or as asked of what did not run.
local function placement_text(row)
  local of, parts = row.placement and (row.placement.effective or row.placement.asked) or {}, {}
  for _, name in ipairs(host.placement_options) do
    if of[name] ~= nil then parts[#parts + 1] = name .. "=" .. host.point_value(of[name]) end
  end
  return table.concat(parts, " ")
end

local function cell_tell(w, what, label, position, row)
  local median = row and row.step_ms and row.step_ms.median
  local elapsed, left = times_get(w, what == "cell begins" and position - 1 or position)
  host.cell_tell{ what = what, sweep = w.name, point = label, position = position, total = w.total, elapsed_s = elapsed,
                  left_s = left, outcome = row and row.outcome, message = row and row.outcome ~= "ok" and row.message or nil,
                  phase = row and row.phase, resumed = row and row.resumed, step_ms = median,
                  example_ms = median and row.global_batch and median / row.global_batch,
                  number = row and row.point and row.point + 1, placement = row and placement_text(row) }
end

-- One point of the sweep: its row, from the database or from a run.
local function cell_run(w, point, number, repetition, position)
  local s, o = cell_prepare(w, point, number, repetition, position)
  local label = point_text(point, w.keys)
  doubt_tell(w, s)
  local row = (w.resume or w.restarted) and host.sweep_find(s.request.point)
  if row then
    row = host.result_recall(s, row)
    row.resumed = true
  else
    host.sweep_hold()
    local _, left = times_get(w, position - 1)
    host.progress(("cell %d of %d, %s%s"):format(position, w.total, label, left and (", %d s left"):format(left) or ""))
    host.restartable(("sweep %s, point %d of %d"):format(w.name, position, w.total))
    cell_tell(w, "cell begins", label, position)
    row = point_run(s, o)
    row.resumed = false
    row:close()
    w.done = w.done + 1
    if row.outcome == "error" and host.sweep_mode() == "asked" then host.progress(("%s: %s\n"):format(s.what, row.message)) end
  end
  row.model_options = s.request.model_options
  row_finish(row, w, point, repetition, position, number)
  cell_tell(w, "cell ends", label, position, row)
  return row
end

local own = { name = "text!", grid = "table!", skip = "function", repeats = "positive", resume = "boolean",
              baseline = "function", order = { "random", "grid" }, order_seed = "count" }

-- What the sweep consists of; a misspelt value is found here, before the first run.
local function sweep_prepare(o, options)
  local common, mode = {}, host.sweep_mode()
  for key, value in pairs(options) do
    if not own[key] then common[key] = value end
  end
  local keys = keys_sort(o.grid)
  local points, parked = points_park(points_list(o.grid, keys, common, o.skip), keys)
  if parked then host.remark(("mgb.sweep '%s': %s"):format(o.name, parked), "script") end
  for i, point in ipairs(points) do
    host.placement_fill("mgb.sweep: point " .. i, host.placement(), point_options(point, common))
  end
  local repeats = o.repeats or 1
  local resume = o.resume
  if mode == "fresh" then resume = false elseif mode ~= "asked" and resume == nil then resume = true end
  return { name = o.name, common = common, keys = keys, points = points, repeats = repeats, total = #points * repeats,
           settings = host.json{ grid = o.grid, repeats = repeats, common = common }, dry = mode == "dry", resume = resume,
           restarted = host.restarted(), order_seed = o.order ~= "grid" and (o.order_seed or 1) or nil,
           began = os.time(), done = 0, cell_prepare = cell_prepare, cell_tell = cell_tell, point_text = point_text }
end

function mgb.sweep(options)
  local kinds = {}
  for name, kind in pairs(own) do kinds[name] = kind end
  for name, kind in pairs(host.run_options) do kinds[name] = kind end
  local o = host.options_check("mgb.sweep", options, kinds)
  host.label_check("mgb.sweep: name", o.name)
  host.grid_check(o.grid)
  if o.order_seed and o.order == "grid" then
    host.fail("mgb.sweep: order_seed: order = \"grid\" has no seed")
  end
  host.check_flags()
  local w, rows, position = sweep_prepare(o, options), {}, 0
  cell_tell(w, "sweep begins", "", 0)
  if w.dry then return host.sweep_forecast(w) end
  local _ <close> = setmetatable({}, { __close = host.sweep_release }) -- what the first cell that runs holds
  for repetition = 1, w.repeats do
    local order = w.order_seed and order_draw(#w.points, w.order_seed, repetition)
    for k = 1, #w.points do
      local number = order and order[k] or k
      position = position + 1
      rows[(number - 1) * w.repeats + repetition] = cell_run(w, w.points[number], number, repetition, position)
    end
  end
  host.progress("")
  host.restartable(nil)
  host.sweep_finish(w.name)
  host.rows_compare(rows, w.keys, o.baseline, w.repeats)
  cell_tell(w, "sweep ends", "", position)
  return rows
end
