# Words and flags: help, version, suggestions, exit code 2 for wrong usage.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"

expect 0 'mgbench 0.1.0' '' mgbench --version
expect 2 '' "mgbench: unknown command 'inof' (did you mean 'info'?)" mgbench inof
expect 2 '' "mgbench: unknown command 'zzzzzzz'; mgbench --help lists them" mgbench zzzzzzz
expect 2 '' "mgbench: unknown option '--jsn' (did you mean '--json'?)" mgbench info --jsn
expect 2 '' "mgbench: --json and --csv exclude each other" mgbench info --json --csv
expect 2 '' "mgbench: --db: a value (FILE) is missing" mgbench info --db
expect 2 '' "mgbench: --json takes no value" mgbench info --json=yes
expect 2 '' "mgbench: info: 'x' is one word too many; usage: mgbench info " mgbench info x
expect 2 '' "mgbench: info: words after -- are for scripts" mgbench info -- x
expect 2 '' "mgbench: -e: a word is missing; usage: mgbench -e SCRIPT [options] [-- words]" mgbench -e

expect 2 '' "mgbench: unknown command 'doktor' (did you mean 'doctor'?)" mgbench doktor

# Options of a model are words of the command line too.
for command in run plan check 'verify'; do
    against=
    [ "$command" != verify ] || against='--against --gpus 2'
    # shellcheck disable=SC2086
    expect 2 '' "mgbench: model 'mlp': unknown option 'hiden' (did you mean 'hidden'?)" \
        mgbench $command mlp --backend host --option hiden=3 $against
done
expect 2 '' "mgbench: model 'mlp': hidden: integer expected, got \"x\"" mgbench run mlp --option hidden=x

# Help is generated: every command is in the list and has its own page, by three spellings that agree.
mgbench --help >"$work/help" || failures=$((failures + 1))
for command in $(sed -n '/^commands:/,/^$/s/^  \([^ ]*\) .*/\1/p' "$work/help"); do
    mgbench "$command" --help >"$work/a" || failures=$((failures + 1))
    mgbench "$command" -h >"$work/b"
    mgbench help "$command" >"$work/c"
    command_line="$command --help"
    same "first words" "usage: mgbench $command" "$(head -n 1 "$work/a" | cut -c 1-$((15 + ${#command})))"
    same "-h" "$(cat "$work/a")" "$(cat "$work/b")"
    same "help COMMAND" "$(cat "$work/a")" "$(cat "$work/c")"
done

# Global options may stand before and after the command; MGBENCH_DB is the default of --db.
expect 0 'what,value' '' sh -c "\"$MGBENCH\" --csv info | head -n 1 | tr -d '\r'"
expect 0 '{"what":"database","value":"a.db"}' '' sh -c "\"$MGBENCH\" info --db a.db --json | grep database"
expect 0 '{"what":"database","value":"b.db"}' '' sh -c "MGBENCH_DB=b.db \"$MGBENCH\" --json info | grep database"
expect 0 '{"what":"database","value":"a.db"}' '' sh -c "MGBENCH_DB=b.db \"$MGBENCH\" info --db=a.db --json | grep database"
expect 0 "{\"what\":\"data\",\"value\":\"$work/data/mgbench\"}" '' sh -c "\"$MGBENCH\" info --json | grep '\"data\"'"

finish
