-- mgb.options: the flags that a script declares for itself. Built into the program; called once a state with the mgb
-- table and what C lends: the words typed, whether help was asked for, and how to end with either.
--
--     local o = mgb.options{ steps = { 50, "timed steps a point" }, fast = false, gpus = { {1, 2}, "GPU counts" } }
--
-- The type of the default is the type of the flag: --steps 100, --fast or --no-fast, --gpus 1,2,4. `choices = {...}`
-- in a declaration limits the values.
local mgb, host = ...

local own = { "db", "backend", "machine", "lua-path", "no-supervisor", "json", "csv", "quiet", "no-color", "version",
              "help" }
local yes_no = { yes = true, no = false, ["true"] = true, ["false"] = false, on = true, off = false,
                 ["1"] = true, ["0"] = false }

local function flag_name(name)
  return (name:gsub("_", "-"))
end

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

local function hint(wanted, names)
  local near = host.nearest(wanted, names)
  return near and (" (did you mean '%s'?)"):format(near) or ""
end

-- What the script declared: name -> { value =, help =, choices = }.
local function declarations(spec)
  if type(spec) ~= "table" then error("mgb.options: table of flags expected, got " .. type(spec), 3) end
  local declared = {}
  for name, d in pairs(spec) do
    if type(name) ~= "string" or not name:match("^%a[%w_]*$") then
      error(("mgb.options: [%s]: flags are written name = { default, \"what it is\" }"):format(name), 3)
    end
    for _, taken in ipairs(own) do
      if flag_name(name) == taken then error(("mgb.options: --%s is a flag of mgbench itself"):format(taken), 3) end
    end
    if type(d) ~= "table" then d = { d } end
    for key in pairs(d) do
      if key ~= 1 and key ~= 2 and key ~= "choices" then
        error(("mgb.options: %s: unknown field '%s' in { default, \"what it is\", choices = {...} }")
              :format(name, key), 3)
      end
    end
    if d[1] == nil then error(("mgb.options: %s: a default is missing"):format(name), 3) end
    if d[2] ~= nil and type(d[2]) ~= "string" then
      error(("mgb.options: %s: text expected after the default, got %s"):format(name, type(d[2])), 3)
    end
    declared[name] = { value = d[1], help = d[2] or "", choices = d.choices }
  end
  return declared
end

local function scalar_read(flag, text, model)
  if type(model) ~= "number" then return text end
  local value = tonumber(text)
  local whole = math.type(model) == "integer"
  if whole and value then value = math.tointeger(value) end
  if not value then
    host.usage(("--%s: %s expected, got \"%s\""):format(flag, whole and "integer" or "number", text))
  end
  return value
end

local function value_read(flag, text, d)
  local value
  if type(d.value) == "boolean" then
    value = yes_no[text]
    if value == nil then host.usage(("--%s: yes or no expected, got \"%s\""):format(flag, text)) end
  elseif type(d.value) == "table" then
    value = {}
    for part in (text .. ","):gmatch("([^,]*),") do
      value[#value + 1] = scalar_read(flag, part, d.value[1])
    end
  else
    value = scalar_read(flag, text, d.value)
  end
  if d.choices then
    local found, words = false, {}
    for i, choice in ipairs(d.choices) do
      found = found or choice == value
      words[i] = tostring(choice)
    end
    if not found then host.usage(("--%s: one of %s expected, got \"%s\""):format(flag, table.concat(words, ", "), text)) end
  end
  return value
end

-- Reads the words typed into `values`.
local function words_read(declared, values)
  local words, i = host.flags, 1
  while i <= #words do
    local word = words[i]
    local flag, text = word:match("^%-%-([^=]+)=(.*)$")
    flag = flag or word:match("^%-%-(.+)$")
    if not flag then host.usage(("unexpected word \"%s\": words for the script come after --"):format(word)) end
    local name = flag:gsub("-", "_")
    if not declared[name] and not text and name:match("^no_") then
      name, text = name:sub(4), "no"
      if declared[name] and type(declared[name].value) ~= "boolean" then name = "" end
    end
    local d = declared[name]
    if not d then
      local names = sorted_keys(declared)
      for k, v in ipairs(names) do names[k] = "--" .. flag_name(v) end
      host.usage(("--%s: the script has no such flag%s"):format(flag, hint("--" .. flag, names)))
    end
    if not text and type(d.value) == "boolean" then
      text = "yes"
    elseif not text then
      i = i + 1
      text = words[i]
      if not text then host.usage(("--%s: a value is missing"):format(flag)) end
    end
    values[name] = value_read(flag, text, d)
    i = i + 1
  end
end

-- Words after -- are the script's own, but for flags that it declares: whoever wrote one there meant the flag.
local function later_words_check(declared)
  for _, word in ipairs(arg or {}) do
    local flag = type(word) == "string" and word:match("^%-%-([^=]+)")
    local name = flag and flag:gsub("-", "_")
    if name and (declared[name] or declared[name:match("^no_(.*)$")]) then
      host.usage(("--%s is a flag of the script: it goes before --, after which words are only in arg"):format(flag))
    end
  end
end

local function value_text(value)
  if type(value) == "boolean" then return value and "yes" or "no" end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for i, v in ipairs(value) do parts[i] = tostring(v) end
  return table.concat(parts, ",")
end

local function value_hint(d)
  local kind = type(d.value)
  if d.choices then return " NAME" end
  if kind == "boolean" then return "[=no]" end
  if kind == "number" then return " N" end
  return kind == "table" and " A,B,..." or " TEXT"
end

local function help_text(declared)
  local lines = {}
  for _, name in ipairs(sorted_keys(declared)) do
    local d = declared[name]
    local choices = ""
    if d.choices then choices = " [" .. value_text(d.choices) .. "]" end
    lines[#lines + 1] = ("  %-24s %s%s (default: %s)"):format(
      "--" .. flag_name(name) .. value_hint(d), d.help, choices, value_text(d.value))
  end
  return table.concat(lines, "\n") .. "\n"
end

function mgb.options(spec)
  local declared = declarations(spec)
  if host.help then host.stop(help_text(declared)) end
  local values, names = {}, sorted_keys(declared)
  for _, name in ipairs(names) do values[name] = declared[name].value end
  words_read(declared, values)
  later_words_check(declared)
  host.read()
  return setmetatable(values, { __index = function(_, name)
    error(("the script declares no flag '%s'%s"):format(tostring(name), hint(tostring(name), names)), 2)
  end })
end
