#!/bin/sh
# A training step of models of the collection beside PyTorch's, and how much memory each takes. Not a test.
#     tests/bench/models/run.sh --peer FOLDER [--build FOLDER] [--models LIST] [--devices LIST] [--rounds N] [--threads N]
#         [--steps N] [--figure NAME] [--keep FILE] [--python COMMAND] [--libraries FOLDER] [--compiled yes]
# With tests/bench_bare in the build (target benches) the bare operators, called one after another, are timed too.
# --peer: the folder of torch_bench.py and torch_ddp.py (or $MGB_PEER_FOLDER); --build: default build/release; --models:
# default mnist_cnn,lstm_lm,snli,resnet50,inception_v3; --devices: 1, against one process, 2, against DistributedDataParallel
# of two processes over gloo with one thread each and the same batch in all (mnist_cnn, lstm_lm, resnet50), or 1,2 (default);
# --rounds: default 5; --threads: of the one device (2); --steps: timed steps a measurement, else 3 to 20 by model;
# --figure: of the steps of a measurement the median_ms (default), or min_ms, the least disturbed one; --keep: a file for the
# single measurements; --python: a Python that has torch (or $MGB_PEER_PYTHON), may be several words: `chroot /root13 python3`;
# --libraries: the folder of an OpenBLAS on OpenMP, without which two kinds of threads would fight. --compiled yes: PyTorch of 2 or
# later by torch.compile as well (compiled.py), which takes a C++ compiler, python3-dev, python3-setuptools and libtorch-dev there.
# Equal on both sides: net, batch, one fixed batch of random numbers, threads, dropout, SGD with momentum, two steps (three
# beside gloo) before those timed. In a round each side runs once, who goes first changes; PyTorch runs with channels first
# and, where the net has images, last: the faster counts. The time is what each side reports of its own steps, the
# memory the peak resident set of the process, by GNU time on both sides. table.awk says what the columns are. The peak of
# a core is probed seven times before and whenever mgbench runs; the best counts.
# Times on a busy machine mean nothing: look at the load that is printed first and at the last column. Threads of PyTorch that
# spin while others compute lose many times more than mgbench's, so that ratios from there flatter mgbench.
# A quiet machine of two cores takes about a minute a round for mnist_cnn,lstm_lm,snli and 1.5 to 3 for resnet50,inception_v3.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../../build/release
peer=${MGB_PEER_FOLDER:-}
models=mnist_cnn,lstm_lm,snli,resnet50,inception_v3
devices=1,2 rounds=5 threads=2 steps='' keep='' figure=median_ms compiled=no
python=${MGB_PEER_PYTHON:-/usr/bin/python3}
libraries=${MGB_PEER_LIBRARIES:-/usr/lib/$(uname -m)-linux-gnu/openblas-openmp}

stop() {
    echo "run.sh: $2" >&2
    exit "$1"
}

while [ $# -gt 0 ]; do
    [ $# -gt 1 ] || stop 2 "$1: an option with a value expected; the head of $0 tells them"
    case $1 in
        --peer) peer=$2 ;;
        --build) build=$2 ;;
        --models) models=$2 ;;
        --devices) devices=$2 ;;
        --rounds) rounds=$2 ;;
        --threads) threads=$2 ;;
        --steps) steps=$2 ;;
        --figure) figure=$2 ;;
        --keep) keep=$2 ;;
        --python) python=$2 ;;
        --libraries) libraries=$2 ;;
        --compiled) compiled=$2 ;;
        *) stop 2 "$1 is no option; the head of $0 tells them" ;;
    esac
    shift 2
done
case $figure in median_ms | min_ms) ;; *) stop 2 "--figure: median_ms or min_ms expected" ;; esac
[ -x "$build/mgbench" ] || stop 77 "$build/mgbench is not there"
[ -x /usr/bin/time ] || stop 77 "GNU time is not there"
if [ ! -f "$peer/torch_bench.py" ] || [ ! -f "$peer/torch_ddp.py" ]; then
    stop 77 "--peer: the folder of torch_bench.py and torch_ddp.py expected"
fi
[ -d "$libraries" ] || stop 77 "$libraries is not there; install libopenblas0-openmp"
# shellcheck disable=SC2086
$python -c 'import torch' 2>/dev/null || stop 77 "$python has no torch; install python3-torch and python3-torchvision"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
: >"$work/measured"

# CPU time of the machine so far, in clock ticks: spent, and spent or idle.
machine() {
    awk '/^cpu / { print $2 + $3 + $4 + $7 + $8 + $9, $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9; exit }' /proc/stat
}

# measure SIDE COMMAND...: a line of row, side, round, what the command printed as name=value, and what it took.
measure() {
    side=$1
    shift
    before=$(machine)
    /usr/bin/time -o "$work/time" -f 'maxrss_kb=%M cpu_s=%U+%S' "$@" >"$work/out" 2>"$work/err" || {
        cat "$work/out" "$work/err" >&2
        stop 1 "failed: $*"
    }
    after=$(machine)
    printf '%s side=%s round=%s %s %s ticks=%s rate=%s\n' "$row" "$side" "$round" "$(grep median_ms= "$work/out")" \
        "$(grep maxrss_kb= "$work/time")" "$(echo "$before $after" | tr ' ' ,)" "$(getconf CLK_TCK)" >>"$work/measured"
}

