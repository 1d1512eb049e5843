#!/bin/sh
# Throughput of two devices of one thread against one device of one thread, mnist_cnn with batch 128 on each.
#     tests/bench/towers.sh [BUILD FOLDER] [PAIRS] [OPTIONS]
# OPTIONS are more placement options, "strategy=allreduce" say.
set -eu
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"
options=${3:-}
bench_need "$bench_build/tests/bench_pairs" "$bench_build/tests/bench_step"
bench_compare -f "$bench_figure" -s 2 -- "$bench_build/tests/bench_step" 128 1 "$bench_steps" "gpus=1" \
    -- "$bench_build/tests/bench_step" 128 1 "$bench_steps" "gpus=2 $options"
