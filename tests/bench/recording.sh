#!/bin/sh
# What recording costs a run: the same steps with their record and without, in turn, which must end at the same loss. A
# ratio near 1 is wanted (wandb/wandb#8666: logging halves the step rate).
#     tests/bench/recording.sh [BUILD FOLDER] [PAIRS] [BATCH] [STEPS] [GPUS] [THREADS]
# MGB_BENCH_FIGURE: loop_ms (a step and what lies between it and the next; the default), median_ms or cpu_ms.
set -eu
MGB_BENCH_FIGURE=${MGB_BENCH_FIGURE:-loop_ms}
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"
batch=${3:-8} steps=${4:-100} gpus=${5:-2} threads=${6:-1}
bench_need "$bench_build/tests/bench_pairs" "$bench_build/tests/bench_recording"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
bench_compare -f "$bench_figure" -e loss -- "$bench_build/tests/bench_recording" "$folder/r.db" "$batch" "$steps" "$gpus" "$threads" \
    -- "$bench_build/tests/bench_recording" none "$batch" "$steps" "$gpus" "$threads"
