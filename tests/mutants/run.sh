# Builds every planted fault and fails unless a test that the fault names catches it.
#     tests/mutants/run.sh [NAME...]
# A fault is a file NAME.mutant beside this script: a comment that says what is wrong, then
#     file: engine/plan/sum.c
#     caught-by: test_engine_plan_sum test_engine_plan_equal
#     from: weight = rows / total;
#     to:   weight = 1.0 / towers;
# The text after "from: " must stand in the file exactly once; one or more from/to pairs. The tests named must pass
# without the fault, which is checked first.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tree=${MGB_MUTANT_DIR:-$root/build/mutants}
jobs=${MGB_JOBS:-$(nproc)}
caught=0 missed=0

# field NAME FILE: the words after "NAME:".
field() { sed -n "s/^$1:[ ]*//p" "$2"; }

# build_and_test TEST...: 0 when all pass, 1 when one fails, 2 when it does not build.
build_and_test() {
    cmake --build "$tree/build" -j "$jobs" --target "$@" >"$tree/build.log" 2>&1 || return 2
    for test in "$@"; do
        ctest --test-dir "$tree/build" -R "^$test\$" --no-tests=error --output-on-failure >"$tree/test.log" 2>&1 || return 1
        if grep -q -e '\*\*\*Skipped' "$tree/test.log"; then
            echo "  $test was skipped"
            return 2
        fi
    done
}

# Fresh time stamps, so that nothing built from a planted file of an earlier run passes for new.
rm -rf "${tree:?}/source"
mkdir -p "$tree/source"
(cd "$root" && tar -c --exclude=./build --exclude=./.git .) | tar -x -m -C "$tree/source"
cmake -S "$tree/source" -B "$tree/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DMGB_CUDA=OFF -DMGB_TEST_TIMEOUT=20 "-DCMAKE_C_FLAGS=-O1" \
    >"$tree/configure.log" 2>&1 || { tail "$tree/configure.log"; exit 1; }

if [ $# -eq 0 ]; then
    for file in "$here"/*.mutant; do
        set -- "$@" "$(basename "$file" .mutant)"
    done
fi

# shellcheck disable=SC2046
wanted=$(for name in "$@"; do field caught-by "$here/$name.mutant"; done | tr ' ' '\n' | sort -u)
# shellcheck disable=SC2086
build_and_test $wanted || { tail -n 30 "$tree/build.log" "$tree/test.log"; echo "fails without any fault"; exit 1; }

for name in "$@"; do
    mutant=$here/$name.mutant
    file=$(field file "$mutant")
    if ! awk -f "$here/plant.awk" "$mutant" "$root/$file" >"$tree/planted"; then
        echo "MISSED $name: its text does not stand once in $file"
        missed=$((missed + 1))
        continue
    fi
    cp "$tree/planted" "$tree/source/$file"
    verdict=0
    # shellcheck disable=SC2046
    build_and_test $(field caught-by "$mutant") || verdict=$?
    case $verdict in
        0) echo "MISSED $name: every test passes" && missed=$((missed + 1)) ;;
        1) echo "caught $name by $test" && caught=$((caught + 1)) ;;
        *) tail -n 15 "$tree/build.log" && echo "MISSED $name: does not build or skips" && missed=$((missed + 1)) ;;
    esac
    cp "$root/$file" "$tree/source/$file"
done
echo "mutants: $caught caught, $missed missed"
[ "$missed" -eq 0 ]
