# mgbench -e: files and texts, flags, errors with their lines, interrupts, closed pipes.
# (reference/ecosystem.md, rows 34 and 35 of section 2.)
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"

expect 0 '2' '' mgbench -e 'print(1 + 1)'
expect 0 'a b--db' '' mgbench -e 'print(arg[1] .. arg[2])' -- 'a b' --db
expect 1 '' 'mgbench: (command line):1: undeclared global '"'pritn' (did you mean 'print'?)"'
  >    1 | pritn(1)
         | ^
stack traceback:
    (command line):1: in main chunk' mgbench -e 'pritn(1)'

cat >bad.lua <<'LUA'
local points = { 1, 2 }
for i = 1, 3 do
  print(points[i].x)
end
LUA
expect 1 '' "mgbench: bad.lua:3: attempt to index a number value (field '?')
       1 | local points = { 1, 2 }
       2 | for i = 1, 3 do
  >    3 |   print(points[i].x)
         |   ^
       4 | end
stack traceback:
    bad.lua:3: in main chunk" mgbench -e bad.lua
expect 2 '' "mgbench: cannot read script 'none.lua': No such file or directory" mgbench -e none.lua
expect 2 '' "mgbench: cannot read script './none': No such file or directory" mgbench -e ./none

# A stray file in the working directory is no module.
mkdir sub
echo 'return 1' >stray.lua
echo 'require "stray"' >sub/main.lua
command_line='require from the working directory'
mgbench -e sub/main.lua 2>"$work/err"
same 'exit code' 1 $?
same 'hint' '  ./stray.lua is there, but the working directory is not searched: add --lua-path .' \
    "$(grep 'is there' "$work/err")"
expect 0 '' '' mgbench -e sub/main.lua --lua-path .

# Flags that the script declares.
cat >flags.lua <<'LUA'
local o = mgb.options{ steps = { 50, "timed steps a point" }, fast = false }
print(o.steps, o.fast)
LUA
expect 0 "50	false" '' mgbench -e flags.lua
expect 0 "100	true" '' mgbench -e flags.lua --steps 100 --fast
expect 0 "7	false" '' mgbench --quiet -e flags.lua --steps=7 --no-fast
expect 2 '' "mgbench: --stps: the script has no such flag (did you mean '--steps'?) (mgbench -e flags.lua --help lists its options)" \
    mgbench -e flags.lua --stps 3
expect 2 '' "mgbench: --steps: integer expected, got \"x\" (mgbench -e flags.lua --help lists its options)" \
    mgbench -e flags.lua --steps x
command_line='mgbench -e flags.lua --help'
same 'help' '  --steps N                timed steps a point (default: 50)' \
    "$(mgbench -e flags.lua --help | grep -e --steps)"

# Numbers have a point in a comma locale.
expect 0 "1.5	2.25" '' env LC_ALL=de_DE.UTF-8 "$MGBENCH" -e 'print(3 / 2, tonumber("2.25"))'

# A loop is ended by a signal, through the script's own pcall, with exit code 130; so without a supervisor.
cat >loop.lua <<'LUA'
print("started") io.stdout:flush()
while true do pcall(function() while true do end end) end
LUA
for supervised in --quiet --no-supervisor; do
    for signal in INT TERM; do
        start "$supervised" -e loop.lua
        until_true 60 has_output
        kill -"$signal" "$pid"
        finished
        command_line="loop.lua $supervised, SIG$signal"
        same 'exit code' 130 "$code"
    done
done

# A second signal ends what cannot be interrupted.
cat >stuck.lua <<'LUA'
print("started") io.stdout:flush()
return (("a"):rep(40) .. "b"):find((".-"):rep(30) .. "c")
LUA
start -e stuck.lua
until_true 60 has_output
interrupt
kill -INT "$pid"
finished
command_line='stuck.lua, two signals'
same 'exit code' 130 "$code"

# Nobody reads any more: the script ends, quietly.
command_line='closed pipe'
same 'output' "1" "$(mgbench -e 'for i = 1, 1e7 do print(i) end' 2>"$work/err" | head -n 1)"
same 'standard error' '' "$(cat "$work/err")"
expect 1 '' 'mgbench: writing to standard output failed (is the disk full?)' \
    sh -c "\"$MGBENCH\" -e 'print(1)' >/dev/full"
for words in --version --help 'run --help' "-e 'mgb.options{}' --help"; do
    expect 1 '' 'mgbench: writing to standard output failed (is the disk full?)' \
        sh -c "\"$MGBENCH\" $words >/dev/full"
done
# A closed one is told as that, and no file that is opened takes its place.
expect 1 '' 'mgbench: standard output is closed: give it a file, or /dev/null' \
    sh -c "\"$MGBENCH\" -e 'print(1)' >&-"
expect 1 '' 'mgbench: standard output is closed: give it a file, or /dev/null' sh -c "\"$MGBENCH\" --version >&-"
expect 0 1 '' sh -c "\"$MGBENCH\" -e 'print(1)' 2>&- <&-"

# Shipped experiments are found from any folder; a file of that name in the folder comes first.
mgbench -e batch.lua --help >"$work/out" 2>&1
code=$?
command_line='mgbench -e batch.lua --help'
same 'exit code' 0 "$code"
same 'its options' 1 "$(grep -c '^  --batches ' "$work/out")"
echo "print('mine')" >batch.lua
expect 0 'mine' '' mgbench -e batch.lua
rm batch.lua
expect 2 '' "mgbench: cannot read script 'nosuch.lua': No such file or directory" mgbench -e nosuch.lua

# scripts/start knows its words before it builds anything.
command_line='scripts/start --help'
same 'help' 1 "$(sh "$MGB_SOURCE_DIR/scripts/start" --help | grep -c 'scripts/start \[FILE\]')"
sh "$MGB_SOURCE_DIR/scripts/start" --hlp >"$work/out" 2>&1
code=$?
same 'exit code of a misspelt option' 2 "$code"

finish
