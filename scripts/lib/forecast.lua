-- A sweep on paper: which cells there are, whether each can be run and fits, and how long such a cell took before. Nothing
-- is run and nothing stored.
local _, _, host = ...

local mib = 2 ^ 20

-- A row of what would be run has its settings. Whoever asks it for a figure goes on with what is not there: the script ends.
local planned_type = { __name = "planned" }

function planned_type.__index(row, name)
  if type(name) ~= "string" or rawget(row, "planned") == nil then return nil end
  host.remark("dry run: from here on the script works with figures of its runs, so what follows is not looked at", "dry-run")
  host.script_end()
end

-- How many repetitions of the point are still to be run.
local function runs_left(w, s)
  local left = 0
  for repetition = 0, w.repeats - 1 do
    s.request.point.repetition = repetition
    if not (w.resume and host.sweep_find(s.request.point)) then left = left + 1 end
  end
  return left
end

local function size_cell(bytes)
  if bytes <= 0 then return nil end
  return host.is_text and bytes / mib or bytes
end

local function point_forecast(w, point, number)
  local s = w.cell_prepare(w, point, number, 1, number)
  local f = host.forecast(s.request)
  f.runs = runs_left(w, s)
  f.fits = f.status == 0 and "yes" or f.status == host.status_oom and "no" or "refused"
  return f
end

local function columns_of(w)
  local columns = { "point" }
  for _, key in ipairs(w.keys) do columns[#columns + 1] = key end
  local size = host.is_text and "_mib" or "_bytes"
  for _, name in ipairs{ "runs", "fullest_gpu", "gpu" .. size, "cpu" .. size, "fits", "seconds" } do
    columns[#columns + 1] = name
  end
  return columns
end

local function value_cell(value) return type(value) == "table" and host.point_value(value) or value end

local function table_print(w, forecasts)
  local cells, n = {}, 0
  local function add(value)
    n = n + 1
    cells[n] = value
  end
  for i, f in ipairs(forecasts) do
    add(i - 1)
    for _, key in ipairs(w.keys) do add(value_cell(w.points[i][key])) end
    add(f.runs)
    add(f.gpu ~= "" and f.gpu or nil)
    add(size_cell(f.gpu_bytes))
    add(size_cell(f.cpu_bytes))
    add(f.fits)
    add(f.seconds and f.seconds * f.runs or host.is_text and "unknown" or nil)
  end
  cells.n = n
  return host.print_table(columns_of(w), cells)
end

-- The sums under the table, and why cells cannot be run.
local function sums_print(w, forecasts)
  local runs, seconds, unknown, host_devices = 0, 0, 0, false
  for _, f in ipairs(forecasts) do
    runs = runs + f.runs
    seconds = seconds + (f.seconds or 0) * f.runs
    unknown = unknown + (f.seconds and 0 or f.runs)
    host_devices = host_devices or f.backend == "host"
  end
  if host_devices then print("(backend host: /gpu:N are CPU devices)") end
  print(("%s: %d cells (%d points, %d repetition%s each), %d done before, %d to run, %s"):format(w.name, w.total, #w.points,
    w.repeats, w.repeats == 1 and "" or "s", w.total - runs, runs,
    runs == 0 and "no time" or unknown == runs and "time unknown: no such cell was run before" or
    ("about %d s%s"):format(math.ceil(seconds), unknown > 0 and (", without %d cells of unknown time"):format(unknown) or "")))
  for i, f in ipairs(forecasts) do
    if f.message ~= "" then print(("  %s: %s"):format(w.point_text(w.points[i], w.keys), f.message)) end
  end
end

function host.sweep_forecast(w)
  local forecasts, rows = {}, {}
  for i, point in ipairs(w.points) do
    local f = point_forecast(w, point, i)
    forecasts[i] = f
    w.cell_tell(w, "cell ends", w.point_text(point, w.keys), i,
      { outcome = f.status == 0 and "ok" or f.status == host.status_oom and "oom" or "error", message = f.message, resumed = f.runs == 0 })
    local row = { planned = true, sweep = w.name, point = i - 1, label = w.point_text(point, w.keys) }
    for _, from in ipairs{ w.common, point } do
      for key, value in pairs(from) do row[key] = value end
    end
    for repetition = 1, w.repeats do
      local copy = setmetatable({ repetition = repetition }, planned_type)
      for key, value in pairs(row) do rawset(copy, key, value) end
      rows[(i - 1) * w.repeats + repetition] = copy
    end
  end
  if table_print(w, forecasts) then sums_print(w, forecasts) end
  w.cell_tell(w, "sweep ends", "", w.total)
  return rows
end
