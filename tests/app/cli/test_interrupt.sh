# Ctrl-C (reference/ecosystem.md, row 10 of the features): the step in progress ends, what was done is kept, exit code 130;
# the second one ends at once, whatever the script is at, and the run is an interrupted one all the same.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export MGBENCH_DB=r.db

cat >long.lua <<LUA
local s <close> = mgb.session{ model = $small, gpus = 2, batch = 4, backend = "host" }
print("begun") io.stdout:flush()
local ok, message = pcall(s.step, s, 10000000)
print("after", ok) -- never: an interrupted script goes no further
LUA

steps() {
    [ "$(ask 'select count(*) from step where segment_id = (select max(id) from segment)')" -gt "${1:-20}" ]
}

kept() { # what must be so after an interrupt
    same 'exit code' 130 "$code"
    same 'the run' 'interrupted' "$(ask 'select outcome from run order by id desc')"
    same 'the segment' 'interrupted' "$(ask 'select outcome from segment order by id desc')"
    same 'steps without a hole' 1 "$(ask 'select count(*) = max(step) + 1 and count(*) > 20 and count(loss) = count(*)
        from step where segment_id = (select max(id) from segment)')"
    same 'figures' 1 "$(ask 'select steps > 0 and step_ms_median > 0 from run_summary order by run_id desc')"
    same 'output' 'begun' "$(cat "$work/out")"
}

for how in supervisor group worker unsupervised TERM; do
    command_line="interrupt: $how"
    case $how in
        unsupervised) start --no-supervisor -e long.lua ;;
        group) # as a terminal does: everybody in the foreground group
            : >"$work/out"
            setsid env --default-signal=INT "$MGBENCH" -e long.lua >"$work/out" 2>"$work/err" </dev/null &
            pid=$! ;;
        *) start -e long.lua ;;
    esac
    until_true 60 has_output
    until_true 60 steps
    case $how in
        group) kill -INT "-$pid" ;;
        worker) kill -INT "$(worker)" ;;
        TERM) kill -TERM "$pid" ;;
        *) kill -INT "$pid" ;;
    esac
    finished
    kept
    same 'tells' 'mgbench: interrupted; what was recorded is kept' "$(cat "$work/err")"
done

# mgbench run the same.
command_line='interrupt: mgbench run'
start run mlp --backend host --batch 4 --steps 10000000
until_true 60 has_output
until_true 60 steps
kill -INT "$pid"
finished
same 'exit code' 130 "$code"
same 'the run' 'interrupted' "$(ask 'select outcome from run order by id desc')"

# A step of several seconds: the first Ctrl-C waits for its end, the second does not.
command_line='interrupt: twice'
MGBENCH_FAULT=slow:/gpu:0:us=400000
export MGBENCH_FAULT
start -e long.lua
until_true 60 has_output
until_true 60 steps 0
sleep 0.1
interrupt
same 'still waiting' yes "$(kill -0 "$pid" 2>/dev/null && echo yes || echo no)"
kill -INT "$pid"
finished
unset MGBENCH_FAULT
same 'exit code' 130 "$code"
same 'rows kept' 1 "$(ask 'select count(*) > 0 from step where segment_id = (select max(id) from segment)')"
same 'the run' 'interrupted' "$(ask 'select outcome from run order by id desc')"
same 'integrity' ok "$(ask 'pragma integrity_check')"

# CPU time of the program so far, of all its processes, in clock ticks.
cpu_ticks() {
    cat /proc/"$pid"/stat /proc/"$(worker)"/stat 2>/dev/null | awk '{ ticks += $14 + $15 } END { print ticks + 0 }'
}
searching() {
    [ "$(cpu_ticks)" -ge $((begun + 50)) ]
}

# A search that does not end, in C: nothing in the script can answer the first.
command_line='interrupt: a search without end'
cat >search.lua <<LUA
local s <close> = mgb.session{ model = $small, gpus = 1, batch = 4, backend = "host" }
s:step(30)
print("begun") io.stdout:flush()
string.rep("a", 1e8):find(".-.-b")
LUA
start -e search.lua
until_true 60 has_output
begun=$(cpu_ticks)
until_true 60 searching # before that, the script would answer
interrupt
same 'still searching' yes "$(kill -0 "$pid" 2>/dev/null && echo yes || echo no)"
kill -INT "$pid"
finished
same 'exit code' 130 "$code"
same 'the run' 'interrupted' "$(ask 'select outcome from run order by id desc')"
same 'the segment' 'interrupted' "$(ask 'select outcome from segment order by id desc')"
same 'every step' 30 "$(ask 'select count(*) from step where segment_id = (select max(id) from segment)')"
same 'integrity' ok "$(ask 'pragma integrity_check')"

# Files that keep a reader waiting: the first ends it.
mkfifo pipe
for wait in 'io.open("pipe"):read()' 'for line in io.lines("pipe") do print(line) end' 'io.open("pipe", "w")' \
    'io.open("pipe"):read("a")' 'pcall(io.lines, "pipe", "n") io.lines("pipe")()'; do
    command_line="interrupt: $wait"
    start -e "print('begun') io.stdout:flush() $wait print('after')"
    until_true 60 has_output
    sleep 0.2
    kill -INT "$pid"
    finished
    same 'exit code' 130 "$code"
    same 'tells' 'mgbench: interrupted; what was recorded is kept' "$(cat "$work/err")"
    same 'output' 'begun' "$(cat "$work/out")"
done
command_line='waiting files are read'
(printf 'one\ntwo\n' >pipe) &
same 'lines' 'one two' "$("$MGBENCH" -e 'local all = {} for line in io.lines("pipe") do all[#all + 1] = line end
    print(table.concat(all, " "))')"
same 'standard input' 'one|two' "$( (echo one; sleep 0.2; echo two) | "$MGBENCH" -e 'print(io.read() .. "|" .. io.stdin:read())')"

finish
