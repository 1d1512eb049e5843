-- What a prediction must beat: no communication at all, and two numbers a machine that know of no machine.
local fit = require "fidelity.fit"
local rows = require "fidelity.rows"
local baseline = {}

-- Of the bytes that each GPU must send at least.
local function share(row) return rows.models[row.model].bytes * 2 * (row.gpus - 1) / row.gpus end

function baseline.none(row) return row.single.step_ms end

-- step = (1 + x) * one-GPU step + y * bytes: fitted to points with relative errors. Returns a function of a row.
function baseline.two(points)
  local list = {}
  for _, row in ipairs(points) do
    local one, t = row.single.step_ms, row.step_ms
    list[#list + 1] = { one / t, share(row) / t, 1 - one / t }
  end
  local x, y = fit.two(list)
  return function(row) return (1 + x) * row.single.step_ms + y * share(row) end, x, y
end

return baseline
