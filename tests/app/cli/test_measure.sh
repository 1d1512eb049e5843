# mgbench run: what ends it, how far its figures can be trusted, named warnings, the command that repeats it.
# (reference/ecosystem.md, rows 7, 8 and 58 of section 2.)
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
host='--backend host --db r.db'
tiny="run mlp --option height=4 --option width=4 --option hidden=8 --batch 4 $host"

# What is asked for in vain is wrong usage, before anything runs.
usage() {
    message=$1
    shift
    # shellcheck disable=SC2086
    expect 2 '' "mgbench: $message" mgbench $tiny "$@"
}
for share in 0 1 x 1.5 % 100% 0% -1% 1e-400% 0x1% nan inf%; do
    usage "--target-noise: a share of the median such as 1% or 0.01, more than 0 and less than 1, expected, got '$share'" \
        --target-noise "$share"
done
for time in 0s -1 60x s 0x1s infs; do
    usage "--max-time: a time such as 60s, 5m or 1h expected, got '$time'" --max-time "$time"
done
# Whatever is taken here is taken by mgb.run too.
for share in 1e-9% 1e-9 99.9% 1E-300 +5%; do
    command_line="mgbench run --target-noise $share"
    # shellcheck disable=SC2086
    mgbench $tiny --quiet --db taken.db --steps 1 --warmup 0 --target-noise "$share" --max-time 1e-2s >/dev/null
    same 'exit code' 0 $?
done
usage '--target-noise and --epochs exclude each other' --data digits --epochs 1 --target-noise 1%
usage "--warmup: a count of steps or auto expected, got 'some'" --warmup some
mgbench info --quiet-warnings idle,idel 2>"$work/err"
code=$?
command_line='mgbench info --quiet-warnings idle,idel'
same 'exit code' 2 "$code"
same 'the names there are' 1 \
    "$(grep -c "^mgbench: --quiet-warnings: no warning is called 'idel'; there are crowded, .*, script\$" "$work/err")"
command_line='nothing ran'
same 'the database' '' "$(ls r.db 2>/dev/null)"

# Time ends what nothing else ends; what was asked and not met is said, shown and stored.
# shellcheck disable=SC2086
mgbench $tiny --warmup auto --target-noise 0.0001% --max-time 0.05s --json >"$work/out" 2>"$work/err"
code=$?
command_line="mgbench $tiny --warmup auto --target-noise 0.0001% --max-time 0.05s --json"
same 'exit code' 0 "$code"
same 'the reason in the row' 1 "$(grep -c '"steady":false,"not_steady":"not steady: .*"stop_reason":"time"' "$work/out")"
same 'warnings' 'not-steady noise' "$(sed -n 's/^mgbench: warning: .*\[\(.*\)\]$/\1/p' "$work/err" | xargs)"
same 'the command on standard error' "repeat with: ${command_line}" "$(grep '^repeat with' "$work/err")"
same 'what is stored' 'time,1.0e-06,50000000,auto,0' "$(ask "SELECT stop_reason || ',' || target_noise || ',' || max_time_ns || ','
    || warmup_rule || ',' || s.steady AS x FROM segment JOIN segment_stat AS s ON s.segment_id = segment.id" | tr -d '"')"

# A silenced warning is a note all the same.
# shellcheck disable=SC2086
mgbench $tiny --target-noise 0.0001% --max-time 0.01s --quiet-warnings noise,crowded >"$work/out" 2>"$work/err"
code=$?
command_line='--quiet-warnings noise'
same 'exit code' 0 "$code"
same 'standard error' '' "$(cat "$work/err")"
same 'notes' 1 "$(ask "SELECT count(*) AS n FROM note WHERE run_id = 2 AND text LIKE '%[noise]'")"
same 'the words' 1 "$(grep -c '^stopped after 0.01 s, [0-9]* steps: noise .*, 0.0001 % was asked (not met)$' "$work/out")"

