# The default placement compared with the others (ecosystem.md 6.3 row 50).
. "${MGB_SOURCE_DIR:?}/tests/app/scenarios/driver.sh"
"$MGBENCH" -e "$MGB_SOURCE_DIR/scripts/experiments/placement.lua" --model digits_cnn --data digits --batch 16 --steps 5 \
    --db "$work/x.db" >"$work/out" || fail 50 "the experiment failed"
tr '\n' ' ' <"$work/out" >"$work/words"
grep -q 'Fastest: gpus=2 cpu_relocation=[a-z]* cpu_merge=[a-z]*,   *[0-9.]* times the rate of gpus=2 cpu_relocation=false cpu_merge=true' \
    "$work/words" || fail 50 "the toggle is not named: $(cat "$work/out")"
grep -q 'computes for [0-9]* % of a step, and moves or merges weights, outputs and   *gradients for [0-9]* %: it is [a-z]* bound' \
    "$work/words" ||
    fail 50 "it is not explained: $(cat "$work/out")"
rows=$(sqlite3 "$work/x.db" "SELECT count(*) FROM placement WHERE gpus = 2 AND reloc_off_merge_cpu > 0
    AND reloc_off_merge_gpu > 0 AND reloc_on_merge_cpu > 0 AND reloc_on_merge_gpu > 0")
[ "$rows" = 1 ] || fail 50 "the view placement has no row with all four"
echo "row 50   the default run explains itself and names the toggle that helps"
