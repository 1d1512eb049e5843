# run, plan, check and verify: placement options as flags, refusals, exit codes. Scenarios of reference/ancestors.md that are
# about what a user types have their row named.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export MGBENCH_DB=r.db OMP_WAIT_POLICY=passive
host="--backend host --quiet"

value() { # one column of the only row
    mgbench query "$1" --csv | sed -n 2p | tr -d '\r'
}

# A run: its row, the placement asked for and in effect, the command that repeats it.
command_line='mgbench run'
mgbench run mlp $host --gpus 2 --batch 4 --steps 3 --warmup 1 --cpu-merge=no --optimizer sgd --lr 0.5 \
    --momentum 0.9 --seed 7 >"$work/out" || failures=$((failures + 1))
same 'columns' 'run outcome steps step_ms p95' "$(sed -n '1s/  */ /gp' "$work/out" | cut -d' ' -f1-5)"
same 'recorded' 'mlp,ok,3,7,2,8' "$(value 'select model, outcome, steps, (select seed from run), gpus, global_batch from run_summary')"
same 'places' '/gpu:0,/gpu:0' "$(value 'select join_at, sum_at from run_summary')"
same 'repeats' "mgbench run mlp $host --gpus 2 --batch 4 --steps 3 --warmup 1 --cpu-merge=no --optimizer sgd --lr 0.5 --momentum 0.9 --seed 7" \
    "$(value 'select command from run')"
command_line='repeated, the weights are the same to the last bit'
first=$(sed -n 2p "$work/out" | awk '{ print $NF }')
same 'digest' "$first" "$(eval "$(value 'select command from run')" | sed -n 2p | awk '{ print $NF }')"

# The configuration comes first, --quiet and --json leave it out.
command_line='configuration'
mgbench run mlp --backend host --steps 1 --warmup 0 --gpus 2 >"$work/out"
same 'lines' 'model data backend versions clocks devices batch placement training memory run' \
    "$(awk 'NR <= 11 { printf "%s%s", $1, NR < 11 ? " " : "\n" }' "$work/out")"
same 'says that no GPU is one' 1 "$(grep -c 'CPU devices that play GPUs' "$work/out")"
same 'json' '{"run":' "$(mgbench run mlp --backend host --steps 1 --json 2>/dev/null | cut -c 1-7)"

# Spellings of yes and no.
for no in --cpu-merge=no --cpu-merge=false --no-cpu-merge; do
    command_line="mgbench plan mlp $no"
    same 'sum_at' 'sum_at=/gpu:1' "$(mgbench plan mlp --backend host --gpus 1,0 $no | grep -o 'sum_at=[^ ]*')"
done
expect 2 '' "mgbench: --no-cpu-merge takes no value" mgbench plan mlp --no-cpu-merge=no
expect 2 '' "mgbench: unknown option '--no-gpus' (did you mean '--gpus'?)" mgbench plan mlp --no-gpus

# Of which tables towers send the rows they touch.
command_line='mgbench plan lstm_lm'
same 'rows sent' 'rows sent  embedding/embeddings: 0.6 of 9.8 MiB from 2 towers' \
    "$(mgbench plan lstm_lm --backend host --gpus 2 --batch 20 --strategy gradients --sum-at /cpu:0 | grep '^rows sent')"
same 'whole' '' "$(mgbench plan lstm_lm --backend host --gpus 2 --batch 20 --strategy allreduce | grep '^rows sent')"

# Every placement option is a flag, in the help of every command that takes them.
command_line='help'
for command in run plan check verify; do
    same "$command" '30' "$(mgbench $command --help | sed -n '/^placement options/,/^$/p' | grep -c '^  --')"
done

# Refusals name what was wanted, store nothing and leave no database behind.
export MGBENCH_DB=refused.db MGBENCH_CPU_DEVICES=16
expect 4 '' "mgbench: gpus: wanted /gpu:0 ... /gpu:16, present /cpu:0 /gpu:0 ... /gpu:15; there is no /gpu:16; ask for fewer, or 0 for one tower on /cpu:0" \
    mgbench run mlp $host --gpus 17
expect 2 '' "mgbench: gpus = -1: wanted a count from 0, or ids in merge order, as 2,0,3; present /cpu:0 /gpu:0 ... /gpu:15" mgbench run mlp $host --gpus -1
expect 2 '' "mgbench: gpus: wanted /gpu:2 /gpu:2, present /cpu:0 /gpu:0 ... /gpu:15; /gpu:2 is listed twice; give logical = true to run several towers on one GPU" \
    mgbench run mlp $host --gpus 2,2
expect 2 '' "mgbench: batch = 0: give a whole number from 1 to 2147483647" mgbench run mlp $host --batch 0
expect 2 '' "mgbench: --batch and --global-batch exclude each other: examples for each GPU, or of all together" \
    mgbench run mlp $host --batch 4 --global-batch 8
expect 2 '' "mgbench: cpu_relocation = true puts the weights on /cpu:0 and weights_at = /gpu:0 elsewhere: give one of them" \
    mgbench run mlp $host --cpu-relocation --weights-at /gpu:0
