# shellcheck shell=sh disable=SC2034
# What the bench scripts share: where the programs are and how runs are counted. Arguments of every script:
#     SCRIPT [BUILD FOLDER] [PAIRS]
# The folder defaults to build/release; its target `benches` must be built. Exit code 77: something is missing.
bench_root=$(cd "$(dirname "$0")/../.." && pwd)
bench_build=${1:-$bench_root/build/release}
bench_pairs=${2:-15}
bench_steps=${MGB_BENCH_STEPS:-20}
# The time of a step by default; cpu_ms where other programs keep the machine busy, min_ms for the least disturbed step.
bench_figure=${MGB_BENCH_FIGURE:-median_ms}

# A pair during which other programs take more than so many percent of the machine is run again, up to 20 times.
bench_quiet=${MGB_BENCH_QUIET:-100}

bench_need() {
    for bench_file in "$@"; do
        [ -x "$bench_file" ] && continue
        echo "$(basename "$0"): $bench_file is not there; build the target benches" >&2
        exit 77
    done
}

# bench_compare OPTION... -- A... -- B...: the comparison's line.
bench_compare() {
    "$bench_build/tests/bench_pairs" -n "$bench_pairs" -q "$bench_quiet" "$@"
}
