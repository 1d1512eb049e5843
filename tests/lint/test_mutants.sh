# Every planted fault still has its place: the text it changes stands once in its file. Building them all is
# `scripts/test --mutants`.
. "$(dirname "$0")/common.sh"
found=$(mktemp)
for mutant in tests/mutants/*.mutant; do
    file=$(sed -n 's/^file:[ ]*//p' "$mutant")
    awk -f tests/mutants/plant.awk "$mutant" "$file" >/dev/null 2>&1 ||
        echo "$mutant: its text does not stand once in $file" >>"$found"
done
finish "$found"
