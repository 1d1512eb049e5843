-- What mgbench selftest runs. Called with a function that refuses, the model, and how much: first whether the engine is right
-- on this machine, then one configuration again and again, which the program compares with itself.
local usage, _, model_name, repeats, steps, warmup, batch = ...
repeats, steps, warmup, batch = tonumber(repeats), tonumber(steps), tonumber(warmup), tonumber(batch)

local ok, model = pcall(mgb.model, model_name)
if not ok then usage(tostring(model)) end

-- Two towers; on a machine with one GPU both are on it.
local two
local function sides_verify(a, b)
  local options = { model = model, batch = 8, steps = 5, seed = 1, a = {}, b = {} }
  for _, side in ipairs{ { options.a, a }, { options.b, b } } do
    for name, value in pairs(two) do side[1][name] = value end
    for name, value in pairs(side[2]) do side[1][name] = value end
  end
  return mgb.verify(options)
end

two = { gpus = 2 }
local others = { { cpu_merge = false }, { cpu_relocation = true }, { cpu_relocation = true, cpu_merge = false } }
for i, other in ipairs(others) do
  local possible, verdict = pcall(sides_verify, {}, other)
  if not possible and i == 1 then
    two = { gpus = { 0, 0 }, logical = true }
    local message = verdict
    possible, verdict = pcall(sides_verify, {}, other)
    if not possible then verdict = message end
  end
  if not possible then error(verdict, 0) end
  if not verdict.bitwise then
    error(("the engine is wrong on this machine: cpu_merge = %s, cpu_relocation = %s trains otherwise than cpu_merge = true, " ..
           "cpu_relocation = false: %s"):format(other.cpu_merge ~= false, other.cpu_relocation == true, tostring(verdict)), 0)
  end
end

mgb.sweep{ name = "selftest", model = model, batch = batch, steps = steps, warmup = warmup, repeats = repeats, resume = false,
           order = "grid", grid = { gpus = { 1 } } }
