#!/bin/sh
# What a GPU reaches, and mgbench beside PyTorch on the same GPU, as the table that tests/gpu/RESULTS.md keeps. Not a test.
#     tests/bench/gpu/run.sh [--build FOLDER] [--peer FOLDER] [--models LIST] [--precisions LIST] [--rounds N] [--steps N]
#         [--python COMMAND] [--compiled no] [--fakes yes] >tests/gpu/RESULTS.md
# --build: default build/release, with the target `benches`; --peer: the folder of torch_bench.py (or $MGB_PEER_FOLDER), without
# which PyTorch is left out; --models: default resnet50,inception_v3,lstm_lm,gpt2; --precisions: default tf32,bf16; --rounds:
# default 5, sides in turn, the median counts; --steps: timed steps of a round (30); --python: one that has a torch with CUDA (or
# $MGB_PEER_PYTHON). Same net, batch, precision, fixed batch of random numbers, dropout and SGD with momentum on both sides.
# Models with convolutions are run twice, without cuDNN (MGBENCH_CUDNN=off) and with it (on), where the plugin is built with it.
# --fakes yes: tiny sizes on the fake CUDA runtime, to see that this script works; the page says that it is worth nothing.
# Times count only of a GPU that nothing else uses: nvidia-smi is asked first, and the page says what it said.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
build=$root/build/release peer=${MGB_PEER_FOLDER:-} models=resnet50,inception_v3,lstm_lm,gpt2 precisions=tf32,bf16
rounds=5 steps=30 compiled=yes fakes=no python=${MGB_PEER_PYTHON:-python3} suffix='' sizes='256 8192' stretches='16 100 10'

stop() {
    echo "run.sh: $2" >&2
    exit "$1"
}

while [ $# -gt 0 ]; do
    [ $# -gt 1 ] || stop 2 "$1: an option with a value expected; the head of $0 tells them"
    case $1 in
        --build) build=$(cd "$2" && pwd) ;;
        --peer) peer=$2 ;;
        --models) models=$2 ;;
        --precisions) precisions=$2 ;;
        --rounds) rounds=$2 ;;
        --steps) steps=$2 ;;
        --python) python=$2 ;;
        --compiled) compiled=$2 ;;
        --fakes) fakes=$2 ;;
        *) stop 2 "$1 is no option; the head of $0 tells them" ;;
    esac
    shift 2
done
if [ "$fakes" = yes ]; then
    suffix=_on_fakes sizes='1 32' stretches='2 2 1'
    export MGBENCH_PLUGIN_DIR="$build/fake_plugin"
fi
cudnn=no
! grep -q cudnnConvolutionForward "${MGBENCH_PLUGIN_DIR:-$build}/libmgb_cuda.so" 2>/dev/null || cudnn=yes
[ -x "$build/mgbench" ] || stop 77 "$build/mgbench is not there"
[ -x "$build/tests/bench_gpu_card$suffix" ] || stop 77 "$build/tests/bench_gpu_card$suffix is not there; build the target benches"
"$build/mgbench" devices --backend cuda >/dev/null || stop 77 "no GPU"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# describe MODEL PRECISION: what it is called on either side, its batch, the least part of PyTorch's examples/s, eager, without
# cuDNN and with it, and the words of MGBENCH_CUDNN that it is run with.
describe() {
    net=$1 options='' goal='-' goal_on='-' ways=off
    case $1 in
        resnet50) batch=64 goal=0.9 goal_on=1.1 ways='off on' ;;
        inception_v3) net=inception3 batch=64 ways='off on' ;;
        lstm_lm) batch=64 ;;
        gpt2) batch=8 options='seq = 256' ;;
        *) stop 2 "--models: resnet50, inception_v3, lstm_lm and gpt2 are known, not $1" ;;
    esac
    [ "$1 $2" != 'gpt2 bf16' ] || goal=1.0
    [ "$cudnn" = yes ] || ways=off
    if [ "$fakes" = yes ]; then
        batch=2 options='small = true'
    fi
}

# figure FILE: the median of median_ms= in it, or nothing.
figure() {
    sed -n 's/.*median_ms=\([0-9.]*\).*/\1/p' "$1" 2>/dev/null | sort -n |
        awk '{ list[NR] = $1 } END { if (NR) print NR % 2 ? list[(NR + 1) / 2] : (list[NR / 2] + list[NR / 2 + 1]) / 2 }'
}

