# The schema as the sqlite3 shell reads it, from the sources and from a file that a program of ours wrote.
command -v sqlite3 >/dev/null || { echo "the sqlite3 shell is not installed"; exit 77; }
set -eu
file=$(mktemp -d)/r.db
trap 'rm -rf "$(dirname "$file")"' EXIT
sql=$MGB_SOURCE_DIR/db

cat "$sql/schema.sql" "$sql/views.sql" | sqlite3 -bail "$file"
[ "$(sqlite3 -readonly "$file" 'PRAGMA integrity_check')" = ok ] || { echo "integrity_check fails"; exit 1; }
for view in run_summary scaling placement step_stats step_phase phase_share; do
    sqlite3 -readonly -bail "$file" "SELECT * FROM $view" || { echo "$view cannot be read"; exit 1; }
done

# Every column has its comment; asked_* is what its namesake is.
awk '/^CREATE TABLE/ { table = $3 }
     /^    [a-z0-9_]+ +(INTEGER|TEXT|REAL)/ && !/--/ && $1 !~ /^asked_/ { print table "." $1 " has no comment"; bad = 1 }
     END { exit bad }' "$sql/schema.sql"

# A program is writing while the shell looks on.
rm -f "$file"*
"$MGB_BUILD_DIR/tests/bench_recorder" 20000 "$file" >/dev/null &
writer=$!
seen=0
while kill -0 "$writer" 2>/dev/null; do
    rows=$(sqlite3 -readonly "$file" 'SELECT count(*) FROM step' 2>/dev/null || echo "$seen")
    [ "$rows" -ge "$seen" ] || { echo "rows vanished: $rows after $seen"; exit 1; }
    seen=$rows
done
wait "$writer"
[ "$(sqlite3 -readonly "$file" 'PRAGMA integrity_check')" = ok ] || { echo "integrity_check fails"; exit 1; }
[ "$(sqlite3 -readonly "$file" 'SELECT steps FROM run_summary')" -gt 1000 ] || { echo "too few steps"; exit 1; }
