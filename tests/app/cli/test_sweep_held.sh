# A sweep has the results file for itself from its first to its last cell, and ends when nothing can be stored any more.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export MGBENCH_DB=r.db MGBENCH_CPU_DEVICES=2

cat >many.lua <<LUA
mgb.sweep{ name = "many", model = $small, batch = 4, steps = 20, warmup = 1, repeats = 20000, grid = { gpus = { 1 } }, backend = "host" }
LUA
sed 's/many/other/' many.lua >other.lua
cells() {
    [ "$(ask "select count(*) from run where outcome = 'ok'")" -ge 2 ]
}

# Nobody else writes between two of its cells: asked again and again, and refused each time, by name.
command_line='two sweeps of one file'
start sweep many.lua --quiet
until_true 60 cells || same 'a sweep is going' yes "no: $(cat "$work/err")"
for words in 'sweep other.lua' 'note 1 words' 'tag 1 words' 'rm 1 --yes --quiet' 'run mlp --steps 1' 'sweep other.lua'; do
    command_line="mgbench $words, while a sweep is going"
    # shellcheck disable=SC2086
    mgbench $words >"$work/out2" 2>"$work/err2"
    same 'exit code' 1 $?
    same 'says who and what to do' 1 "$(grep -cE '^mgbench: .*r.db is in use by pid [0-9]+, run [0-9]+: wait for it to end' "$work/err2")"
done
same 'nothing of the second' 0 "$(ask "select count(*) from sweep where name = 'other'")"
command_line='two sweeps of one file'
kill -INT "$pid"
finished
same 'exit code' 130 "$code"
same 'no cell is missing' 0 "$(ask "select count(*) from run where outcome not in ('ok', 'interrupted')")"
expect 0 'run 1: noted' '' mgbench note 1 words

# After a sweep the file is free, also when the program goes on.
cat >free.lua <<LUA
local o = { name = "short", model = $small, batch = 4, steps = 2, warmup = 1, grid = { gpus = { 1 } }, backend = "host" }
mgb.sweep(o)
local wrong = pcall(mgb.sweep, setmetatable({ resume = false, baseline = function() error("wrong") end }, { __index = o }))
print("swept") io.stdout:flush()
local go = io.open("go")
while not go do go = io.open("go") end
LUA
command_line='after a sweep'
start -e free.lua --quiet
until_true 60 has_output || same 'it swept' yes "no: $(cat "$work/err")"
expect 0 'run 1: noted' '' mgbench note 1 later
: >go
finished
same 'exit code' 0 "$code"

# A limit of the size of files stands for a full disk: told when it happens, and no cell runs that cannot be stored.
cat >large.lua <<LUA
mgb.sweep{ name = "large", model = $small, batch = 4, steps = 2000, warmup = 1, repeats = 40, grid = { gpus = { 1, 2 } }, backend = "host" }
LUA
command_line='a sweep and a full disk'
(ulimit -f 800 && exec "$MGBENCH" sweep large.lua --db full.db) >"$work/out" 2>"$work/err"
same 'exit code' 1 $?
same 'told at once' 1 "$(grep -c '^mgbench: warning: .*recording has stopped.*full' "$work/err")"
same 'it ends' 1 "$(grep -c '^mgbench: .*the sweep ends here, for its cells cannot be stored: .*full.*; then run the same command again: finished cells are skipped' "$work/err")"
same 'before its last cell' 1 "$(ask 'select count(*) between 1 and 79 from run' full.db)"
cells=$(grep -c '^mgbench: sweep large, cell [0-9]* of 80' "$work/err")
same 'cells that ran' 1 "$([ "$cells" -ge 1 ] && [ "$cells" -lt 80 ] && echo 1)"

finish
