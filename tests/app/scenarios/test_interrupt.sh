# Ctrl-C while a script trains (ancestors.md 5.7 row 71).
. "${MGB_SOURCE_DIR:?}/tests/app/scenarios/driver.sh"
cd "$work" || exit 1
cat >train.lua <<'LUA'
local s <close> = mgb.session{ model = "digits_cnn", gpus = 2, batch = 8, warmup = 0 }
s:step(2)
print("started") io.stdout:flush()
s:step(1000000000)
LUA

# The first one ends after the step: exit code 130, everything kept, nothing left running.
for words in "" --no-supervisor; do
    rm -f out x.db
    env --default-signal=INT "$MGBENCH" -e train.lua --db x.db $words >out 2>err &
    pid=$!
    until [ -s out ]; do sleep 0.02; done
    kill -INT $pid
    wait $pid
    code=$?
    [ $code -eq 130 ] || fail 71 "exit code $code, expected 130: $(cat err)"
    outcome=$(sqlite3 x.db 'SELECT outcome FROM run')
    [ "$outcome" = interrupted ] || fail 71 "outcome is '$outcome'"
    steps=$(sqlite3 x.db "SELECT count(*) = max(step) + 1 AND count(*) >= 2 FROM step")
    [ "$steps" = 1 ] || fail 71 "steps are missing"
    ok=$(sqlite3 x.db 'PRAGMA integrity_check')
    [ "$ok" = ok ] || fail 71 "integrity_check: $ok"
done
echo "row 71   Ctrl-C during a step: ends after it, 130, every step kept"

# The second one does not wait for the step: this one takes many seconds, and no step is stored. The first must have been
# taken, by the supervisor's worker too, or both count as one.
cat >slow.lua <<'LUA'
local s <close> = mgb.session{ model = "mlp", batch = 4, backend = "host" }
print("started") io.stdout:flush()
s:step(1000)
LUA
taken() {
    for process in $pid $(cut -d' ' -f1 "/proc/$pid/task/$pid/children" 2>/dev/null); do
        ! grep -q -E '^(SigPnd|ShdPnd):.*[2367abef]$' "/proc/$process/status" 2>/dev/null || return 1
    done
}
rm -f out
MGBENCH_FAULT=slow:/gpu:0:us=2000000 env --default-signal=INT "$MGBENCH" -e slow.lua --db slow.db >out 2>err &
pid=$!
until [ -s out ]; do sleep 0.02; done
sleep 0.3
kill -INT $pid
until taken; do sleep 0.02; done
sleep 0.4
kill -INT $pid
wait $pid
code=$?
[ $code -eq 130 ] || fail 71 "second signal: exit code $code, expected 130"
steps=$(sqlite3 slow.db 'SELECT count(*) FROM step')
[ "$steps" = 0 ] || fail 71 "second signal: $steps steps were waited for"
echo "row 71   a second Ctrl-C returns at once"
