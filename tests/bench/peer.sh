#!/bin/sh
# mgbench against PyTorch: mnist_cnn, batch 128, one device of two threads, a fixed batch on both sides.
#     tests/bench/peer.sh [BUILD FOLDER] [PAIRS] PEER SCRIPT
# PEER SCRIPT is called as `python3 SCRIPT mnist_cnn 128 2 STEPS --cl` and prints median_ms=. $MGB_PEER_PYTHON is the Python
# that has torch; $MGB_PEER_LIBRARIES the folder of an OpenBLAS on OpenMP, without which two kinds of threads would fight.
set -eu
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"
peer=${3:-${MGB_PEER:-}}
python=${MGB_PEER_PYTHON:-/usr/bin/python3}
libraries=${MGB_PEER_LIBRARIES:-/usr/lib/$(uname -m)-linux-gnu/openblas-openmp}
if [ ! -f "$peer" ] || [ ! -d "$libraries" ] || ! "$python" -c 'import torch' 2>/dev/null; then
    echo "peer.sh: give the peer's script, and install python3-torch and libopenblas0-openmp" >&2
    exit 77
fi
bench_need "$bench_build/tests/bench_pairs" "$bench_build/mgbench"
script="local r = mgb.run{ model = 'mnist_cnn', gpus = 1, batch = 128, threads = 2, warmup = 3,
    steps = $bench_steps, optimizer = mgb.sgd{ lr = 0.001, momentum = 0.9 } }
print(string.format('median_ms=%.4f', r.step_ms.median))"
db=$(mktemp -d)
trap 'rm -rf "$db"' EXIT
bench_compare -f "$bench_figure" -- "$bench_build/mgbench" -e "$script" --db "$db/peer.db" \
    -- env LD_LIBRARY_PATH="$libraries" OMP_NUM_THREADS=2 "$python" "$peer" mnist_cnn 128 2 "$bench_steps" --cl
