# Errors in the callbacks of a sweep's file (reference/ecosystem.md 6.3, rows 20 and 23): file and line, exit code 1, the command behind
# && does not run, and what was measured before is kept and done.
. "${MGB_SOURCE_DIR:?}/tests/app/scenarios/driver.sh"
cd "$work" || exit 1
export MGBENCH_DB="$work/r.db" OMP_WAIT_POLICY=passive

cat >good.lua <<'LUA'
local small = mgb.model("mlp", { height = 4, width = 4, hidden = 8 })
return { name = "s", model = small, batch = 4, steps = 2, warmup = 0, repeats = 1, order = "grid", backend = "host", grid = { gpus = { 1, 2 } } }
LUA
"$MGBENCH" --quiet sweep good.lua >/dev/null || fail 20 "the sweep failed"

# The second line is where it goes wrong, in the callback that the third names.
for callback in skip baseline schedule map; do
    case $callback in
        skip | baseline) settings="$callback = wrong" ;;
        schedule) settings='optimizer = mgb.sgd{ schedule = wrong }' ;;
        map) settings='model = "digits_cnn", data = mgb.data.map(mgb.data.digits{}, wrong)' ;;
    esac
    cat >$callback.lua <<LUA
local small = mgb.model("mlp", { height = 4, width = 4, hidden = 8 })
local function wrong() return nil + 1 end
return { name = "$callback", model = small, batch = 4, steps = 2, warmup = 0, repeats = 1, order = "grid", backend = "host",
         grid = { gpus = { 1, 2 } }, $settings }
LUA
    rm -f reached
    # shellcheck disable=SC2015
    "$MGBENCH" sweep $callback.lua >out 2>err && touch reached
    code=$?
    [ ! -e reached ] || fail 23 "$callback: the command behind && ran"
    [ $code -eq 1 ] || fail 20 "$callback: exit code $code, expected 1: $(cat err)"
    grep -q "$callback.lua:2: attempt to perform arithmetic on a nil value" err || fail 20 "$callback: $(cat err)"
done
kept=$("$MGBENCH" query "SELECT count(*) AS n FROM step AS s JOIN segment AS g ON g.id = s.segment_id JOIN run AS r ON r.id = g.run_id
    WHERE r.id <= 2 AND r.outcome = 'ok'" --csv | sed -n 2p | tr -d '\r')
[ "$kept" = 4 ] || fail 20 "$kept steps are kept, expected 4"
"$MGBENCH" sweep good.lua >out 2>err || fail 20 "the sweep from before: $(cat err)"
grep -q '2 of them done before' err || fail 20 "what was done is not known any more: $(cat err)"
running=$("$MGBENCH" query "SELECT count(*) AS n FROM run WHERE outcome = 'running'" --csv | sed -n 2p | tr -d '\r')
[ "$running" = 0 ] || fail 20 "$running runs are left running"
echo "row 20   an error in a sweep's callback: file and line, exit code 1, rows kept; row 23: the chain ends"
