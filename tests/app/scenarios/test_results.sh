# What a run leaves behind for its user: rows 5, 6, 28 to 30, 32, 38, 54 and 58 of section 2 of reference/ecosystem.md, row 36 of 6.3.
. "${MGB_SOURCE_DIR:?}/tests/app/scenarios/driver.sh"
command -v sqlite3 >/dev/null || { echo "the sqlite3 shell is not installed"; exit 77; }
cd "$work" || exit 1
export MGBENCH_DB="$work/r.db"
mgbench() { "$MGBENCH" "$@"; }
ask() { sqlite3 -readonly r.db "$1"; }
holds() { # row, SQL that gives 1, what
    [ "$(ask "$2")" = 1 ] || fail "$1" "$3: $(ask "$2")"
}
said() { # row, words in the file out
    grep -q -e "$2" out || fail "$1" "'$2' is not in: $(cat out)"
}

tiny='run mlp --option height=4 --option width=4 --option hidden=8 --batch 4 --gpus 2 --backend host'
export OMP_WAIT_POLICY=passive SECRET_TOKEN=hunter2
# shellcheck disable=SC2086
MALLOC_ARENA_MAX=2 mgbench $tiny --steps 9 --warmup 4 >out || fail 28 "the run failed"

# Row 28: the configuration stands before the numbers, a block of its own.
head -n 10 out >block
for line in 'model  *mlp, [0-9]* parameters' 'data ' 'backend  *host' 'versions  *mgbench' 'clocks ' 'devices  */gpu:0 /gpu:1' \
    'batch  *4 for each GPU, 8 of all together' 'placement  *strategy=outputs ' 'training .*seed 1' 'memory .*planned'; do
    grep -q "^$line" block || fail 28 "'$line' is not in: $(cat block)"
done
echo "row 28   configuration before numbers: batch, placement, devices, versions, seed, clocks"

# Row 30: a row a step and device, none dropped, and summaries are views of them.
holds 30 "SELECT count(*) = 13 AND sum(warmup) = 4 FROM step" "rows of steps"
holds 30 "SELECT count(*) = 39 AND count(DISTINCT device) = 3 FROM step_device" "rows of devices"
holds 30 "SELECT count(*) = 1 FROM run_summary AS a JOIN step_stats AS b USING (segment_id)
    WHERE a.step_ms_median = b.step_ms_median AND a.steps = b.timed_steps" "the views"
echo "row 30   a row a step and device; summaries are views"

# Row 5: warm-up is flagged, not dropped: rule and count are there, and other choices can be made later.
holds 5 "SELECT warmup_rule = 'fixed' AND warmup_steps = 4 AND warmup_steps = (SELECT count(*) FROM step WHERE warmup = 1)
    AND 4 = (SELECT max(step) + 1 FROM step WHERE warmup = 1) FROM segment" "rule and count"
holds 5 "SELECT timed_steps = 9 AND timed_ns = (SELECT sum(wall_ns) FROM step WHERE step >= 4) FROM segment_stat" "figures"
holds 5 "SELECT sum(wall_ns) > 0 AND count(*) = 6 FROM step WHERE step >= 7" "another choice"
echo "row 5    warm-up steps are flagged and stored"

# Row 6: the first step is held against the others. (What grew in it, on set times: tests/db/test_stats_store.c.)
holds 6 "SELECT step = 0 AND abs(step_ms * 1e6 - (SELECT wall_ns FROM step WHERE step = 0)) < 1
    AND abs(ratio - step_ms / step_ms_median) < 1e-9 FROM first_step" "first_step"
mgbench show 1 >out || fail 6 "show failed"
said 6 '^first step$'
said 6 '^  times_median  *[0-9.]*$'
echo "row 6    the first step is shown beside the median"

# Row 29: everything that can change figures is kept: machine, libraries, program, flags and variables; nothing private.
holds 29 "SELECT count(*) = 1 FROM machine WHERE cpu <> '' AND os <> '' AND kernel LIKE 'Linux %' AND threads > 0
    AND memory_bytes > 0" "the machine"
holds 29 "SELECT count(*) = 3 FROM device WHERE name IN ('/cpu:0', '/gpu:0', '/gpu:1') AND product <> ''" "the devices"
for library in mgbench build SQLite Lua compiler oneDNN; do
    holds 29 "SELECT coalesce(json_extract(versions, '$.$library'), '') <> '' FROM run" "version of $library"
done
if [ -e "$MGB_SOURCE_DIR/.git" ] && git -C "$MGB_SOURCE_DIR" rev-parse HEAD >/dev/null 2>&1; then
    holds 29 "SELECT json_extract(versions, '$.commit') GLOB '[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]*' FROM run" "the commit"
fi
holds 29 "SELECT json_extract(environment, '$.MALLOC_ARENA_MAX') = '2' AND json_extract(environment, '$.OMP_WAIT_POLICY') = 'passive'
    AND json_extract(environment, '$.cpus_allowed') > 0 AND environment NOT LIKE '%hunter2%' FROM run" "the environment"