ours() {
    rm -f "$work"/step.db*
    measure mgbench "$build/mgbench" -e "$here/step.lua" --db "$work/step.db" --quiet --model "$name" --options "$options" \
        --batch "$batch" --steps "$timed" "$@"
}

# by_compiler LAYOUT [--cl]: the program goes as text: another root may not see this folder.
by_compiler() {
    # shellcheck disable=SC2086
    measure "$1" env LD_LIBRARY_PATH="$libraries" OMP_NUM_THREADS="$threads" $python -c "$(cat "$here/compiled.py")" \
        "$peer/torch_bench.py" "$net" "$batch" "$threads" "$timed" ${2:-}
}

# theirs LAYOUT [--cl]
theirs() {
    # shellcheck disable=SC2086
    measure "$1" env LD_LIBRARY_PATH="$libraries" OMP_NUM_THREADS="$threads" $python "$peer/torch_bench.py" \
        "$net" "$batch" "$threads" "$timed" ${2:-}
}

turn() {
    case $1 in
        mgbench) ours --devices 1 --threads "$threads" --warmup 2 --placement 'cpu_merge = false' ;;
        bare) measure bare "$build/tests/bench_bare" "$batch" "$threads" "$timed" "'$name', { $options }" ;;
        nchw) theirs nchw ;;
        nhwc) theirs nhwc --cl ;;
        compiled) by_compiler compiled ;;
        compiled_nhwc) by_compiler compiled_nhwc --cl ;;
        mgbench2) ours --devices 2 --threads 1 --warmup 3 --placement 'strategy = "allreduce"' ;;
        gloo)
            # shellcheck disable=SC2086
            measure gloo env LD_LIBRARY_PATH="$libraries" OMP_NUM_THREADS=1 $python "$peer/torch_ddp.py" \
                "$net" $((batch / 2)) "$timed" 2 1
            ;;
    esac
}

# alternate SIDE...: each once a round, the order moves on by one from round to round.
alternate() {
    round=0
    while [ "$round" -lt "$rounds" ]; do
        for side in "$@"; do turn "$side"; done
        first=$1
        shift
        set -- "$@" "$first"
        round=$((round + 1))
    done
    awk -f "$here/table.awk" -v row="$row" -v goal="$goal" -v memory_goal="$memory_goal" -v figure="$figure" \
        -v cores="$cores" "$work/measured"
}

# describe MODEL: what it is called on either side, and the goals of its time on one and on two devices.
describe() {
    name=$1 net=$1 options='' images=no goal2=''
    case $1 in
        mnist_cnn) batch=128 timed=20 goal1=0.8 goal2=0.95 images=yes ;;
        lstm_lm) batch=32 timed=8 goal1=0.9 goal2=0.95 ;;
        snli | snli_bilstm) name=snli_bilstm net=snli options='peer = true' batch=32 timed=10 goal1=0.95 ;;
        resnet50) batch=8 timed=3 goal1=1.0 goal2=0.95 images=yes ;;
        inception_v3) net=inception3 batch=4 timed=3 goal1=0.95 images=yes ;;
        *) stop 2 "--models: mnist_cnn, lstm_lm, snli, resnet50 and inception_v3 are known, not $1" ;;
    esac
    timed=${steps:-$timed}
}

for model in $(echo "$models" | tr , ' '); do describe "$model"; done
printf 'load %s, %s processors, %s rounds, %s threads\n' "$(cut -d' ' -f1-3 /proc/loadavg)" "$(nproc)" "$rounds" "$threads"
describe mnist_cnn
row=peak batch=1 timed=1
for round in 0 1 2 3 4 5 6; do ours --devices 1 --threads 1 --warmup 0 --placement ''; done
awk -f "$here/table.awk" -v head=1 /dev/null
for count in $(echo "$devices" | tr , ' '); do
    for model in $(echo "$models" | tr , ' '); do
        describe "$model"
        if [ "$count" = 1 ]; then
            row=$model-$batch goal=$goal1 memory_goal=0.8 cores=$threads
            sides='nchw'
            if [ -x "$build/tests/bench_bare" ]; then sides="$sides bare"; fi
            if [ "$images" = yes ]; then sides="$sides nhwc"; fi
            if [ "$compiled" = yes ]; then sides="$sides compiled"; fi
            if [ "$compiled$images" = yesyes ]; then sides="$sides compiled_nhwc"; fi
            # shellcheck disable=SC2086
            alternate mgbench $sides
        elif [ -n "$goal2" ]; then
            row=$model-2x$((batch / 2)) goal=$goal2 memory_goal='' cores=2
            alternate mgbench2 gloo
        fi
    done
done
if [ -n "$keep" ]; then cp "$work/measured" "$keep"; fi
