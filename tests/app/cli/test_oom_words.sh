# Running out of memory is told once, with what to do about it once, whichever way it is met.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export MGBENCH_DB=r.db

told_once() { # what, exit code
    same "$1: exit code" "$2" "$code"
    same "$1: told" 1 "$(cat "$work/out" "$work/err" | grep -o 'out of memory on' | wc -l | tr -d ' ')"
    same "$1: advice" 1 "$(cat "$work/out" "$work/err" | grep -o 'use a smaller batch' | wc -l | tr -d ' ')"
}
for words in 'plan mnist_cnn' 'run mnist_cnn' 'run mnist_cnn --gpus 2' 'plan mnist_cnn --gpus 2 --json'; do
    command_line="mgbench $words"
    # shellcheck disable=SC2086
    start $words --backend host --gpu-memory 1MiB
    finished
    told_once 'refused' 1
done
command_line='mgbench verify'
start verify mnist_cnn --backend host --gpu-memory 1MiB --against --gpus 2
finished
told_once 'refused' 1
command_line='out of memory in the middle of a step'
export MGBENCH_FAULT=oom:/gpu:0:launch=50
start run mlp --backend host --steps 100
finished
told_once 'planted' 1
unset MGBENCH_FAULT
command_line='a script'
start --backend host -e 'mgb.run{ model = "mnist_cnn", gpu_memory = "1MiB" }'
finished
told_once 'run' 1
start --backend host -e 'local s <close> = mgb.session{ model = "mnist_cnn", gpu_memory = "64MiB", batch = 1 } s:step(1)
    s.batch = 4000'
finished
told_once 'set' 1
start --backend host -e 'print(mgb.run{ model = "mnist_cnn", gpu_memory = "1MiB", expect = "oom" })'
finished
told_once 'expected' 0
command_line='the record of a refused run'
start run mnist_cnn --gpu-memory 1MiB
finished
told_once 'automatic' 1
same 'the backend it would have run on' 1 "$(ask "select backend in ('host', 'cuda') from run order by id desc")"

finish
