# The experiments that come with mgbench run; with MGB_LONG=1 mnist_cnn is trained to its accuracy on the test digits.
. "${MGB_SOURCE_DIR:?}/tests/app/scenarios/driver.sh"
experiments=$MGB_SOURCE_DIR/scripts/experiments
export MGBENCH_DB="$work/x.db"

"$MGBENCH" -e "$experiments/toggles.lua" --model digits_cnn --steps 4 --batch 8 >"$work/out" || fail toggles "it failed"
[ "$(grep -c ' yes ' "$work/out")" = 6 ] || fail toggles "a change touched the weights: $(cat "$work/out")"
"$MGBENCH" -e "$experiments/scaling.lua" --model digits_cnn --gpus 1,3 --steps 3 --batch 6 --csv >"$work/out" ||
    fail scaling "it failed"
[ "$(grep -c ',ok' "$work/out")" = 10 ] || fail scaling "rows are missing: $(cat "$work/out")"
for script in "$experiments"/*.lua; do
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
