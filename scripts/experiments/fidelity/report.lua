-- Lines of the report. A claim has a goal for the mean and one for the largest error; what is missed is said with by how much.
local fit = require "fidelity.fit"
local report = { missed = {}, met = 0 }

local function line(...) print((...):format(select(2, ...))) end

-- One verdict: `holds` or by how much it is missed.
function report.verdict(name, holds, text)
  if holds then report.met = report.met + 1 else report.missed[#report.missed + 1] = name end
  line("  %-8s %s: %s", holds and "MET" or "MISSED", name, text)
end

local function errors_line(name, s)
  line("  %-26s n=%3d   mean %5.2f %%   max %5.1f %%   bias %+5.2f %%   worst %s", name, s.n, s.mean, s.max, s.bias, s.worst)
end

-- A claim over one set of points: `out` as of claims.lua, goals in per cent, `parameters` how many numbers were fitted.
function report.claim(name, what, out, goal_mean, goal_max, parameters)
  local sim = fit.summary(out.sim)
  line("%s  %s", name, what)
  errors_line("simulator, " .. parameters .. " fitted", sim)
  if #out.none > 0 then errors_line("no communication", fit.summary(out.none)) end
  if #out.two > 0 then errors_line("two numbers a machine", fit.summary(out.two)) end
  if sim.n == 0 then return end
  report.verdict(name .. " mean", sim.mean <= goal_mean, ("%.2f %%, goal %.1f %%"):format(sim.mean, goal_mean))
  report.verdict(name .. " max", sim.max <= goal_max, ("%.1f %%, goal %.0f %%"):format(sim.max, goal_max))
end

-- The points of `out` that `keep` takes, by position in `points`.
function report.part(out, points, keep)
  local part = { sim = {}, none = {}, two = {}, values = out.values }
  local wanted = {}
  for _, row in ipairs(points) do if keep(row) then wanted[row.name .. row.line] = true end end
  for _, kind in ipairs{ "sim", "none", "two" } do
    for _, e in ipairs(out[kind]) do
      if wanted[e.name .. e.line] then table.insert(part[kind], e) end
    end
  end
  return part
end

function report.values(out, order, parameters)
  for i, values in ipairs(out.values) do
    local parts = {}
    for _, class in ipairs(order) do
      if values[class] then parts[#parts + 1] = ("%s %s %.2f"):format(class, parameters[class][1], values[class]) end
    end
    line("  fitted%s: %s", #out.values > 1 and (" %d"):format(i) or "", table.concat(parts, ", "))
  end
end

report.line = line
return report
