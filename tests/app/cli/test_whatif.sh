# mgb.whatif and mgb.best: other placements of a run, predicted; exactly so where the run is simulated. No time that was measured is judged.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export LC_ALL=C
unset MGBENCH_BACKEND

cat >simulated.lua <<'LUA'
local tiny = { model = "mlp", machine = "p100-pcie-4", gpus = 4, batch = 4, steps = 3 }
local function with(more)
  local all = {}
  for key, value in pairs(tiny) do all[key] = value end
  for key, value in pairs(more) do all[key] = value end
  return all
end
local result <close> = mgb.run(tiny)
local session <close> = mgb.session{ model = "mlp", machine = "p100-pcie-4", gpus = 4, batch = 4 }
session:step(1)
for _, change in ipairs{ {}, { cpu_merge = false }, { strategy = "allreduce" }, { weights_at = "spread", strategy = "gradients" }, { gpus = 2 } } do
  local other <close> = mgb.run(with(change))
  local w = mgb.whatif(result, change)
  assert(w.step_ms == other.step_ms.median and w.low == w.step_ms and w.high == w.step_ms, w)
  assert(mgb.whatif(session, change).step_ms == w.step_ms)
  assert(w.predicted and w.simulated and w.of == result.run_id and tostring(w):find("predicted from run", 1, true))
  local sum = 0
  for _, ms in pairs(w.phases) do sum = sum + ms end
  assert(math.abs(sum / w.step_ms - 1) < 1e-6, sum)
end
local best = mgb.best(with{ measure = 2 })
assert(#best > 10 and best[1].predicted_ms <= best[2].predicted_ms and best[1].step_ms == nil)
local won <close> = mgb.run(with(best[1].placement))
assert(won.step_ms.median == best[1].predicted_ms)
print(pcall(mgb.whatif, 3, {}))
print(pcall(mgb.whatif, result, { cpu_merg = false }))
LUA
command_line='mgbench -e ./simulated.lua'
mgbench -e ./simulated.lua >out 2>err
same 'exit code' 0 "$?"
same 'what is refused' "false	simulated.lua:25: mgb.whatif: the result of a run, or a session, that is still open expected, got 3
false	simulated.lua:26: mgb.whatif: changes: unknown option 'cpu_merg' (did you mean 'cpu_merge'?)" "$(cat out)"

cat >measured.lua <<'LUA'
local result <close> = mgb.run{ model = "mlp", backend = "host", gpus = 2, batch = 4, steps = 8, warmup = 3, trace_steps = "2-4" }
local same = mgb.whatif(result, {})
assert(math.abs(same.step_ms / result.step_ms.median - 1) < 1e-6, same)
for _, change in ipairs{ { cpu_merge = false }, { strategy = "allreduce" }, { weights_at = "spread", strategy = "gradients" }, { gpus = 1 } } do
  local w = mgb.whatif(result, change)
  assert(w.step_ms > 0 and w.low <= w.step_ms and w.step_ms <= w.high and not w.simulated and w.predicted, w)
  assert(w.machine.name == "run-" .. result.run_id and next(w.phases))
  assert(w.step_ms == mgb.whatif(result, change).step_ms)
end
local before = mgb.db.query("SELECT count(*) AS n FROM run")[1].n
local rows = mgb.best{ model = "mlp", backend = "host", gpus = 2, batch = 4, steps = 4, warmup = 2, strategy = "gradients", measure = 2 }
assert(mgb.db.query("SELECT count(*) AS n FROM run")[1].n == before + 3)
assert(rows[1].step_ms and rows[2].step_ms and rows[1].step_ms <= rows[2].step_ms and not rows[3].step_ms)
assert(rows[1].verdict == "fastest measured" and rows[1].run_id)
for _, row in ipairs(rows) do assert(row.strategy == "gradients" and row.predicted_ms >= 0) end
mgb.table(rows, { "strategy", "run_id", "fits" })
LUA
command_line='mgbench -e ./measured.lua'
mgbench -e ./measured.lua >out 2>err
code=$?
same 'exit code' 0 "$code"
[ "$code" = 0 ] || cat err
same 'a table' yes "$(grep -q '^gradients  *[0-9]' out && echo yes)"
finish
