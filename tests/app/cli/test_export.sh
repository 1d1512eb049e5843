# export and query: what leaves, in which form, and how it ends when the disk is full or somebody stops it
# (renaissance-benchmarks/renaissance#119, scenario 19).
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"

cat >two.lua <<'LUA'
local m = nn.model("one", function(m)
  local x, y = m:input("x", { 3 }), m:input("y", {}, "i32")
  m:loss(nn.softmax_cross_entropy(nn.dense{ units = 4 }(x), y))
end)
for gpus = 1, 2 do mgb.run{ model = m, gpus = gpus, batch = 2, steps = 3, warmup = 1 } end
LUA
export MGBENCH_CPU_DEVICES=2
expect 0 '' '' mgbench --quiet --backend host -e two.lua --db r.db
column() { # CSV on standard input, column number
    tr -d '\r' | cut -d, -f"$1" | tr '\n' ' ' | sed 's/ $//'
}

command_line='mgbench export'
same 'a row a segment' 'run_id 1 2' "$(mgbench export --db r.db | column 1)"
same 'one run' 'run_id 2' "$(mgbench export last --db r.db | column 1)"
same 'two words' 'run_id 1 2' "$(mgbench export 1 last --db r.db | column 1)"
same 'a list' 'run_id 1 2' "$(mgbench export 2,1 --db r.db | column 1)"
same 'a segment' 'run_id 1' "$(mgbench export 1.1 --db r.db | column 1)"
same 'steps' 'step 0 1 2 3' "$(mgbench export 1 --what steps --db r.db | column 3)"
same 'phases are the view' "$(mgbench query 'select count(*) from step_phase' --db r.db --csv | column 1)" \
    "$(mgbench query "select 1" --db r.db >/dev/null; echo 'count(*)' "$(($(mgbench export --what phases --db r.db | wc -l) - 1))")"
for what in memory traffic tasks; do
    same "$what" "$(mgbench query "select count(*) n from $(echo $what | sed 's/s$//')" --db r.db --csv | column 1)" \
        "n $(($(mgbench export --what $what --db r.db | wc -l) - 1))"
done
same 'a view' 'segment_id' "$(mgbench export --table phase_share --db r.db | head -n 1 | column 1)"
same 'Markdown' '| run_id | segment_id | model |' "$(mgbench export --format md --db r.db | head -n 1 | cut -c 1-31)"
expect 0 "{\"schema\":$(mgbench query 'PRAGMA user_version' --db r.db --csv | tail -n 1 | tr -d '\r'),\"program\":\"$(mgbench --version)\",\"rows\":[
{\"a\":1,\"b\":0.5,\"c\":2.0,\"d\":null}
],\"complete\":true}" '' mgbench export --sql 'select 1 a, 0.5 b, 2.0 c, 9e999 d' --db r.db --json
expect 0 '{"a":1}' '' mgbench export --sql 'select 1 a' --db r.db --format jsonl

# By the name of the file, which is replaced as a whole.
for kind in csv json jsonl md; do
    expect 0 '' '' mgbench export --db r.db --out "x.$kind"
done
same 'forms' 'run_id, {"schem {"run_i | run_i ' "$(for kind in csv json jsonl md; do head -c 7 "x.$kind"; printf ' '; done)"
same 'nothing is left over' '' "$(ls ./*.partial 2>/dev/null)"

# What cannot be.
expect 2 '' "mgbench: --format: csv, json, jsonl or md expected, got 'xml'" mgbench export --format xml --db r.db
expect 2 '' "mgbench: --what: 'step' is none of runs, steps, phases, memory, traffic and tasks (did you mean 'steps'?)" \
    mgbench export --what step --db r.db
expect 2 '' "mgbench: --table: r.db has no table or view 'run_sumary' (did you mean 'run_summary'?)" \
    mgbench export --table run_sumary --db r.db
