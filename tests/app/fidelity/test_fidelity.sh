# The simulator against the two threads that mgbench began with, and orderings that it must have with nothing fitted. The whole
# report, with what is missed, is scripts/experiments/fidelity.lua.
. "${MGB_SOURCE_DIR:?}/tests/app/scenarios/driver.sh"

"$MGBENCH" -e "$MGB_SOURCE_DIR/scripts/experiments/fidelity.lua" --short >"$work/a" || fail F6 "it failed"
for claim in 'F6 weights on the CPU' 'F6 weights relocated' 'F6 held row: 2 x 64' 'F6 held row: 4 x 64' 'F6 128 does not fit' \
    'F7 ordering 1:' 'F7 ordering 2:' 'F7 ordering 3:' 'F7 ordering 4:' 'F7 ordering 5:' 'F7 ordering 6:' 'F7 ordering 9:' \
    'F7 ordering 10:'; do
    grep -q "^  MET  *$claim" "$work/a" || fail "$claim" "not met: $(grep "$claim" "$work/a")"
done
"$MGBENCH" -e "$MGB_SOURCE_DIR/scripts/experiments/fidelity.lua" --short >"$work/b" || fail F6 "it failed"
cmp -s "$work/a" "$work/b" || fail F6 "another report the second time: $(diff "$work/a" "$work/b")"

# What parameters are fitted to are rows of several GPUs, at most four a machine.
data=$MGB_SOURCE_DIR/scripts/data
cut -d, -f 1 "$data/published-split.csv" | sed 1d | while read -r line; do
    awk -F, -v line="$line" '$1 == line && $4 > 1 { found = 1 } END { exit !found }' "$data/published.csv" || exit 1
done || fail split "a calibration point is no row of several GPUs"
most=$(cut -d, -f 2 "$data/published-split.csv" | sed 1d | sort | uniq -c | sort -n | tail -n 1 | awk '{ print $1 }')
[ "$most" -le 4 ] || fail split "$most calibration points of one machine"
echo "the seeds and eight orderings are met"
