-- JSON with sorted keys, and digests of texts: what makes two runs the same is compared as text.
local _, _, host = ...

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" }

local function quote(text)
  return '"' .. text:gsub('[%c"\\]', function(c) return escapes[c] or ("\\u%04x"):format(c:byte()) end) .. '"'
end

local encode

local function list_encode(list)
  local parts = {}
  for i = 1, #list do parts[i] = encode(list[i]) end
  return "[" .. table.concat(parts, ",") .. "]"
end

local function object_encode(object)
  local keys, parts = {}, {}
  for key in pairs(object) do keys[#keys + 1] = tostring(key) end
  table.sort(keys)
  for i, key in ipairs(keys) do
    local value = object[key]
    if value == nil then value = object[math.tointeger(key)] end
    parts[i] = quote(key) .. ":" .. encode(value)
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

function encode(value)
  local kind = type(value)
  if kind == "table" then
    local methods = getmetatable(value) -- models, data and optimizers are what they say they are
    if type(methods) == "table" and methods.__tostring then return quote(tostring(value)) end
    return #value > 0 and list_encode(value) or object_encode(value)
  elseif kind == "number" then
    if math.type(value) == "integer" then return ("%d"):format(value) end
    if value ~= value or value == math.huge or value == -math.huge then return "null" end
    for digits = 15, 17 do -- as few as give the number back
      local text = ("%%.%dg"):format(digits):format(value)
      if digits == 17 or tonumber(text) == value then return text end
    end
  elseif kind == "boolean" then
    return tostring(value)
  elseif kind == "nil" then
    return "null"
  end
  return quote(kind == "string" and value or tostring(value):gsub(": 0x%x+", "")) -- no addresses: they change
end

host.json = encode

-- FNV-1a of 64 bits as 16 digits; integers wrap around.
function host.digest(text)
  local h = 0xcbf29ce484222325
  for i = 1, #text do h = (h ~ text:byte(i)) * 0x100000001b3 end
  return ("%016x"):format(h)
end
