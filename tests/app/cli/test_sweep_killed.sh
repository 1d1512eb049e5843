# kill -9 during a sweep: the supervisor starts the program again, which goes on at the next point; what is done and the point
# that died are not run again. 2 kills, 20 with MGB_LONG=1. (reference/ecosystem.md, row 28 of 6.3.)
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
sweeps=2
[ "${MGB_LONG:-0}" -eq 0 ] || sweeps=20

cat >sweep.lua <<LUA
local rows = mgb.sweep{ name = "kill", model = $small, batch = 4, steps = 400, warmup = 0, backend = "host",
                        order = "grid", grid = { gpus = { 1, 2, 3 } } }
mgb.table(rows, { "gpus", "outcome" })
LUA
point_runs() { # the point $1 (from 1) is running and has steps
    [ "$(ask "select r.outcome = 'running' and (select count(*) from step s join segment g on g.id = s.segment_id
        where g.run_id = r.id) > 0 from run r where (select count(*) from run) = $1 order by r.id desc" k.db)" = 1 ]
}
n=0
while [ "$n" -lt "$sweeps" ]; do
    rm -f k.db*
    point=$((n % 3 + 1)) # killed in the first, in the second, ...
    command_line="sweep, killed in point $point"
    export MGBENCH_FAULT=slow:/gpu:0:us=100
    start --quiet --db k.db -e sweep.lua
    unset MGBENCH_FAULT
    until_true 60 point_runs $point
    kill -9 "$(worker)"
    finished
    same 'exit code' 0 "$code"
    same 'points, each run once' '3,3,1' "$(ask "select count(*), count(distinct point), sum(r.outcome = 'crashed')
        from sweep_point join run r on r.id = run_id" k.db)"
    same 'the one' "$((point - 1))" "$(ask "select point from sweep_point join run r on r.id = run_id
        where r.outcome = 'crashed'" k.db)"
    same 'all in the table' '1 2 3' "$(sed -n '2,4s/^ *\([0-9]*\) .*/\1/p' "$work/out" | tr '\n' ' ' | sed 's/ $//')"
    same 'told' 1 "$(grep -c 'starting again; it was at sweep kill, point' "$work/err")"
    n=$((n + 1))
done

finish
