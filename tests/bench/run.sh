#!/bin/sh
# All benches in turn as a table: what was run, the figure, its 95 % interval, the goal, and whether the bound that counts
# keeps to it. Not a test: times on a busy machine mean nothing, so look at the load that is printed first.
#     tests/bench/run.sh [BUILD FOLDER] [PAIRS] [PEER SCRIPT]
# MGB_BENCH_STEPS: steps a run (20); MGB_BENCH_FIGURE: median_ms, min_ms, tenth_ms or cpu_ms (see figures.h); MGB_BENCH_QUIET: percent of
# the machine that other programs may take before a pair is run again; MGB_BENCH_FILE: a database of many runs for the
# terminal program, as MGB_BENCH_KEEP=1 bench_database leaves it.
set -eu
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"
here=$(dirname "$0")
peer=${3:-${MGB_PEER:-}}
tests=$bench_build/tests
runs=$((bench_pairs < 5 ? bench_pairs : 5))
printf 'load %s, %s processors\n' "$(cut -d' ' -f1-3 /proc/loadavg)" "$(nproc)"
format='%-46s %9s  %-18s %-8s %-8s %s\n'
# shellcheck disable=SC2059
printf "$format" command figure interval goal met "others %"

# bench_row TITLE NAME BOUND GOAL SCRIPT...: the figure called NAME (ratio, a), of which the bound called BOUND (low, high or
# value) must keep to GOAL ("<1.03", ">=1.8").
bench_row() {
    title=$1 name=$2 bound=$3 goal=$4
    shift 4
    status=0
    line=$("$@") || status=$?
    printf '%s\n' "$line" | awk -v title="$title" -v name="$name" -v bound="$bound" -v goal="$goal" -v status="$status" \
        -v format="$format" '
        {
            for (i = 1; i <= NF; i++) { split($i, part, "="); figure[part[1]] = part[2] }
        }
        END {
            if (status == 77) { printf format, title, "-", "-", goal, "not run", "-"; exit }
            if (status != 0) { printf format, title, "-", "-", goal, "failed", "-"; exit }
            value = figure[name]; low = figure[name "_low"]; high = figure[name "_high"]
            judged = bound == "low" ? low : bound == "high" ? high : value
            match(goal, /[0-9.]+/)
            limit = substr(goal, RSTART) + 0
            sign = substr(goal, 1, RSTART - 1)
            met = sign == "<" ? judged < limit : sign == "<=" ? judged <= limit : judged >= limit
            printf format, title, sprintf("%.4g", value), sprintf("%.4g to %.4g", low, high), goal, met ? "yes" : "no", figure["others"]
        }'
}

bench_row "engine / plain loop, 2 threads" ratio high "<1.03" "$here/overhead.sh" "$bench_build" "$bench_pairs" 2
bench_row "engine / plain loop, 1 thread" ratio high "<1.03" "$here/overhead.sh" "$bench_build" "$bench_pairs" 1
# 3 % of a step of about 50 ms; less disturbed by other programs than the ratios above.
bench_row "no task at work in a step, 2 threads, ms" a high "<1.5" "$tests/bench_pairs" -n "$runs" -f besides_tenth_ms \
    -- "$tests/bench_tasks" 128 2 "$bench_steps" "gpus=1 cpu_merge=false"
bench_row "mgbench / PyTorch, mnist_cnn 128, 2 threads" ratio value "<=0.9" \
    "$here/peer.sh" "$bench_build" "$bench_pairs" "$peer"
bench_row "2 devices / 1 device, throughput" ratio value ">=1.8" "$here/towers.sh" "$bench_build" "$bench_pairs"
bench_row "2 devices / 1 device, all-reduce" ratio value ">=1.8" "$here/towers.sh" "$bench_build" "$bench_pairs" \
    strategy=allreduce
bench_row "start of mgbench -e return, ms" a value "<30" "$here/start.sh" "$bench_build"
bench_row "recorded / not recorded, a step" ratio high "<1.02" "$here/recording.sh" "$bench_build" "$bench_pairs"
bench_row "recorder, ns of the step thread a record" a value "<1000" \
    "$tests/bench_pairs" -n "$runs" -f wall -- "$tests/bench_recorder" 1000000
"$tests/bench_database"
if [ -x "$tests/bench_screen" ]; then
    (cd "$bench_build" && tests/bench_screen "${MGB_BENCH_FILE:--}")
fi
bench_row "all-reduce of 100 MB, 2 threads, ms" a value "<=16" \
    "$tests/bench_pairs" -n "$runs" -f MB: -- "$tests/bench_allreduce" 2 100
