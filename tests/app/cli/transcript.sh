# Helpers of the command line transcripts: run a command, compare its output, errors and exit code with what is expected.
#     expect CODE 'stdout' 'stderr' command words...
# A program that is not built is a skipped test.
MGBENCH=${MGBENCH:-$MGB_BUILD_DIR/mgbench}
if [ ! -x "$MGBENCH" ]; then
    echo "SKIP: no $MGBENCH"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/here"
cd "$work/here" || exit 1
export XDG_DATA_HOME="$work/data" XDG_CONFIG_HOME="$work/config" XDG_STATE_HOME="$work/state"
unset MGBENCH_DB NO_COLOR
failures=0

mgbench() {
    "$MGBENCH" "$@"
}

same() { # what, wanted, got
    if [ "$2" != "$3" ]; then
        failures=$((failures + 1))
        printf 'FAILED: %s: %s\n--- expected\n%s\n--- got\n%s\n' "$command_line" "$1" "$2" "$3"
    fi
}

expect() {
    wanted_code=$1 wanted_out=$2 wanted_err=$3
    shift 3
    command_line=$*
    "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    same "exit code" "$wanted_code" "$code"
    same "standard output" "$wanted_out" "$(cat "$work/out")"
    same "standard error" "$wanted_err" "$(cat "$work/err")"
}

finish() {
    [ "$failures" -eq 0 ] || exit 1
    echo "all as expected"
}
