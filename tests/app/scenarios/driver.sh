# Runs scenario scripts beside this file, each with a database of its own; the first wrong row fails the test.
#     . ".../driver.sh"; scenarios keras deep_qa
MGBENCH=${MGBENCH:-$MGB_BUILD_DIR/mgbench}
if [ ! -x "$MGBENCH" ]; then
    echo "SKIP: no $MGBENCH"
    exit 77
fi
here=$MGB_SOURCE_DIR/tests/app/scenarios
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_DATA_HOME="$work/data" XDG_CONFIG_HOME="$work/config" XDG_STATE_HOME="$work/state"
unset MGBENCH_DB

scenarios() {
    for name in "$@"; do
        echo "== $name"
        "$MGBENCH" -e "$here/$name.lua" --db "$work/$name.db" </dev/null || exit 1
    done
}

# fail ROW WORDS...: what went wrong
fail() {
    echo "row $1: $2" >&2
    exit 1
}
