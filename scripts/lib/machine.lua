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

function machine_type.__index(machine, key)
  local facts = facts_of(machine)
  if facts[key] ~= nil or key == "file" then return facts[key] end
  host.fail(("a machine has no field '%s': there are name, summary, source, file, gpus, nodes and digest"):format(tostring(key)))
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
  return host.machine_describe(given)
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
