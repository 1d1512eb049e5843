-- mgb.plot: a picture of rows, as text or into a file. What varies among the rows and is in none of x, by, facet and where
-- would be mixed up in one line, so that it is refused by name.
local mgb, _, host = ...

local names_of_y = {
  step_ms = "step time, ms (lower is better)", examples_per_s = "examples per second (higher is better)",
  speedup = "speed-up over the baseline (higher is better)", efficiency = "scaling efficiency (higher is better, 1 is ideal)",
  loss = "loss (lower is better)",
}
local titles_of_y = { step_ms = "Step time", examples_per_s = "Throughput", speedup = "Speed-up", efficiency = "Scaling efficiency",
                      loss = "Loss" }
local names_of_x = { gpus = "number of GPUs", batch = "batch, examples per GPU", global_batch = "global batch, examples" }
-- One follows from another with the number of GPUs.
local twins = { batch = "global_batch", global_batch = "batch" }

local function value_of(row, name)
  local value = row[name]
  if value == nil and row.placement then value = (row.placement.effective or row.placement.asked)[name] end
  if value == nil and name:find(".", 1, true) then
    value = row
    for part in name:gmatch("[^.]+") do value = type(value) == "table" and value[part] or nil end
  end
  if type(value) == "table" then
    if value.median ~= nil then return value.median end
    return name == "gpus" and #value or host.json(value)
  end
  return value
end

-- As it was asked for, of results of runs: what is in effect may follow from another dimension.
local function asked_of(row, name)
  local value = row[name]
  if host.is_place[name] and row.placement then value = row.placement.asked[name] end
  return type(value) == "table" and host.json(value) or value
end

local function word_of(name, value)
  if value == true then return name .. " yes" elseif value == false then return name .. " no" end
  if name == "strategy" or name == "model" then return tostring(value) end
  return name .. " " .. tostring(value)
end

local function words_of(row, names)
  local words = {}
  for i, name in ipairs(names) do words[i] = word_of(name, value_of(row, name)) end
  return table.concat(words, ", ")
end

local function list_read(what, value)
  if value == nil then return {} end
  if type(value) == "string" then return { value } end
  for i, name in ipairs(value) do
    if type(name) ~= "string" then
      host.fail(("mgb.plot: %s: name %d: text expected, got %s"):format(what, i, host.describe(name)))
    end
  end
  return value
end

local function names_check(rows, names)
  local known = {}
  for name in pairs(names_of_y) do known[name] = true end
  for _, name in ipairs(host.placement_options) do known[name] = true end
  for _, row in ipairs(rows) do
    for key in pairs(row) do known[tostring(key)] = true end
  end
  for _, name in ipairs(names) do
    if not known[name] and not name:find(".", 1, true) then
      host.fail(("mgb.plot: no row has a column '%s'%s"):format(name, host.hint(name, known)))
    end
  end
end

