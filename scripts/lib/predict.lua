-- mgb.predict: what a step takes on a machine that is simulated, without a run: nothing is trained and nothing stored.
local mgb, _, host = ...

local prediction = { __name = "prediction" }
prediction.__index = prediction

local function played(player, s, machine, seed, step, count, backups)
  local ns, devices, wasted = player:play(machine, seed, step, count, backups)
  local towers = s.request.placement:towers()
  local rows = s.request.placement:get("global_batch") or
               (s.request.placement:get("batch") or s.graph:fixed_batch() or 32) * towers
  rows = rows * (towers - (backups or 0)) / towers -- what replicas do that are not waited for counts for nothing
  return setmetatable({ step_ms = ns / 1e6, examples_per_s = rows * 1e9 / ns, wasted = wasted, devices = devices, machine = machine,
                        simulated = true, player = player, prepared = s }, prediction)
end

-- The same plan on another machine with as many devices: `step_ms` and all else of it; where the machine has jitter, the mean of
-- `count` steps from `step` on. Of the plan's GPUs `backups` are not waited for; `wasted` is their share of forward and backward.
function prediction:on(machine, seed, step, count, backups)
  return played(self.player, self.prepared, mgb.machine(machine), seed, step, count, backups)
end

-- Bytes a step from device to device.
function prediction:traffic() return self.player:traffic() end

-- Whether it fits into the memories, and if not, why.
function prediction:fits() return self.player:admit() end

function prediction:__tostring() return ("%.3f ms a step on %s (simulated)"):format(self.step_ms, self.machine.name) end

-- Options as of mgb.run, and a machine.
function mgb.predict(given)
  local o = host.options_check("mgb.predict", given, {})
  if o.machine == nil then host.fail("mgb.predict: machine: table, name or file of a machine expected, got nil") end
  local s = host.prepare("mgb.predict", o, given, 0)
  return played(host.player(s.request), s, s.request.machine, s.seed)
end