expect 2 '' "mgbench: --sql, --table and --what exclude each other" mgbench export --table run --what steps --db r.db
expect 2 '' "mgbench: --table takes all its rows: '1' goes with --what" mgbench export 1 --table run --db r.db
expect 2 '' "mgbench: --out: r.db is the results database itself" mgbench export --db r.db --out r.db
expect 2 '' 'mgbench: a query may only read: delete from run' mgbench export --sql 'delete from run' --db r.db
expect 4 '' 'mgbench: none.db is not there: nothing has been recorded in it' mgbench export --db none.db
expect 1 '' 'mgbench: cannot write no/x.csv: No such file or directory' mgbench export --db r.db --out no/x.csv
if [ -w /dev/full ]; then
    expect 1 '' 'mgbench: cannot write /dev/full: No space left on device' mgbench export --db r.db --out /dev/full
    command_line='mgbench export >/dev/full'
    mgbench export --db r.db >/dev/full 2>"$work/err"
    same 'exit code' 1 $?
    same 'message' 'mgbench: writing to standard output failed (is the disk full?)' "$(cat "$work/err")"
fi

# A file size limit stands for a full disk; the old file is whole.
command_line='mgbench export, disk full'
many='with recursive c(n) as (select 1 union all select n + 1 from c limit 400000) select n from c'
cp x.csv old
(ulimit -f 128; mgbench export --sql "$many" --db r.db --out x.csv 2>"$work/err")
same 'exit code' 1 $?
same 'message' 'mgbench: cannot write x.csv: ' "$(cut -c 1-29 "$work/err")"
same 'the old file' '' "$(cmp x.csv old 2>&1)"
same 'nothing is left over' '' "$(ls ./*.partial 2>/dev/null)"

# Stopped: whole rows, a closed document, the old file as it was. The rows take long, so that it is in the middle.
slow='with recursive c(n) as (select 1 union all select n + 1 from c limit 100000000)
    select n, (with recursive d(k) as (select n union all select k + 1 from d limit 300) select max(k) from d) x from c'
slow=$(echo "$slow" | tr '\n' ' ')
begun() {
    [ -s "$1" ]
}
has_worker() {
    [ -n "$(worker)" ]
}
for kind in json csv; do
    command_line="mgbench export $kind, Ctrl-C"
    echo old >"x.$kind"
    start export --sql "$slow" --db r.db --out "x.$kind"
    until_true 60 begun "x.$kind.partial" || same 'begins to write' yes no
    kill -INT "$pid"
    finished
    same 'exit code' 130 "$code"
    same 'the old file' old "$(cat "x.$kind")"
    same 'message' 'mgbench: stopped after' "$(cut -c 1-22 "$work/err")"
done
same 'the end of JSON' '],"complete":false}' "$(tail -n 1 x.json.partial)"
same 'the end of CSV' '0d 0a' "$(tail -c 2 x.csv.partial | od -An -tx1 | sed 's/^ *//')"
command_line='mgbench export, kill -9'
rm -f x.csv.partial
start export --sql "$slow" --db r.db --out x.csv --no-supervisor
until_true 60 begun x.csv.partial || same 'begins to write' yes no
kill -KILL "$pid"
finished 2>/dev/null
same 'the old file' old "$(cat x.csv)"
expect 0 '' '' mgbench export --db r.db --out x.csv
same 'nothing is left over' no "$([ -e x.csv.partial ] && echo yes || echo no)"

# query leaves row by row, and ends when nobody reads any more.
command_line='mgbench query | head'
same 'rows' 'n 1 2' "$(mgbench query "$slow" --db r.db --csv 2>"$work/err" | head -n 3 | column 1)"
same 'standard error' '' "$(cat "$work/err")"
command_line='mgbench query of many rows as text'
same 'pieces have their own head' 3 "$(mgbench query "$many" --db r.db | head -n 25000 | grep -c n)"
command_line='mgbench query, Ctrl-C before the first row'
start query 'with recursive c(n) as (select 1 union all select n + 1 from c) select count(*) from c' --db r.db
until_true 60 has_worker || same 'starts' yes no
kill -INT "$pid"
finished
same 'exit code' 130 "$code"

finish