expect 2 '' "mgbench: unknown option '--cpu-mrge' (did you mean '--cpu-merge'?)" mgbench run mlp --cpu-mrge
expect 2 '' "mgbench: unknown option '--layers'; --help lists what there is; one of the model is --option layers=..." mgbench run mlp --layers=3
expect 2 '' "mgbench: unknown option '--small'; --help lists what there is" mgbench info --small
expect 2 '' "mgbench: there is no model 'mlq' (did you mean 'mlp'?)" mgbench run mlq
expect 2 '' "mgbench: cannot read model './none.lua': No such file or directory" mgbench run ./none.lua
expect 2 '' "mgbench: --steps: number expected, got 'x'" mgbench run mlp --steps x
expect 2 '' "mgbench: --optimizer: one of sgd, rmsprop, adagrad, adadelta, adam expected, got 'sdg'" \
    mgbench run mlp --optimizer sdg
expect 2 '' "mgbench: run: a word is missing; usage: mgbench run MODEL [options] [placement options]" mgbench run
command_line='an option that has no meaning under the strategy'
for command in run plan check; do
    mgbench $command mlp $host --gpus 2 --strategy allreduce --weights-at /cpu:0 >"$work/out" 2>"$work/err"
    same "$command" 2 $?
    same 'reason' 'mgbench: weights_at has no meaning under strategy = allreduce' "$(cut -d: -f1,2 "$work/err")"
done
command_line='a device that is not there'
mgbench plan mlp $host --gpus 2 --sum-at /gpu:16 2>"$work/err"
same 'exit code' 4 $?
command_line='more than there is memory for'
mgbench run mlp $host --gpus 2 --gpu-memory 64KiB >"$work/out" 2>"$work/err"
same 'exit code' 1 $?
same 'device and bytes' 1 "$(grep -c 'out of memory on /gpu:0: .* needed, 64.0 KiB available' "$work/err")"
unset MGBENCH_CPU_DEVICES

# A plan: figures that agree with each other; nothing stored.
export MGBENCH_DB=plan.db
command_line='mgbench plan'
mgbench plan mlp $host --gpus 3 --global-batch 10 --gpu-memory 16MiB --csv | tr -d '\r' >"$work/out"
same 'rows of the towers' '4 3 3' "$(sed -n 's/^rows of tower,.*,\([0-9]*\)$/\1/p' "$work/out" | tr '\n' ' ' | sed 's/ $//')"
same 'tasks add up' "$(sed -n 's/^tasks,,,all,//p' "$work/out")" \
    "$(sed -n '/,all,/d;s/^tasks,,,[a-z]*,//p' "$work/out" | awk '{ n += $1 } END { print n }')"
largest=$(sed -n 's/^largest batch,.*,//p' "$work/out")
mgbench plan mlp $host --gpus 3 --batch "$largest" --gpu-memory 16MiB >"$work/out"
same "largest batch $largest fits" 0 $?
mgbench plan mlp $host --gpus 3 --batch $((largest + 1)) --gpu-memory 16MiB >"$work/out" 2>&1
same "one more does not" 1 $?
same 'tasks in full' "plan train 'mlp' outputs: 64 rows, 2 towers in 2 classes" \
    "$(mgbench plan mlp $host --gpus 2 --tasks | head -n 1)"
same 'nothing recorded' no "$([ -e plan.db ] && echo yes || echo no)"

# The variable check (ancestors.md 3.2): shared layers are clean, layers made anew in each tower are named with bytes and
# device; a clone leaves its original behind.
command_line='mgbench check'
mgbench check siamese $host --gpus 4 >"$work/out"
same 'siamese' 0 $?
mgbench check siamese_unshared $host --gpus 4 --json >"$work/out"
same 'siamese_unshared' 1 $?
same 'each extra copy' 6 "$(grep -c '"kind":"duplicate","device":"/[a-z]*:[0-9]*","bytes":[1-9]' "$work/out")"
mgbench check siamese_unshared $host --gpus 12 --json >"$work/out"
same 'tower_1 is not tower_10' '22 22' "$(grep -c tower_ "$work/out") $(grep -o '"variable":"[^"]*"' "$work/out" | sort -u | wc -l)"
mgbench check mlp $host --gpus 2 --cpu-relocation --relocation clone --json >"$work/out"
same 'clone' 1 $?
same 'leftovers' "$(mgbench check mlp $host --gpus 2 --cpu-relocation --relocation clone --json | wc -l)" \
    "$(grep -c '"kind":"leftover","device":"/gpu:0"' "$work/out")"
mgbench check mlp $host --gpus 2 --cpu-relocation >"$work/out"
same 'move' 0 $?

# Verify.
expect 0 'the same to the last bit over 4 steps' '' \
    mgbench verify mlp $host --gpus 2 --batch 4 --steps 4 --cpu-merge --against --cpu-merge=no --cpu-relocation
command_line='verify: different'
mgbench verify mlp $host --gpus 2 --batch 4 --steps 2 --against --global-batch 12 --csv >"$work/out" 2>"$work/err"
same 'exit code' 1 $?
same 'csv' 'equal,bitwise,steps,first_step' "$(head -n 1 "$work/out" | cut -d, -f1-4)"
expect 2 '' "mgbench: verify: --against is missing: the other placement comes after it" mgbench verify mlp

finish
