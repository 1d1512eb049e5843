-- How far the simulator is from what others measured: published training rates (scripts/data/published.csv, see README there), the
-- two threads that mgbench began with, and ten orderings. Prints each claim with its goal, both baselines, mean, largest error,
-- bias, worst point and how many numbers were fitted; the same lines each time.
--     mgbench -e fidelity.lua                    mgbench -e fidelity.lua --each       every point
--     mgbench -e fidelity.lua --short            seeds and orderings alone
local claims = require "fidelity.claims"
local fit = require "fidelity.fit"
local orderings = require "fidelity.orderings"
local report = require "fidelity.report"
local rows = require "fidelity.rows"
local seeds = require "fidelity.seeds"

local o = mgb.options{
  short = { false, "only the seeds and the orderings" },
  each = { false, "a line for each point that is predicted" },
}
local say = report.line

local function percent(is, seen) return 100 * (is / seen - 1) end

local function seeds_report()
  local k = seeds.keras()
  say("F6  InceptionV3, 4 P100, batch 32 (keras #9638): 2 fitted numbers, how fast the GPUs are and what a staged copy reaches")
  say("  fitted   peer access on        %6.1f ms   published 222 to 235", k.floor)
  say("  fitted   weights on gpu:0      %6.1f ms   published 338", k.on_gpu)
  for _, row in ipairs{ { "weights on the CPU", k.on_cpu, 247 }, { "weights relocated", k.relocated, 247 } } do
    report.verdict("F6 " .. row[1], math.abs(percent(row[2], row[3])) <= 3,
                   ("%.1f ms, published %d, %+.1f %%, goal 3 %%"):format(row[2], row[3], percent(row[2], row[3])))
  end
  local parts = {}
  for i, point in ipairs(k.ridge) do parts[i] = ("(%d us, %.2f GB/s)"):format(point[1], point[2]) end
  say("  ridge: 338 ms comes of any of %s: latency and bandwidth of a staged copy cannot be told apart; latency 14 us is taken",
      table.concat(parts, ", "))
  local s = seeds.snli()
  say("F6  sentence model (deep_qa #356): 3 fitted numbers for 3 rows: %.0f ms a step, %.3f TFLOPS, %.3f GB/s", s.figures.step_us / 1000,
      s.figures.tflops, s.figures.gbps)
  for i, row in ipairs(s) do
    local text = ("%d x %d: %.1f ms, published %.1f, %+.2f %%"):format(row.gpus, row.batch, row.step_ms, row.seen, percent(row.step_ms, row.seen))
    if i <= 3 then say("  fitted   %s", text) else report.verdict("F6 held row", math.abs(percent(row.step_ms, row.seen)) <= 1, text .. ", goal 1 %") end
  end
  say("  ridge: bytes and bandwidth of the exchange cannot be told apart: %.2f times the bytes at %.2f times the rate is the same", 2, 2)
  local a, b, ratio = seeds.snli_memory()
  report.verdict("F6 128 does not fit", ratio > 1.5, ("64 examples take %.0f MB, 128 %.0f MB, %.2f times: out of a memory that holds 1.5 " ..
                 "times what 64 take"):format(a / 1e6, b / 1e6, ratio))
  return k
end

local function orderings_report()
  say("F7  ten orderings, nothing fitted")
  for _, l in ipairs(orderings.all()) do report.verdict(("F7 ordering %d"):format(l[1]), l[4], ("%s: %s"):format(l[2], l[3])) end
end

