# trace: which steps are traced, the document, and what is said when a step was not.
# (reference/ecosystem.md, row 33 of section 2.)
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export MGBENCH_CPU_DEVICES=2

# What of a document's events is asked for; nothing when it is no JSON.
events() { # file, SELECT over e
    sqlite3 "" "CREATE TABLE e AS SELECT json_extract(value, '\$.ph') AS ph, json_extract(value, '\$.name') AS name,
        json_extract(value, '\$.tid') AS tid, CAST(round(json_extract(value, '\$.dur') * 1000) AS INTEGER) AS d,
        json_extract(value, '\$.cat') AS cat, json_extract(value, '\$.args') AS args
        FROM json_each(CAST(readfile('$1') AS TEXT), '\$.traceEvents'); $2" 2>&1
}

expect_sql() { # wanted, file, SELECT
    command_line="trace: $3"
    same 'answer' "$1" "$(events "$2" "$3")"
}

run() {
    "$MGBENCH" run mlp --backend host --batch 4 --option hidden=8 --db r.db --quiet "$@" >"$work/out" 2>"$work/err" || {
        failures=$((failures + 1))
        printf 'FAILED: run %s: %s\n' "$*" "$(cat "$work/err")"
    }
}

run --gpus 2 --steps 4 --warmup 3 --trace 1-2                       # 1
run --gpus 2 --steps 4 --warmup 3 --strategy allreduce              # 2
run --gpus 1 --steps 2 --warmup 0                                   # 3

# Timed steps as asked for, and the one of the warm-up.
same 'steps' '1,4,5' "$(ask 'select group_concat(step) from (select distinct step from task where segment_id = 1 order by step)' |
    tr -d '"')"
same 'numbers' 0 "$(ask 'select count(*) from task where task is null or waits_for is null')"
same 'waits' 1 "$(ask "select min(waits) > 0 from (select sum(waits_for <> '[]') as waits from task group by segment_id, step)")"
same 'memory of each traced step' 4 "$(ask 'select count(*) from (select distinct segment_id, step from task_memory)')"
same 'the same at the end as planned' 1 "$(ask "select sum(p.peak_bytes = p.planned_bytes) = count(*) from memory as p
    where category = 'weights' and peak_bytes is not null")"

for which in 1 2; do
    expect 0 '' '' mgbench trace "$which" --out t.json --db r.db
    expect_sql 1 t.json "SELECT json_valid(CAST(readfile('t.json') AS TEXT))"
    expect_sql 0 t.json "SELECT count(*) FROM (SELECT sum(CASE WHEN cat = 'step' THEN d ELSE 0 END) AS wall,
        sum(CASE WHEN cat NOT IN ('step', 'phase') THEN d ELSE 0 END) AS leaves FROM e WHERE ph = 'X' AND tid IN
        (SELECT tid FROM e WHERE name = 'thread_name' AND args LIKE '%compute%') GROUP BY tid) WHERE wall <> leaves OR wall = 0"
    expect_sql '/cpu:0 /gpu:0 /gpu:1' t.json "SELECT group_concat(n, ' ') FROM (SELECT json_extract(args, '\$.name') AS n
        FROM e WHERE name = 'process_name' ORDER BY n)"
    expect_sql "$(ask "select count(*) from task where segment_id = $which and kind = 'copy' and device <> queue")" t.json \
        "SELECT sum(ph = 's') FROM e"
    expect_sql 1 t.json "SELECT sum(ph = 's') = sum(ph = 'f') AND sum(ph = 'C') > 0 FROM e"
done
expect_sql 1 t.json "SELECT count(*) > 0 FROM e WHERE name = 'thread_name' AND args LIKE '%all-reduce%'"
expect 0 '' '' mgbench trace 1 --steps 1-2 --out t.json --db r.db
expect_sql 'step 4 begins,step 4 ends,step 5 begins,step 5 ends' t.json \
    "SELECT group_concat(name) FROM (SELECT name FROM e WHERE ph = 'i' ORDER BY name)"
expect 0 '' '' env LC_ALL=de_DE.UTF-8 "$MGBENCH" trace 1 --steps=-2 --out t.json --db r.db
expect_sql 'step 1 begins' t.json "SELECT min(name) FROM e WHERE ph = 'i'"
command_line='trace to standard output'
mgbench trace last~1 --db r.db >t.json
expect_sql 1 t.json "SELECT json_valid(CAST(readfile('t.json') AS TEXT))"
same 'only the new names' t.json "$(ls t.json*)"

# What was not traced is refused with what was, and how to.
how='To trace others: mgbench run ... --trace 5-8, or trace_steps = "5-8" in mgb.run'
expect 4 '' "mgbench: step 0 of run 1 was not traced; traced: steps -2, 1-2. $how" mgbench trace 1 --steps 0-1 --db r.db
expect 4 '' "mgbench: run 1 has no timed step 9: there are 4, from 0; traced: steps -2, 1-2. $how" \
    mgbench trace 1 --steps 9 --db r.db
expect 4 '' "mgbench: no step of run 3 was traced (it has no warm-up or too many tasks for one unasked). To trace: mgbench run \
... --trace 5-8, or trace_steps = \"5-8\" in mgb.run" mgbench trace 3 --db r.db
expect 2 '' "mgbench: --steps: numbers and ranges expected, such as 5-8 or -2,3, got '2-1'" mgbench trace 1 --steps 2-1 --db r.db
expect 2 '' "mgbench: --steps: numbers and ranges expected, such as 5-8 or -2,3, got '1,,2'" mgbench trace 1 --steps 1,,2 --db r.db
expect 2 '' "mgbench: --out: r.db is the results database itself" mgbench trace 1 --out r.db --db r.db
expect 4 '' 'mgbench: none.db is not there: nothing has been recorded in it' mgbench trace 1 --db none.db
expect 2 '' "mgbench: --trace 3-4: timed steps are counted from 0 to 3" mgbench run mlp --steps 4 --trace 3-4 --db r.db
expect 2 '' "mgbench: --trace: timed steps expected, such as 5-8 or 3, got '-2'" mgbench run mlp --trace=-2 --db r.db
command_line='mgb.run with wrong trace_steps'
mgbench -e 'mgb.run{ model = "mlp", steps = 4, trace_steps = "2-9" }' --db r.db 2>"$work/err"
same 'what is wrong' 1 "$(grep -c 'trace_steps: step 9 of 4: timed steps are counted from 0 to 3' "$work/err")"
same 'runs' 3 "$(ask 'select count(*) from run')"

finish
