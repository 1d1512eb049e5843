-- mgb.table and mgb.db: showing rows, and asking the database for some.
local mgb, _, host = ...

-- "metrics.accuracy" looks inside; figures that are tables of statistics are shown by their median.
local function cell_find(row, column)
  local value = row[column]
  if value == nil and column:find(".", 1, true) then
    value = row
    for part in column:gmatch("[^.]+") do
      if type(value) ~= "table" then return nil end
      value = value[part]
    end
  end
  local methods = type(value) == "table" and getmetatable(value)
  if type(methods) == "table" and rawget(methods, "__tostring") then return host.point_value(value) end -- a data set, an optimizer
  if type(value) == "table" then
    if value.median ~= nil then return value.median end
    if #value > 0 and type(value[1]) ~= "table" then return table.concat(value, ",") end
    return value.count
  end
  return value
end

local function columns_default(rows)
  local columns, seen = {}, {}
  for _, row in ipairs(rows) do
    for key, value in pairs(row) do
      if type(key) == "string" and not seen[key] and type(value) ~= "table" then
        seen[key] = true
        columns[#columns + 1] = key
      end
    end
  end
  table.sort(columns)
  return columns
end

-- Repetitions of a point are one line: what was judged of all of them, else a number's median; of what differs, how often
-- each was.
local function values_merge(values)
  local counts, order, numbers = {}, {}, {}
  for i = 1, values.n do
    local text = values[i] == nil and "-" or tostring(values[i])
    if not counts[text] then order[#order + 1] = text end
    counts[text] = (counts[text] or 0) + 1
    if type(values[i]) == "number" then numbers[#numbers + 1] = values[i] end
  end
  if #order == 1 then return values[1] end
  if #numbers > 0 then
    table.sort(numbers)
    local half = #numbers // 2
    return #numbers % 2 == 1 and numbers[half + 1] or (numbers[half] + numbers[half + 1]) / 2
  end
  for i, text in ipairs(order) do order[i] = counts[text] .. " " .. text end
  return table.concat(order, ", ")
end

-- The first point that is there more than once, unless a column tells its repetitions apart.
local function is_repeated(rows, columns)
  for _, column in ipairs(columns) do
    if column == "repetition" or column == "position" or column == "run_id" or column == "segment_id" then return false end
  end
  for _, row in ipairs(rows) do
    if row.sweep and row.point and (row.repetition or 1) > 1 then return true end
  end
  return false
end

-- Rows of several repetitions, a row a point in the order of their first; others stay as they are.
local function rows_merge(rows, columns)
  local merged, by = {}, {}
  for _, row in ipairs(rows) do
    local key = row.sweep and row.point and row.sweep .. "\0" .. row.point
    local group = key and by[key]
    if not group then
      group = { backend = row.backend }
      merged[#merged + 1] = group
      if key then by[key] = group end
    end
    group[#group + 1] = row
  end
  for _, group in ipairs(merged) do
    local first, values = group[1], {}
    for _, column in ipairs(columns) do
      values.n = #group
      for i, row in ipairs(group) do values[i] = cell_find(row, column) end
      local over = first.over and first.over[column]
      for i = #group, 1, -1 do over = over or group[i].over and group[i].over[column] end
      if over ~= nil then group[column] = over else group[column] = values_merge(values) end
    end
    group.repetitions = #group
  end
  return merged
end

-- Beside the time of a step over repetitions stands its interval, and how many there are.
local function columns_widen(columns, rows)
  local wide, has, judged = {}, {}, false
  for _, row in ipairs(rows) do judged = judged or row.over ~= nil end
  for _, column in ipairs(columns) do has[column] = true end
  for _, column in ipairs(columns) do
    wide[#wide + 1] = column
    if column == "step_ms" and judged and not has.step_ms_low then
      for _, name in ipairs{ "step_ms_low", "step_ms_high" } do wide[#wide + 1] = name end
    end
    if column == "step_ms" and not has.repetitions then wide[#wide + 1] = "repetitions" end
  end
  return wide
end

local known = { "predicted_ms", "low_ms", "high_ms", "speedup", "speedup_low", "speedup_high", "step_ms_low", "step_ms_high", "repetitions", "verdict", "phase", "efficiency", "loss", "step_ms", "examples_per_s", "message", "outcome", "first_step", "variable" }

local function columns_check(rows, columns)
  local names = {}
  for _, name in ipairs(known) do names[name] = true end
  for _, name in ipairs(host.placement_options) do names[name] = true end
  for _, row in ipairs(rows) do
    for key in pairs(row) do names[tostring(key)] = true end
  end
  for i, column in ipairs(columns) do
    if type(column) ~= "string" then
      host.fail(("mgb.table: column %d: name expected, got %s"):format(i, host.describe(column)))
    end
    if #rows > 0 and not names[column] and not column:find(".", 1, true) then
      host.fail(("mgb.table: no row has a column '%s'%s"):format(column, host.hint(column, names)))
    end
  end
end

-- What to know of speed-ups, each remark once with the rows that it is about.
local function speedups_note(rows)
  local order, labels, told = {}, {}, {}
  for _, row in ipairs(rows) do
    local label = tostring(row.label or "gpus=" .. tostring(row.gpus))
    for _, remark in ipairs(host.speedup_remarks(row)) do
      if not labels[remark] then order[#order + 1], labels[remark] = remark, {} end
      if not told[label .. remark] then
        told[label .. remark] = true
        table.insert(labels[remark], label)
      end
    end
  end
  for _, remark in ipairs(order) do print(("note: %s: %s"):format(table.concat(labels[remark], "; "), remark)) end
end

-- Repetitions that are unlike the others of their point, a line each.
local function odds_note(rows)
  local told = {}
  for _, row in ipairs(rows) do
    local odd = type(row.over) == "table" and row.over.odd
    if odd and not told[odd] then
      told[odd] = true
      print(("note: %s: %s"):format(tostring(row.label), odd))
    end
  end
end

-- A run's rows on CPU devices or on a simulated machine say so under the table.
local function note_print(rows, columns)
  local host_devices, speedups, repeated = false, false, false
  for _, row in ipairs(rows) do
    host_devices = host_devices or row.backend == "host"
    repeated = repeated or type(row.over) == "table"
  end
  for _, column in ipairs(columns) do speedups = speedups or column == "speedup" or column == "efficiency" end
  if host_devices then print("(backend host: /gpu:N are CPU devices)") end
  if repeated then print("step_ms: mean of the repetitions' medians; examples_per_s: examples a step / step_ms") end
  if speedups then speedups_note(rows) end
  if repeated then odds_note(rows) end
end

function mgb.table(rows, columns)
  if type(rows) ~= "table" then host.fail("mgb.table: list of rows expected, got " .. host.describe(rows)) end
  if columns ~= nil and type(columns) ~= "table" then
    host.fail("mgb.table: list of column names expected, got " .. host.describe(columns))
  end
  for _, row in ipairs(rows) do
    if type(row) == "table" and rawget(row, "planned") then return end -- a dry run has shown them
  end
  columns = columns or columns_default(rows)
  columns_check(rows, columns)
  local all = rows
  if is_repeated(rows, columns) then
    columns = columns_widen(columns, rows)
    rows = rows_merge(rows, columns)
  end
  local cells, n = {}, 0
  for _, row in ipairs(rows) do
    for _, column in ipairs(columns) do
      n = n + 1
      cells[n] = cell_find(row, column)
    end
  end
  cells.n = n
  if host.print_table(columns, cells) then note_print(all, columns) end
end

-- Read-only SQL; `?` stands for the values that follow. Rows by column name, NULL is nil.
mgb.db = host.seal({
  query = function(sql, ...)
    if type(sql) ~= "string" then host.fail("mgb.db.query: SQL text expected, got " .. host.describe(sql)) end
    return (host.query(sql, ...))
  end,
}, "mgb.db")
