-- What the simulator says of a published point: the placement it stands for, on its machine, with how fast the GPU computes
-- that model taken from the one-GPU row.
local fit = require "fidelity.fit"
local machines = require "fidelity.machines"
local simulated = {}

local tiny = 1e-6 -- MiB: a bucket for each gradient, as tf_cnn_benchmarks sums them one by one
local fused = 64 -- Horovod's buffer, from memory; Paddle and MXNet gather gradients likewise
local one_by_one = { [1] = true, [6] = true, [7] = true } -- sources that ran tf_cnn_benchmarks

-- Placements of tf_cnn_benchmarks and of those who mirror: shared/numbers/hardware.md section 7.
local placements = {
  cpu = { strategy = "gradients", weights_at = "/cpu:0", sum_at = "/cpu:0", update_at = "/cpu:0", bucket_mib = tiny },
  spread = { strategy = "gradients", weights_at = "spread", sum_at = "spread", bucket_mib = tiny },
  nccl = { strategy = "allreduce", allreduce = "nccl", bucket_mib = tiny },
  copies = { strategy = "allreduce", allreduce = "ring", bucket_mib = tiny },
}

local steps = 8 -- played where a GPU is a little slower or faster each step

-- A placement is planned once a machine, and played with whatever figures it is asked for.
local planned = {}

local function play(key, options, name, figures)
  local machine, count = machines.make(name, figures), figures.step_sigma and options.gpus > 1 and steps or 1
  if not planned[key] then
    options.machine, options.backend, options.graph = machine, "sim", false
    planned[key] = mgb.predict(options)
  end
  return planned[key]:on(machine, 1, 0, count)
end

local function options_of(row)
  local o = { model = row.model, gpus = row.gpus, batch = row.batch, precision = row.precision, optimizer = mgb.sgd{ lr = 0.01 } }
  if row.precision == "f16" then o.wire_type = "f16" end
  for key, value in pairs(placements[row.placement]) do o[key] = value end
  if not one_by_one[row.source] then o.bucket_mib = fused end
  return o
end

-- Milliseconds of a row's step; `slowness`: of its GPUs against what the machine's figures say.
function simulated.step(row, figures, slowness)
  -- These frameworks have gradients in f16 to begin with; the casts that a plan here adds must not cost a launch each.
  local with = { speed = 1 / (slowness or 1), launch_us = row.precision == "f16" and slowness and 0 or nil }
  for key, value in pairs(figures or {}) do with[key] = value end
  return play(row.machine .. row.line, options_of(row), row.machine, with)
end

-- How slow the GPU of a one-GPU row is with that model, so that the row comes out.
local known = {}
local together = { compute_share = true, board_speed = true, step_sigma = true } -- one GPU alone never meets these
function simulated.slowness(row, figures, machine)
  local names = {}
  for key, value in pairs(figures or {}) do
    if not together[key] then names[#names + 1] = ("%s=%.17g"):format(key, value) end
  end
  table.sort(names)
  local key = table.concat({ machine or row.machine, row.line, table.unpack(names) }, " ")
  if not known[key] then
    local one = setmetatable({ machine = machine or row.machine }, { __index = row })
    known[key] = fit.solve(function(slow) return simulated.step(one, figures, slow).step_ms end, row.step_ms,
                           simulated.last or 1, 1e-4, 1e4)
    simulated.last = known[key]
  end
  return known[key]
end

-- Of single boxes at most 0.01 to 0.02 (shared/reference/simulation.md 2.8); the slowest GPU makes the step.
simulated.step_sigma = 0.01

-- Milliseconds of a point's step; asked for once.
local predicted = {}
function simulated.predict(row, figures)
  local parts = { row.line }
  for key, value in pairs(figures) do parts[#parts + 1] = ("%s=%.17g"):format(key, value) end
  table.sort(parts, function(a, b) return tostring(a) < tostring(b) end)
  local key = table.concat(parts, " ")
  if not predicted[key] then
    local with = { step_sigma = simulated.step_sigma }
    for name, value in pairs(figures) do with[name] = value end
    predicted[key] = simulated.step(row, with, simulated.slowness(row.single, with, row.machine)).step_ms
  end
  return predicted[key]
end

return simulated
