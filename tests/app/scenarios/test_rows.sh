# The list of rows beside this file is true: every row that concerns results or GPUs is in it, and what it names is there.
list=${MGB_SOURCE_DIR:?}/tests/app/scenarios/rows
cd "$MGB_SOURCE_DIR" || exit 1
bad=0
complain() {
    bad=1
    echo "$list: $*"
}
rows=$(grep -v '^#' "$list" | grep .)
while read -r table row file words; do
    [ -f "$file" ] || complain "row $row of $table: there is no $file"
    grep -qF -e "$words" "$file" || complain "row $row of $table: '$words' is not in $file"
done <<END
$rows
END
for row in 15 17 19 20 22 23 24 26 27 28 29 30 32 34 35 36 38 39 40 $(seq 42 47) 49 50 51 52 54; do
    echo "$rows" | grep -q "^6\.3 $row " || complain "row $row of 6.3 is held by nothing"
done
for row in $(seq 12) 25 27 $(seq 28 35) 37 38 $(seq 53 60); do
    echo "$rows" | grep -q "^2 $row " || complain "row $row of section 2 is held by nothing"
done
for row in 46 52 75 76; do
    echo "$rows" | grep -q "^5 $row " || complain "row $row of section 5 is held by nothing"
done
exit $bad
