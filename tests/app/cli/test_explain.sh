# explain: a path that adds up to the step for real runs; of tasks put in by hand the very words.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export MGBENCH_CPU_DEVICES=2

cat >runs.lua <<'LUA'
local function sum(e)
  local percent = 0
  for _, row in ipairs(e.rows) do percent = percent + row.percent end
  return percent
end
local last
for _, how in ipairs{ { strategy = "outputs" }, { strategy = "gradients" }, { strategy = "allreduce" }, { strategy = "independent" } } do
  how.model, how.gpus, how.batch, how.steps, how.warmup, how.trace_steps = mgb.model("mlp", { hidden = 8 }), 2, 4, 4, 2, "1-2"
  last = mgb.run(how)
  local e = mgb.explain(last)
  assert(math.abs(sum(e) - 100) < 1e-6, how.strategy .. ": " .. sum(e))
  assert(#e.compute == 2 and e.compute[1].device == "/gpu:0" and e.compute[2].device == "/gpu:1")
  for _, d in ipairs(e.compute) do
    assert(d.forward_gflops > 0 and d.backward_gflops > 0 and d.peak_gflops > 0.01 and d.peak_gflops < 1e4)
  end
  assert(e.steps >= 1 and e.steps <= 2 and e.step_ms > 0 and #e.hints > 0 and #e.rows > 3 and tostring(e):find("Bound by", 1, true))
end
local row = mgb.db.query("select * from run_summary where run_id = ?", last.run_id)[1]
for _, r in ipairs{ last.run_id, "last", tostring(last.run_id) .. ".1", row, { run_id = last.run_id } } do
  assert(tostring(mgb.explain(r)) == tostring(mgb.explain(last)))
end
for _, wrong in ipairs{ {}, true, 77, "nothing" } do
  local ok, message = pcall(mgb.explain, wrong)
  assert(not ok, message)
end
mgb.run{ model = mgb.model("mlp", { hidden = 8 }), gpus = 1, batch = 4, steps = 2, warmup = 0 }
local ok, message = pcall(mgb.explain, "last")
assert(not ok and message:find("no step of run 5 was traced", 1, true), message)
LUA
expect 0 '' '' mgbench --quiet --backend host -e runs.lua --db r.db
expect 4 '' 'mgbench: no step of run 5 was traced; to trace some: mgbench run ... --trace 5-8' mgbench explain 5 --db r.db
command_line='percent as a table'
same 'sum' 100 "$(mgbench explain 1 --csv --db r.db | tr -d '\r' | awk -F, 'NR > 1 { s += $3 } END { printf "%.0f", s }')"

# The default placement, slower than one GPU, as a dataset of its own (ecosystem.md 6.3 row 50): its tasks and times are set.
sqlite3 r.db >/dev/null <<'SQL'
DELETE FROM task; DELETE FROM outlier;
UPDATE step SET wall_ns = 1000000 WHERE segment_id = 1;
UPDATE step_device SET input_exposed_ns = 20000, fetch_exposed_ns = 0, forward_exposed_ns = 0, backward_exposed_ns = 0, join_exposed_ns = 0,
    sum_exposed_ns = 0, update_exposed_ns = 0, wait_exposed_ns = 980000, finish_ns = CASE device WHEN '/gpu:0' THEN 300000 WHEN '/gpu:1' THEN 330000 END
    WHERE segment_id = 1;
UPDATE segment_stat SET median_ns = 1000000, examples = 32, timed_ns = 4000000 WHERE segment_id = 1;
UPDATE segment_stat SET median_ns = 250000, examples = 8, timed_ns = 500000 WHERE segment_id = 5;
UPDATE segment SET threads = CASE id WHEN 5 THEN 2 ELSE 1 END;
UPDATE device SET f32_tflops = 0.2, cores = 2;
UPDATE model SET forward_flops = 1000000;
DELETE FROM link;
INSERT INTO link (machine_id, backend, from_device, to_device, gbps, seen_ms) SELECT id, 'host', '/gpu:1', '/cpu:0', 12.5, 1 FROM machine;
INSERT INTO task (segment_id, step, device, queue, kind, phase, name, start_ns, duration_ns, bytes, task, waits_for) VALUES
    (1, 3, '/gpu:1', '/cpu:0', 'copy', 'input', 'input', 20000, 10000, 1000, 0, '[]'),
    (1, 3, '/gpu:0', '/gpu:0', 'compute', 'forward', 'dense', 25000, 275000, 0, 1, '[]'),
    (1, 3, '/gpu:1', '/gpu:1', 'compute', 'backward', 'dense.grad', 30000, 300000, 0, 2, '[0]'),
    (1, 3, '/cpu:0', '/gpu:1', 'copy', 'sum', 'sum', 330000, 400000, 4000000, 3, '[2]'),
    (1, 3, '/cpu:0', '/cpu:0', 'reduce', 'sum', 'sum', 740000, 200000, 0, 4, '[3,1]');
SQL
expect 0 'Run 1, mlp on 2 CPU devices (backend host), strategy outputs: 1 traced timed step, 1 ms (median of all timed steps: 1 ms).
Bound by sum /gpu:1->/cpu:0 40 % (4 MB at 10 GB/s, the link can 12.5),
  backward on /gpu:1 30 %,
  sum on /cpu:0 20 %.
Slowest is /gpu:1, done with backward after 0.33 ms, 0.03 ms (10 %) later than /gpu:0 (mean of 4 timed steps);
  it does not compute during: input 2 %, wait 98 %.
/gpu:1 computes at backward 26.67 GFLOP/s (27 % of peak);
  peak: 100 GFLOP/s, products of matrices on 1 thread, measured when a run began; backward counts as twice forward.
Slower than one GPU: 0.50 times the rate of run 5 on one GPU.
The one-GPU baseline ran 2 threads a device, these 1: give threads = 1 to all.
Summing gradients: 60 % of the step; try: --cpu-merge=no
  (cpu_merge = false: the towers meet on /gpu:0 instead of /cpu:0)
Measured comparison: mgbench compare 1 NEW

phase     where           percent  critical_ms  busy_ms  tasks     mb  gbps  link_gbps
sum       /gpu:1->/cpu:0       40          0.4      0.4      1      4    10       12.5
backward  /gpu:1               30          0.3      0.3      1      -     -          -
sum       /cpu:0               20          0.2      0.2      1      -     -          -
wait      host                  6         0.06        -      -      -     -          -
input     host                  2         0.02        -      -      -     -          -
input     /cpu:0->/gpu:1        1         0.01     0.01      1  0.001   0.1          -
wait      /cpu:0                1         0.01        -      -      -     -          -
forward   /gpu:0                0            0    0.275      1      -     -          -' '' mgbench explain 1 --db r.db

# Each thing that may bound a step has its option; an explicit place given before is the one to change.
toggle() { # what is changed, what is named
    sqlite3 r.db "$1"
    command_line="explain after: $1"
    same 'option' "$2" "$(mgbench explain 1 --db r.db | sed -n 's/.*of the step; try: //p' | head -n 1)"
}
toggle "UPDATE segment SET asked_sum_at = '/cpu:0' WHERE id = 1" '--sum-at /gpu:0'
toggle "UPDATE segment SET asked_sum_at = NULL, asked_merge_at = '/cpu:0' WHERE id = 1" '--merge-at /gpu:0'
toggle "UPDATE segment SET sum_at = '/gpu:0', asked_merge_at = NULL WHERE id = 1" '--strategy allreduce'
toggle "UPDATE task SET phase = 'fetch' WHERE task >= 3" '--strategy allreduce'
toggle "UPDATE segment SET weights_at = '/cpu:0' WHERE id = 1" '--cpu-relocation=no'
toggle "UPDATE segment SET asked_weights_at = '/cpu:0' WHERE id = 1" '--weights-at /gpu:0'
toggle "UPDATE task SET phase = 'update' WHERE task >= 3" '--strategy allreduce'
toggle "UPDATE task SET phase = 'join' WHERE task >= 3" '--cpu-merge=no'
toggle "UPDATE segment SET join_at = '/gpu:0' WHERE id = 1" '--strategy gradients'
toggle "UPDATE task SET phase = 'forward' WHERE task = 4; UPDATE task SET phase = 'backward' WHERE task = 3" '--gpus 4'
toggle "UPDATE segment SET oversubscribed = 1 WHERE id = 1" '--gpus 1'
toggle "UPDATE task SET duration_ns = 1000, start_ns = start_ns + 100000" '--batch 8'

# What exchanges nothing is what others are compared with: no other strategy is advised; nor anything for a part below 5 %.
mgbench run mlp --option hidden=8 --gpus 2 --batch 4 --strategy independent --steps 12 --trace 5-8 --backend host --db own.db \
    --quiet >/dev/null 2>&1
mgbench explain last --db own.db >"$work/out" 2>"$work/err"
code=$?
command_line='explain of an independent run'
same 'exit code' 0 "$code"
same 'no strategy is advised' 0 "$(grep -c 'try: --strategy' "$work/out")"
same 'small parts' '' "$(sed -n 's/.*: \([0-9]*\) % of the step; try: .*/\1/p' "$work/out" | awk '$1 < 5')"

# With an automatic warm-up the steps that were asked for may be of the warm-up: that is said.
mgbench run mlp --option hidden=8 --batch 4 --warmup auto --steps 12 --trace 5-8 --backend host --db own.db --quiet-warnings \
    crowded,traced,not-steady >"$work/out" 2>"$work/err"
command_line='run --warmup auto --trace 5-8'
timed=$(ask 'select count(distinct t.step) from task t join step s on s.segment_id = t.segment_id and s.step = t.step
    where s.warmup = 0 and t.segment_id = (select max(id) from segment)' own.db)
same 'said when they are not timed' "$([ "$timed" = 0 ] && echo 1 || echo 0)" \
    "$(grep -c '^traced  .* turned out to be of the warm-up; timed ones: --warmup [0-9]* --trace 5-8$' "$work/out")"

finish
