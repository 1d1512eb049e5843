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

local known = { "speedup", "efficiency", "loss", "step_ms", "examples_per_s", "message", "outcome", "first_step", "variable" }

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

-- A run's rows on CPU devices or on a simulated machine say so under the table.
local function note_print(rows)
  local host_devices = false
  for _, row in ipairs(rows) do host_devices = host_devices or row.backend == "host" end
  if host_devices then print("(backend host: /gpu:N are CPU devices)") end
end

function mgb.table(rows, columns)
  if type(rows) ~= "table" then host.fail("mgb.table: list of rows expected, got " .. host.describe(rows)) end
  if columns ~= nil and type(columns) ~= "table" then
    host.fail("mgb.table: list of column names expected, got " .. host.describe(columns))
  end
  columns = columns or columns_default(rows)
  columns_check(rows, columns)
  local cells, n = {}, 0
  for _, row in ipairs(rows) do
    for _, column in ipairs(columns) do
      n = n + 1
      cells[n] = cell_find(row, column)
    end
  end
  cells.n = n
  if host.print_table(columns, cells) then note_print(rows) end
end

-- Read-only SQL; `?` stands for the values that follow. Rows by column name, NULL is nil.
mgb.db = host.seal({
  query = function(sql, ...)
    if type(sql) ~= "string" then host.fail("mgb.db.query: SQL text expected, got " .. host.describe(sql)) end
    return (host.query(sql, ...))
  end,
}, "mgb.db")
