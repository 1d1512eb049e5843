# What was exported under a locale with a decimal comma and read in again by the sqlite3 shell is what the database holds,
# value by value (google/benchmark#794, #1018, apache/logging-log4cxx#348, scenarios 17 and 24).
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"

command -v sqlite3 >/dev/null || { echo "the sqlite3 shell is not installed"; exit 77; }
if ! locale -a 2>/dev/null | grep -qi '^de_DE\.utf-\{0,1\}8$'; then
    mkdir "$work/locale"
    localedef -c -i de_DE -f UTF-8 "$work/locale/de_DE.utf8" >/dev/null 2>&1
    [ -d "$work/locale/de_DE.utf8" ] || { echo "no locale with a decimal comma, nor localedef to make one"; exit 77; }
    export LOCPATH="$work/locale"
fi
german() {
    env LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 "$MGBENCH" "$@"
}

cat >one.lua <<'LUA'
local m = nn.model("one", function(m)
  local x, y = m:input("x", { 3 }), m:input("y", {}, "i32")
  m:loss(nn.softmax_cross_entropy(nn.dense{ units = 4 }(x), y))
end)
mgb.run{ model = m, gpus = 2, batch = 2, steps = 12, warmup = 2 }
LUA
command_line='a run'
MGBENCH_CPU_DEVICES=2 german --quiet --backend host -e one.lua --db r.db
same 'exit code' 0 $?
# Values that are easily lost on the way.
sqlite3 r.db "INSERT INTO note (run_id, at_ms, text) VALUES (1, 9223372036854775807, 'a, \"b\"' || char(10) || 'ü; 0,5'),
    (1, -9223372036854775808, 'c' || char(13) || char(9) || '\\'), (1, 0, '=1+1');
    INSERT INTO metric (segment_id, step, split, name, value, value_status) VALUES (1, 0, 'test', 'a', 0.1 + 0.2, 'ok'),
    (1, 0, 'test', 'b', 1.0 / 3, 'ok'), (1, 0, 'test', 'c', 1e300, 'ok'), (1, 0, 'test', 'd', -1.5e-10, 'ok'),
    (1, 0, 'test', 'e', 2.0, 'ok'), (1, 0, 'test', 'f', NULL, 'nan'), (1, 0, 'test', 'g', NULL, '-inf'),
    (1, 0, 'test', 'h', 123456789.123456789, 'ok'), (1, 0, 'test', 'i', 9007199254740993, 'ok')"

sqlite3 r.db "INSERT INTO duplicate (segment_id, variable, twin, device, bytes, why) VALUES (1, 'a/b', 'a/c', '/gpu:1',
    1234567, 'said \"twice\", in two' || char(10) || 'lines');
    INSERT INTO noise_floor (machine_id, backend, measured_ms, floor, comparisons, false_verdicts, settings)
    VALUES (1, 'host', 1, 0.1 + 0.2, 20, 1, '{\"a\":[1,\"ü\"]}'), (1, 'sim', 2, 1e-300, 3, 0, '{}');
    INSERT INTO tag (run_id, name) VALUES (1, 'a, b'), (1, '0,5'), (1, 'ü');
    INSERT INTO baseline (name, segment_id, set_ms) VALUES ('before; \"then\"', 1, 9007199254740993);
    INSERT INTO baseline_segment (name, segment_id) VALUES ('before; \"then\"', 1);
    INSERT INTO sweep (name, started_ms, settings) VALUES ('s,1', 5, '{\"grid\":{}}');
    INSERT INTO sweep_point (sweep_id, point, repeat, run_id, position, settings, settings_digest)
    VALUES (1, 0, 0, 1, 0, '{\"gpus\":2}', '00ff')" || same 'rows made' yes no

