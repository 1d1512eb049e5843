-- Claims F1 to F5 of shared/reference/simulation.md 5.3: what is fitted to which points, which others are predicted, and what the
-- errors come to beside those of the baselines.
local baseline = require "fidelity.baseline"
local fit = require "fidelity.fit"
local machines = require "fidelity.machines"
local simulated = require "fidelity.simulated"
local claims = {}

-- One number for each way that GPUs are joined, shared by all machines of it. Units and bounds: a share of a GPU, 0 to 1.
claims.parameters = {
  nvlink = { "compute_share", 0, 1, "share of a GPU that an all-reduce over NVLink takes from backward" },
  pcie = { "compute_share", 0, 1, "the same over PCIe with peer access" },
  staged = { "compute_share", 0, 1, "the same by way of the host" },
  board = { "board_speed", 0.7, 1, "speed of half a K80 board while the other half computes" },
}
claims.order = { "nvlink", "pcie", "staged", "board" }

local function class_of(row) return machines.classes[row.machine] end

local function errors_of(points, predict)
  local list = {}
  for i, row in ipairs(points) do list[i] = { name = row.name, line = row.line, machine = row.machine, percent = 100 * (predict(row) / row.step_ms - 1) } end
  return list
end

-- A point's step by the value of its class's parameter: played at eleven values, linear between them.
local cells = 10
local function step_at(row, class, x)
  local p = claims.parameters[class]
  local place = (x - p[2]) / (p[3] - p[2]) * cells
  local cell = math.min(cells - 1, math.max(0, math.floor(place)))
  local function at(k) return simulated.predict(row, { [p[1]] = p[2] + (p[3] - p[2]) * k / cells }) end
  return at(cell) + (place - cell) * (at(cell + 1) - at(cell))
end

-- The value of each class's parameter with the least sum of relative errors at `points`; nil where there are none.
function claims.fit(points)
  local values = {}
  for _, class in ipairs(claims.order) do
    local of, p = {}, claims.parameters[class]
    for _, row in ipairs(points) do if class_of(row) == class then of[#of + 1] = row end end
    if #of > 0 then
      values[class] = fit.golden(function(x)
        local sum = 0
        for _, row in ipairs(of) do sum = sum + math.abs(step_at(row, class, x) / row.step_ms - 1) end
        return sum
      end, p[2], p[3], 0.01)
    end
  end
  return values
end

-- Of a point with fitted values: what no point told of is as the machine says.
function claims.predict(row, values)
  local class = class_of(row)
  if not values[class] then return simulated.predict(row, {}) end
  return step_at(row, class, values[class])
end

local function by_machine(points)
  local of = {}
  for _, row in ipairs(points) do
    of[row.machine] = of[row.machine] or {}
    table.insert(of[row.machine], row)
  end
  return of
end

-- The baseline with two numbers a machine; where a machine has no point to fit to, those of all points.
local function two_fitted(points)
  local of, all = {}, baseline.two(points)
  for machine, list in pairs(by_machine(points)) do of[machine] = baseline.two(list) end
  return function(row) return (of[row.machine] or all)(row) end
end

local function select(points, keep)
  local list = {}
  for _, row in ipairs(points) do if keep(row) then list[#list + 1] = row end end
  return list
end

-- Fitted to `known`, asked of `asked`: three lists of errors, with the values.
local function judged(known, asked, out, two)
  local values = claims.fit(known)
  two = two or two_fitted(known)
  local lists = { sim = errors_of(asked, function(row) return claims.predict(row, values) end),
                  none = errors_of(asked, baseline.none), two = errors_of(asked, two) }
  for name, list in pairs(lists) do table.move(list, 1, #list, #out[name] + 1, out[name]) end
  out.values[#out.values + 1] = values
end

local function gathered() return { sim = {}, none = {}, two = {}, values = {} } end

-- Same machine: fitted to the frozen calibration points, asked of all others.
function claims.same_machine(points)
  local out = gathered()
  judged(select(points, function(r) return r.calibrates end), select(points, function(r) return not r.calibrates end), out)
  return out
end

function claims.more_gpus(points)
  local out = gathered()
  judged(select(points, function(r) return r.gpus <= 2 end), select(points, function(r) return r.gpus > 2 end), out)
  return out
end

-- Each value of a field in turn is left out and predicted from the rest.
function claims.left_out(points, field)
  local out, seen = gathered(), {}
  for _, row in ipairs(points) do
    local value = row[field]
    if not seen[value] then
      seen[value] = true
      local known = select(points, function(r) return r[field] ~= value end)
      judged(known, select(points, function(r) return r[field] == value end), out, field == "machine" and baseline.two(known) or nil)
    end
  end
  return out
end

-- One-GPU rows from the machine's figures alone.
function claims.absolute(singles)
  local out = gathered()
  out.sim = errors_of(singles, function(row) return simulated.step(row, {}, 1).step_ms end)
  return out
end

return claims
