# Mistakes that newcomers make: each is refused with exit code 2 before anything is shown, stored or run, and told the mend.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export MGBENCH_DB=r.db OMP_WAIT_POLICY=passive
host="--backend host"

expect 2 '' "mgbench: --steps: whole number from 1 to 2147483647 expected, got '0'" mgbench run mlp $host --steps 0
expect 2 '' "mgbench: --steps: whole number from 1 to 2147483647 expected, got '1.5'" mgbench run mlp $host --steps 1.5
expect 2 '' "mgbench: --seed: whole number from 0 to 9223372036854775807 expected, got '-1'" mgbench run mlp $host --seed -1
expect 2 '' "mgbench: --lr: number from 0 expected, got '-1'" mgbench run mlp $host --lr -1
expect 2 '' "mgbench: --steps and --epochs exclude each other" mgbench run mlp $host --steps 3 --epochs 1 --data digits
expect 2 '' "mgbench: --epochs: random data has no end; give --steps, or --data mnist, digits or a file" mgbench run mlp $host --epochs 1
expect 2 '' "mgbench: --momentum belongs to sgd, not adam" mgbench run mlp $host --optimizer adam --momentum .9
expect 2 '' "mgbench: --rho belongs to rmsprop and adadelta, not sgd" mgbench plan mlp $host --rho .9
expect 2 '' "mgbench: mgb.sgd: momentum: number from 0.0 to 1.0 expected, got 1.5" mgbench run mlp $host --momentum 1.5
for words in "--cpu-merge no mlp" "mlp --cpu-merge no"; do
    expect 2 '' "mgbench: run: 'no' is one word too many (did you mean '--cpu-merge=no'?)" mgbench run $words $host
done
expect 2 '' "mgbench: runs: 'tag:x' is one word too many (did you mean '--tag x'?)" mgbench runs tag:x
expect 2 '' "mgbench: run: 'x' is one word too many; usage: mgbench run MODEL [options] [placement options]" mgbench run mlp x

# Files that are no model, and a model that is no script.
echo 'local m = nn.model("x", function(m) end)' >nothing.lua
expect 2 '' "mgbench: './nothing.lua' gives back no model (nil): the file should end in return nn.model(...)" \
    mgbench run ./nothing.lua $host
echo 'print("begins") mgb.run{ model = "mlp", steps = 1 }' >script.lua
expect 2 'begins' "mgbench: 'script.lua' is a script and no model: it calls mgb.run; to run it: mgbench -e script.lua" \
    mgbench run script.lua $host
echo 'return mgb.model("mlp", { height = 4, width = 4, hidden = 8 })' >model.lua
expect 2 '' "mgbench: 'model.lua' is a model and runs nothing; to train it: mgbench run model.lua" mgbench -e model.lua
expect 0 '{"clean":true,"variables":6,"bytes":1024,"copies":1,"duplicates":0,"leftovers":0}' '' \
    sh -c "\"$MGBENCH\" check model.lua $host --json | sed 's/\"bytes\":[0-9]*/\"bytes\":1024/'"
command_line='nothing recorded'
same 'database' no "$([ -e r.db ] && echo yes || echo no)"

# What --help marks as later is what this version refuses.
command_line='later'
same 'marked' '--allreduce --hosts' \
    "$(mgbench run --help | sed -n 's/^  \(--[a-z]*\).*\[later: .*/\1/p' | tr '\n' ' ' | sed 's/ $//')"
for option in --hosts=2 \
    '--strategy allreduce --allreduce hierarchical'; do
    mgbench plan mlp $host --gpus 2 $option >"$work/out" 2>"$work/err"
    same "$option" "4 1" "$? $(grep -c 'is not supported in this version' "$work/err")"
done
for precision in tf32 bf16 f16; do
    expect 4 '' "mgbench: precision = $precision needs GPUs; use f32" mgbench plan mlp $host --precision=$precision
done
expect 4 '' 'mgbench: graph = true: a step that is replayed needs GPUs; use auto or false' \
    mgbench plan mlp $host --graph=yes
expect 2 '' 'mgbench: --backend sim: which machine is to be simulated? Name one with --machine (mgbench machines lists them)' \
    mgbench plan mlp --backend sim

# A tower without rows is told of.
command_line='--gpus 4 --global-batch 3'
same 'header' 1 "$(mgbench plan mlp $host --gpus 4 --global-batch 3 | grep -c '^batch .*; 1 of 4 towers get no row')"

# On a terminal it is told where the results are.
if command -v script >/dev/null; then
    command_line='recorded in'
    same 'told' 1 "$(script -qec "'$MGBENCH' run model.lua $host --steps 1" /dev/null </dev/null | grep -c 'mgbench: recorded in r.db')"
    same 'quiet' 0 "$(script -qec "'$MGBENCH' run model.lua $host --steps 1 --quiet" /dev/null </dev/null | grep -c 'recorded in')"
fi

finish