# A target that is met; the result in words.
# shellcheck disable=SC2086
mgbench $tiny --steps 5 --warmup 2 --target-noise 90% >"$work/out" 2>"$work/err"
code=$?
command_line='--target-noise 90%'
same 'exit code' 0 "$code"
same 'standard error' '' "$(cat "$work/err")"
for line in 'step  *[0-9.]* ms \[[0-9.]*, [0-9.]*\], median of [0-9]* timed steps; p95 [0-9.]* ms; [0-9.]* examples/s' \
    'versions  *mgbench [0-9.]*, .*oneDNN .*' 'clocks  *governor .*, [0-9]* cores*, load [0-9.]*' 'warm-up  *2 steps left out (as asked)' 'steady  *.*' 'unaccounted [0-9. ]*% of the time, between steps' \
    'memory  */cpu:0 .* planned, /gpu:0 .* planned' 'stopped after [0-9]* steps: noise [0-9.]* % <= 90 %' \
    "repeat with: mgbench $tiny --steps 5 --warmup 2 --target-noise 90%"; do
    same "a line: $line" 1 "$(grep -c "^$line\$" "$work/out")"
done

# Scripts say what repeats them too, and which text it was; one that runs nothing has nothing to repeat.
echo "local r <close> = mgb.run{ model = $small, steps = 2, warmup = 0 }" >a.lua
mgbench -e a.lua --backend host --db r.db >"$work/out" 2>"$work/err"
code=$?
command_line='mgbench -e a.lua'
same 'standard output' '' "$(cat "$work/out")"
same 'the command and the script' "repeat with: mgbench -e a.lua --backend host --db r.db (script $(ask "SELECT script_digest
    FROM run ORDER BY id DESC LIMIT 1"))" "$(grep '^repeat with' "$work/err")"
expect 0 '3' '' mgbench -e 'print(3)'
# shellcheck disable=SC2016
expect 0 '' '' mgbench -e a.lua --backend host --db r.db --quiet

# What was still running when the command failed has failed with it.
mgbench verify mlp --batch 4 --steps 2 $host --against --gpus 99 >"$work/out" 2>"$work/err"
code=$?
command_line='mgbench verify --against --gpus 99'
same 'exit code' 4 "$code"
same 'the side that had opened' error "$(ask 'SELECT outcome FROM run ORDER BY id DESC LIMIT 1')"
same 'with why' 1 "$(ask "SELECT message LIKE '%gpus%' AS said FROM run ORDER BY id DESC LIMIT 1")"

# Quiet: the table, and what its devices are.
# shellcheck disable=SC2086
mgbench $tiny --steps 5 --warmup 2 --quiet >"$work/out" 2>"$work/err"
code=$?
command_line='run --quiet'
same 'exit code' 0 "$code"
same 'lines' 'run 1 (backend' "$(awk 'NR == 2 { $1 = 1 } { print $1 }' "$work/out" | xargs)"
same 'standard error' '' "$(cat "$work/err")"

# Repetitions: runs of their own with one tag, which a comparison takes for one side.
for side in before after; do
    # shellcheck disable=SC2086
    mgbench $tiny --steps 12 --warmup 2 --repeats 3 --tag $side >"$work/out" 2>"$work/err"
    code=$?
    command_line="--repeats 3 --tag $side"
    same 'exit code' 0 "$code"
    same 'a line each' 3 "$(grep -c '^repetition [1-3] of 3: run [0-9]*, step [0-9.]* ms.*12 timed steps' "$work/out")"
    same 'the side' 1 "$(grep -c "^tag:$side: 3 repetitions, step [0-9.]* ms, the mean of their medians" "$work/out")"
    same 'runs with the tag' 3 "$(ask "SELECT count(*) AS n FROM tag WHERE name = '$side'")"
done
mgbench compare tag:before tag:after --json --db r.db >"$work/out" 2>"$work/err"
same 'both sides' 1 "$(grep -c '"a_repetitions":3.*"b_repetitions":3' "$work/out")"
# shellcheck disable=SC2086
mgbench $tiny --steps 5 --repeats 2 --csv >"$work/out" 2>"$work/err"
command_line='--repeats 2 --csv'
same 'rows' 3 "$(grep -c , "$work/out")"
usage "--repeats: whole number from 1 to 1000 expected, got '0'" --repeats 0
usage "--tag: a name without commas and without blanks at its ends expected, got 'a,b'" --tag a,b

finish