local function rows_choose(rows, where)
  local chosen = {}
  for i, row in ipairs(rows) do
    if type(row) ~= "table" then host.fail(("mgb.plot: row %d: table expected, got %s"):format(i, host.describe(row))) end
    local fits = true
    for name, value in pairs(where) do fits = fits and (value_of(row, name) == value or asked_of(row, name) == value) end
    if fits then chosen[#chosen + 1] = row end
  end
  if #chosen == 0 then host.fail("mgb.plot: no row is left to show; see rows and where") end
  return chosen
end

local function values_of(rows, name, read)
  local values, seen = {}, {}
  for _, row in ipairs(rows) do
    local value = read(row, name)
    local key = tostring(value)
    if not seen[key] then
      seen[key] = true
      values[#values + 1] = value == nil and "none" or value
    end
  end
  return values
end

local function dimensions_check(rows, named)
  local is = {}
  for _, name in ipairs(named) do is[name] = true end
  local candidates = { "model", "model_options", "data", "seed", "backend", "machine" }
  for _, name in ipairs(host.placement_options) do candidates[#candidates + 1] = name end
  local gpus_told = is.gpus or #values_of(rows, "gpus", value_of) == 1
  for _, name in ipairs(candidates) do
    local told = is[name] or (twins[name] and is[twins[name]] and gpus_told)
    local values = not told and values_of(rows, name, asked_of) or {}
    if #values > 1 then
      for i, value in ipairs(values) do values[i] = tostring(value) end
      host.fail(("mgb.plot: '%s' varies among the rows (%s) and is in none of x, by, facet and where: name it there"):format(
        name, table.concat(values, ", ", 1, math.min(#values, 6))))
    end
  end
end

-- Rows by panel, line and x, each in the order of its first row; repetitions share a place.
local function places_make(rows, o, by)
  local panels, index = {}, {}
  local function find(list, key, make)
    local at = index[list] or {}
    index[list] = at
    if not at[key] then
      at[key] = make()
      list[#list + 1] = at[key]
    end
    return at[key]
  end
  for _, row in ipairs(rows) do
    local title = o.facet and words_of(row, { o.facet }) or ""
    local panel = find(panels, title, function() return { title = title, rows = {}, lines = {} } end)
    panel.rows[#panel.rows + 1] = row
    local label = words_of(row, by)
    local line = find(panel.lines, label, function() return { label = label, places = {} } end)
    local x = value_of(row, o.x)
    local place = find(line.places, tostring(x), function() return { x = x, rows = {}, oom = 0 } end)
    if row.outcome == "oom" then place.oom = place.oom + 1 else place.rows[#place.rows + 1] = row end
  end
  return panels
end

-- One y of the repetitions of a place: their mean. Its interval: of step_ms the one that comparing gives, else the lowest and
-- the highest repetition.
local function place_value(place, y)
  local sum, low, high, count, segments = 0, nil, nil, 0, {}
  for _, row in ipairs(place.rows) do
    local value = value_of(row, y)
    if type(value) == "number" and value == value then
      sum, count = sum + value, count + 1
      low, high = math.min(low or value, value), math.max(high or value, value)
      segments[#segments + 1] = row.segment_id
    end
  end
  if count == 0 then return nil end
  local first = place.rows[1]
  if y == "step_ms" and count == 1 then
    local ci = type(first.step_ms) == "table" and first.step_ms.ci95 or {}
    return sum, ci[1], ci[2]
  end
  if y == "step_ms" and #segments == count then
    local judged = host.judge{ { cell = segments } }[1]
    if judged and judged.step_ms then return judged.step_ms, judged.low_ms, judged.high_ms end
  end
  if count == 1 then return sum end
  local over = first.over -- what tables show of the point: a rate is that of its step, no mean of rates
  if type(over) == "table" and type(over[y]) == "number" then return over[y], low, high end
  return sum / count, low, high
end

local function is_numeric(rows, x)
  for _, row in ipairs(rows) do
    if type(value_of(row, x)) ~= "number" then return false end
  end
  return true
end

-- Doubling steps read best on a logarithmic axis.
local function is_doubling(rows, x)
  local values = values_of(rows, x, value_of)
  table.sort(values)
  return #values > 2 and values[1] > 0 and values[#values] >= 8 * values[1]
end

local function lines_fill(chart, panel, y)
  for _, line in ipairs(panel.lines) do
    local series = { label = line.label, points = {} }
    for _, place in ipairs(line.places) do
      local value, low, high = place_value(place, y)
      if value then series.points[#series.points + 1] = { place.x, value, low, high } end
      if place.oom > 0 then
        chart.marks[#chart.marks + 1] = { kind = "edge", x = place.x, y = 0,
                                          label = "out of memory" .. (line.label ~= "" and ": " .. line.label or "") }
      end
    end
    chart.series[#chart.series + 1] = series
  end
end

local function bars_fill(chart, panel, o)
  local at = {}
  for i, value in ipairs(values_of(panel.rows, o.x, value_of)) do
    at[tostring(value)] = i - 1
    chart.categories[i] = word_of(o.x, value)
  end
  for s, line in ipairs(panel.lines) do
    local series = { label = line.label, points = {} }
    for _, place in ipairs(line.places) do
      local row, value, low, high = at[place.x == nil and "none" or tostring(place.x)], place_value(place, o.y)
      if value then
        series.points[#series.points + 1] = { row, value, low, high }
      elseif place.oom > 0 then
        chart.marks[#chart.marks + 1] = { kind = "note", x = row, y = s - 1, label = "out of memory" }
      end
    end
    chart.series[s] = series
  end
end

local function unique(rows, name, most)
  local values = {}
  for _, value in ipairs(values_of(rows, name, value_of)) do
    if value ~= "none" then values[#values + 1] = tostring(value) end
  end
  return table.concat(values, ", ", 1, math.min(#values, most))
end

local words_of_backend = { host = "CPU devices (backend host)", cuda = "GPUs (backend cuda)", sim = "simulated GPUs (backend sim)" }

local function picture_make(rows, o, by)
  local numeric = is_numeric(rows, o.x)
  local kind = o.kind or numeric and "lines" or "bars"
  local backend = unique(rows, "backend", 3)
  local repeated = 1
  local about = {}
  for _, words in ipairs{ unique(rows, "model", 3), words_of_backend[backend] or backend } do
    if words ~= "" then about[#about + 1] = words end
  end
  local picture = { panels = {}, title = o.title or ("%s by %s%s"):format(titles_of_y[o.y] or o.y, o.x,
    #about > 0 and ": " .. table.concat(about, ", ") or "") }
  for i, panel in ipairs(places_make(rows, o, by)) do
    local chart = { kind = kind, title = panel.title, x_label = names_of_x[o.x] or o.x, y_label = names_of_y[o.y] or o.y,
                    x_log = numeric and is_doubling(rows, o.x), series = {}, marks = {}, categories = {} }
    if kind == "bars" then bars_fill(chart, panel, o) else lines_fill(chart, panel, o.y) end
    for _, line in ipairs(panel.lines) do
      for _, place in ipairs(line.places) do repeated = math.max(repeated, #place.rows) end
    end
    picture.panels[i] = chart
  end
  local conditions = {}
  for name, value in pairs(o.where or {}) do conditions[#conditions + 1] = word_of(name, value) end
  table.sort(conditions)
  local step = o.y == "step_ms"
  picture.subtitle = (#conditions > 0 and "Only " .. table.concat(conditions, ", ") .. ". " or "") ..
    (step and "Median of the timed steps, with its 95 % interval" or "") ..
    (repeated > 1 and (step and "; " or "") .. ("%s%d repetitions a point: %s"):format(step and "up to " or "Up to ", repeated,
      step and "mean of the medians." or "mean, with the lowest and the highest.") or step and "." or "")
  if backend:find("host", 1, true) then picture.note = "Backend host: /gpu:N are CPU devices." end
  if backend:find("sim", 1, true) then picture.note = "Simulated: played on a virtual clock, not measured." end
  return picture
end

local options = { x = "text!", y = "text!", by = "any", facet = "text", where = "table", file = "text", size = "text",
                  kind = { "lines", "points", "bars" }, title = "text" }

function mgb.plot(rows, o)
  if type(rows) ~= "table" then host.fail("mgb.plot: list of rows expected, got " .. host.describe(rows)) end
  o = host.read("mgb.plot", o, options)
  for _, row in ipairs(rows) do
    if type(row) == "table" and rawget(row, "planned") then return end -- a dry run measured nothing
  end
  local by, named = list_read("by", o.by), { o.x, o.facet }
  for _, name in ipairs(by) do named[#named + 1] = name end
  for name in pairs(o.where or {}) do named[#named + 1] = name end
  named[#named + 1] = o.y
  local chosen = rows_choose(rows, o.where or {})
  names_check(chosen, named)
  dimensions_check(chosen, named)
  if (o.kind or "bars") ~= "bars" and not is_numeric(chosen, o.x) then
    host.fail(("mgb.plot: kind '%s' needs numbers as x, and '%s' has others"):format(o.kind, o.x))
  end
  host.plot(picture_make(chosen, o, by), o.file, o.size)
end