holds 29 "SELECT command LIKE '%--steps 9 --warmup 4%' AND asked_gpus = 2 AND asked_batch_per_gpu = 4 FROM run, segment" "what was asked"
for word in cpu kernel compiler oneDNN MALLOC_ARENA_MAX; do said 29 "^  $word "; done
# shellcheck disable=SC2086
MALLOC_ARENA_MAX=3 mgbench $tiny --steps 9 --warmup 4 >out || fail 29 "the second run failed"
mgbench compare 1 2 >out || fail 29 "compare failed"
said 29 '^MALLOC_ARENA_MAX  *2  *3$'
grep -q 'hidden' out && fail 29 "compare tells what is the same: $(cat out)"
echo "row 29   the environment is kept whole and compared"

# Row 58: the command that is kept repeats the run to the last bit, and the script is known by its text.
cat >s.lua <<'LUA'
local o = mgb.options{ steps = { 2, "steps" }, seed = { 3, "of the weights" } }
mgb.run{ model = mgb.model("mlp", { height = 4, width = 4, hidden = 8 }), batch = 4, steps = o.steps, warmup = 0, seed = o.seed }
LUA
mgbench -e s.lua --steps 5 --seed 8 --backend host --quiet || fail 58 "the script failed"
again=$(ask 'SELECT command FROM run WHERE id = 3')
[ "$again" = 'mgbench -e s.lua --steps 5 --seed 8 --backend host --quiet' ] || fail 58 "kept is $again"
eval "$again" || fail 58 "$again failed"
echo '-- another text' >>s.lua
eval "$again" || fail 58 "$again failed"
holds 58 "SELECT count(DISTINCT digest) = 1 AND count(*) = 3 AND sum(digest IS NULL) = 0 FROM segment WHERE run_id >= 3" "weights"
holds 58 "SELECT group_concat(script_digest = (SELECT script_digest FROM run WHERE id = 3), '') = '110' FROM run WHERE id >= 3
    ORDER BY id" "the script's digest"
echo "row 58   the kept command repeats the run to the last bit"

# Row 54: tags and notes on runs, and lists by them, in every way of asking.
mgbench tag 3,4 paper 'second try' >/dev/null || fail 54 "tag failed"
mgbench note 4 'with the window open' >/dev/null || fail 54 "note failed"
mgbench runs --tag paper --csv | tr -d '\r' >out
[ "$(sed 1d out | cut -d, -f1 | xargs)" = '4 3' ] || fail 54 "runs --tag: $(cat out)"
[ "$(mgbench export tag:paper --format csv | sed 1d | grep -c .)" = 2 ] || fail 54 "export tag:paper"
holds 54 "SELECT group_concat(run_id) = '3,4' FROM run_summary WHERE ',' || tags || ',' LIKE '%,second try,%'" "the view"
mgbench show 4 >out
said 54 'with the window open'
said 54 'paper, second try'
mgbench tag 3 paper --remove >/dev/null || fail 54 "tag --remove failed"
[ "$(mgbench runs --tag paper --csv | sed 1d | cut -d, -f1)" = 4 ] || fail 54 "a tag that was taken off is still there"
echo "row 54   tags and notes are put, listed, filtered by and taken off"

# Row 38: the backend stands in every header and in every row; runs of others are not compared unasked (test_compare.c).
for words in 'runs --csv' 'export --format csv' 'export --format jsonl' 'runs' 'show 1' 'compare 1 2' 'scaling mlp' 'export --format md'; do
    # shellcheck disable=SC2086
    mgbench $words >out 2>&1 || fail 38 "mgbench $words: $(cat out)"
    grep -q host out || fail 38 "no backend in mgbench $words: $(cat out)"
done
mgbench runs --csv | tr -d '\r' | sed 1d | grep -v ',host,false,' && fail 38 "a row without its backend"
mgbench export --format jsonl | grep -v '"backend":"host".*"simulated":0' && fail 38 "an exported row without its backend"
echo "row 38   the backend is in every header and row"

# Row 32: ordinary tools look on while a run is going.
"$MGBENCH" -e "mgb.run{ model = mgb.model('mlp', { height = 4, width = 4, hidden = 8 }), batch = 4, steps = 1000000, warmup = 0 }" \
    --backend host --quiet & # the program itself, for a function would be a shell that is stopped in its stead
pid=$!
trap 'kill -KILL $pid 2>/dev/null; rm -rf "$work"' EXIT
tries=600
while [ "$(ask "SELECT count(*) > 0 FROM step JOIN segment AS s ON s.id = segment_id JOIN run AS r ON r.id = run_id
    WHERE r.outcome = 'running'")" != 1 ]; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || { kill -INT $pid; fail 32 "no step of a run that is going is seen"; }
    sleep 0.05
done
holds 32 "SELECT outcome = 'running' AND steps > 0 AND step_ms_median > 0 FROM run_summary ORDER BY run_id DESC LIMIT 1" "run_summary"
kill -TERM $pid
wait $pid
[ "$(ask 'PRAGMA integrity_check')" = ok ] || fail 32 "the file is not sound"
echo "row 32   sqlite3 -readonly reads while a run is going"

# Row 36 (6.3): what this SQLite is known for is said.
mgbench doctor >out 2>&1 || fail 36 "doctor: $(cat out)"
said 36 '^ok    sqlite  *3\.[0-9.]*\(; before 3\.51\.3 two writers .*\)\{0,1\}$'
echo "row 36   doctor tells SQLite's version and what it is known for"
