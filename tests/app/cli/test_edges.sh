# The edges of what can be asked for: numbers of GPUs, tiny batches, odd surroundings.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export MGBENCH_DB=r.db
cat >small.lua <<LUA
return $small
LUA

# 0 is one tower on /cpu:0; 1 to 16 CPU devices work, whatever the cores.
n=0
while [ "$n" -le 16 ]; do
    command_line="run --gpus $n"
    mgbench run ./small.lua --backend host --quiet --gpus "$n" --batch 2 --steps 2 --warmup 1 >"$work/out" 2>"$work/err"
    same 'exit code' 0 $?
    same 'standard error' '' "$(cat "$work/err")"
    towers=$n
    [ "$n" -gt 0 ] || towers=1
    same 'recorded' "ok,$n,$((2 * towers)),3" "$(ask "select outcome, gpus, global_batch,
        (select count(*) from step where segment_id = v.segment_id) from run_summary v order by run_id desc")"
    n=$((n + 1))
done

# Fewer rows than towers: no tower runs without rows, every row is used.
command_line='batch 1 on 4 GPUs'
for strategy in outputs gradients allreduce; do
    mgbench run ./small.lua --backend host --quiet --gpus 4 --global-batch 1 --steps 3 --strategy $strategy >"$work/out" ||
        failures=$((failures + 1))
    same "$strategy" 'ok,1' "$(ask 'select outcome, global_batch from run_summary order by run_id desc')"
done
same 'one row, three towers without' '1 0 0 0' "$(mgbench plan ./small.lua --backend host --gpus 4 --global-batch 1 --csv |
    tr -d '\r' | sed -n 's/^rows of tower,.*,//p' | sort -r | tr '\n' ' ' | sed 's/ $//')"
command_line='batch 1 for each of 4'
mgbench run ./small.lua --backend host --quiet --gpus 4 --batch 1 --steps 2 >"$work/out" || failures=$((failures + 1))
same 'recorded' 'ok,4' "$(ask 'select outcome, global_batch from run_summary order by run_id desc')"

# Mirrored weights are stored once on each GPU, and listed so.
command_line='variables of a mirrored run'
mgbench run ./small.lua --backend host --quiet --gpus 3 --batch 2 --steps 1 --strategy allreduce --momentum 0.9 >"$work/out" ||
    failures=$((failures + 1))
same 'storages' '3,3,master replica replica' "$(ask "select count(*), count(distinct storage_id),
    group_concat(role, ' ') from (select * from variable where segment_id = (select max(id) from segment)
    and name = 'logits/bias' and role <> 'slot' order by device)")"
same 'slots' '3,3' "$(ask "select count(*), count(distinct device) from variable
    where segment_id = (select max(id) from segment) and name = 'logits/bias' and role = 'slot'")"

# A refusal leaves the script usable, and nothing allocated.
cat >usable.lua <<LUA
for _, gpus in ipairs{ 17, -1, { 1, 1 } } do
  local ok, message = pcall(mgb.run, { model = $small, gpus = gpus, batch = 2, steps = 1, backend = "host" })
  print(ok, message)
end
local r = mgb.run{ model = $small, gpus = 2, batch = 2, steps = 2, warmup = 0, backend = "host" }
print(r.outcome, r.steps)
LUA
expect 0 'false	usable.lua:2: gpus: wanted /gpu:0 ... /gpu:16, present /cpu:0 /gpu:0 ... /gpu:15; there is no /gpu:16; ask for fewer, or 0 for one tower on /cpu:0
false	usable.lua:2: gpus = -1: wanted a count from 0, or ids in merge order, as 2,0,3; present /cpu:0 /gpu:0 ... /gpu:15
false	usable.lua:2: gpus: wanted /gpu:1 /gpu:1, present /cpu:0 /gpu:0 ... /gpu:15; /gpu:1 is listed twice; give logical = true to run several towers on one GPU
ok	2' '' mgbench --quiet -e usable.lua

# A locale with a decimal comma changes no number, in or out.
command_line='de_DE'
if ! locale -a | grep -q '^de_DE\.utf8$' && localedef -c -i de_DE -f UTF-8 "$work/de_DE.utf8" >/dev/null 2>&1; then
    export LOCPATH="$work" # else there is none here, and this shows only that asking for it does no harm
fi
for locale in de_DE.UTF-8; do
    LC_ALL=$locale mgbench run ./small.lua --backend host --quiet --csv --steps 3 --batch 2 --lr 0.25 --bucket-mib 0.5 \
        --strategy gradients >"$work/out" 2>"$work/err" || failures=$((failures + 1))
    same 'fields' "$(sed -n 1p "$work/out" | tr -cd , | wc -c)" "$(sed -n 2p "$work/out" | tr -cd , | wc -c)"
    same 'stored' '0.5,"sgd(lr=0.25)"' "$(ask 'select bucket_mib, optimizer from segment order by id desc' |
        sed 's/sgd(lr=0.25)$/"&"/')"
