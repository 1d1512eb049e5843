# kill -9 of the program at random times: every step that a script had printed is there, without a hole; the file is sound,
# the run shown as crashed. 20 kills; with MGB_LONG=1 200, and all steps older than 250 ms are there after nine in ten. Sweeps
# that are killed: test_sweep_killed.sh.
# (reference/ecosystem.md, rows 28 and 29 of 6.3.)
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export MGBENCH_DB=r.db
kills=20
[ "${MGB_LONG:-0}" -eq 0 ] || kills=200

cat >each.lua <<LUA
local s = mgb.session{ model = $small, gpus = 2, batch = 4, warmup = 0, backend = "host" }
for i = 0, math.maxinteger do
  s:step(1)
  io.write(i, "\n") io.stdout:flush()
end
LUA
cat >many.lua <<LUA
local s = mgb.session{ model = $small, gpus = 2, batch = 4, warmup = 0, backend = "host" }
print(-1) io.stdout:flush()
s:step(1000000)
LUA

random_ms() { # from 0 below $1
    echo $(($(od -An -N2 -tu2 /dev/urandom) % $1))
}

# Milliseconds that the newest step was old at the time $1, less the two steps that may have been on their way.
age() {
    ask "select cast($1 - r.started_ms - (s.start_ns + 3 * s.wall_ns) / 1e6 as integer)
        from step s join segment g on g.id = s.segment_id join run r on r.id = g.run_id
        where r.id = (select max(id) from run) order by s.step desc limit 1"
}

stored() {
    [ "$(ask 'select count(*) from step where segment_id = (select max(id) from segment)')" -gt 0 ]
}

n=0 late=0
while [ "$n" -lt "$kills" ]; do
    script=each.lua
    [ $((n % 3)) -ne 2 ] || script=many.lua
    start --quiet -e $script
    until_true 60 has_output
    [ $script = each.lua ] || until_true 60 stored
    delay=$(random_ms 300)
    sleep "0.$(printf '%03d' "$delay")"
    victim=$(worker)
    now=$(date +%s%3N)
    kill -9 "$victim"
    finished
    command_line="kill $n of $script after $delay ms"
    printed=$(sed -n '$p' "$work/out")
    [ -n "$(tail -c 1 "$work/out")" ] && printed=$(tail -n 2 "$work/out" | head -n 1) # a torn line
    same 'exit code' 1 "$code"
    same "crashed, steps up to $printed without a hole" "crashed,$victim,1,1" "$(ask "select r.outcome, r.pid,
        coalesce(max(s.step), -1) >= $printed, count(s.step) = coalesce(max(s.step) + 1, 0)
        from run r left join segment g on g.run_id = r.id left join step s on s.segment_id = g.id
        where r.id = (select max(id) from run)")"
    if [ $script = many.lua ]; then
        lost=$(age "$now")
        echo "kill $n: newest step ${lost:-?} ms old"
        # Of the machine and its disk as much as of the program: only told here, judged in the long form.
        [ "${lost:-9999}" -le 250 ] || late=$((late + 1))
    fi
    n=$((n + 1))
done
command_line='after all kills'
echo "$late of $kills kills with steps older than 250 ms missing"
[ "${MGB_LONG:-0}" -eq 0 ] || [ $((late * 10)) -le "$kills" ] ||
    same 'kills with steps older than 250 ms missing' 'at most one in ten' "$late of $kills"
same 'integrity' ok "$(ask 'pragma integrity_check')"
same 'foreign keys' '' "$(ask 'pragma foreign_key_check')"
same 'runs' "$kills" "$(ask "select count(*) from run where outcome = 'crashed'")"
same 'told' 'mgbench: the program died: Killed (signal 9); what was recorded is kept' "$(head -n 1 "$work/err")"

# The supervisor dies: the program ends after the step, as for Ctrl-C.
command_line='kill -9 of the supervisor'
start --quiet -e each.lua
until_true 60 has_output
victim=$(worker)
kill -9 "$pid"
finished
until_true 60 sh -c "! kill -0 $victim"
same 'outcome' interrupted "$(ask 'select outcome from run order by id desc')"

# A stopped program is not dead.
command_line='SIGSTOP'
start --quiet -e each.lua
until_true 60 has_output
victim=$(worker)
kill -STOP "$victim"
sleep 0.2
same 'outcome' running "$(ask 'select outcome from run order by id desc')"
kill -CONT "$victim"
kill -INT "$pid"
finished
same 'exit code' 130 "$code"

finish
