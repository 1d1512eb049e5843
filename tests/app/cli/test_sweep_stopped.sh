# mgbench sweep with cells that fail, interrupted, and killed with its supervisor. (reference/ecosystem.md, rows 9 and 12 of section
# 2, row 28 of 6.3.)
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export MGBENCH_DB=r.db

# Cells that fail are passed over: out of memory is a result, a placement that cannot be and a loss that is no number are failures.
cat >fails.lua <<LUA
local rows = mgb.sweep{ name = "fails", model = $small, steps = 4, warmup = 0, backend = "host", order = "grid",
  gpu_memory = "1MiB", weights_at = "/gpu:0", grid = { gpus = { 1, 2 }, batch = { 4, 100000 }, cpu_relocation = { false, true } } }
for _, row in ipairs(rows) do print(row.label, row.outcome, row.phase, row.run_id) end
LUA
command_line='cells that fail'
start sweep fails.lua
finished
same 'exit code' 1 "$code"
same 'rows' 'ok nil error opening oom opening error opening ok nil error opening oom opening error opening ' \
    "$(awk -F'\t' '{ printf "%s %s ", $2, $3 }' "$work/out")"
same 'each has its run' 8 "$(awk -F'\t' '$4 > 0' "$work/out" | grep -c .)"
same 'told with phase and message' 4 "$(grep -c ': failed while opening: .*weights_at' "$work/err")"
same 'counted' 'mgbench: 8 cells: 2 ok, 2 out of memory, 4 failed; 0 of them done before' "$(tail -n 1 "$work/err")"
command_line='cells that fail, on paper'
start sweep fails.lua --dry-run
finished
same 'exit code' 1 "$code"
same 'fits' 'yes,refused,no,refused,yes,refused,no,refused' "$(sed -n '2,9p' "$work/out" | awk '{ print $(NF - 1) }' | paste -sd,)"
same 'why' 1 "$(grep -c '^  gpus=1 batch=100000 cpu_relocation=no: .*out of memory on /gpu:0' "$work/out")"
cat >odd.lua <<LUA
return { name = "odd", model = $small, steps = 6, warmup = 0, batch = 4, backend = "host", repeats = 1, order = "grid",
         optimizer = mgb.sgd{ lr = 1e30 }, grid = { gpus = { 1, 2 } } }
LUA
command_line='losses that are no number'
start sweep odd.lua
finished
same 'exit code' 1 "$code"
same 'told' 2 "$(grep -c ': failed while training: loss is not finite from step [0-9]* on: it is' "$work/err")"
same 'stored' 2 "$(ask "select count(*) from run where outcome = 'error' and message like 'loss is not finite%'")"
start sweep odd.lua
finished
same 'would be so again' 'mgbench: 2 cells: 0 ok, 0 out of memory, 2 failed; 2 of them done before' "$(tail -n 1 "$work/err")"

# Interrupted: what is done is kept, and the same command goes on.
cat >long.lua <<LUA
return { name = "long", model = $small, steps = 300, warmup = 0, batch = 4, backend = "host", repeats = 1, order = "grid",
         grid = { gpus = { 1, 2, 3 } } }
LUA
second_runs() { # the second cell has steps
    [ "$(ask "select count(*) > 0 from step s join segment g on g.id = s.segment_id join sweep_point p on p.run_id = g.run_id
        join sweep w on w.id = p.sweep_id where w.name = '$name' and p.point = 1")" = 1 ]
}
long_points() { ask "select group_concat(point || ' ' || outcome, '; ') from (select p.point, r.outcome from sweep_point p
    join sweep w on w.id = p.sweep_id join run r on r.id = p.run_id where w.name = '$name' order by r.id)"; }
command_line='an interrupted sweep'
name=long
export MGBENCH_FAULT=slow:/gpu:1:us=300
start sweep long.lua
until_true 60 second_runs
kill -INT "$pid"
finished
unset MGBENCH_FAULT
same 'exit code' 130 "$code"
same 'kept' '0 ok; 1 interrupted' "$(long_points)"
same 'told' 'mgbench: interrupted: 1 of 3 cells done; the same command goes on with the other 2' "$(tail -n 1 "$work/err")"
same 'the table so far' 'cell step_ms outcome gpus=1 ok' "$(awk '{ print $1, (NR > 1 ? $3 : $2 " " $3) }' "$work/out" | xargs)"
start sweep long.lua
finished
same 'exit code' 0 "$code"
same 'the rest is run' '0 ok; 1 interrupted; 1 ok; 2 ok' "$(long_points)"
same 'counted' 'mgbench: 3 cells: 3 ok, 0 out of memory, 0 failed; 1 of them done before' "$(tail -n 1 "$work/err")"

# Killed with its supervisor: whoever looks next sees a crash, can delete it, and the sweep goes on.
command_line='a killed sweep'
sed 's/"long"/"killed"/' long.lua >killed.lua
name=killed
export MGBENCH_FAULT=slow:/gpu:1:us=300
start sweep killed.lua
until_true 60 second_runs
victim=$(worker)
kill -9 "$pid" "$victim"
finished
unset MGBENCH_FAULT
until_true 60 sh -c "! kill -0 $victim"
last=$(ask 'select max(id) from run')
same 'crashed' 1 "$(mgbench runs --last 1 --csv | grep -c ',crashed,')"
mgbench --quiet rm "$last" --yes >/dev/null || same 'deleting' 0 $?
same 'deleted' '0 ok' "$(long_points)"
start sweep killed.lua
finished
same 'exit code' 0 "$code"
same 'the rest is run' '0 ok; 1 ok; 2 ok' "$(long_points)"
same 'nothing is left running' 0 "$(ask "select count(*) from run where outcome = 'running'")"

# A cell in which a device hangs ends the program, which goes on behind it: every cell is told once, and one failed.
command_line='a sweep with a stuck device'
cat >stuck.lua <<LUA
return { name = "stuck", model = $small, batch = 4, steps = 10, warmup = 0, backend = "host", repeats = 1, order = "grid",
         grid = { gpus = { 1, 2 } } }
LUA
export MGBENCH_STEP_TIMEOUT=2 MGBENCH_FAULT=hang:/gpu:1:launch=40
start sweep stuck.lua
finished
unset MGBENCH_STEP_TIMEOUT MGBENCH_FAULT
same 'exit code' 1 "$code"
same 'told once' '1 of 2: gpus=1: ok, 2 of 2: gpus=2: done before, timeout while training: ' \
    "$(sed -n 's/^mgbench: sweep stuck, cell \(.*: ok, \|.* while training: \).*/\1/p' "$work/err" | tr -d '\n')"
same 'counted' 'mgbench: 2 cells: 1 ok, 0 out of memory, 1 failed' "$(tail -n 1 "$work/err")"

finish