done

# No colour and no cursor movement unless on a terminal; NO_COLOR and --no-color on one too.
command_line='colour'
escape=$(printf '\033')
same 'piped' 0 "$(mgbench run ./small.lua --backend host --steps 2 2>&1 | grep -c "$escape")"
same 'help' 0 "$(mgbench --help 2>&1 | grep -c "$escape")"
if command -v script >/dev/null; then
    for how in 'NO_COLOR=1' 'TERM=dumb'; do
        same "$how" 0 "$(script -qec "env $how '$MGBENCH' run ./small.lua --backend host --steps 2 --quiet" /dev/null </dev/null |
            grep -c "$escape")"
    done
    same '--no-color' 0 "$(script -qec "'$MGBENCH' run ./small.lua --backend host --steps 2 --quiet --no-color" /dev/null </dev/null |
        grep -c "$escape")"
fi

# An empty name of a file names nothing.
expect 2 '' 'mgbench: --db: FILE expected, got an empty text' mgbench run ./small.lua --db ''
expect 2 '' 'mgbench: --strategy: NAME expected, got an empty text: what towers exchange: outputs, gradients, gradients by all-reduce, nothing: outputs, gradients, allreduce, independent (default: outputs)' \
    mgbench run ./small.lua --strategy=
expect 2 '' 'mgbench: --gpus: N|IDS expected, got an empty text: how many GPUs, or their ids in merge order (2,0,3); 0: one tower on /cpu:0 (default: 1)' \
    mgbench run ./small.lua --gpus ''
expect 2 '' 'mgbench: --lua-path: DIR expected, got an empty text' mgbench --lua-path= -e 'x'

# One exit code for each kind of thing that cannot be read.
mkdir folder && mkfifo fifo.lua && echo 'this is not a database, but some text of more than a few words' >text.db
expect 2 '' "mgbench: cannot read script 'folder/': it is a folder" mgbench -e folder/
expect 2 '' "mgbench: cannot read script 'fifo.lua': it is not a plain file" mgbench -e fifo.lua
not_ours='mgbench: text.db: file is not a database (PRAGMA application_id); it is not an SQLite file'
expect 1 '' "$not_ours" mgbench query 'select 1' --db text.db
expect 1 '' "$not_ours" mgbench run ./small.lua --backend host --quiet --csv --steps 1 --db text.db

# A results file that is deleted under a run is missed.
command_line='deleted results'
has_rows() {
    [ "$(ask 'select count(*) from step' gone.db)" -gt 0 ]
}
start run ./small.lua --backend host --quiet --batch 2 --steps 3000 --db gone.db
until_true 60 has_rows
rm gone.db
finished
same 'exit code' 1 "$code"
same 'told' 1 "$(grep -c 'the record of this run is incomplete: gone.db was deleted or moved' "$work/err")"

# Deleted after its last row, while the script does other things: nothing is "recorded in" it either.
command_line='results deleted after the run'
cat >after.lua <<LUA
local s = mgb.session{ model = "mlp", batch = 2, backend = "host" }
s:step(3)
s:close()
print("begun") io.stdout:flush()
while not io.open("go") do end
LUA
: >"$work/err"
script -qec "'$MGBENCH' --db after.db -e after.lua" "$work/screen" </dev/null >"$work/out" &
pid=$!
until_true 60 grep -q begun "$work/out"
has_ended() {
    [ "$(ask 'select outcome from run' after.db)" = ok ]
}
until_true 60 has_ended
rm after.db
: >go
finished
same 'exit code' 1 "$code"
same 'told' 1 "$(grep -c 'the record of this run is incomplete: after.db was deleted or moved' "$work/out")"
same 'recorded in' 0 "$(grep -c 'recorded in' "$work/out")"

# The reader of a pipe may stop early: quietly, and with exit code 0 of a command that was done.
command_line='| head'
same 'help' 'usage: mgbench run MODEL [options] [placement options]' "$(mgbench run --help 2>"$work/err" | head -n 1)"
same 'plan' 'plan train' "$(mgbench plan mlp --backend host --gpus 8 --tasks 2>>"$work/err" | head -n 1 | cut -c 1-10)"
same 'script' 'a' "$(mgbench --quiet -e 'for i = 1, 1e6 do print("a") end' 2>>"$work/err" | head -n 1)"
{
    mgbench run ./small.lua --backend host --quiet --csv --batch 2 --steps 2 --db cut.db 2>>"$work/err"
    echo $? >"$work/code"
} | true
same 'run: exit code' 0 "$(cat "$work/code")"
same 'run: stored' ok "$(ask 'select outcome from run' cut.db)"
same 'standard error' '' "$(cat "$work/err")"

finish
