-- What mgb.sweep refuses of its grid before anything is run: what is no list, a value that no run could have, a value that is
-- listed twice, and more points than anybody waits for.
local mgb, _, host = ...

local most_points = 100000

local function list_check(key, values)
  local got
  if type(values) ~= "table" or getmetatable(values) ~= nil then
    got = host.describe(values)
  elseif next(values) == nil then
    got = "an empty list"
  else
    for name in pairs(values) do
      if math.type(name) ~= "integer" or name < 1 or name > #values then got = ("a table with the key %s"):format(host.describe(name)) end
    end
    for i = 1, #values do
      if values[i] == nil then got = ("one without a value %d"):format(i) end
    end
  end
  if got then host.fail(("mgb.sweep: grid: %s: list of values expected, got %s"):format(tostring(key), got)) end
end

local function digits_group(count)
  local text = ("%.0f"):format(count)
  return (text:reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", ""))
end

local function size_check(grid, keys)
  local points, parts = 1.0, {}
  for i, key in ipairs(keys) do
    points, parts[i] = points * #grid[key], ("%s %d"):format(key, #grid[key])
  end
  if points > most_points then
    host.fail(("mgb.sweep: grid: %s points (%s) are more than the %s that a sweep may have: leave values out, or make several sweeps of it")
              :format(digits_group(points), table.concat(parts, " x "), digits_group(most_points)))
  end
end

-- Placement options alone, without what they come to together.
local function place_read(what, value, key) host.placement():set(what, key, value) end

local function data_read(what, value) host.data_check(what .. ": data", value) end

local function value_read(key, i, value)
  local name = ("%s[%d]"):format(key, i)
  local kind = host.options_kinds(host.run_options)[key]
  host.read("mgb.sweep: grid", { [name] = value }, { [name] = kind })
  local read = host.is_place[key] and place_read or key == "data" and data_read or key == "optimizer" and host.optimizer_read or
    key == "model" and function(_, given) mgb.model(given) end or host.value_readers[key]
  if not read then return end
  local what = "mgb.sweep: grid"
  local ok, message = pcall(read, what, value, key)
  if ok then return end
  local from = ("%s: %s:"):format(what, key)
  local at = type(message) == "string" and message:find(from, 1, true)
  if not at then host.fail(("%s: %s: %s"):format(what, name, (tostring(message):gsub("^[^\n]-:%d+: ", "")))) end
  error(message:sub(1, at - 1) .. ("%s: %s:"):format(what, name) .. message:sub(at + #from), 0)
end

-- By which a value is told from others: equal keys are equal values.
local function value_key(key, value)
  if key == "model" then return host.model_key(value) end
  if key == "optimizer" then
    local _, schedule, text = host.optimizer_read("mgb.sweep: grid", value)
    return schedule and value or text
  end
  if type(value) == "table" then return getmetatable(value) and value or "list " .. host.json(value) end
  return type(value) == "string" and "text " .. value or value
end

local counts = { "once", "twice", "three times" }

local function twice_check(key, values)
  local first, count, most = {}, {}, nil
  for i, value in ipairs(values) do
    local same = value_key(key, value)
    first[same], count[same] = first[same] or i, (count[same] or 0) + 1
    if count[same] > 1 and (not most or count[same] >= count[most]) then most = same end
  end
  if most == nil then return end
  local n = count[most]
  host.fail(("mgb.sweep: grid: %s: %s is listed %s; use repeats = %d"):format(key, host.point_value(values[first[most]]),
            counts[n] or n .. " times", n))
end

-- A value of a grid as people read it: without addresses.
function host.point_value(value)
  if type(value) == "table" and getmetatable(value) == nil and #value > 0 then return table.concat(value, ",") end
  if host.is_model(value) then return host.model_text(value) end
  local text = tostring(value)
  return text:find("^%a+: 0x") and host.describe(value) or text
end

function host.grid_check(grid)
  local kinds = {}
  for key in pairs(host.options_kinds(host.run_options)) do kinds[key] = "any" end
  host.read("mgb.sweep: grid", grid, kinds)
  local keys = host.sweep_keys(grid)
  for _, key in ipairs(keys) do list_check(key, grid[key]) end
  size_check(grid, keys)
  for _, key in ipairs(keys) do
    for i, value in ipairs(grid[key]) do value_read(key, i, value) end
    twice_check(key, grid[key])
  end
end