# Rows that are on one side only: none.
differences() { # table, how a column of the imported one is written
    columns=$(sqlite3 r.db "SELECT group_concat('nullif(\"' || name || '\", '''')', ', ') FROM pragma_table_xinfo('$1')")
    imported=$(sqlite3 r.db "SELECT group_concat('nullif(' || printf('$2', name) || ', '''')', ', ')
        FROM pragma_table_xinfo('$1')")
    sqlite3 back.db "ATTACH 'r.db' AS r" "SELECT (SELECT count(*) FROM r.\"$1\") - (SELECT count(*) FROM back)" \
        "SELECT * FROM (SELECT $columns FROM r.\"$1\" EXCEPT SELECT $imported FROM back) LIMIT 3" \
        "SELECT * FROM (SELECT $imported FROM back EXCEPT SELECT $columns FROM r.\"$1\") LIMIT 3"
}

# Every table and view there is; those with rows of their own are looked at.
tables=$(sqlite3 r.db "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name")
for table in run_summary step step_device metric note task memory traffic segment segment_stat machine phase_share duplicate \
    noise_floor tag baseline baseline_segment sweep sweep_point scaling exchange placement first_step; do
    command_line="the file"
    [ "$(sqlite3 r.db "SELECT count(*) > 0 FROM $table")" = 1 ] || same "rows of $table" some none
done
for table in $tables; do
    command_line="export --table $table"
    german export --table $table --db r.db --out x.csv
    same 'exit code' 0 $?
    # Columns of the same affinity as the table's; a view's have those of its expressions.
    rm -f back.db
    sqlite3 back.db "ATTACH 'r.db' AS r" "CREATE TABLE back AS SELECT * FROM r.\"$table\" WHERE 0" '.mode csv' \
        '.import --skip 1 x.csv back'
    # An expression of a view has no affinity: its numbers come back as text, which must read the same.
    sqlite3 back.db "$(sqlite3 back.db "SELECT 'UPDATE back SET \"' || name || '\" = CAST(\"' || name || '\" AS REAL) WHERE \"' ||
        name || '\" <> '''' AND typeof(\"' || name || '\") = ''text'' AND \"' || name || '\" NOT GLOB ''*[^-+0-9.e]*'';'
        FROM pragma_table_xinfo('back') WHERE type IN ('', 'NUM')")"
    same 'CSV' '0' "$(differences $table '"%w"')"
    german export --table $table --db r.db --out x.json
    same 'exit code' 0 $?
    rm -f back.db
    sqlite3 back.db "CREATE TABLE back AS SELECT value FROM json_each(readfile('x.json'), '$.rows')"
    same 'a document' "1|$(sqlite3 r.db 'PRAGMA user_version')|1" "$(sqlite3 back.db "SELECT json_valid(x), x ->> 'schema', x ->> 'complete' FROM
        (SELECT CAST(readfile('x.json') AS TEXT) AS x)")"
    same 'JSON' '0' "$(differences $table "json_extract(value, ''\$.%w'')")"
done

# Whole numbers of type REAL stay that; a query under this locale has points too.
command_line='types'
german export --sql 'SELECT 2.0 AS a, 2 AS b, 0.5 AS c' --db r.db --out x.json
same 'types' 'real|integer|real' "$(sqlite3 :memory: "SELECT json_type(readfile('x.json'), '$.rows[0].a'),
    json_type(readfile('x.json'), '$.rows[0].b'), json_type(readfile('x.json'), '$.rows[0].c')")"
expect 0 '0.5' '' sh -c 'LC_ALL=de_DE.UTF-8 "$0" query "SELECT 0.5 AS x" --db r.db --csv | tr -d "\r" | sed -n 2p' "$MGBENCH"

# Cut short in the middle it is a document still.
command_line='cut short'
slow='WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 100000000) SELECT n, n * 0.1 AS x, (WITH RECURSIVE
    d(k) AS (SELECT n UNION ALL SELECT k + 1 FROM d LIMIT 300) SELECT max(k) FROM d) AS y FROM c'
start export --sql "$(echo "$slow" | tr '\n' ' ')" --db r.db --out cut.json
until_true 60 test -s cut.json.partial || same 'begins to write' yes no
kill -INT "$pid"
finished
same 'exit code' 130 "$code"
same 'a document' '1|0|1' "$(sqlite3 :memory: "SELECT json_valid(x), x ->> 'complete', x ->> '$.rows[0].n' FROM
    (SELECT CAST(readfile('cut.json.partial') AS TEXT) AS x)")"

finish
