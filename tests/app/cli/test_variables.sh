# Variables of the environment: what is no value is refused at the start by both programs; what is one is taken as it is.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
tui="$MGB_BUILD_DIR/mgbench-tui"

refused() { # name, value, what it may be
    expect 2 '' "mgbench: $1 is '$2'; $3" env "$1=$2" "$MGBENCH" info
    [ -x "$tui" ] && expect 2 '' "mgbench-tui: $1 is '$2'; $3" env "$1=$2" "$tui" mlp
}

for value in abc nan inf -1 +1 ' 1' '1 ' 0x 0x10 1e 1e10 1e999 5s ''; do
    refused MGBENCH_STEP_TIMEOUT "$value" 'give seconds, up to 1e9; 0: never'
done
for value in soon -1 ''; do
    refused MGBENCH_GNUPLOT_TIMEOUT "$value" 'give seconds, up to 1e9; 0: never'
done
for value in 0 17 -1 1.5 1e1 two 3x ''; do
    refused MGBENCH_CPU_DEVICES "$value" 'give a number from 1 to 16'
done
refused MGBENCH_COLUMNS wide 'give a number of columns'
expect 2 '' "mgbench: MGBENCH_PLUGIN_DIR is '/nowhere', which is no folder" env MGBENCH_PLUGIN_DIR=/nowhere "$MGBENCH" info

# Help is given all the same.
expect 0 'mgbench 0.1.0' '' env MGBENCH_STEP_TIMEOUT=abc "$MGBENCH" --version
for value in 0 600 62.5 .5e3 1e3 1E+3; do
    command_line="MGBENCH_STEP_TIMEOUT=$value"
    MGBENCH_STEP_TIMEOUT=$value mgbench run mlp --backend host --steps 2 --quiet --db ok.db >"$work/out" 2>"$work/err"
    same 'exit code' 0 $?
done

# As short as they may be: what is due is a timeout, also where it comes while the run opens.
for value in 1e-9 1e-300 0.000001; do
    command_line="MGBENCH_STEP_TIMEOUT=$value"
    rm -f r.db*
    MGBENCH_STEP_TIMEOUT=$value mgbench run mlp --backend host --gpus 2 --steps 5 --quiet --db r.db >"$work/out" 2>"$work/err"
    same 'exit code' 1 $?
    same 'outcome' timeout "$(ask 'select outcome from run')"
    same 'told' 1 "$(grep -c 'did not end within [0-9].* s; the backend can only be closed' "$work/err")"
    same 'nothing else' 0 "$(grep -c -i 'sanitizer\|leak' "$work/err")"
done

finish
