# mgbench selftest comes to its end, keeps a noise floor for this machine and backend, and comparing goes by it. No time is asserted.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
command_line='selftest'
start selftest --quick --comparisons 2 --backend host --db r.db --keep # whatever else this machine does
finished
same 'exit code' 0 "$code"
same 'engine' 1 "$(grep -c '^engine  *4 placements of mlp train the same, to the last bit$' "$work/out")"
same 'verdicts' 1 "$(grep -Ec '^false verdicts  [0-2] of 2 \(near 5 % or fewer is right\)' "$work/out")"
same 'floor' 1 "$(grep -Ec '^noise floor  *[0-9.e+]+ % on .*, backend host: smaller differences count as none$' "$work/out")"
same 'stored' '1 host 2 1 1' "$(ask "select count(*) || ' ' || max(backend) || ' ' || max(comparisons) || ' ' || (max(floor) >= 0.01)
    || ' ' || (max(json_extract(settings, '\$.model')) = 'mlp') from noise_floor f join machine m on m.id = f.machine_id")"
same 'its runs' '12 12' "$(ask "select count(*) || ' ' || sum(outcome = 'ok') from sweep_point join run on run.id = run_id")"

# Its runs are not what people mean by the last ones.
same 'tagged' 0 "$(ask "select count(*) from run where id not in (select run_id from tag where name = 'selftest')")"
command_line='runs'
start runs --db r.db
finished
same 'hidden' 1 "$(grep -c 'no run is like that; mgbench runs --all' "$work/err")"
start runs --all --db r.db --last all --csv
finished
same 'shown on request' "$(ask 'select count(*) + 1 from run')" "$(grep -c . "$work/out")"

# Comparing goes by it.
command_line='compare'
sides() { ask "select group_concat(run_id) from (select run_id from sweep_point where sweep_id = 1 and position % 2 = $1
    order by position)" | tr -d '"'; }
floor=$(ask 'select iif(floor > 0.1, 0.01, floor) from noise_floor order by id desc') # a wide one does not count
start compare "$(sides 0)" "$(sides 1)" --json --db r.db
finished
same 'floor of the last selftest' "$floor" "$(sed -n 's/.*"noise_floor":\([0-9.e-]*\).*/\1/p' "$work/out" | head -n 1)"

# Without --keep one of --quick is not stored, and that is said.
command_line='selftest without --keep'
start selftest --quick --comparisons 2 --backend host --db s.db
finished
same 'exit code' 0 "$code"
same 'not stored' 0 "$(ask 'select count(*) from noise_floor' s.db)"
same 'told' 1 "$(grep -c '^not stored      measure again on an idle machine, without --quick, or store it with --keep$' "$work/out")"
same 'why' 1 "$(grep -c '^mgbench: the noise floor is not stored: ' "$work/err")"
expect 2 '' "mgbench: --comparisons: whole number from 2 to 1000 expected, got '1'" mgbench selftest --comparisons 1 --quiet
finish
