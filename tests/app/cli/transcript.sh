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

# Helpers of the tests in which something runs, is stopped or dies.

# SELECT one row of the database r.db; nothing when there is none yet.
ask() {
    "$MGBENCH" query "$(echo "$1" | tr '\n' ' ')" --db "${2:-r.db}" --csv 2>/dev/null | sed -n 2p | tr -d '\r'
}

# Starts mgbench in the background, $pid, with interrupts as from a terminal; output goes to $work/out and $work/err.
start() {
    : >"$work/out"
    env --default-signal=INT "$MGBENCH" "$@" >"$work/out" 2>"$work/err" </dev/null &
    pid=$!
}

# Waits for $pid, $code is its exit code.
finished() {
    wait "$pid"
    code=$?
}

# until_true SECONDS command...: tries again and again; false when time is over.
until_true() {
    tries=$(($1 * 50))
    shift
    while ! "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.02
    done
}

# The process that does the work under the supervisor $pid.
worker() {
    cut -d' ' -f1 "/proc/$pid/task/$pid/children" 2>/dev/null
}

# No interrupt is on its way to $pid or its worker.
taken() {
    for process in "$pid" $(worker); do
        ! grep -q -E '^(SigPnd|ShdPnd):.*[2367abef]$' "/proc/$process/status" || return 1
    done
}

# Interrupts $pid, and returns when that was taken and another one would not count as the same.
interrupt() {
    kill -INT "$pid"
    until_true 60 taken
    sleep 0.4
}

has_output() {
    [ -s "$work/out" ]
}

# A small model for tests: mgb.model(small) in scripts.
small='mgb.model("mlp", { height = 4, width = 4, hidden = 8 })'

finish() {
    [ "$failures" -eq 0 ] || exit 1
    echo "all as expected"
}
