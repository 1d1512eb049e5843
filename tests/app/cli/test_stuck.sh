# A device that hangs ends the program, outcome first; a sweep goes on without it. A device whose memory gives out in the middle
# of a step leaves the weights as they were, and the script can go on. (reference/ecosystem.md, rows 44 and 45 of 6.3.)
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export MGBENCH_DB=r.db MGBENCH_STEP_TIMEOUT=4

stored() {
    [ "$(ask 'select count(*) from step where segment_id = (select max(id) from segment)')" -gt 0 ]
}

cat >sweep.lua <<LUA
local rows = mgb.sweep{ name = "stuck", model = $small, batch = 4, steps = 10, warmup = 0, backend = "host",
                        grid = { gpus = { 1, 2 }, cpu_merge = { true, false } } }
mgb.table(rows, { "gpus", "cpu_merge", "outcome", "speedup", "baseline" })
for _, row in ipairs(rows) do
  if row.outcome == "timeout" then
    assert(row.resumed and row.speedup == nil and not row.baseline and row.digest == nil and #row.losses >= 3)
    assert(row.message:find("/gpu:1", 1, true), row.message)
  end
end
LUA
command_line='a sweep with a stuck device'
export MGBENCH_FAULT='hang:/gpu:1:launch=40;hang:/gpu:1:launch=40'
start --quiet -e sweep.lua
finished
same 'exit code' 0 "$code"
same 'outcomes' 'ok ok timeout timeout' "$(ask "select group_concat(r.outcome, ' ') from (select r.outcome from sweep_point p
    join run r on r.id = p.run_id order by p.point) r")"
same 'shown' 'yes ok no ok yes timeout no timeout ' "$(sed -n '2,5p' "$work/out" | awk '{ printf "%s %s ", $2, $3 }')"
same 'every point stored once' '4 4' "$(ask "select count(*) || ' ' || count(distinct point) from sweep_point")"
same 'nothing still runs' 0 "$(ask "select count(*) from run where outcome = 'running'")"
same 'steps of before are there' 1 "$(ask "select min(n) >= 3 from (select count(*) n from step s join segment g
    on g.id = s.segment_id join run r on r.id = g.run_id where r.outcome = 'timeout' group by r.id)")"
same 'told twice, with device' 2 "$(grep -c '^mgbench: .*/gpu:1' "$work/err")"

command_line='a run with a stuck device'
start run mlp --quiet --backend host --gpus 2 --batch 4 --steps 100
finished
same 'exit code' 1 "$code"
same 'outcome' timeout "$(ask 'select outcome from run order by id desc')"
same 'message names the device' 1 "$(ask "select message like '%/gpu:1%' from run order by id desc")"
unset MGBENCH_FAULT

# Time in which the process was stopped is no step's: neither the engine nor who watches it takes it for a stuck device.
command_line='a run that was stopped for longer than a step may take'
start run mlp --quiet --no-supervisor --backend host --gpus 2 --batch 4096 --steps 1000000
until_true 60 stored
kill -STOP "$pid"
sleep 6
kill -CONT "$pid"
sleep 0.5
kill -INT "$pid"
finished
same 'exit code' 130 "$code"
same 'outcome' interrupted "$(ask 'select outcome from run order by id desc')"
unset MGBENCH_STEP_TIMEOUT

# Out of memory in the middle of a step on device 1, caught by the script.
cat >oom.lua <<LUA
local s <close> = mgb.session{ model = $small, gpus = 2, batch = 8, warmup = 0, backend = "host" }
local before, ok, message
repeat
  before = s:digest()
  ok, message = pcall(s.step, s, 1)
until not ok
print((message:gsub("%d[%d.]* [KMGi]*B", "N B")))
print(s:digest() == before)
s.batch = 4
local seg = s:step(5)
print(s.batch, #seg.losses, seg.outcome, s:digest() ~= before)
LUA
command_line='out of memory in the middle of a step'
export MGBENCH_FAULT=oom:/gpu:1:launch=50
start --quiet -e oom.lua
finished
same 'exit code' 0 "$code"
same 'device and bytes' 1 "$(sed -n 1p "$work/out" | grep -c '/gpu:1.*N B')"
same 'weights as before' true "$(sed -n 2p "$work/out")"
same 'a smaller batch works' '4	5	ok	true' "$(sed -n 3p "$work/out")"
same 'run and segments' 'ok,oom ok' "$(ask "select r.outcome, (select group_concat(outcome, ' ') from segment g
    where g.run_id = r.id) from run r order by r.id desc")"

command_line='out of memory that nobody expected'
start run mlp --quiet --backend host --gpus 2 --batch 4 --steps 100
finished
same 'exit code' 1 "$code"
same 'outcome' oom "$(ask 'select outcome from run order by id desc')"
same 'message' 1 "$(grep -c 'out of memory on /gpu:1' "$work/err")"
unset MGBENCH_FAULT

finish
