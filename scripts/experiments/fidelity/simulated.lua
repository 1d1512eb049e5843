-- What the simulator says of a published point: the placement it stands for, on its machine, with how fast the GPU computes
-- that model taken from the one-GPU row.
local fit = require "fidelity.fit"
local machines = require "fidelity.machines"
local simulated = {}

local tiny = 1e-6 -- MiB: a bucket for each gradient, as these frameworks sum them one by one

-- Placements of tf_cnn_benchmarks and of those who mirror: shared/numbers/hardware.md section 7.
local placements = {
  cpu = { strategy = "gradients", weights_at = "/cpu:0", sum_at = "/cpu:0", update_at = "/cpu:0", bucket_mib = tiny },
  spread = { strategy = "gradients", weights_at = "spread", sum_at = "spread", bucket_mib = tiny },
  nccl = { strategy = "allreduce", allreduce = "nccl", bucket_mib = tiny },
  copies = { strategy = "allreduce", allreduce = "ring", bucket_mib = tiny },
}

-- A placement is planned once a machine, and played with whatever figures it is asked for.
local planned = {}

local function play(key, options, name, figures)
  local machine = machines.make(name, figures)
  local known = planned[key]
  if known then return known:on(machine) end
  options.machine, options.backend, options.graph = machine, "sim", false
  planned[key] = mgb.predict(options)
  return planned[key]
end

local function options_of(row)
  local o = { model = row.model, gpus = row.gpus, batch = row.batch, precision = row.precision, optimizer = mgb.sgd{ lr = 0.01 } }
  if row.precision == "f16" then o.wire_type = "f16" end
  for key, value in pairs(placements[row.placement]) do o[key] = value end
  return o
end

-- Milliseconds of a row's step; `slowness`: of its GPUs against what the machine's figures say.
function simulated.step(row, figures, slowness)
  local with = { speed = 1 / (slowness or 1) }
  for key, value in pairs(figures or {}) do with[key] = value end
  return play(row.machine .. row.line, options_of(row), row.machine, with)
end

-- How slow the GPU of a one-GPU row is with that model, so that the row comes out.
local known = {}
local together = { compute_share = true, board_speed = true } -- one GPU alone never meets these
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

-- Milliseconds of a point's step; asked for once.
local predicted = {}
function simulated.predict(row, figures)
  local parts = { row.line }
  for key, value in pairs(figures) do parts[#parts + 1] = ("%s=%.17g"):format(key, value) end
  table.sort(parts, function(a, b) return tostring(a) < tostring(b) end)
  local key = table.concat(parts, " ")
  predicted[key] = predicted[key] or simulated.step(row, figures, simulated.slowness(row.single, figures, row.machine)).step_ms
  return predicted[key]
end

return simulated
