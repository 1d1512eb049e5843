# verify and check: what they say in words and to programs, equal, different and to rounding.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export MGBENCH_DB=r.db OMP_WAIT_POLICY=passive
verify="mgbench verify mlp --backend host --quiet --gpus 2 --batch 4 --steps 4"

expect 0 'the same to the last bit over 4 steps' '' $verify --against --cpu-merge=no
expect 0 '{"equal":true,"bitwise":true,"steps":4,"first_step":null,"difference":0,"weight_difference":0,"variable":null,"verdict":"bits"}' \
    '' $verify --json --against --cpu-merge=no
command_line='verify --csv'
same 'equal' 'true,true,4,,0,0,,bits' "$($verify --csv --against --cpu-merge=no | sed -n 2p | tr -d '\r')"

# Across strategies and numbers of towers the order of sums is another one.
for other in '--strategy gradients' '--gpus 3 --global-batch 8'; do
    command_line="verify --against $other"
    $verify --against $other >"$work/out" 2>&1
    same 'exit code' 0 $?
    same 'says so' 1 "$(grep -c 'same to rounding over 4 steps: losses differ by at most .*1e-05 is promised' "$work/out")"
done
command_line='weights equal, losses not'
same 'said' 1 "$($verify --against --strategy gradients | grep -c 'weights equal to the last bit')"
command_line='the last bit asked for'
$verify --tolerance 0 --against --strategy gradients >"$work/out" 2>&1
same 'exit code' 1 $?
same 'digits that tell losses apart' 2 "$(sed -n 's/.*: loss \([0-9.]*\) against \([0-9.]*\),.*/\1 \2/p' "$work/out" |
    tr ' ' '\n' | sort -u | wc -l)"

command_line='other batch'
$verify --against --batch 8 >"$work/out" 2>&1
same 'exit code' 1 $?
same 'says so' 1 "$(grep -c 'the global batches differ, 8 against 16 examples a step' "$work/out")"

for other in --cpu-merge=no '--strategy gradients'; do
    command_line="diverged, against $other"
    same 'both' 1 "$($verify --lr 1e30 --against $other 2>&1 | grep -c '; both diverged: from step 1 on no loss is a number')"
done

# A clean check is an object too.
command_line='check --json'
same 'object' '{"clean":true,"variables":6,"bytes":473128,"copies":2,"duplicates":0,"leftovers":0}' \
    "$(mgbench check mlp --backend host --gpus 2 --strategy allreduce --json)"

# A preset is shown as asked; the places are what it meant.
command_line='plan --like keras'
same 'placement' 'placement  strategy=outputs like=keras weights_at=/gpu:0 join_at=/cpu:0 loss_at=/gpu:0 sum_at=/gpu:0 update_at=/gpu:0' \
    "$(mgbench plan mlp --backend host --gpus 2 --like keras 2>/dev/null | grep '^placement')"

# A plan is a line a device, in MiB; the rows of the towers are told when they differ.
command_line='plan'
mgbench plan mlp --backend host --quiet --gpus 3 --global-batch 10 >"$work/out"
same 'rows' 'rows       4 3 3' "$(grep '^rows' "$work/out")"
same 'held' '/cpu:0 /gpu:0 /gpu:1 /gpu:2' "$(sed -n '/^MiB held/,/^$/s/^\(\/[^ ]*\) .*/\1/p' "$work/out" | tr '\n' ' ' | sed 's/ $//')"

finish
