# Scripts that fail (ecosystem.md 6.3, rows 20, 22, 23, 24).
. "${MGB_SOURCE_DIR:?}/tests/app/scenarios/driver.sh"
cd "$work" || exit 1

# Row 20: an error in a callback ends the script with its line and exit code 1; rows stored before are kept.
cat >callback.lua <<'LUA'
local which = mgb.options{ callback = "builder" }.callback
mgb.run{ model = "digits_cnn", steps = 3, warmup = 0, batch = 4 }
local function wrong() return nil + 1 end                               -- line 3
local bad = { builder = function() mgb.run{ model = nn.model("m", wrong) } end,
  schedule = function() mgb.run{ model = "digits_cnn", optimizer = mgb.sgd{ schedule = wrong } } end,
  skip = function() mgb.sweep{ name = "s", model = "digits_cnn", grid = { gpus = { 1 } }, skip = wrong } end,
  baseline = function() mgb.sweep{ name = "s", model = "digits_cnn", batch = 4, steps = 1, grid = { gpus = { 1 } }, baseline = wrong } end,
  scope = function() mgb.run{ model = nn.model("m", function() nn.scope("s", wrong) end) } end,
  map = function() mgb.run{ model = "digits_cnn", data = mgb.data.map(mgb.data.digits{}, wrong) } end }
bad[which]()
LUA
for callback in builder schedule skip baseline scope map; do
    "$MGBENCH" -e callback.lua --callback $callback --db $callback.db >out 2>err
    code=$?
    [ $code -eq 1 ] || fail 20 "$callback: exit code $code, expected 1"
    grep -q '^mgbench: callback.lua:3: attempt to perform arithmetic on a nil value' err ||
        fail 20 "$callback: the error does not name callback.lua:3: $(cat err)"
    kept=$(sqlite3 $callback.db 'SELECT count(*) FROM step JOIN segment ON id = segment_id WHERE run_id = 1')
    [ "$kept" = 3 ] || fail 20 "$callback: $kept rows kept, expected 3"
    outcome=$(sqlite3 $callback.db 'SELECT outcome FROM run WHERE id = 1')
    [ "$outcome" = ok ] || fail 20 "$callback: outcome of the run before is $outcome"
done
echo "row 20   an error in a callback: file and line, exit code 1, earlier rows kept"

# Row 22: a script that sets nothing up gets a clear error.
"$MGBENCH" -e 'mgb.run{}' --db x.db 2>err && fail 22 'mgb.run{} succeeded'
grep -q 'mgb.run: model: name or model expected, got nil' err || fail 22 "unclear: $(cat err)"
"$MGBENCH" -e 'mgb.run{ model = nn.model("empty", function() end) }' --db x.db 2>err && fail 22 'an empty model ran'
grep -q "model 'empty' has no input" err || fail 22 "unclear: $(cat err)"
[ ! -e x.db ] || fail 22 "a database was made for nothing"
echo "row 22   no model: a clear error, nothing stored"

# Row 23: in a chain of commands the next one does not run.
"$MGBENCH" -e 'error("no")' --db x.db 2>/dev/null && fail 23 "error() gave exit code 0"
"$MGBENCH" -e 'mgb.run{ model = "digits_cnn", gpu_memory = "64KiB", steps = 1 }' --db y.db 2>/dev/null && fail 23 "OOM gave 0"
"$MGBENCH" -e 'local r = mgb.run{ model = "digits_cnn", gpu_memory = "64KiB", steps = 1, expect = "oom" } assert(r.oom)' \
    --db y.db || fail 23 "an expected OOM did not give 0"
echo "row 23   a failing script ends a chain of commands"

# Row 24: a comma locale changes neither numbers read nor numbers written.
cat >locale.lua <<'LUA'
local r = mgb.run{ model = "digits_cnn", steps = 2, warmup = 0, batch = 4, optimizer = mgb.sgd{ lr = 0.5 }, bucket_mib = 0.5 }
mgb.table({ { half = 0.5, parsed = tonumber("0.5") + 1 } }, { "half", "parsed" })
LUA
locale=de_DE.UTF-8
if ! locale -a | grep -qi '^de_DE.utf-*8$'; then
    localedef -c -i de_DE -f UTF-8 "$work/de_DE.utf8" >/dev/null 2>&1
    export LOCPATH="$work"
fi
[ "$(LC_ALL=$locale locale decimal_point)" = , ] || fail 24 "there is no comma locale to try"
out=$(LC_ALL=$locale "$MGBENCH" -e locale.lua --csv --db z.db | tr -d '\r') || fail 24 "the script failed"
[ "$out" = "half,parsed
0.5,1.5" ] || fail 24 "CSV is $out"
stored=$(sqlite3 z.db "SELECT asked_bucket_mib || ' ' || optimizer FROM segment")
[ "$stored" = '0.5 sgd(lr=0.5)' ] || fail 24 "stored is '$stored'"
echo "row 24   a comma locale: 0.5 parses, CSV and database have points"
