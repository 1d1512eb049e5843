# Every planted fault still has its place: the text it changes stands once in its file. Building them all is
# `scripts/test --mutants`.
set -u
root=${MGB_SOURCE_DIR:?}
findings=0
for mutant in "$root"/tests/mutants/*.mutant; do
    file=$(sed -n 's/^file:[ ]*//p' "$mutant")
    if ! awk -f "$root/tests/mutants/plant.awk" "$mutant" "$root/$file" >/dev/null; then
        echo "$mutant: its text does not stand once in $file"
        findings=$((findings + 1))
    fi
done
[ "$findings" -eq 0 ]
