# A full disk, a folder that cannot be written, a file in use: a clear message, the run goes on or is refused, earlier rows stay.
# (reference/ecosystem.md, rows 26, 27 and 35 of 6.3.)
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"

cat >work.lua <<LUA
local o = mgb.options{ steps = { 20, "steps" } }
local s <close> = mgb.session{ model = $small, gpus = 2, batch = 4, warmup = 0, backend = "host" }
for i = 1, o.steps // 10 do s:step(10) end
print("went on to step " .. s.step_index)
LUA

# A full disk: 2 MiB of a file system where we may mount one, and always a limit of the size of files.
full_disk() { # folder of the database
    same 'exit code' 1 "$code"
    same 'the run went on' 'went on to step 3000' "$(cat "$work/out")"
    same 'message' 1 "$(grep -c '^mgbench: the record of this run is incomplete: .*full' "$work/err")"
    same 'rows of before' 1 "$(ask "select count(*) = 20 from step s join segment g on g.id = s.segment_id
        where g.run_id = 1" "$1/r.db")"
    same 'later rows without a hole' 1 "$(ask "select count(*) = coalesce(max(step) + 1, 0) from step s
        join segment g on g.id = s.segment_id where g.run_id = 2" "$1/r.db")"
    same 'integrity' ok "$(ask 'pragma integrity_check' "$1/r.db")"
}

command_line='a limit of the size of files'
mkdir limited
mgbench --quiet --db limited/r.db -e work.lua >"$work/out" || failures=$((failures + 1))
(ulimit -f 800 && exec "$MGBENCH" --quiet --db limited/r.db -e work.lua --steps 3000) >"$work/out" 2>"$work/err"
code=$?
full_disk limited

command_line='a full disk'
mkdir small
if mount -t tmpfs -o size=1m tmpfs small 2>/dev/null; then
    mgbench --quiet --db small/r.db -e work.lua >"$work/out" || failures=$((failures + 1))
    mgbench --quiet --db small/r.db -e work.lua --steps 3000 >"$work/out" 2>"$work/err"
    code=$?
    full_disk small
    umount small
else
    echo 'no mount allowed here: only the limit of the size of files was tried'
fi

# A folder that cannot be written: refused before anything runs. /proc is one even for root.
command_line='a folder that cannot be written'
mgbench --quiet --db /proc/r.db -e work.lua >"$work/out" 2>"$work/err"
same 'exit code' 1 $?
same 'nothing ran' '' "$(cat "$work/out")"
same 'message names the file' 1 "$(grep -c '/proc/r.db' "$work/err")"
same 'one message' 1 "$(grep -c '^mgbench: ' "$work/err")"
if [ "$(id -u)" -ne 0 ]; then
    mkdir closed
    mgbench --quiet --db closed/r.db -e work.lua >"$work/out" || failures=$((failures + 1))
    chmod a-w closed closed/r.db
    mgbench --quiet --db closed/r.db -e work.lua >"$work/out" 2>"$work/err"
    same 'exit code' 1 $?
    same 'reading goes on' 1 "$(ask 'select count(*) from run' closed/r.db)"
    chmod u+w closed closed/r.db
fi
command_line='a folder that is not there'
mgbench --quiet --db none/r.db -e work.lua >"$work/out" 2>"$work/err"
same 'exit code' 1 $?
same 'message' 1 "$(grep -c 'none/r.db' "$work/err")"

# A script that runs nothing touches no file.
expect 0 '3' '' mgbench --db /proc/r.db -e 'print(1 + 2)'

# One process writes a file at a time: of ten starters one works, nine are told who does.
cat >hold.lua <<LUA
local s <close> = mgb.session{ model = $small, gpus = 2, batch = 4, backend = "host" }
print("has it") io.stdout:flush()
s:step(10000000)
LUA
command_line='a second writer'
start --quiet --db r.db -e hold.lua
until_true 60 has_output
holder=$pid writer=$(worker)
for i in 1 2 3 4 5 6 7 8 9; do
    mgbench --quiet --db r.db -e work.lua >"$work/out$i" 2>"$work/err$i" &
done
refused=0
for i in 1 2 3 4 5 6 7 8 9; do
    until_true 60 test -s "$work/err$i"
    refused=$((refused + $(grep -c "in use by pid $writer, run 1" "$work/err$i")))
done
same 'refused, with who holds it' 9 "$refused"
same 'what to do' 9 "$(cat "$work"/err[1-9] | grep -c -e '--db')"
same 'readers are never refused' 1 "$(ask 'select count(*) from run')"
kill -INT "$holder"
wait
mgbench --quiet --db r.db -e work.lua >"$work/out" 2>"$work/err"
same 'afterwards' '0 went on to step 20' "$? $(cat "$work/out")"
same 'runs' 2 "$(ask 'select count(*) from run')"

# Ten starters on a file that is not there yet: it is made once, and one of them works.
command_line='ten starters'
for i in 0 1 2 3 4 5 6 7 8 9; do
    (mgbench --quiet --db new.db -e work.lua --steps 1000 >"$work/new$i" 2>&1
     echo "$?" >"$work/code$i") &
done
wait
worked=$(cat "$work"/code[0-9] | grep -c '^0$')
same 'who did not work was told why' $((10 - worked)) "$(cat "$work"/new[0-9] | grep -c 'in use by pid')"
same 'runs' "$worked" "$(ask "select count(*) from run where outcome = 'ok'" new.db)"
same 'integrity' ok "$(ask 'pragma integrity_check' new.db)"

finish