-- Placements as a list of { measured, predicted } in ms: rank correlation of those that differ, and what trusting the best costs.
local function ranking_report(points, k)
  local values = claims.fit(points)
  local list, by = {}, {}
  for _, row in ipairs(points) do
    local of = by[row.machine]
    if not of then
      of = {}
      by[row.machine], list[#list + 1] = of, of
    end
    of[#of + 1] = { measured = row.step_ms / row.single.step_ms, predicted = claims.predict(row, values) / row.single.step_ms }
  end
  local right, count = 0, 0
  for _, of in ipairs(list) do
    local tau, n = fit.tau(of, 0.05)
    right, count = right + tau * n, count + n
  end
  say("F7  which of two points of a machine loses more by its GPUs, of pairs that differ by more than 5 %%: %d pairs", count)
  report.verdict("F7 rank correlation", right / count >= 0.9, ("tau %.3f, goal 0.9"):format(right / count))
  local placements = { { 338, k.on_gpu }, { 247, k.on_cpu }, { 247, k.relocated }, { 228.5, k.floor } }
  local best, chosen = math.huge, nil
  for _, p in ipairs(placements) do
    best = math.min(best, p[1])
    if not chosen or p[2] < chosen[2] then chosen = p end
  end
  report.verdict("F7 regret", chosen[1] / best - 1 <= 0.03, ("%.1f %% of time lost by taking what is predicted best of keras #9638, goal 3 %%")
                 :format(percent(chosen[1], best)))
end

local function each_report(out)
  for i, e in ipairs(out.sim) do say("    %-60s %+6.1f %%   no communication %+6.1f %%   two numbers %+6.1f %%", e.name, e.percent, out.none[i].percent, out.two[i].percent) end
end

-- A line for each machine; of F4 a verdict.
local function machines_report(claim, out)
  local of = {}
  for i, e in ipairs(out.sim) do
    if not of[e.machine] then of[e.machine], of[#of + 1] = { sim = {}, none = {} }, e.machine end
    table.insert(of[e.machine].sim, e)
    table.insert(of[e.machine].none, out.none[i])
  end
  for _, machine in ipairs(of) do
    local a, b = fit.summary(of[machine].sim), fit.summary(of[machine].none)
    local text = ("n=%3d mean %5.2f %% max %5.1f %%, no communication mean %5.2f %% max %5.1f %%"):format(a.n, a.mean, a.max, b.mean, b.max)
    if claim == "F4" then report.verdict("F4 never worse on " .. machine, a.mean <= b.mean, text) else say("    %-18s %s", machine, text) end
  end
end

local synthetic = { [1] = true, [6] = true, [7] = true } -- sources: published-sources.csv

local function claims_report(points, singles)
  local order, counts = rows.left_out()
  say("%d points with several GPUs, %d with one; left out:", #points, #singles)
  for _, reason in ipairs(order) do say("  %4d  %s", counts[reason], reason) end
  say("one-GPU rows say how fast a GPU is with a model and a batch; beside them %d numbers are fitted, one a way of joining GPUs:", #claims.order)
  for _, class in ipairs(claims.order) do say("  %-7s %s: %s", class, claims.parameters[class][1], claims.parameters[class][4]) end
  local sets = {
    { "TensorFlow's tables of 2017", function(r) return r.source == 1 end }, { "synthetic data", function(r) return synthetic[r.source] end },
    { "all", function() return true end },
  }
  local asked = {
    { "F1", "same machine: fitted to the frozen calibration points, all others predicted", claims.same_machine, 1.8, 10 },
    { "F2", "fitted to 2 GPUs, predicts more", claims.more_gpus, 2.2, 10 },
    { "F3", "each model left out in turn", function(p) return claims.left_out(p, "model") end, 2, 12 },
    { "F4", "each machine left out in turn", function(p) return claims.left_out(p, "machine") end, 4, 15 },
  }
  for _, c in ipairs(asked) do
    local out = c[3](points)
    for _, set in ipairs(sets) do
      report.claim(c[1] .. " " .. set[1], c[2], report.part(out, points, set[2]), c[4], c[5], #claims.order)
    end
    report.values(out, claims.order, claims.parameters)
    machines_report(c[1], out)
    if o.each then each_report(out) end
  end
  local f32 = {}
  for _, row in ipairs(singles) do if row.precision == "f32" then f32[#f32 + 1] = row end end
  report.claim("F5 f32", "one GPU from the spec sheet alone", claims.absolute(f32), 20, 40, 0)
  report.claim("F5 all", "one GPU from the spec sheet alone", claims.absolute(singles), 20, 40, 0)
end

local k = seeds_report()
orderings_report()
if not o.short then
  local points, singles = rows.read()
  claims_report(points, singles)
  ranking_report(points, k)
end
say("%d met, %d missed%s", report.met, #report.missed, #report.missed > 0 and ": " .. table.concat(report.missed, "; ") or "")