# side NAME COMMAND...: once more; a side that fails says so on the other page and is left out.
side() {
    name=$1
    shift
    "$@" >>"$work/$name" 2>"$work/err" || { echo "run.sh: $model, $precision: $name failed:" >&2 && tail -n 3 "$work/err" >&2; }
}

ours() { # off or on
    rm -f "$work"/step.db*
    side "ours_$1" env MGBENCH_CUDNN="$1" "$build/mgbench" -e "$here/../models/step.lua" --db "$work/step.db" --quiet --model "$model" --options "$options" \
        --batch "$batch" --devices 1 --steps "$steps" --warmup 10 \
        --placement "backend = 'cuda', cpu_merge = false, precision = '$precision'"
}

theirs() { # eager, or compiled --compiled
    name=$1
    shift
    # shellcheck disable=SC2086
    side "$name" $python "$here/on_card.py" "$peer/torch_bench.py" "$net" "$batch" "$steps" "$precision" "$@"
}

rows() {
    rm -f "$work/ours_off" "$work/ours_on" "$work/eager" "$work/compiled"
    round=0
    while [ "$round" -lt "$rounds" ]; do
        for way in $ways; do
            ours "$way"
        done
        if [ -n "$peer" ]; then
            theirs eager
            [ "$compiled" = no ] || theirs compiled --compiled
        fi
        round=$((round + 1))
    done
    for way in $ways; do
        [ "$way" = off ] || goal=$goal_on
        row
    done
}

row() {
    echo "$(figure "$work/ours_$way"), $(figure "$work/eager"), $(figure "$work/compiled")" |
        awk -F', ' -v model="$model" -v precision="$precision" -v cudnn="$way" -v batch="$batch" -v goal="$goal" '
        function rate(ms) { return ms > 0 ? sprintf("%.0f", batch * 1000 / ms) : "-" }
        function ratio(ms) { return ms > 0 && $1 > 0 ? sprintf("%.2f", ms / $1) : "-" }
        { met = goal == "-" || ratio($2) == "-" ? "-" : $2 / $1 >= goal ? "yes" : "no"
          printf "| %s, %d | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", model, batch, precision, cudnn, rate($1), rate($2), rate($3),
              ratio($2), ratio($3), goal, met }'
}

echo '# GPU results'
echo
if [ "$fakes" = yes ]; then
    echo 'This page is of devices made of threads: it shows that the script works, and its figures mean nothing.'
else
    echo "$(date -u +%F), commit $(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo '?'), one GPU:"
    echo
    nvidia-smi --query-gpu=index,name,driver_version,clocks.max.sm,utilization.gpu,memory.used --format=csv 2>/dev/null |
        sed 's/^/    /' || true
fi
echo
echo '## The card, and kernels against it'
echo
echo '| what | figure | unit | goal |'
echo '|---|---|---|---|'
# shellcheck disable=SC2086
"$build/tests/bench_gpu_card$suffix" $sizes >"$work/card" || stop 1 "bench_gpu_card failed: $(cat "$work/card")"
awk -F' [|] ' '{ goal = $4 == "" ? "-" : $4 + 0 >= 85 ? "85 %: met" : "85 %: not met"; sub(/ [|]$/, "", $3)
    printf "| %s | %s | %s%s | %s |\n", $1, $2, $3, $4 == "" ? "" : ", " $4, goal }' "$work/card"
echo
echo '## Steps enqueued and replayed'
echo
# shellcheck disable=SC2086
"$build/tests/bench_gpu_replay$suffix" $stretches >"$work/replay" || stop 1 "bench_gpu_replay failed: $(cat "$work/replay")"
sed 's/^/    /' "$work/replay"
echo
echo '## Models beside PyTorch, examples a second'
echo
[ "$cudnn" = yes ] || printf '%s\n\n' 'The plugin was built without cuDNN (MGB_WITH_CUDNN=ON builds it with it): the rows and goals with it are missing.'
echo '| model, batch | precision | cuDNN | mgbench | eager | compiled | to eager | to compiled | goal | met |'
echo '|---|---|---|---|---|---|---|---|---|---|'
for model in $(echo "$models" | tr , ' '); do
    for precision in $(echo "$precisions" | tr , ' '); do
        describe "$model" "$precision"
        rows
    done
done
