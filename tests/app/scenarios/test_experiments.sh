# The experiments that come with mgbench run; with MGB_LONG=1 mnist_cnn is trained to its accuracy on the test digits.
. "${MGB_SOURCE_DIR:?}/tests/app/scenarios/driver.sh"
experiments=$MGB_SOURCE_DIR/scripts/experiments
export MGBENCH_DB="$work/x.db"

"$MGBENCH" -e "$experiments/toggles.lua" --model digits_cnn --steps 4 --batch 8 >"$work/toggles" || fail toggles "it failed"
[ "$(grep -c ' yes ' "$work/toggles")" = 6 ] || fail toggles "a change touched the weights: $(cat "$work/toggles")"
"$MGBENCH" -e "$experiments/scaling.lua" --model digits_cnn --gpus 1,3 --steps 3 --batch 6 --csv >"$work/out" ||
    fail scaling "it failed"
[ "$(grep -c ',ok' "$work/out")" = 10 ] || fail scaling "rows are missing: $(cat "$work/out")"
threads=$("$MGBENCH" query "select count(distinct s.threads) from segment s join sweep_point p on p.run_id = s.run_id
    join sweep w on w.id = p.sweep_id where w.name in ('weak', 'strong')" --csv | sed -n 2p | tr -d '\r')
[ "$threads" = 1 ] || fail scaling "points have other threads a device than others"
grep -q ' skew_ms ' "$work/toggles" || fail 61 "no skew: $(cat "$work/toggles")"
[ "$(sed -n '/^start and finish/,$p' "$work/toggles" | grep -c ' /gpu:[01]  *[0-9.e-]*  *[0-9.e-]*$')" = 12 ] ||
    fail 61 "start and finish of the GPUs are missing: $(cat "$work/toggles")"

# Backup replicas: the more there are, the shorter the step and the more work for nothing; none of it without any.
"$MGBENCH" -e "$experiments/stragglers.lua" --model mlp --replicas 16 --step-sigma 0.3 --backups 0,2,8 --steps 20 --csv \
    >"$work/out" || fail stragglers "it failed"
tr -d '\r' <"$work/out" | awk -F, 'NR > 3 && ($3 >= step || $7 <= wasted) || NR == 3 && $7 != 0 { bad = 1 }
    NF == 7 { rows++; step = $3; wasted = $7 } END { exit (bad || rows != 4) }' || fail stragglers "another shape: $(cat "$work/out")"

# Row 59: what a step is bound by. A dense model of one row a GPU computes next to nothing and moves all of its weights.
"$MGBENCH" -e "$experiments/placement.lua" --model mnist_cnn --data random --batch 1 --steps 3 >"$work/out" ||
    fail placement "it failed"
tr '\n' ' ' <"$work/out" |
    grep -q ' gpus=2 cpu_relocation=no cpu_merge=yes:   *computes for .* % of a step, .* for .* %: it is [a-z]* bound\. $' || fail 59 "what bounds it is not said: $(cat "$work/out")"

# Row 58: the break-even batch is said, whichever way it comes out.
for against in one merge relocation; do
    "$MGBENCH" -e "$experiments/batch.lua" --model digits_cnn --batches 2,32 --steps 4 --against $against >"$work/out" ||
        fail batch "it failed"
    grep -Eq '^break-even batch of .*: (between 2 and 32|2 or below|above 32)$' "$work/out" ||
        fail 58 "no break-even batch: $(cat "$work/out")"
done

# The table of the deep_qa thread: 32 and 64 fit on one GPU, 128 does not, two and four GPUs take 64 each.
"$MGBENCH" -e "$experiments/deep_qa.lua" --small --steps 2 --csv >"$work/out" || fail deep_qa "it failed"
[ "$(sed -n 's/^\([124],[0-9]*,[a-z]*\),.*/\1/p' "$work/out" | tr '\n' ' ')" = '1,32,ok 1,64,ok 1,128,oom 2,32,ok 2,64,ok 4,64,ok ' ] ||
    fail deep_qa "another shape: $(cat "$work/out")"
grep -q 'on one GPU at most 64 examples fit' "$work/out" || fail deep_qa "the largest batch: $(cat "$work/out")"

# The memory column of the Keras thread: a clone leaves as much behind as the weights take, a move nothing.
"$MGBENCH" -e "$experiments/keras_relocation.lua" --model mlp --gpus 2 --steps 2 --json >"$work/out" || fail keras "it failed"
weights=$(sed -n 's/.*"built on GPU 0",.*"gpu0_weights":\([0-9.]*\).*/\1/p' "$work/out")
for row in 'built on the CPU:0:0' "built on GPU 0:$weights:0" "built on GPU 0, cloned to the CPU:$weights:$weights" \
    'built on GPU 0, moved to the CPU:0:0'; do
    wanted="\"model_is\":\"${row%%:*}\",\"gpu0_weights\":${row#*:}"
    grep -qF "$(echo "$wanted" | sed 's/:\([0-9.]*\):\([0-9.]*\)$/:\1,"gpu0_leftover":\2,/')" "$work/out" ||
        fail keras "$row: $(cat "$work/out")"
done
for script in "$experiments"/*.lua; do
    if [ "${script##*/}" = grid.lua ]; then # a table, not a script
        "$MGBENCH" sweep "$script" --dry-run >"$work/out" || fail sweep "$script cannot be swept"
        continue
    fi
    "$MGBENCH" -e "$script" --help >"$work/out" || fail help "$script --help failed"
    grep -q 'options of the script:' "$work/out" || fail help "$script declares no options"
done
echo "the experiments run"

[ "${MGB_LONG:-0}" -eq 1 ] || exit 0
cat >"$work/accuracy.lua" <<'LUA'
-- Three epochs of 9,000 digits; 96.5 % of the test digits; the same to the last bit wherever weights and towers meet.
local digest
for _, flags in ipairs{ {}, { cpu_merge = false }, { cpu_relocation = true }, { cpu_relocation = true, cpu_merge = false } } do
  flags.model, flags.gpus, flags.global_batch, flags.data = "mnist_cnn", 2, 128, mgb.data.mnist{}
  flags.optimizer, flags.epochs = mgb.adam{ lr = 0.001 }, 3
  local r <close> = mgb.run(flags)
  local accuracy = r:evaluate(mgb.data.mnist{ split = "test" }).metrics.accuracy
  print(r, accuracy)
  assert(accuracy >= 0.965, "accuracy " .. accuracy)
  digest = digest or r.digest
  assert(r.digest == digest, "another placement trained other weights")
end
LUA
"$MGBENCH" -e "$work/accuracy.lua" || fail accuracy "see above"
