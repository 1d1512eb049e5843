# Runs on machines that are not there: row 39 of section 2 of reference/ecosystem.md, and that whatever is shown says so.
. "${MGB_SOURCE_DIR:?}/tests/app/scenarios/driver.sh"
cd "$work" || exit 1
unset MGBENCH_BACKEND
mgbench() { "$MGBENCH" "$@"; }
said() { # row, words, file
    grep -q -e "$2" "$3" || fail "$1" "'$2' is not in: $(cat "$3")"
}
tiny='run mlp --option height=4 --option width=4 --option hidden=8 --batch 4 --gpus 2 --quiet'
cat >noisy.lua <<'LUA'
return mgb.machine("dgx1-p100"):with{ name = "noisy", jitter = { step = 0.05, device = 0.02, source = "made up" } }
LUA

# Row 39: the same seed gives the same bytes, but for what names the run and tells the day; another seed gives others.
kinds='steps phases memory traffic tasks'
for machine in dgx1-p100 ./noisy.lua; do
    for name in a b c; do
        rm -f $name.db*
        seed=1
        [ $name = c ] && seed=2
        # shellcheck disable=SC2086
        mgbench $tiny --db $name.db --machine $machine --seed $seed --steps 12 --trace 3-4 >$name.out || fail 39 "a run failed"
        for kind in $kinds; do
            mgbench export --db $name.db --what "$kind" >$name.$kind || fail 39 "no export"
        done
        mgbench export --db $name.db --sql "SELECT * FROM run_summary" >$name.whole || fail 39 "no export"
        cut -d, -f 1-2,5- $name.whole >$name.runs # not uuid and start
    done
    head -n 1 a.whole | cut -d, -f 3-4 | grep -q '^run_uuid,started$' || fail 39 "columns have moved: $(head -n 1 a.whole)"
    for kind in $kinds runs; do
        cmp -s a.$kind b.$kind || fail 39 "$machine: $kind differ: $(diff a.$kind b.$kind | head -n 4)"
    done
    cmp -s a.out b.out || fail 39 "$machine: what is shown differs"
done
cmp -s a.steps c.steps && fail 39 "another seed draws the same slowness"
echo "row 39   the same seed, the same bytes"

# It says what it is.
mgbench run mlp --db a.db --machine dgx1-p100 --gpus 4 --steps 3 >out || fail sim "the run failed"
said sim '^backend  *sim: simulated dgx1-p100, nothing is measured' out
said sim '^devices .*P100' out
said sim '^simulated ' out
grep -q '^clocks\| loss ' out && fail sim "it tells of a loss, or of this machine's clocks: $(cat out)"
mgbench show --db a.db last >out || fail sim "no show"
said sim 'devices  *simulated' out
said sim 'figures from ' out
mgbench explain --db a.db last >out || fail sim "no explanation"
said sim '^Run .*4 simulated GPUs.*1 traced timed step' out
said sim '^Bound by [a-z]* /' out
said sim '^sum  */gpu:2->/cpu:0 ' out
# shellcheck disable=SC2086
mgbench $tiny --db a.db --backend host --steps 3 >out || fail sim "the run failed"
mgbench compare --db a.db 1 last >out
said sim 'simulated .*refused' out
mgbench plan mlp --machine p100-pcie-4 --gpus 4 >out || fail sim "no plan"
said sim '^backend .*simulated p100-pcie-4' out
mgbench check mlp --machine p100-pcie-4 --gpus 4 >out || fail sim "no check"
said sim '0 duplicates' out
echo "row sim  whatever is shown says that it is simulated"

# What it cannot do is refused in words.
refused() { # exit code, words, command...
    code=$1 words=$2
    shift 2
    "$MGBENCH" "$@" >out 2>err </dev/null
    got=$?
    [ $got = "$code" ] || fail no "exit code $got instead of $code: $* ($(cat err))"
    said no "$words" err
}
refused 2 'a simulated run has no values' verify mlp --machine dgx1-p100 --db a.db --against --gpus 2
refused 2 'a simulated one has no noise' selftest --machine dgx1-p100 --db a.db
refused 2 'a simulated run has no values' run mlp --machine dgx1-p100 --db a.db --steps 2 --save x.ckpt
refused 2 "there is no machine 'dgx'.*mgbench machines lists them" run mlp --machine dgx --db a.db
refused 2 'Name one' run mlp --backend sim --db a.db
refused 2 'cannot play on' run mlp --backend host --machine dgx1-p100 --db a.db
refused 1 'out of memory on /gpu:0' run vgg16 --machine p100-pcie-4 --batch 512 --db a.db
[ -e x.ckpt ] && fail no "there is a checkpoint"
echo "row no   what has no values is refused in words"

# A sweep of a table takes one repetition a cell, and goes on where it was.
cat >grid.lua <<'LUA'
return { name = "grid", model = "mlp", steps = 5, machine = "dgx1-p100", grid = { gpus = { 1, 2, 4, 8 } } }
LUA
mgbench sweep grid.lua --db a.db >one 2>err || fail sweep "it failed: $(cat err)"
said sweep '4 cells: 4 ok' err
mgbench sweep grid.lua --db a.db >two 2>err || fail sweep "it failed: $(cat err)"
said sweep '4 of them done before' err
cmp -s one two || fail sweep "it shows another table"
echo "row 58   a sweep is simulated, and found done"
