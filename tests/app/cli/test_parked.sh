# A grid with strategies: an option that means nothing under a point's strategy is parked there, and equal points are one.
. "${MGB_SOURCE_DIR:?}/tests/app/cli/transcript.sh"
export MGBENCH_DB=r.db
cat >grid.lua <<LUA
return { name = "grid", model = "mlp", batch = 4, steps = 2, warmup = 1, repeats = 1, backend = "host", threads = 1, gpus = 2,
         grid = { strategy = { "outputs", "allreduce", "independent" }, cpu_merge = { true, false } } }
LUA
command_line='strategies and flags'
mgbench sweep grid.lua >out 2>err || same 'exit code' 0 $?
same 'points' 'yes outputs - allreduce - independent no outputs ' "$(awk '$NF == "ok" { for (i = 1; i <= 2; i++) printf "%s ", $i }' out)"
same 'said' 1 "$(grep -c "mgb.sweep 'grid': cpu_merge (allreduce, independent) without meaning under the strategy of some points: not given there; left out as equal to others then: 2" err)"
same 'runs' '4 4 2' "$(ask "select count(*) || ' ' || sum(outcome = 'ok') || ' ' || (select count(*) from segment where asked_cpu_merge is null) from run")"
mgbench sweep grid.lua >again 2>err || same 'exit code' 0 $?
same 'found again' 4 "$(ask 'select count(*) from run')"

# What all points share is parked likewise.
sed 's/, cpu_merge = { true, false } }/ }, cpu_merge = false/; s/"grid"/"shared"/' grid.lua >shared.lua
command_line='strategies and a flag of all'
mgbench sweep shared.lua >out 2>err || same 'exit code' 0 $?
same 'points' 3 "$(awk '$NF == "ok"' out | grep -c .)"
finish
