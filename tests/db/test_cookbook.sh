# db/README.md: every question in it is asked of the file it ships with, and its answer compared with the one on the page. Also
# the ways of reading that it names. (reference/ecosystem.md, rows 30 and 32 of section 2.)
# The figures are made up; that the file is the one the store makes is tested by test_cookbook_file.c.
command -v sqlite3 >/dev/null || { echo "the sqlite3 shell is not installed"; exit 77; }
root=${MGB_SOURCE_DIR:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
page=$root/db/README.md
file=$work/cookbook.db
failures=0
wrong() {
    failures=$((failures + 1))
    echo "FAILED: $*"
}

cat "$root/db/schema.sql" "$root/db/views.sql" "$root/tests/golden/cookbook.sql" | sqlite3 -bail "$file" || exit 1
[ "$(sqlite3 -readonly "$file" 'PRAGMA integrity_check; PRAGMA foreign_key_check')" = ok ] || wrong "the file is not sound"

# Questions are ```sql blocks, an answer is the table that follows its question.
awk -v to="$work/" '/^```sql$/ { n++; inside = 1; answer = 0; next }
     /^```$/ && inside { inside = 0; answer = 1; close(to n ".sql"); next }
     inside { print > (to n ".sql"); next }
     answer && /^\|/ { print > (to n ".answer"); table = 1; next }
     answer && table { answer = table = 0; close(to n ".answer") }
     answer && NF { print "a question without an answer before: " $0; bad = 1; answer = 0 }
     END { print n > (to "count"); exit bad }' "$page" || wrong "the page"
count=$(cat "$work/count")
[ "$count" -ge 10 ] || wrong "only $count questions on the page"
for n in $(seq "$count"); do
    sqlite3 -readonly -bail -markdown "$file" <"$work/$n.sql" >"$work/got" 2>&1 || wrong "question $n cannot be asked"
    diff "$work/$n.answer" "$work/got" >"$work/diff" || wrong "question $n: $(cat "$work/$n.sql" "$work/diff")"
done

# The same through mgbench, which takes one statement without its end: as many rows.
mgbench=${MGBENCH:-$MGB_BUILD_DIR/mgbench}
if [ -x "$mgbench" ]; then
    for n in $(seq "$count"); do
        rows=$("$mgbench" query "$(cat "$work/$n.sql")" --db "$file" --csv | wc -l)
        [ "$rows" -eq $(($(wc -l <"$work/$n.answer") - 1)) ] || wrong "mgbench query: question $n has $rows lines"
    done
    "$mgbench" compare 16,18,20 17,19,21 --db "$file" | grep -q slower || wrong "compare, as named on the page"
fi

# The ways of reading that the page names.
sqlite3 -readonly "$file" "SELECT * FROM run_summary" | grep -q made-up || wrong "the line for the shell"
sqlite3 -readonly "$file" "VACUUM INTO '$work/copy.db'" || wrong "the line for a copy"
[ "$(sqlite3 -readonly "$work/copy.db" 'SELECT count(*) FROM run')" = 30 ] || wrong "the copy lacks runs"
if python3 -c 'import sqlite3' 2>/dev/null; then
    grep '^    .*mode=ro' "$page" | sed "s|^ *||; s|results.db|$file|" >"$work/read.py"
    printf '%s\n' 'print(db.execute("SELECT count(*) FROM run_summary WHERE outcome = '"'ok'"'").fetchone()[0])' >>"$work/read.py"
    [ "$( (echo "import sqlite3" && cat "$work/read.py") | python3 - 2>&1)" = 29 ] || wrong "the lines for Python"
fi

# Every table and view is on the page.
for name in $(sqlite3 -readonly "$file" "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"); do
    grep -q "^|.*\`$name\`" "$page" || wrong "$name is not on the page"
done
[ "$failures" -eq 0 ] || exit 1
echo "$count questions, answered as on the page"
