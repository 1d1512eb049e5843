-- mgb.machine: a machine for the simulator, from a table that describes it (machine_read.lua) or from a machine file; and the
-- machine that a run is opened with.
local mgb, _, host = ...

local machine_type = host.machine_type
machine_type.__name = "machine"

local function facts_of(machine)
  local name, summary, source, file, gpus, nodes, digest = host.machine_facts(machine)
  return name and { name = name, summary = summary, source = source, file = file, gpus = gpus, nodes = nodes, digest = digest }
end
host.machine_facts_of = facts_of

local described = setmetatable({}, { __mode = "k" }) -- by machine: the table it was made of

local function merged(old, new)
  local out = {}
  for key, value in pairs(old or {}) do out[key] = value end
  for key, value in pairs(new) do
    if type(value) == "table" and value[1] == nil then
      value = merged(type(out[key]) == "table" and out[key][1] == nil and out[key] or nil, value)
    end
    out[key] = value
  end
  return out
end

-- Each figure needs a source: those that `changes` has none for.
local function changes_told(changes, base)
  local out = {}
  for key, value in pairs(changes) do
    local text = type(base[key]) == "table" and base[key].source
    out[key] = value
    if key ~= "source" and type(value) == "table" and value[1] == nil and value.source == nil and type(text) ~= "string" then
      local told = {}
      for name, figure in pairs(value) do
        if type(figure) == "number" or type(figure) == "table" then told[name] = "changed by a script" end
      end
      if key == "speeds" then told = "changed by a script" end
      out[key] = merged(value, { source = told })
    end
  end
  return out
end

-- The machine with other figures: tables of names are changed name by name, lists are exchanged whole.
local function machine_with(machine, changes)
  if not described[machine] or type(changes) ~= "table" then
    host.fail("machine:with: a table of what is to change expected, got " .. host.describe(changes))
  end
  return mgb.machine(merged(described[machine], changes_told(changes, described[machine])))
end

function machine_type.__index(machine, key)
  if key == "with" then return machine_with end
  local facts = facts_of(machine)
  if facts[key] ~= nil or key == "file" then return facts[key] end
  host.fail(("a machine has no field '%s': there are name, summary, source, file, gpus, nodes, digest and with"):format(tostring(key)))
end

function machine_type.__tostring(machine) return "machine " .. host.machine_facts(machine) end

-- Machines by the path of their file: each is read once.
local read, reading = {}, {}

local function machine_load(path)
  if read[path] then return read[path] end
  if reading[path] then host.fail(("mgb.machine: '%s' asks for itself"):format(path)) end
  reading[path] = true
  local outer = host.machine_file
  local _ <close> = host.closing(function() reading[path], host.machine_file = nil, outer end)
  host.machine_file = path
  local machine = dofile(path)
  if not host.machine_facts(machine) then
    host.fail(("mgb.machine: '%s' returns %s, not a machine: it should end in return mgb.machine{...}"):format(path,
              host.describe(machine)))
  end
  read[path] = machine
  return machine
end

local function machine_find(name)
  if name:find("/", 1, true) or name:match("%.lua$") then return machine_load(host.script_path(name)) end
  local path = host.machine_path(name)
  if not path then
    host.fail(("mgb.machine: there is no machine '%s'%s; mgbench machines lists them"):format(name,
              host.hint(name, host.machine_names())))
  end
  return machine_load(path)
end

-- A machine of a table, of a name or a file, or one that was made before.
function mgb.machine(given)
  if type(given) == "string" then return machine_find(given) end
  if host.machine_facts(given) then return given end
  if type(given) ~= "table" then
    host.fail("mgb.machine: table, name or file of a machine expected, got " .. host.describe(given))
  end
  local machine = host.machine_describe(given)
  described[machine] = given
  return machine
end

-- The backend and the machine that a run is opened with. A machine means that it is simulated; the one of --machine is of runs
-- that name none and leave the backend open.
function host.machine_of(what, backend, given)
  if given == nil and (backend == nil or backend == "auto" or backend == "sim") then given = host.machine end
  if given == nil then return backend, nil end
  if given == "" then host.fail(what .. ": machine: text expected, got an empty one (nil is for none)") end
  local machine = mgb.machine(given)
  local asked = backend or host.backend
  if asked ~= "auto" and asked ~= "sim" then
    host.fail(('%s: machine: backend "%s" cannot play on %s; leave backend out, or give "sim"'):format(what, asked,
              tostring(machine)))
  end
  return "sim", machine
end

host.machines = { take = function(name) host.machine_take(mgb.machine(name)) end }
