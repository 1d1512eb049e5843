#!/bin/sh
# From the start of `mgbench -e return`, `mgbench models` and `mgbench --version` to their ends, ms (wanted: 30).
#     tests/bench/start.sh [BUILD FOLDER] [RUNS]
set -eu
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"
[ $# -gt 1 ] || bench_pairs=30
bench_need "$bench_build/tests/bench_pairs" "$bench_build/mgbench"
bench_compare -f wall_ms -- "$bench_build/mgbench" -e return
bench_compare -f wall_ms -- "$bench_build/mgbench" models
bench_compare -f wall_ms -- "$bench_build/mgbench" --version
