#!/bin/sh
# What the engine costs: steps of mnist_cnn, batch 128, through it against the same operators in a plain loop, which must
# end at the same loss to the last bit. Everything is on the one device: what a placement copies is no overhead.
#     tests/bench/overhead.sh [BUILD FOLDER] [PAIRS] [THREADS]
set -eu
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"
threads=${3:-2}
bench_need "$bench_build/tests/bench_pairs" "$bench_build/tests/bench_step" "$bench_build/tests/bench_bare"
bench_compare -f "$bench_figure" -e loss -- "$bench_build/tests/bench_step" 128 "$threads" "$bench_steps" \
    "gpus=1 cpu_merge=false" -- "$bench_build/tests/bench_bare" 128 "$threads" "$bench_steps"
