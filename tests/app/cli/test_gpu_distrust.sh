# What is not to be trusted of GPUs is found, said and kept, in the whole program on fake ones: several ranks on one GPU, sums
# that arrive wrong, pairs beyond the driver's limit of peers, copies that pass through the host unasked.
# (reference/ecosystem.md 6.3, rows 42, 46 and 47; reference/ancestors.md 5, row 76.)
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
. "$MGB_SOURCE_DIR/tests/app/cli/fake_gpus.sh"
export MGBENCH_DB=r.db

# ---- row 46: four ranks on one GPU ----
export FAKE_CUDA_DEVICES=1
expect 2 '' "mgbench: gpus: wanted /gpu:0 /gpu:0 /gpu:0 /gpu:0, present /cpu:0 /gpu:0; /gpu:0 is listed twice; give logical = true to run several towers on one GPU" \
    "$MGBENCH" run mlp --backend cuda --gpus 0,0,0,0 --steps 1 --strategy allreduce
expect 4 '' "mgbench: gpus: wanted /gpu:0 ... /gpu:3, present /cpu:0 /gpu:0; there is no /gpu:1; ask for fewer, or 0 for one tower on /cpu:0" \
    "$MGBENCH" run mlp --backend cuda --gpus 4 --steps 1 --strategy allreduce

# ---- row 47: sums that are wrong ----
export FAKE_CUDA_DEVICES=2
reduce='--quiet --gpus 2 --batch 4 --steps 3 --strategy allreduce'
command_line='wrong sums on one GPU'
export FAKE_CUDA_WRONG_SUM=1
start run mlp $reduce
finished
same 'exit code' 1 "$code"
same 'names variable and GPUs' 1 "$(grep -c "replica of '.*' on /gpu:1 differs from its master on /gpu:0 from element" "$work/err")"
same 'stored' 0 "$(ask 'select replicas_agree from segment_stat')"
same 'marked' 1 "$("$MGBENCH" compare 1 1 2>&1 | grep -c 'replicas')"
command_line='wrong sums, the same on all GPUs'
export FAKE_CUDA_WRONG_SUM=all
start run mlp $reduce
finished
same 'replicas agree' 0 "$code"
start verify mlp $reduce --against --strategy gradients
finished
same 'not the same training' 1 "$code"
same 'says so' 1 "$(grep -c 'the two placements do not train the same' "$work/err")"
unset FAKE_CUDA_WRONG_SUM
start verify mlp $reduce --against --strategy gradients
finished
same 'without them it is' 0 "$code"

# ---- row 76: a driver that enables no more peers ----
export FAKE_CUDA_DEVICES=3
spread='run mlp --quiet --batch 4 --steps 3 --warmup 0 --strategy gradients --weights-at spread --sum-at spread'
digest() {
    ask 'select digest from segment order by id desc'
}
start $spread --gpus 3
finished
every=$(digest)
command_line='a pair beyond the limit of peers'
FAKE_CUDA_FAIL=cudaDeviceEnablePeerAccess:1=711 start $spread --gpus 3
finished
same 'exit code' 0 "$code"
same 'that pair alone' '1 0' "$(ask "select count(*) || ' ' || max(peer_access) from link where peer_verdict = 'refused'" | tr -d '"')"
same 'told' 1 "$(ask "select count(*) from note, link where run_id = (select max(id) from run) and peer_verdict = 'refused'
    and text like 'the driver enables no peer access from ' || from_device || ' to ' || to_device ||
    ' %: copies go by way of the host [peer]'")"
same 'the same numbers' "$every" "$(digest)"

# ---- row 42: copies that pass through the host ----
export FAKE_CUDA_DEVICES=2
explained() { # words: how often the explanation of the newest run has them
    "$MGBENCH" explain last | grep -c "$1"
}
command_line='copies by peer access'
start $spread --gpus 2 --trace 1-2 # tries both ways, which is what a forecast takes
finished
same 'nothing to say' 0 "$(explained '^Between GPUs')"
command_line='peer access off'
start $spread --gpus 2 --trace 1-2 --peer-access=no
finished
same 'said' 1 "$(explained '^Between GPUs .* MB a step go by way of the host: peer access is off')"
same 'what it costs' 1 "$(explained 'that is .* ms of copying, by peer access .* ms')"
command_line='no peer access'
export FAKE_CUDA_PEER=none
start $spread --gpus 2 --trace 1-2 --db none.db
finished
same 'nothing was asked for' 0 "$(grep -c 'peer_access = true' "$work/err")"
start $spread --gpus 2 --peer-access=true --db asked.db
finished
same 'said when asked for' 2 "$(ask "select count(*) from note where text like 'there is no peer access from /gpu:_ to /gpu:_:%'
    and text like '%by way of the host, though peer_access = true [peer]'" asked.db)"
same 'said' 1 "$("$MGBENCH" explain last --db none.db | grep -c '^Between GPUs .* MB a step go by way of the host: no peer access is in use')"
same 'the matrix too' 'staged none' "$(mgbench devices --links --csv | sed -n 2p | awk -F, '{ print $3, $4 }')"

finish
