# mgbench predict: placements on a simulated machine, the fastest first; the same bytes each time, and what does not fit.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export LC_ALL=C
unset MGBENCH_BACKEND

expect 2 '' 'mgbench: predict: on which machine? Name one with --machine (mgbench machines lists them)' mgbench predict mlp
expect 2 '' "mgbench: --machine: backend host cannot play on it; leave --backend out" mgbench predict mlp --machine dgx1v --backend host

tiny='predict mlp --option height=4 --option width=4 --option hidden=8 --batch 4 --machine p100-pcie-4'
command_line="mgbench $tiny"
# shellcheck disable=SC2086
mgbench $tiny --csv >a
# shellcheck disable=SC2086
mgbench $tiny --csv >b
same 'the same bytes' '' "$(diff a b)"
same 'columns' 'strategy,weights_at,join_at,sum_at,update_at,allreduce,overlap,predicted_ms,low_ms,high_ms,examples_per_s,gpu_mib,verdict,memory,simulated,machine' \
    "$(head -n 1 a | tr -d '\r')"
same 'all GPUs, strategies' 'allreduce gradients outputs' "$(sed 1d a | cut -d, -f 1 | sort -u | tr '\n' ' ' | sed 's/ $//')"
same 'placements differ' '' "$(sed 1d a | cut -d, -f 1-7 | sort | uniq -d)"
sed 1d a | cut -d, -f 8 >times
same 'the fastest first' '' "$(sort -g times | diff - times)"
same 'intervals hold the prediction' '' "$(sed 1d a | awk -F, '!($9 < $8 && $8 < $10)')"
same 'a first that wins, or ties' yes "$(sed 1d a | awk -F, 'NR == 1 { first = $13 } NR > 1 && $13 == "tie" { ties++ }
    END { print (first == (ties ? "tie" : "best")) ? "yes" : "no" }')"
same 'simulated' 'true,p100-pcie-4' "$(sed 1d a | cut -d, -f 15-16 | tr -d '\r' | sort -u)"

same 'nothing is stored' no "$([ -e "${MGBENCH_DB:-$XDG_DATA_HOME/mgbench/results.db}" ] && echo yes || echo no)"

# The prediction is what the run takes.
ms=$(mgbench run mlp --option height=4 --option width=4 --option hidden=8 --batch 4 --machine p100-pcie-4 --gpus 4 \
    --strategy outputs --weights-at /gpu:0 --merge-at /gpu:0 --steps 3 --csv | sed -n 2p | cut -d, -f 4)
same 'as the run' "$ms" "$(grep '^outputs,/gpu:0,/gpu:0,/gpu:0,/gpu:0,' a | cut -d, -f 8)"

# What is given holds for all; words say what it is; what ties, and what does not fit.
# shellcheck disable=SC2086
mgbench $tiny --gpus 2 --strategy gradients --sum-at /cpu:0 --csv >a
same 'given' 'gradients,/cpu:0' "$(sed 1d a | cut -d, -f 1,4 | sort -u)"
# shellcheck disable=SC2086
mgbench $tiny >a
same 'head' 'simulated p100-pcie-4: mlp on 4 GPUs, global batch 16; predictions, nothing is measured' "$(head -n 1 a)"
cat >alike.lua <<'LUA'
local base = mgb.machine("p100-pcie-4")
return base:with{ name = "alike", uncertainty = 0.3, source = { uncertainty = "made up" } }
LUA
# shellcheck disable=SC2086
same 'a file with its own uncertainty' yes "$(mgbench $tiny --machine ./alike.lua | grep -q 'off by 30 %: uncertainty of its file' && echo yes)"
mgbench predict vgg16 --machine p100-pcie-4 --batch 512 --strategy allreduce --csv >a 2>err
code=$?
command_line='mgbench predict vgg16'
same 'exit code' 1 "$code"
same 'a row without a time' 'allreduce,,,,,ring,true,,,,' "$(sed -n 2p a | cut -d, -f 1-11)"
same 'memory' 'out of memory on /gpu:0' "$(sed -n 2p a | cut -d, -f 14)"
same 'said' yes "$(grep -q 'no placement fits' err && echo yes)"
finish
