-- What a function is, as text: its code and, by value, all that it closes over. Two functions of one text do the same, so
-- that a point of a sweep made with the one need not be run again with the other.
local mgb, nn, host = ...

local named = { [_G] = "_G", [mgb] = "mgb", [nn] = "nn" } -- what belongs to Lua or mgbench is known by its name

for _, library in ipairs{ "math", "string", "table", "utf8", "os", "io", "coroutine" } do
  local t = rawget(_G, library)
  if t then
    named[t] = library
    for key, value in pairs(t) do
      if type(value) == "function" then named[value] = library .. "." .. key end
    end
  end
end
for key, value in pairs(_G) do
  if type(value) == "function" then named[value] = key end
end
for prefix, t in pairs{ mgb = mgb, nn = nn } do
  for key, value in pairs(t) do
    if type(value) == "function" then named[value] = prefix .. "." .. key end
  end
end

local value_text

local function table_text(value, walk)
  local keys, names, parts = {}, {}, {}
  for key in next, value do
    local name = value_text(key, walk)
    keys[#keys + 1], names[key] = key, name
  end
  table.sort(keys, function(a, b) return names[a] < names[b] end)
  for i, key in ipairs(keys) do parts[i] = names[key] .. "=" .. value_text(value[key], walk) end
  return "{" .. table.concat(parts, ",") .. "}"
end

local function code_text(fn, walk)
  local ok, code = pcall(string.dump, fn, true)
  if not ok then
    walk.why = walk.why or "a built-in function that has no name"
    return "?"
  end
  local parts, i = { host.digest(code) }, 1
  local name, value = host.upvalue(fn, i)
  while name do
    walk.at = name
    parts[#parts + 1] = value_text(value, walk)
    i = i + 1
    name, value = host.upvalue(fn, i)
  end
  return "function(" .. table.concat(parts, ",") .. ")"
end

function value_text(value, walk)
  local kind = type(value)
  if kind == "string" then return ("%q"):format(value) end
  if kind == "number" then return math.type(value) .. " " .. ("%q"):format(value) end
  if kind == "boolean" or kind == "nil" then return tostring(value) end
  if named[value] then return named[value] end
  if walk.seen[value] then return "seen " .. walk.seen[value] end
  walk.count = walk.count + 1
  walk.seen[value] = walk.count
  if kind == "function" then return code_text(value, walk) end
  if kind == "table" and getmetatable(value) == nil then return table_text(value, walk) end
  walk.why = walk.why or ("'%s' is %s, which has no value to compare"):format(walk.at, host.describe(value))
  return "?"
end

-- The digest of what `fn` does; and, where it closes over what cannot be compared, what that is.
function host.function_digest(fn)
  local walk = { seen = {}, count = 0, at = "it" }
  local text = value_text(fn, walk)
  return host.digest(text), walk.why
end
