#!/bin/sh
# From the start of `mgbench --version`, `mgbench models` and `mgbench -e return` to their ends, ms: the last one is run.sh's.
#     tests/bench/start.sh [BUILD FOLDER] [RUNS]
set -eu
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"
[ $# -gt 1 ] || bench_pairs=30
bench_need "$bench_build/tests/bench_pairs" "$bench_build/mgbench"
bench_compare -f wall_ms -- "$bench_build/mgbench" models
bench_compare -f wall_ms -- "$bench_build/mgbench" --version
bench_compare -f wall_ms -- "$bench_build/mgbench" -e return
